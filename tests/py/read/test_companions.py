"""Traces of other tools lie beside a trace of PyTorch on one time axis, and are no ranks."""

from __future__ import annotations

import gzip
import json
import shutil
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

import kinetoscope as ks
import pytest
from kinetoscope._analysis.session import TimelineSession

if TYPE_CHECKING:
    from kinetoscope._load.companions import CompanionAlign

pytestmark = pytest.mark.unit

FOLDER = Path(__file__).resolve().parents[2] / "data/viztracer_cpu"
TORCH, VIZTRACER = FOLDER / "torch.json.gz", FOLDER / "viztracer.json.gz"
STEPS = [("load", 1_000, 400), ("forward", 1_500, 900), ("load", 3_000, 700), ("forward", 3_900, 1_100)]


def content(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    return found


def packed(found: dict[str, Any]) -> bytes:
    return json.dumps(found).encode()


def without_base() -> bytes:
    """The trace of VizTracer on a clock that starts with the machine, as older versions write it."""
    found = content(VIZTRACER)
    del found["viztracer_metadata"]["baseTimeNanoseconds"]
    return packed(found)


def torch_trace(steps: list[tuple[str, int, int]], pid: int = 7, rank: int | None = None) -> bytes:
    events = [event(pid, name, start, dur, "user_annotation") for name, start, dur in steps]
    header = {} if rank is None else {"distributedInfo": {"rank": rank, "world_size": 2}}
    kernel = event(pid, "aten::mm", 1_600, 10, "cpu_op")
    return packed({"schemaVersion": 1, **header, "traceEvents": [*events, kernel]})


def viztracer(steps: list[tuple[str, int, int]], pid: int = 7) -> bytes:
    events = [event(pid, f"{name} (train.py:9)", start, dur, "FEE") for name, start, dur in steps]
    return packed({"traceEvents": events, "viztracer_metadata": {"version": "1.1.1"}})


def event(pid: int, name: str, start: int, dur: int, category: str) -> dict[str, Any]:
    return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": pid, "ts": start, "dur": dur}


def later(steps: list[tuple[str, int, int]], us: int) -> list[tuple[str, int, int]]:
    return [(name, start + us, dur) for name, start, dur in steps]


def starts(trace: ks.Trace, name: str) -> list[int]:
    rows = trace.events.select("name", "start_ns").rows()
    return sorted(start for each, start in rows if each == name or str(each).startswith(f"{name} ("))


@pytest.mark.parametrize("base", [True, False], ids=["absolute clock", "clock of the machine"])
def test_viztracer_lies_beside_the_trace_of_the_same_steps(*, base: bool) -> None:
    trace = ks.read([TORCH, VIZTRACER if base else without_base()])
    (beside,) = trace.companions
    assert (beside.tool, beside.align) == ("VizTracer", "annotations")
    assert beside.num_matches >= 14
    assert beside.spread_ns is not None
    assert beside.spread_ns < 100_000
    # VizTracer also has the step before the recording
    pairs = zip(starts(trace, "forward"), starts(beside.trace, "forward")[-3:], strict=True)
    assert all(abs(here - there) < 1_000_000 for here, there in pairs)
    both = ks.read([VIZTRACER, TORCH])
    assert both.title == TORCH.name
    assert both.num_events == ks.read(TORCH).num_events


def test_clocks_from_1970_count_without_common_annotations() -> None:
    found = content(VIZTRACER)
    for row in found["traceEvents"]:
        if row["ph"] == "X":
            row["name"] = "evaluate (evaluate.py:3)"
    (beside,) = ks.read([TORCH, packed(found)]).companions
    assert (beside.align, beside.offset_ns, beside.spread_ns) == ("recorded", 0, None)
    found["viztracer_metadata"]["baseTimeNanoseconds"] += 3_600_000_000_000
    with pytest.raises(ks.TraceError, match=r"whose times overlap.* found traces that are 3[56][0-9]{2} s apart"):
        ks.read([TORCH, packed(found)])


def test_the_caller_may_choose_the_offset() -> None:
    main, other = torch_trace(STEPS), viztracer(later(STEPS, 50))
    (found,) = ks.read([main, other]).companions
    assert (found.offset_ns, found.spread_ns, found.num_matches, found.num_common) == (-50_000, 0, 4, 4)
    (given,) = ks.read([main, other], align={"offset_ns": 70}).companions
    assert (given.align, given.offset_ns) == ("offset", 70)
    assert starts(given.trace, "load")[0] == 1_050_070
    (recorded,) = ks.read([main, other], align="recorded").companions
    assert starts(recorded.trace, "load")[0] == 1_050_000
    for wrong in ("clocks", {"offset_ns": 1.5}, {"offset": 1}):
        with pytest.raises(ks.TraceError, match='align of "annotations", "recorded" or'):
            ks.read([main, other], align=wrong)  # type: ignore[arg-type] # the point of the test
    with pytest.raises(ValueError, match=r"expected a list of files with align"):
        ks.read(main, align="recorded")


@pytest.mark.parametrize(
    ("other", "found"),
    [
        ([("eval", 0, 5)], "found none"),
        ([("load", 1_200, 400)], r"found one, \"load\", which gives"),
        (
            [("load", 1_000, 400), ("forward", 1_600, 900), ("load", 9_000, 700), ("forward", 9_300, 90)],
            "2 of 4|1 of 4",
        ),
    ],
    ids=["none", "one", "contradicting"],
)
def test_an_unsure_offset_is_an_error(other: list[tuple[str, int, int]], found: str) -> None:
    with pytest.raises(ks.TraceError, match=found):
        ks.read([torch_trace(STEPS), viztracer(other)])


def test_a_periodic_annotation_with_a_missing_step_fits_several_offsets() -> None:
    steps = [("step", 1_000 * at, 500) for at in range(8)]
    with pytest.raises(ks.TraceError, match=r"fit one offset alone.* and no fewer at"):
        ks.read([torch_trace(steps), viztracer(later(steps[1:], 5_000))])


def steps_after(gaps: list[int]) -> list[tuple[str, int, int]]:
    ends = accumulate(gaps, initial=1_000)
    return [("step", start, 50) for start in ends]


UNEVEN = [910, 1_480, 530, 1_170, 760, 1_390, 620, 1_050, 1_260, 840, 570]
ALIKE = [1_010, 985, 1_022, 990, 1_003, 1_018, 978, 996, 1_009, 1_015, 987]


@pytest.mark.parametrize("num_more", [0, 1, 3])
def test_each_recording_may_have_steps_of_its_own(num_more: int) -> None:
    steps = steps_after(UNEVEN)
    shifted = later(steps[2:], 7_000)
    (found,) = ks.read([torch_trace(steps[: 8 + num_more]), viztracer(shifted)]).companions
    assert (found.offset_ns, found.spread_ns) == (-7_000_000, 0)
    (found,) = ks.read([torch_trace(shifted), viztracer(steps[: 8 + num_more])]).companions
    assert (found.offset_ns, found.spread_ns) == (7_000_000, 0)


def test_steps_that_are_nearly_alike_fit_several_offsets() -> None:
    steps = steps_after(ALIKE)
    with pytest.raises(ks.TraceError, match=r"fit one offset alone.* and no fewer at"):
        ks.read([torch_trace(steps[:10]), viztracer(later(steps[2:], 7_000))])


@pytest.mark.parametrize("gaps", [UNEVEN, ALIKE, [1_000] * 11], ids=["uneven", "alike", "periodic"])
def test_on_one_clock_the_least_offset_counts(gaps: list[int]) -> None:
    steps = steps_after(gaps)
    base = {"baseTimeNanoseconds": 1_790_000_000_000_000_000}
    main = packed({**json.loads(torch_trace(steps[:10])), **base})
    other = json.loads(viztracer(later(steps[2:], 3)))
    other["viztracer_metadata"] |= base
    (found,) = ks.read([main, packed(other)]).companions
    assert (found.align, found.offset_ns, found.num_matches) == ("annotations", -3_000, 8)


def test_the_timeline_shows_both_and_analyses_the_trace_of_pytorch() -> None:
    alone, trace = ks.read(TORCH), ks.read([TORCH, VIZTRACER])
    session = TimelineSession(trace.on_screen(), None)
    parts = session._overview["parts"]
    assert [part["name"] for part in parts] == ["PyTorch", "VizTracer"]
    assert ["companion" in part for part in parts] == [False, True]
    groups = [group["name"] for group in session._overview["groups"] if group["kind"] == "trace"]
    assert groups == ["PyTorch", "VizTracer"]
    assert "VizTracer" in session.picture(900)
    assert trace.summary() is not None
    assert trace.operators().rows() == alone.operators().rows()
    assert session._overview["typical_part"] is None


def test_the_report_shows_both_and_tells_how_they_were_placed(tmp_path: Path) -> None:
    trace = ks.read([TORCH, VIZTRACER])
    page = trace.report(tmp_path / "report.html").read_text()
    assert page.count('class="ks-snapshot"') == 2
    assert "a trace of VizTracer, placed by" in page
    assert "common annotations (spread" in page
    alone = ks.read(TORCH).report(tmp_path / "alone.html", static=True).read_text()
    static = trace.report(tmp_path / "static.html", static=True).read_text()
    assert static.count("<table") == alone.count("<table")
    private = trace.redact()
    assert [each.tool for each in private.companions] == ["VizTracer"]
    assert not any("companion.py" in name for (name,) in private.companions[0].trace.events.select("name").rows())


def test_a_companion_is_no_rank(tmp_path: Path) -> None:
    shutil.copy(TORCH, tmp_path / "rank0.json.gz")
    shutil.copy(VIZTRACER, tmp_path / "viztracer.json.gz")
    job = ks.read_dir(tmp_path)
    (trace,) = job
    assert [each.tool for each in trace.companions] == ["VizTracer"]
    assert [part.trace.title for part in job.on_screen()] == ["rank0.json.gz", "viztracer.json.gz"]
    (tmp_path / "other.json").write_bytes(viztracer([("eval", 0, 5)]))
    assert "the trace of another tool: expected" in ks.read_dir(tmp_path).skipped["other.json"]


def test_each_rank_gets_the_trace_of_its_process() -> None:
    ranks = [torch_trace(later(STEPS, 10 * rank), 40 + rank, rank) for rank in range(2)]
    others = [viztracer(later(STEPS, 900 + rank), 40 + rank) for rank in (1, 0)]
    job = ks.read([*ranks, *others])
    assert isinstance(job, ks.TraceSet)
    assert job.ranks == [0, 1]
    assert len(job) == 2
    assert [each.offset_ns for trace in job for each in trace.companions] == [-900_000, -891_000]
    assert [rank for rank, _ in job.chosen(None)] == [0, 1]
    session = TimelineSession(job.on_screen(), "recorded")
    names = [group["name"] for group in session._overview["groups"] if group["kind"] == "trace"]
    assert names == ["rank 0", "rank 1", "VizTracer · rank 0", "VizTracer · rank 1"]
    with pytest.raises(ks.TraceError, match="expected the process of one of the ranks"):
        ks.read([*ranks, viztracer(STEPS, 99)])


@pytest.mark.parametrize(
    ("other", "tool"),
    [
        ("jax_cuda/recorder.trace.json.gz", "XLA's profiler (JAX, TensorFlow or PyTorch/XLA)"),
        ("proton_cuda/trace.chrome_trace", "Triton's profiler Proton"),
        ("synthetic_nsight/nsys_0.sqlite", "Nsight Systems"),
        ("synthetic_rocm/trace.rpd", "ROCm's profiler"),
    ],
)
def test_files_of_every_tool_may_be_placed(other: str, tool: str) -> None:
    main = ks.read(TORCH)
    placements: list[tuple[CompanionAlign, int]] = [("recorded", 0), ({"offset_ns": 7}, 7)]
    traces = [ks.read([TORCH, FOLDER.parent / other], align=align, ranks="merge") for align, _ in placements]
    (recorded,), (beside,) = (trace.companions for trace in traces)
    assert [(one.tool, one.offset_ns) for one in (recorded, beside)] == [(tool, found) for _, found in placements]
    assert {trace.num_events for trace in traces} == {main.num_events}
    again = main.with_companion(beside.trace, align={"offset_ns": -7}).companions[0]
    assert again.offset_ns == 0


def test_traces_of_one_other_tool_are_a_job() -> None:
    first, second = (viztracer(later(STEPS, us)) for us in (0, 5))
    job = ks.read([first, second])
    assert isinstance(job, ks.TraceSet)
    assert len(job) == 2
    with pytest.raises(ValueError, match="at least one trace"):
        ks.read([])
    with pytest.raises(ValueError, match="expected one file with et"):
        ks.read([first, second], iteration=1)
