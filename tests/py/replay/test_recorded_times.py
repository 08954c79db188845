"""Recorded times beside those of a replay and in benchmarks: those without the observer, where there are any."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope.replaying.operators.ordinary_times import IterationKinds, ordinary_times
from kinetoscope.replaying.operators.recorded import operators
from kinetoscope.replaying.operators.result import OperatorReplay
from kinetoscope.replaying.operators.unit import UnitChoice, units
from support.observed_steps import written

OBSERVED = "the observer of the Execution Trace ran at all recorded times"


def planned(job: Any) -> OperatorReplay:
    found = ks.replay(job, dry_run=True)
    assert isinstance(found, OperatorReplay)
    return found


RELU, NEG, EXP = ("aten::relu", 4), ("aten::neg", 4), ("aten::exp", 8)


def test_times_are_those_of_the_same_calls_without_the_observer(tmp_path: Path) -> None:
    slow = [(*RELU, 40), (*NEG, 40), (*RELU, 40)]
    result = planned(written(tmp_path, slow, [(*RELU, 4), (*NEG, 3), (*RELU, 6)], [(*RELU, 2), (*NEG, 5), (*RELU, 8)]))
    assert dict(result.select("name", "recorded_ns").rows()) == {"aten::relu": 10_000, "aten::neg": 4000}
    assert (
        result.notes[0]
        == "recorded times are means of iterations 1 to 2, without the observer: 3 calls at the same place"
    )


def test_the_observed_iteration_may_be_the_last(tmp_path: Path) -> None:
    result = planned(written(tmp_path, [(*RELU, 4)], [(*RELU, 6)], [(*RELU, 40)], observed=2))
    assert result.select("recorded_ns").rows() == [(5000,)]


def test_calls_of_the_same_shapes_stand_for_a_call(tmp_path: Path) -> None:
    slow = [(*RELU, 40), (*NEG, 40), (*EXP, 40), (*EXP, 60)]
    result = planned(written(tmp_path, slow, [(*EXP, 3), (*NEG, 2), (*NEG, 2), (*RELU, 4), (*RELU, 6)]))
    assert dict(result.select("name", "recorded_ns").rows()) == {
        "aten::relu": 5000,
        "aten::neg": 2000,
        "aten::exp": 6000,
    }
    assert "of the same name and shapes" in result.notes[0]


def test_a_call_that_only_the_observed_iteration_has_keeps_its_time(tmp_path: Path) -> None:
    result = planned(written(tmp_path, [(*RELU, 40), (*EXP, 50)], [(*RELU, 4)]))
    assert dict(result.select("name", "recorded_ns").rows()) == {"aten::relu": 4000, "aten::exp": 50_000}
    assert result.notes[:2] == [
        "recorded times are means of iteration 1, without the observer: 1 call at the same place",
        "1 call is in no such iteration: the observer ran at the recorded time, and it makes host times too long",
    ]


def test_a_recording_under_the_observer_says_so(data: Path, tmp_path: Path) -> None:
    of_host = planned(data / "minimal_cpu").notes
    assert f"{OBSERVED}: it makes host times too long" in of_host
    assert f"{OBSERVED}: it slows the host, not the device" in planned(data / "transformer_cuda").notes
    assert planned(written(tmp_path, [(*RELU, 40)])).select("recorded_ns").rows() == [(40_000,)]


def test_times_of_a_recorded_step(data: Path) -> None:
    trace = ks.read_dir(data / "transformer_cpu")[0]
    kinds = IterationKinds.of(trace)
    assert (kinds.observed, kinds.ordinary) == ({1}, {2, 3})
    original = units(trace, UnitChoice())
    found, notes = ordinary_times(trace, original)
    assert notes[0].startswith("recorded times are means of iterations 2 to 3, without the observer")
    durations = {row[0]: row[1:] for row in trace.events.select("id", "node_id", "iteration", "dur_ns").rows()}
    of_node: dict[int, list[int]] = {}
    for node_id, iteration, dur_ns in durations.values():
        if iteration in {2, 3} and node_id is not None:
            of_node.setdefault(node_id, []).append(dur_ns)
    known = [unit for unit in found if unit.node_id in of_node]
    assert len(known) > 0.9 * len(found)
    assert all(unit.dur_ns == round(sum(of_node[unit.node_id]) / len(of_node[unit.node_id])) for unit in known)
    observed = {unit.node_id: unit.dur_ns or 0 for unit in original}
    assert sum(unit.dur_ns or 0 for unit in known) < sum(observed[unit.node_id] for unit in known)


def test_iterations_beside_an_observed_one_do_not_count(tmp_path: Path) -> None:
    trace = written(tmp_path, [(*RELU, 40)], [(*RELU, 4)], [(*RELU, 6)])
    path = tmp_path / "kineto_trace_0.json"
    events = json.loads(path.read_text())["traceEvents"]
    for event in events:
        if event["name"] == "ProfilerStep#1":
            event |= {"ts": 850, "tid": 2}
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    assert IterationKinds.of(trace).ordinary == {1, 2}
    assert IterationKinds.of(ks.read_dir(tmp_path)[0]).ordinary == {2}


# --- benchmarks ---------------------------------------------------------------------------------------------------


def test_a_benchmark_has_times_without_the_observer(data: Path) -> None:
    trace = ks.read_dir(data / "transformer_cpu")[0]
    rows = trace.events.select("name", "input_shapes", "iteration", "dur_ns").rows()
    found = trace.benchmark(name="aten::t")
    durations = [row[3] for row in rows if row[:2] == ("aten::t", found.shapes) and row[2] in {2, 3}]
    assert found.num_calls == len(durations)
    assert found.recorded_ns == pytest.approx(sum(durations) / len(durations))


def test_operators_of_the_observed_iteration_alone_come_last(tmp_path: Path) -> None:
    trace = written(tmp_path, [(*RELU, 40), (*EXP, 500), (*NEG, 300)], [(*NEG, 3), (*RELU, 4)], [(*NEG, 3), (*RELU, 4)])
    listed = [(each.name, each.num_calls, each.total_ns, each.is_observed) for each in operators(trace)]
    assert listed == [
        ("aten::relu", 2, 8000, False),
        ("aten::neg", 2, 6000, False),
        ("aten::exp", 1, 500_000, True),
    ]
    told = "the time without the observer of the Execution Trace: RECORDED_NS is longer"
    assert told in trace.benchmark(name="aten::exp").text
    assert told not in trace.benchmark(name="aten::relu").text


# --- the recording of a replay ------------------------------------------------------------------------------------


@pytest.mark.torch
def test_the_recording_of_a_replay_has_times_without_the_observer(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "trace").mkdir()
    written(tmp_path / "trace", [(*RELU, 40), (*NEG, 40)], [(*RELU, 4), (*NEG, 3)])
    result = ks.replay(tmp_path / "trace", profile=tmp_path / "again", num_replays=3, warmup_iter=0)
    assert isinstance(result, OperatorReplay)
    assert len(result.step_ns) == len(result.operators_ns) == 3
    again = ks.read_dir(tmp_path / "again")[0]
    assert [row[0] for row in again.iterations.select("is_observed").rows()] == [True, False, False, False]
    names = [row[0] for row in again.nodes.select("name").rows()]
    assert names.count("aten::relu") == 1, "one pass has nodes"
    changes = ks.diff(tmp_path / "trace", tmp_path / "again").tables["diff_operators"]
    counts = {row[0]: row[1:] for row in changes.select("name", "before_count", "after_count").rows()}
    assert counts["aten::relu"] == (1, 1)
