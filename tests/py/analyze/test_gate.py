"""Gates: the decision on two sides, its numbers, and inputs that cannot be judged."""

from __future__ import annotations

import gzip
import json
import math
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

QUIET = gate_runs.normal(0.01)


def read(seed: int, num: int = 10, slower: dict[str, float] | None = None) -> ks.Trace:
    found = ks.read(gate_runs.run(random.Random(seed), num, QUIET, slower))
    assert isinstance(found, ks.Trace)
    return found


@pytest.fixture
def before() -> ks.Trace:
    return read(1)


@pytest.fixture
def after() -> ks.Trace:
    return read(2, slower={"aten::mm": 1.5})


def row(gate: Gate, at: int = 0) -> dict[str, Any]:
    return dict(zip(gate.columns, gate.rows()[at], strict=True))


def test_a_slower_step_fails(before: ks.Trace, after: ks.Trace) -> None:
    gate = ks.diff(before, after).gate("3%")
    found = row(gate)
    assert (gate.outcome, gate.exit_code, gate.passed) == ("failed", 1, False)
    assert found["change_value"] == found["after_value"] - found["before_value"] > 0
    assert found["change_share"] > found["noise_share"] > 0
    assert found["threshold_share"] == 0.03
    assert (found["num_before_runs"], found["num_before_iterations"], found["num_after_iterations"]) == (1, 10, 10)
    assert found["p_value"] < 0.002
    (failure,) = gate.failures
    assert "threshold 3 %, noise ±" in failure
    assert gate.tables["gate_causes"].select("kind", "name").rows() == [("operator", "aten::mm")]


def test_it_agrees_with_the_comparison(before: ks.Trace, after: ks.Trace) -> None:
    changes = ks.diff(before, after)
    step = dict(zip(changes.columns, changes.rows()[0], strict=True))
    found = row(changes.gate())
    assert (found["before_value"], found["after_value"]) == (step["before_ns"], step["after_ns"])
    operators = changes.tables["diff_operators"]
    at = dict(operators.select("name", "after_ns").rows())
    assert abs(row(changes.gate(metrics="operator:aten::mm"))["after_value"] - at["aten::mm"]) <= 1


def test_swapped_sides_are_better(before: ks.Trace, after: ks.Trace) -> None:
    gate = ks.diff(after, before).gate()
    assert (row(gate)["status"], gate.exit_code) == ("better", 0)


def test_the_same_trace_passes_at_any_threshold(before: ks.Trace) -> None:
    assert ks.diff(before, before).gate(0).passed
    assert ks.diff(before, before).gate("0%", ["step", "operator:*"]).passed


@pytest.mark.parametrize("fail_over", [math.nan, math.inf, -0.05, 3, "3", "-5%", "nan%", "", "%", "five %"])
def test_invalid_thresholds_are_refused(before: ks.Trace, fail_over: Any) -> None:
    with pytest.raises(ks.TraceError, match=r"fail_over.*found"):
        ks.diff(before, before).gate(fail_over)


def test_a_threshold_without_percent_suggests_it(before: ks.Trace) -> None:
    with pytest.raises(ks.TraceError, match="did you mean 3%"):
        ks.diff(before, before).gate("3")


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("setp", "did you mean step"),
        ("operator:aten::mn", "did you mean aten::mm"),
        ("kernel:gemm", "kernel:gemm"),
        ("phase:decode", "expected a phase"),
        ("", "expected a metric"),
    ],
)
def test_unknown_metrics_are_errors(before: ks.Trace, metric: str, expected: str) -> None:
    if metric.startswith("kernel"):  # not recorded at all: unknown, no mistake in the name
        assert ks.diff(before, before).gate(metrics=metric).outcome == "unknown"
        return
    with pytest.raises(ks.TraceError, match=expected):
        ks.diff(before, before).gate(metrics=metric)


