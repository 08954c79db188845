"""Budgets: limits with units, names, findings, and values that are unknown."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import kinetoscope as ks
import pytest
from support import gate_runs
from support.iterations import iterations
from support.lost import without_last_kernels

if TYPE_CHECKING:
    from kinetoscope._analysis.gate import Gate

pytestmark = pytest.mark.unit


@pytest.fixture
def trace() -> ks.Trace:
    found = ks.read(gate_runs.run(random.Random(1), 10, gate_runs.normal(0.01)))
    assert isinstance(found, ks.Trace)
    return found


@pytest.fixture
def device(data: Path) -> ks.Trace:
    found = ks.read(data / "transformer_cuda/kineto_trace_0.json.gz")
    assert isinstance(found, ks.Trace)
    return found


def statuses(gate: Gate) -> dict[str, str]:
    return dict(gate.select("budget", "status").rows())


def values(gate: Gate) -> dict[str, float]:
    return dict(gate.select("budget", "value").rows())


def test_limits_are_kept_or_broken(trace: ks.Trace) -> None:
    gate = trace.check(step="2 ms", slowest_step="100 us", min_iterations=10)
    assert statuses(gate) == {"step": "kept", "slowest_step": "broken", "min_iterations": "kept"}
    assert gate.exit_code == 1
    assert "iteration" in gate.failures[0]
    assert trace.check(min_iterations=11).outcome == "failed"
    assert trace.check(step="2 ms").passed


def test_values_are_those_of_the_tables(device: ks.Trace) -> None:
    gate = device.check(
        {"operators": {"aten::mm": "1 s", "aten::*": "10 s"}},
        step="1 s",
        idle="1 s",
        device="1 s",
        allow_unknown=True,
    )
    changes = ks.diff(device, device)
    parts = dict(changes.select("part", "before_ns").rows())
    operators = dict(changes.tables["diff_operators"].select("name", "before_ns").rows())
    found = values(gate)
    assert abs(found["step"] - parts["step"]) <= 1
    assert abs(found["idle"] - parts["idle"]) <= 1
    if "aten::mm" in operators:
        assert abs(found["operators.aten::mm"] - operators["aten::mm"]) <= 1
    total = sum(ns for name, ns in operators.items() if name.startswith("aten::"))
    assert abs(found["operators.aten::*"] - total) <= len(operators)


def test_shares_are_of_the_step(device: ks.Trace) -> None:
    times, shares = values(device.check(idle="1 s", step="1 s")), values(device.check(idle="99 %"))
    assert shares["idle"] == pytest.approx(times["idle"] / times["step"])


def test_an_incomplete_recording_says_so_beside_the_value(tmp_path: Path) -> None:
    whole = tmp_path / "whole.json.gz"
    whole.write_bytes(gzip.compress(iterations([1000, 1002] * 10)))
    trace = ks.read(without_last_kernels(whole, tmp_path / "cut.json", 1), et=False)
    assert isinstance(trace, ks.Trace)
    limits: dict[str, Any] = {"kernels": {"*gemm*": "1 s"}, "forbid": ["host_device_sync"]}
    gate = trace.check({**limits, "complete": True}, step="1 s", allow_unknown=True)
    notes = dict(gate.select("budget", "note").rows())
    words = "recorded work only: the recording is incomplete"
    assert {name for name, note in notes.items() if words in (note or "")} == {
        "kernels.*gemm*",
        "forbid.host_device_sync",
    }
    assert words in str(gate)
    assert statuses(gate)["complete"] == "broken"


def test_what_was_not_recorded_is_unknown(trace: ks.Trace) -> None:
    limits: dict[str, Any] = {"step": "2 ms", "peak_memory": "20 GiB", "idle": "5 %", "phases": {"decode": "1 ms"}}
    gate = trace.check(limits)
    assert statuses(gate) == {"step": "kept", "peak_memory": "unknown", "idle": "unknown", "phases.decode": "unknown"}
    assert (gate.outcome, gate.exit_code) == ("unknown", 2)
    assert "profile_memory" in str(gate)
    assert trace.check(limits, allow_unknown=True).passed
    assert not trace.check(limits, allow_unknown=["idle"]).passed
    assert trace.check(limits, allow_unknown=["idle", "peak_memory", "phases.decode"]).passed
    with pytest.raises(ks.TraceError, match="in allow_unknown, found idel"):
        trace.check(limits, allow_unknown=["idel"])


def test_an_unknown_name_is_unknown_with_the_nearest(trace: ks.Trace) -> None:
    gate = trace.check(operators={"aten::mn": "1 ms"})
    assert gate.outcome == "unknown"
    assert "did you mean aten::mm?" in gate.failures[0]


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({"stpe": "1 ms"}, "did you mean step?"),
        ({"step": "5 %"}, "a time such as"),
        ({"step": 12}, "a time such as"),
        ({"step": "-1 ms"}, "a time such as"),
        ({"step": "nan ms"}, "a time such as"),
        ({"peak_memory": "20"}, "a size such as"),
        ({"device_events": 1.5}, "a whole number"),
        ({"min_iterations": -1}, "a whole number"),
        ({"forbid": ["host_device_snyc"]}, "did you mean host_device_sync?"),
        ({"forbid": "host_device_sync"}, "a list of findings"),
        ({"operators": "1 ms"}, "a table of names"),
        ({"complete": 1}, "true or false"),
        ({}, "at least one budget"),
    ],
)
def test_mistakes_are_errors(trace: ks.Trace, limits: dict[str, Any], expected: str) -> None:
    with pytest.raises(ks.TraceError) as error:
        trace.check(limits)
    assert expected in str(error.value)


def test_findings_are_forbidden(device: ks.Trace) -> None:
    found = {name for (name,) in device.findings().select("finding").rows()}
    every = dict(device.findings().tables["finding_rules"].select("finding", "num_found").rows())
    gate = device.check(forbid=sorted(every), allow_unknown=True)
    unknown = {each.name.removeprefix("forbid.") for each in gate.decisions if each.status == "unknown"}
    without_data = {name for name, num_found in every.items() if num_found is None}
    assert without_data == {"tensor_cores_idle"}
    assert unknown == {"straggler", "imbalanced_ranks"} | without_data
    broken = {each.name.removeprefix("forbid.") for each in gate.decisions if each.status == "broken"}
    assert broken == found != set()
    assert all("costs up to" in each.note for each in gate.decisions if each.status == "broken")


def test_a_recording_without_problems_is_complete(trace: ks.Trace, data: Path) -> None:
    assert trace.check(complete=True).passed
    hostile = ks.read(data / "hostile/kineto_trace_0.json.gz")
    assert isinstance(hostile, ks.Trace)
    if hostile.verdict.state != "complete":
        assert not hostile.check(complete=True).passed


def test_a_part_is_checked(trace: ks.Trace) -> None:
    whole, one = trace.check(step="1 s"), trace.check(step="1 s", iteration=3)
    (dur,) = [dur for number, dur in trace.iterations.select("iteration", "dur_ns").rows() if number == 3]
    assert values(one)["step"] == dur != values(whole)["step"]


def test_a_job_has_its_worst_rank(data: Path) -> None:
    job = ks.read_dir(data / "mlp_gloo")
    gate = job.check(slowest_step="1 ns")
    (found,) = gate.select("rank", "value").rows()
    own = {rank: values(job[rank].check(slowest_step="1 ns"))["slowest_step"] for rank in job.ranks}
    assert found == max(own.items(), key=lambda item: item[1])
    assert values(job.check(slowest_step="1 ns", rank=0))["slowest_step"] == own[0]


def test_a_trace_without_iterations_counts_as_one() -> None:
    event = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 0, "dur": 5}
    trace = ks.read(str([event]).replace("'", '"').encode())
    assert isinstance(trace, ks.Trace)
    gate = trace.check(step="5 us")
    assert gate.passed
    assert "no iterations" in str(gate)


def test_a_file_has_budgets(trace: ks.Trace, tmp_path: Path) -> None:
    path = tmp_path / "kinetoscope.toml"
    path.write_text('[budget]\nstep = "2 ms"\n[budget.operators]\n"aten::mm" = "90 %"\n')
    assert trace.check(path).passed
    assert trace.check(path, step="1 us").outcome == "failed"
    for content, expected in (
        ("step = 1", r"budgets belong below \[budget\]"),
        ("[budgets]\n", "found budgets"),
        ("[budget", "found an error"),
        ("", "found none"),
        ("budget = 3", "expected a table"),
    ):
        path.write_text(content)
        with pytest.raises(ValueError, match=expected):
            trace.check(path)
    for content, expected in (("step = 2026-01-01", "a time such as"), ("min_iterations = nan", "a whole number")):
        path.write_text(f"[budget]\n{content}\n")
        with pytest.raises(ks.TraceError, match=expected):
            trace.check(path)
    with pytest.raises(FileNotFoundError):
        trace.check(tmp_path / "missing.toml")


def test_findings_need_their_data(trace: ks.Trace) -> None:
    gate = trace.check(forbid=["long_idle", "host_device_sync", "memory_leak", "recompilation"])
    assert statuses(gate) == {
        "forbid.long_idle": "unknown",
        "forbid.host_device_sync": "unknown",
        "forbid.memory_leak": "unknown",
        "forbid.recompilation": "kept",
    }


def test_a_trace_without_events_keeps_no_budget() -> None:
    empty = ks.read(b"[]")
    assert isinstance(empty, ks.Trace)
    assert set(statuses(empty.check(step="1 s", slowest_step="1 s", forbid=["long_idle"])).values()) == {"unknown"}


def test_an_iteration_does_not_take_in_its_neighbour() -> None:
    def step(number: int, start: float, dur: float) -> dict[str, Any]:
        return {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{number}", "pid": 1, "tid": 1} | {
            "ts": start,
            "dur": dur,
        }

    overlapping = ks.read(json.dumps([step(5, 5994.396, 1005.465), step(6, 6999.86, 1000)]).encode())
    assert isinstance(overlapping, ks.Trace)
    assert values(overlapping.check(step="1 ms", iteration=5)) == {"step": 1_005_465}
    assert values(overlapping.check(min_iterations=2)) == {"min_iterations": 2}


def test_a_file_that_ends_early_keeps_no_peak(data: Path, tmp_path: Path) -> None:
    whole = gzip.decompress((data / "memory_cuda/kineto_trace_0.json.gz").read_bytes())
    path = tmp_path / "cut.json"
    path.write_bytes(whole[: len(whole) * 9 // 10])
    trace = ks.read(path)
    assert isinstance(trace, ks.Trace)
    (peak,) = max(trace.memory().select("peak_allocated_bytes").rows())
    assert trace.check(peak_memory=f"{peak + 1} B", forbid=["memory_leak"]).outcome == "unknown"
    assert trace.check(peak_memory=f"{peak - 1} B").outcome == "failed"
    assert ks.diff(trace, trace).gate(metrics="memory").outcome == "unknown"
