"""Markers of iterations: the profiler, a serving engine, or events that the user names."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope._cli.main import main

pytestmark = pytest.mark.unit

CAPTURES = "capture_*"


def step(name: str, start_us: int) -> list[dict[str, Any]]:
    """A range, and the sampling after it."""
    common = {"ph": "X", "pid": 1, "tid": 1}
    return [
        {**common, "cat": "user_annotation", "name": name, "ts": start_us, "dur": 50},
        {**common, "cat": "cpu_op", "name": "aten::argmax", "ts": start_us + 60, "dur": 10},
    ]


@pytest.fixture
def engine(tmp_path: Path) -> Path:
    """A prefill and two decode steps of vLLM."""
    names = ["execute_context_2(48)_generation_0(0)", *["execute_context_0(0)_generation_2(2)"] * 2]
    events = [event for place, name in enumerate(names) for event in step(name, 100 * place)]
    path = tmp_path / "engine.json"
    path.write_text(json.dumps({"traceEvents": events}))
    return path


@pytest.fixture
def decode(data: Path) -> Path:
    return data / "decode_cuda/kineto_trace_0.json.gz"


def names(trace: ks.Trace) -> list[str]:
    """The names of the events that mark iterations."""
    by_id = dict(trace.events.select("id", "name").rows())
    return [by_id[event] for (event,) in trace.iterations.select("event_id").rows()]


def test_steps_of_an_engine_have_phases(engine: Path) -> None:
    rows = ks.read(engine).iterations.select("iteration", "dur_ns", "marker", "phase", "num_requests").rows()
    assert rows == [
        (0, 100_000, "engine", "prefill", 2),
        (1, 100_000, "engine", "decode", 2),
        (2, 70_000, "engine", "decode", 2),
    ]
    columns = ["num_context_tokens", "num_generated_tokens", "num_kv_tokens"]
    assert ks.read(engine).iterations.select(*columns).rows() == [(48, 0, None), (0, 2, None), (0, 2, None)]


def test_an_engine_s_step_is_an_iteration_for_analyses(engine: Path) -> None:
    trace = ks.read(engine)
    assert trace.operators(iteration=1).select("name", "count").rows() == [("aten::argmax", 1)]
    assert trace.summary().data["iteration_time"]["count"] == 3
    assert "execute_context_2(48)_generation_0(0)" in str(trace.summary())


def test_the_breakdown_sums_phases(engine: Path) -> None:
    phases = ks.read(engine).breakdown().tables["phases"]
    assert phases.select("phase").rows() == []  # there is no device


def test_phases_of_a_recorded_server(data: Path) -> None:
    trace = ks.read(data / "decode_cuda/serving/kineto_trace_0.json.gz")
    phases = trace.breakdown(observed=True).tables["phases"]
    columns = ["phase", "num_iterations", "span_ns", "output_token_ns"]
    for phase, count, span_ns, output_token_ns in phases.select(*columns).rows():
        durations = [dur for dur, found in trace.iterations.select("dur_ns", "phase").rows() if found == phase]
        assert (count, span_ns) == (len(durations), sum(durations))
        assert output_token_ns == (span_ns // count if phase in {"decode", "mixed"} else None)
    assert {"prefill", "decode"} <= {phase for (phase,) in phases.select("phase").rows()}


def test_redacted_steps_stay_steps(engine: Path) -> None:
    trace = ks.read(engine)
    assert trace.redact().iterations.rows() == trace.iterations.rows()


def test_the_user_names_the_events(decode: Path) -> None:
    captures = ks.read(decode, iterations=CAPTURES)
    assert sorted(names(captures)) == ["capture_1", "capture_2", "capture_4"]
    assert {marker for (marker,) in captures.iterations.select("marker").rows()} == {"user"}
    assert len(captures.breakdown().select("iteration").rows()) == 3
    assert names(ks.read(decode, iterations=["capture_1", "capture_4"])) == ["capture_4", "capture_1"]


def test_the_names_stay_with_the_trace(decode: Path, tmp_path: Path) -> None:
    captures = ks.read(decode, iterations=CAPTURES)
    captures.save(tmp_path / "saved")
    captures.to_chrome(tmp_path / "trace.json")
    copies = [ks.read(tmp_path / "saved"), ks.read(tmp_path / "trace.json"), captures.trim(iteration=0)]
    assert [names(copy) for copy in copies] == [names(captures), names(captures), ["capture_4"]]


def test_a_cached_trace_is_marked_anew(decode: Path, tmp_path: Path) -> None:
    found = [names(ks.read(decode, iterations=name, cache=tmp_path)) for name in (CAPTURES, None, "capture_1")]
    assert [len(each) for each in found] == [3, 1, 1]


def test_each_trace_of_a_job_is_marked(engine: Path, tmp_path: Path) -> None:
    folder = tmp_path / "job"
    folder.mkdir()
    for rank in range(2):
        (folder / f"rank{rank}.json").write_bytes(engine.read_bytes())
    with tarfile.open(tmp_path / "job.tar", "w") as archive:
        archive.add(folder, "job")
    pattern = "*generation_2(2)"
    for job in [ks.read_dir(folder, iterations=pattern), ks.read(tmp_path / "job.tar", iterations=pattern)]:
        assert isinstance(job, ks.TraceSet)
        assert [len(job[rank].iterations) for rank in job.ranks] == [2, 2]


def test_a_redacted_trace_keeps_the_user_s_iterations(decode: Path) -> None:
    captures = ks.read(decode, iterations=CAPTURES)
    redacted = captures.redact()
    assert redacted.iterations.rows() == captures.iterations.rows()
    assert not any("capture" in name for name in names(redacted))


def test_names_that_no_event_has_are_refused(decode: Path) -> None:
    with pytest.raises(ks.TraceError, match=r'expected host events with a name like one of \["x\*"\], found none'):
        ks.read(decode, iterations="x*")


def test_the_command_line_takes_names(decode: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--iterations", "capture_1", "--iterations", "capture_2", "--json"]
    assert main(["analyze", "breakdown", str(decode), *arguments]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 2