def test_one_iteration_cannot_be_judged() -> None:
    one, other = read(1, num=1), read(2, num=1, slower={"aten::mm": 2})
    gate = ks.diff(one, other).gate()
    assert (gate.outcome, gate.exit_code) == ("unknown", 2)
    assert "cannot judge one iteration" in str(gate)
    assert ks.diff(one, other).gate(allow_unknown=True).exit_code == 0


def test_several_runs_of_one_iteration_are_judged() -> None:
    runs = [read(seed, num=1) for seed in range(5)]
    slow = [read(seed, num=1, slower={"aten::mm": 2}) for seed in range(5, 10)]
    gate = ks.diff(runs[0], slow[0]).gate(baselines=runs[1:], candidates=slow[1:])
    assert gate.outcome == "failed"
    assert ks.diff(runs[0], runs[4]).gate(baselines=runs[1:4]).passed


def test_what_was_not_recorded_is_unknown(before: ks.Trace) -> None:
    gate = ks.diff(before, before).gate(metrics=["step", "memory", "device", "idle"])
    statuses = dict(gate.select("metric", "status").rows())
    assert statuses == {"step": "same", "memory": "unknown", "device": "unknown", "idle": "unknown"}
    assert gate.exit_code == 2
    assert "profile_memory" in str(gate)


def test_a_failure_outweighs_an_unknown_value(before: ks.Trace, after: ks.Trace) -> None:
    assert ks.diff(before, after).gate(metrics=["step", "memory"]).exit_code == 1


def test_names_are_taken_by_pattern(before: ks.Trace, after: ks.Trace) -> None:
    gate = ks.diff(before, after).gate(metrics="operator:aten::*")
    failing = [each.name for each in gate.decisions if each.is_failing]
    assert failing == ["operator:aten::mm"]
    assert len(gate) == len(gate_runs.OPERATORS)


def test_a_noisy_increase_passes_and_says_so() -> None:
    noise = gate_runs.normal(0.5)
    found = []
    for seed in range(30):
        rng = random.Random(seed)
        one, other = (ks.read(gate_runs.run(rng, 5, noise)) for _ in range(2))
        found.append(ks.diff(one, other).gate())
    noisy = [gate for gate in found if row(gate)["status"] == "noisy"]
    assert noisy
    assert all(gate.passed and "within the noise" in row(gate)["note"] for gate in noisy)


def test_jobs_are_judged_rank_by_rank(tmp_path: Path) -> None:
    for name, factor in (("a", 1.0), ("b", 1.5)):
        (tmp_path / name).mkdir()
        for rank in range(2):
            slower = {"aten::mm": factor} if rank else {}
            trace = json.loads(gate_runs.run(random.Random(rank), 10, QUIET, slower))
            trace["distributedInfo"] = {"rank": rank}
            (tmp_path / name / f"kineto_trace_{rank}.json").write_text(json.dumps(trace))
    gate = ks.diff(tmp_path / "a", tmp_path / "b").gate()
    assert gate.select("rank", "status").rows() == [(0, "same"), (1, "worse")]
    assert "step of rank 1" in gate.failures[0]
    with pytest.raises(ks.TraceError, match="expected different runs of each side, found run 1 again as run 2"):
        ks.diff(tmp_path / "a", tmp_path / "b", rank=0).gate(baselines=[tmp_path / "a"])
    with pytest.raises(TypeError, match="expected a job as a further run, found a Trace"):
        ks.diff(tmp_path / "a", tmp_path / "b").gate(baselines=[tmp_path / "a/kineto_trace_0.json"])


def test_device_metrics_are_those_of_the_comparison(data: Path) -> None:
    trace = data / "transformer_cuda/kineto_trace_0.json.gz"
    changes = ks.diff(trace, trace)
    gate = changes.gate(metrics=["device", "idle", "compute", "kernel:*"], allow_unknown=True)
    values = dict(gate.select("metric", "before_value").rows())
    parts = dict(changes.select("part", "before_ns").rows())
    work = dict(changes.tables["diff_device_work"].select("class", "before_ns").rows())
    assert abs(values["idle"] - parts["idle"]) <= 1
    assert abs(values["compute"] - parts["compute"]) <= 1
    assert abs(values["device"] - work["all"]) <= 1
    assert any(name.startswith("kernel:") for name in values)


