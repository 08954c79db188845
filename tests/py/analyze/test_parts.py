"""Parts of a trace by name: phases, annotations and modules, in Python and on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope import _native
from kinetoscope._cli.main import main

pytestmark = pytest.mark.unit


@pytest.fixture(scope="module")
def served(data: Path) -> ks.Trace:
    return ks.read(data / "decode_cuda/serving/kineto_trace_0.json.gz")


@pytest.fixture(scope="module")
def trained(data: Path) -> ks.Trace:
    return ks.read(data / "transformer_cuda/kineto_trace_0.json.gz")


def sums(table: ks.Table, *columns: str) -> list[int]:
    return [sum(values) for values in zip(*table.select(*columns).rows(), strict=True)]


def test_a_phase_has_the_iterations_of_its_name(served: ks.Trace) -> None:
    steps = served.iterations.select("phase", "dur_ns").rows()
    for phase in ("prefill", "decode"):
        (span_ns,) = sums(served.breakdown(per="selection", phase=phase, observed=True), "span_ns")
        assert span_ns == sum(dur for found, dur in steps if found == phase), phase
        launched = served.kernels(phase=phase, observed=True, launched_inside=True)
        assert len(launched), phase


def test_results_per_phase_add_up(served: ks.Trace) -> None:
    both = served.kernels(by="phase", observed=True)
    assert both.columns[0] == "phase"
    for phase in dict.fromkeys(both["phase"]):
        alone = served.kernels(phase=phase, observed=True)
        assert [row[1:] for row in both.rows() if row[0] == phase] == alone.rows()
    for analysis in ("breakdown", "operators", "roofline", "idle", "overlap", "modules", "findings"):
        assert "phase" in served.analyze(analysis, by="phase", observed=True).columns, analysis


def test_a_comparison_per_phase_has_a_step_of_each(served: ks.Trace) -> None:
    changes = ks.diff(served, served, by="phase", observed=True)
    steps = [row for row in changes.select("phase", "part", "change_ns").rows() if row[1] == "step"]
    assert steps == [("prefill", "step", 0), ("decode", "step", 0)]


def test_every_analysis_takes_a_part(trained: ks.Trace) -> None:
    for analysis in json.loads(_native.analyses_json()):
        trained.analyze(analysis["name"], annotation="ProfilerStep#*")


def test_an_annotation_has_what_it_launched(trained: ks.Trace) -> None:
    names = [name for name, side in trained.annotations().select("name", "side").rows() if side == "host"]
    (longest, *_) = names
    total = dict(trained.annotations().select("name", "device_total_ns").rows()[::-1])[longest]
    (found,) = sums(trained.kernels(annotation=longest, observed=True), "total_ns")
    assert found == total


def test_a_module_has_its_device_time(trained: ks.Trace) -> None:
    for module, device_ns in trained.modules().select("module", "device_total_ns").rows()[:5]:
        found = trained.kernels(module=module)
        assert (sums(found, "total_ns") if len(found) else [0]) == [device_ns], module


def test_parts_meet(trained: ks.Trace) -> None:
    first = trained.iterations["iteration"][0]
    one = trained.kernels(iteration=first, module="*", observed=True)
    every = trained.kernels(module="*", observed=True)
    assert 0 < sums(one, "count")[0] < sums(every, "count")[0]


def test_a_trace_is_cut_to_a_part(served: ks.Trace) -> None:
    first = next(number for number, phase in served.iterations.select("iteration", "phase").rows() if phase == "decode")
    cut = served.trim(iteration=first, phase="decode")
    assert 0 < cut.num_events < served.num_events


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"phase": "warm"}, r'a phase of these iterations, one of \["decode", "prefill"\]'),
        ({"annotation": "nothing*"}, "an annotation of the trace, one of"),
        ({"module": "Nothing_7"}, "a module of the trace"),
        ({"module": "a", "annotation": "b"}, "an annotation or a module, found both"),
        ({"phase": 3}, "a string as phase"),
    ],
)
def test_missing_parts_are_named(served: ks.Trace, part: dict[str, Any], message: str) -> None:
    with pytest.raises(ks.TraceError, match=message):
        served.kernels(**part)


def test_a_trace_without_phases_says_so(trained: ks.Trace) -> None:
    with pytest.raises(ks.TraceError, match="iterations with a phase, such as `decode`, found none"):
        trained.kernels(by="phase")


def test_a_part_whose_work_was_lost_is_not_said_to_have_none() -> None:
    events: list[dict[str, Any]] = []
    for step in range(4):
        host = {"ph": "X", "pid": 1, "tid": 1, "ts": 100 * step, "dur": 90}
        events.append({**host, "cat": "user_annotation", "name": f"ProfilerStep#{step}"})
        args = {"correlation": step + 1}
        events.append({**host, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "dur": 5, "args": args})
        if step:
            device = {"ph": "X", "pid": 0, "tid": 7, "ts": 100 * step + 9, "dur": 20, "args": args}
            events.append({**device, "cat": "kernel", "name": "gemm"})
    trace = ks.read(json.dumps({"traceEvents": events}).encode())
    parts: tuple[dict[str, Any], ...] = ({"iteration": 0}, {"annotation": "ProfilerStep#0"})
    for part in parts:
        found = trace.kernels(**part)
        assert len(found) == 0
        assert found.reason == "device work ran, but the file has none of its records (see the verdict)", part


def test_a_rank_may_lack_what_another_has(tmp_path: Path) -> None:
    def stage(rank: int) -> dict[str, Any]:
        event = {"ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": 9}
        annotation = {**event, "cat": "user_annotation", "name": f"stage_{rank}"}
        return {"traceEvents": [annotation, {**event, "cat": "cpu_op", "name": "aten::mm", "ts": 1, "dur": 2}]}

    for rank in range(2):
        (tmp_path / f"rank{rank}.json").write_text(json.dumps(stage(rank)))
    job = ks.read_dir(tmp_path)
    assert job.operators(annotation="stage_1").select("rank", "name").rows() == [(1, "aten::mm")]
    with pytest.raises(ks.TraceError, match="stage_0"):
        job.operators(annotation="stage_7")


def test_the_command_line_takes_parts(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = str(data / "decode_cuda/serving/kineto_trace_0.json.gz")
    assert main(["analyze", "operators", trace, "--by", "phase", "--observed", "--json"]) == 0
    assert {"prefill", "decode"} <= {row["phase"] for row in json.loads(capsys.readouterr().out)}
    assert main(["analyze", "kernels", trace, "--phase", "decode", "--observed", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)
    assert main(["trim", trace, "--phase", "decode", "-o", str(tmp_path / "cut.json")]) == 0
    assert ks.read(tmp_path / "cut.json").num_events
