"""Gates and budgets of recordings that lost device work in some iterations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from support.iterations import iterations as run

pytestmark = pytest.mark.unit

STEP_US, KERNEL_US = 1000, 300
FAST = [STEP_US, STEP_US + 2] * 5
SLOW = [STEP_US * 2, STEP_US * 2 + 2] * 5


def rows(result: Any, *columns: str) -> list[tuple[Any, ...]]:
    return result.select(*columns).rows()


def test_host_times_count_all_iterations() -> None:
    trace = ks.read(run(FAST + SLOW, lost=range(10, 20)), et=False)
    budgets = {"step": "1.2 ms", "slowest_step": "1.5 ms", "min_iterations": 20, "device_events": 2}
    checked = {row[0]: row[1:] for row in rows(trace.check(budgets), "budget", "status", "value", "note")}
    assert checked["step"][:2] == ("broken", sum(FAST + SLOW) * 1000 / 20)
    assert checked["slowest_step"] == ("broken", (STEP_US * 2 + 2) * 1000, "iteration 11")
    assert checked["min_iterations"][:2] == ("kept", 20)
    assert checked["device_events"] == ("unknown", None, "more than one iteration in ten lost device work")


def test_metrics_of_the_device_leave_out_the_few_iterations_that_lost_work() -> None:
    trace = ks.read(run(FAST + SLOW, lost=[3]), et=False)
    limits = {"device_events": 2, "kernels": {"gemm": "1 ms"}}
    for status, value, note in rows(trace.check(limits), "status", "value", "note"):
        assert (status, value) in {("kept", 2), ("kept", 2 * KERNEL_US * 1000)}
        assert "1 iteration left out: device work lost" in note


def test_the_gate_sees_slow_iterations_that_lost_work() -> None:
    before, after = ks.read(run(FAST * 2), et=False), ks.read(run(SLOW * 2, lost=range(1, 20)), et=False)
    gate = ks.diff(before, after).gate(metrics=["step", "device"])
    columns = ("metric", "status", "num_after_iterations", "note")
    (step, device) = rows(gate, *columns)
    assert step[:3] == ("step", "worse", 20)
    assert "lost" not in step[3]
    assert device == ("device", "unknown", 0, "more than one iteration in ten lost device work")
    few = ks.read(run(SLOW * 2, lost=[1, 2]), et=False)
    ((status, num, note),) = rows(ks.diff(before, few).gate(metrics="device"), *columns[1:])
    assert (status, num) == ("same", 18)
    assert "without iterations that lost device work: 0 before, 2 after" in note


def test_the_step_of_a_comparison_is_that_of_all_iterations() -> None:
    before, after = ks.read(run(FAST * 2), et=False), ks.read(run(FAST * 2, lost=range(0, 20, 2)), et=False)
    changes: Any = ks.diff(before, after)
    (step, *parts) = rows(changes, "part", "before_ns", "after_ns", "note")
    assert step[:3] == ("step", (STEP_US + 1) * 1000, (STEP_US + 1) * 1000)
    assert "parts are without iterations that lost device work: 0 before, 10 after" in step[3]
    assert sum(part[2] for part in parts) == (STEP_US + 2) * 1000
    assert "takes as long as before" in changes.digest()


def test_a_run_that_lost_its_device_work_still_has_a_step() -> None:
    one, other, slow = (ks.read(run(durs), et=False) for durs in (FAST, FAST[::-1], SLOW))
    lost = json.loads(run([dur + 1 for dur in FAST]))
    lost["traceEvents"] = [event for event in lost["traceEvents"] if event["cat"] != "kernel"]
    baselines = [other, ks.read(json.dumps(lost).encode(), et=False)]
    gate = ks.diff(one, slow).gate(metrics=["step", "device"], baselines=baselines)
    assert rows(gate, "metric", "status") == [("step", "worse"), ("device", "unknown")]


def test_an_operator_without_time_of_its_own_is_unknown() -> None:
    before, after = (ks.read(run(FAST, kernel_us=kernel), et=False) for kernel in (KERNEL_US, KERNEL_US + 30))
    gate = ks.diff(before, after).gate(metrics=["operator:aten::linear", "operator:aten::mm"])
    found = {metric: (status, note) for metric, status, note in rows(gate, "metric", "status", "note")}
    assert found["operator:aten::linear"] == (
        "unknown",
        "it has no time of its own: name the operators inside it",
    )
    assert found["operator:aten::mm"][0] == "worse"
    (budget,) = rows(before.check({"operators": {"aten::linear": "1 us"}}), "status")
    assert budget == ("unknown",)


def test_host_time_does_not_stand_for_device_time(tmp_path: Path) -> None:
    host_only = json.loads(run(FAST, rank=1))
    host_only["traceEvents"] = [event for event in host_only["traceEvents"] if event["cat"] in HOST]
    budgets = {"operators": {"aten::mm": "1 s"}}
    alone = ks.read(json.dumps(host_only).encode(), et=False)
    assert rows(alone.check(budgets), "status", "note") == [("kept", "host time, as no device work was recorded")]
    (tmp_path / "rank_0.json").write_bytes(run(FAST, rank=0))
    (tmp_path / "rank_1.json").write_text(json.dumps(host_only))
    job = ks.read_dir(tmp_path)
    assert rows(job.check(budgets), "status", "rank") == [("unknown", 1)]


HOST = ("cpu_op", "user_annotation")


def test_the_largest_change_of_a_job_comes_first(tmp_path: Path) -> None:
    jobs: list[Any] = []
    for side, kernels in (("before", (300, 300, 300)), ("after", (301, 350, 302))):
        folder = tmp_path / side
        folder.mkdir()
        for rank, kernel in enumerate(kernels):
            (folder / f"rank_{rank}.json").write_bytes(run(FAST, kernel_us=kernel, rank=rank))
        jobs.append(ks.read_dir(folder))
    changes: Any = ks.diff(*jobs)
    ranks = [rank for (rank,) in rows(changes.tables["diff_kernels"], "rank")]
    assert ranks == [1, 2, 0]
    digest = json.loads(changes.digest(60_000, form="json"))
    kernels = next(section for section in digest["sections"] if section["section"] == "kernels")
    assert [item["rank"] for item in kernels["blocks"][0]["items"]] == [1, 2, 0]