def test_memory_is_the_peak_of_each_iteration(data: Path) -> None:
    trace = ks.read(data / "memory_cuda/kineto_trace_0.json.gz")
    assert isinstance(trace, ks.Trace)
    gate = ks.diff(trace, trace).gate(metrics="memory", allow_unknown=True)
    found = row(gate)
    peaks = [peak for (peak,) in trace.memory().select("peak_allocated_bytes").rows()]
    assert found["unit"] == "bytes"
    assert 0 < found["before_value"] <= max(peaks)


def test_an_incomplete_recording_says_so_beside_the_change(tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole.json.gz", tmp_path / "cut.json"
    whole.write_bytes(gzip.compress(iterations([1000, 1002] * 10)))
    without_last_kernels(whole, cut, 1)
    words = "recorded work only: the recording is incomplete"
    metrics = ["step", "device", "kernel:*"]
    for sides, caveat in (((whole, cut), f"{words} (after)"), ((cut, cut), f"{words} (before and after)")):
        gate = ks.diff(*sides).gate(metrics=metrics, allow_unknown=True)
        for metric, before, note in gate.select("metric", "before_value", "note").rows():
            has_caveat = metric != "step" and before is not None
            assert caveat in note if has_caveat else words not in (note or ""), metric
        assert caveat in str(gate)
        assert caveat in gate.markdown()
    assert words not in str(ks.diff(whole, whole).gate(metrics=metrics, allow_unknown=True))


def test_names_of_a_trace_cannot_break_the_output() -> None:
    evil = 'x|`</td><script>alert(1)</script>]]>&"\n\x1b[31m@all [a](http://evil)'
    sides: list[Any] = []
    for seed, factor in ((1, 1.0), (2, 2.0)):
        trace = json.loads(gate_runs.run(random.Random(seed), 10, QUIET, {"aten::mm": factor}))
        for event in trace["traceEvents"]:
            event["name"] = event["name"].replace("aten::mm", evil)
        sides.append(ks.read(json.dumps(trace).encode()))
    changes: Any = ks.diff(*sides)
    gate: Gate = changes.gate(metrics="operator:*")
    assert gate.outcome == "failed"
    from xml.etree import ElementTree

    suite = ElementTree.fromstring(gate.junit())
    (failure,) = suite.findall(".//failure")
    assert "<script>alert(1)</script>" in failure.attrib["message"]
    for line in gate.markdown().splitlines():
        assert line.replace("\\|", "").count("|") in {0, 8, 7}
        outside = "".join(line.split("``")[::2])  # the name has one backquote, so two fence it
        assert "script" not in outside
        assert "@all" not in outside
    assert "\x1b" not in gate.markdown() + str(gate) + gate.junit()
    assert evil in json.loads(json.dumps(gate.to_dict()))["gate_causes"][0]["name"]
    assert "<script>" not in gate._repr_html_()


def test_lost_device_work_does_not_turn_operators_into_host_time(data: Path, tmp_path: Path) -> None:
    whole = data / "transformer_cuda/kineto_trace_0.json.gz"
    cut = without_last_kernels(whole, tmp_path / "cut.json", 300)
    gate = ks.diff(whole, cut).gate(metrics=["operator:*", "module:*"])
    assert gate.outcome == "unknown"
    assert {row[0] for row in gate.select("before_value").rows()} == {None}
    assert "device work was not recorded, or too much of it was lost" in str(gate)


def test_a_rank_of_one_side_is_unknown(tmp_path: Path) -> None:
    for side, ranks in (("a", 2), ("b", 1), ("c", 3)):
        for rank in range(ranks):
            path = tmp_path / side / f"rank{rank}.pt.trace.json"
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(gate_runs.run(random.Random(rank), 10, QUIET))
    for other, missing in (("b", 1), ("c", 2)):
        gate = ks.diff(tmp_path / "a", tmp_path / other).gate()
        assert gate.outcome == "unknown"
        found = {row[0]: row[1:] for row in gate.select("rank", "status", "note").rows()}
        assert found[missing] == ("unknown", "a run lacks this rank")
        assert found[0][0] == "same"
        assert ks.diff(tmp_path / "a", tmp_path / other).gate(allow_unknown=True).passed


def test_a_metric_that_is_asked_for_twice_counts_once(before: ks.Trace, after: ks.Trace) -> None:
    gate = ks.diff(before, after).gate(metrics=["operator:aten::mm", "operator:*"])
    names = [name for (name,) in gate.select("metric").rows()]
    assert len(names) == len(set(names))
    once = ks.diff(before, after).gate(metrics="operator:*")
    assert dict(gate.select("metric", "noise_share").rows()) == dict(once.select("metric", "noise_share").rows())


def test_the_headline_counts_noisy_metrics() -> None:
    quiet, loud = gate_runs.run(random.Random(1), 2, QUIET), gate_runs.run(random.Random(2), 2, QUIET, {"aten::mm": 2})
    gate = ks.diff(ks.read(quiet), ks.read(loud)).gate()
    assert row(gate)["status"] == "noisy"
    assert gate.headline == "passed: 1 metric, 1 of them noisy"


def test_the_digest_tells_the_rank_that_became_slower(tmp_path: Path) -> None:
    for side, slower in (("a", None), ("b", {"aten::mm": 1.5})):
        for rank in range(2):
            path = tmp_path / side / f"rank{rank}.pt.trace.json"
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(gate_runs.run(random.Random(rank), 10, QUIET, slower if rank else None))
    digest = ks.diff(tmp_path / "a", tmp_path / "b").digest()
    assert "The step of rank 1 is 1." in digest
    assert "as long as before" not in digest


def test_device_work_without_launches_is_of_no_operator(data: Path, tmp_path: Path) -> None:
    whole = data / "transformer_cuda/kineto_trace_0.json.gz"
    document = json.loads(gzip.decompress(whole.read_bytes()))
    calls = {"cuda_runtime", "cuda_driver", "ac2g"}
    events = [event for event in document["traceEvents"] if event.get("cat") not in calls]
    for event in events:
        if event.get("cat") in {"kernel", "gpu_memcpy", "gpu_memset"}:
            event["args"].pop("External id", None)
    path = tmp_path / "no_launches.json"
    path.write_text(json.dumps({**document, "traceEvents": events}))
    gate = ks.diff(whole, path).gate(metrics=["operator:aten::mm", "module:*", "device"], allow_unknown=True)
    values = dict(gate.select("metric", "after_value").rows())
    assert values["device"] > 0
    assert values["operator:aten::mm"] is values["module:*"] is None
    assert "the file has no launches" in str(gate)


def test_the_headline_counts_unknown_metrics_in_all_forms(before: ks.Trace, tmp_path: Path) -> None:
    gate = ks.diff(before, before).gate(metrics="memory", allow_unknown=True)
    headline = "passed: 1 metric, 1 of them unknown"
    assert gate.headline == headline
    assert ks.diff(before, before).gate(metrics=["step", "memory"], allow_unknown=True).headline == (
        "passed: 2 metrics, 1 of them unknown"
    )
    assert before.check(peak_memory="1 GiB", allow_unknown=True).headline == "passed: 1 budget, 1 of them unknown"
    assert gate.to_dict()["headline"] == headline
    for extension in (".xml", ".md", ".json", ".txt"):
        assert headline in gate.save(tmp_path / f"gate{extension}").read_text(encoding="utf-8"), extension
    assert headline in gate._repr_html_()
