"""Analyses as Python offers them: by name and by method, over a part of a trace, over the traces of a job."""

from __future__ import annotations

import inspect
import json
from typing import TYPE_CHECKING

import kinetoscope as ks
import pytest
from kinetoscope import _native
from kinetoscope._analysis.job_methods import JobAnalyses

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.unit

REGISTRY = {entry["name"]: entry for entry in json.loads(_native.analyses_json())}

EVENTS = [
    {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "pid": 1, "tid": 1, "ts": 0, "dur": 30},
    {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#4", "pid": 1, "tid": 1, "ts": 30, "dur": 30},
    *(
        {
            "ph": "X",
            "cat": "cuda_runtime",
            "name": "cudaLaunchKernel",
            "pid": 1,
            "tid": 1,
            "ts": start,
            "dur": 1,
            "args": {"correlation": start},
        }
        for start in (5, 35)
    ),
    *(
        {
            "ph": "X",
            "cat": "kernel",
            "name": name,
            "pid": 0,
            "tid": stream,
            "ts": start + 22,
            "dur": 10,
            "args": {"correlation": start, "device": 0, "stream": stream},
        }
        for name, start, stream in (("gemm", 5, 7), ("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 35, 20))
    ),
]


def trace_of(folder: Path, name: str = "trace.json", **header: object) -> Path:
    path = folder / name
    path.write_text(json.dumps({"traceEvents": EVENTS, **header}))
    return path


def test_every_analysis_is_a_method_with_its_options() -> None:
    for name, entry in REGISTRY.items():
        method = getattr(JobAnalyses, name)
        parameters = inspect.signature(method).parameters
        given = {key: value.default for key, value in parameters.items() if key not in {"self", "part"}}
        assert given == {option["name"]: option["default"] for option in entry["options"]}, name
        assert inspect.getdoc(method), name


def test_numbers_of_numpy_are_numbers(tmp_path: Path) -> None:
    numpy = pytest.importorskip("numpy")
    trace = ks.read(trace_of(tmp_path))
    asked = trace.kernels(iteration=numpy.int64(4), launched_inside=numpy.bool_(True))
    assert asked.select("total_ns").rows() == [(3_000,)]
    with pytest.raises(ks.TraceError, match="expected a finite number as factor, found nan"):
        trace.critical_path(factor=numpy.float32("nan"))


def test_an_analysis_looks_at_a_part(tmp_path: Path) -> None:
    trace = ks.read(trace_of(tmp_path))
    whole = trace.kernels().select("name", "class", "total_ns").rows()
    assert whole == [
        ("gemm", "computation", 10_000),
        ("ncclDevKernel_AllReduce_Sum_f32_RING_LL", "communication", 10_000),
    ]
    assert trace.kernels(iteration=3).select("name", "total_ns").rows() == [("gemm", 3_000)]
    assert trace.kernels(iteration=4, launched_inside=True).select("total_ns").rows() == [(3_000,)]
    assert trace.kernels(stream=20).select("name").rows() == whole[1:2] or len(trace.kernels(stream=20)) == 1
    assert len(trace.kernels(start_ns=58_000)) == 1


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ({"iteration": 9}, r"one of the iterations \[3, 4\], found 9"),
        ({"stream": 1}, r"one of the streams \[7, 20\], found 1"),
        ({"iteration": 3, "start_ns": 0}, "a range or an iteration, found both"),
        ({"short_ns": -1}, "a whole number from 0 as short_ns, found -1"),
        ({"start_ns": "soon"}, 'an integer as start_ns, found "soon"'),
        ({"start_ns": 10, "end_ns": 5}, "a range that ends after its start, found 10 to 5"),
    ],
)
def test_what_cannot_be_asked_is_told(tmp_path: Path, request_: dict[str, object], words: str) -> None:
    with pytest.raises(ks.TraceError, match=words):
        ks.read(trace_of(tmp_path)).analyze("kernels", **request_)


def test_an_unknown_option_is_a_type_error(tmp_path: Path) -> None:
    trace = ks.read(trace_of(tmp_path))
    with pytest.raises(TypeError, match=r"one of the options \[\"short_ns\"\], found short"):
        trace.kernels(short=3)  # pyright: ignore[reportCallIssue] - the wrong name is the point
    with pytest.raises(TypeError, match="found colour"):
        trace.analyze("kernels", colour=1)


def test_an_unknown_analysis_names_the_others(tmp_path: Path) -> None:
    with pytest.raises(ks.TraceError, match=r"one of the analyses .*\"kernels\".*found horoscope"):
        ks.read(trace_of(tmp_path)).analyze("horoscope")


def test_no_answer_has_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "host.json"
    path.write_text('[{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": 0, "dur": 2}]')
    answer = ks.read(path).kernels()
    assert (len(answer), answer.reason) == (0, "no kernel, copy or fill was recorded")
    assert "no kernel, copy or fill was recorded" in repr(answer)


def test_a_job_answers_for_each_rank(tmp_path: Path) -> None:
    for rank in (0, 1):
        trace_of(tmp_path, f"kineto_trace_{rank}.json", distributedInfo={"rank": rank})
    kernels = ks.read_dir(tmp_path).kernels()
    assert kernels.columns[:3] == ["rank", "window", "name"]
    assert [row[:2] for row in kernels.select("rank", "total_ns").rows()] == [
        (0, 10_000),
        (0, 10_000),
        (1, 10_000),
        (1, 10_000),
    ]
    assert kernels.rows(1, 3)[1][0] == 1


def test_some_ranks_of_a_job_alone_are_looked_at(tmp_path: Path) -> None:
    for rank in (0, 1, 4):
        trace_of(tmp_path, f"kineto_trace_{rank}.json", distributedInfo={"rank": rank})
    job = ks.read_dir(tmp_path)

    def ranks(*, rank: int | list[int] | None) -> list[int]:
        return sorted({found for (found,) in job.kernels(rank=rank, stream=20).select("rank").rows()})

    assert (ranks(rank=None), ranks(rank=4), ranks(rank=[4, 0])) == ([0, 1, 4], [4], [0, 4])
    for unknown in (3, [0, 3]):
        with pytest.raises(ValueError, match=r"one or more of the ranks \[0, 1, 4\], found \[3\]"):
            job.kernels(rank=unknown)
    with pytest.raises(TypeError, match="found rank"):
        job[0].kernels(rank=0)


def test_a_summary_has_the_iterations_and_the_first_findings(tmp_path: Path) -> None:
    trace = ks.read(trace_of(tmp_path))
    data = trace.summary().data
    assert data["iteration_time"] == {"count": 2, "mean_ns": 30_000, "std_ns": 0.0, "slowest": 3, "slowest_ns": 30_000}
    assert [found["name"] for found in data["findings"]] == ["exposed_communication"]
    text = repr(trace.summary())
    assert "iterations 2 × 30" in text
    assert "exposed_communication" in text
    row = trace.analyze("summary").select("span_ns", "busy_share", "num_iterations", "num_findings").rows()[0]
    assert row == (67_000, 20 / 67, 2, 1)


def test_a_summary_of_a_job_has_a_row_for_each_rank(tmp_path: Path) -> None:
    for rank in range(2):
        trace_of(tmp_path, f"rank_{rank}.json", distributedInfo={"rank": rank})
    summary = ks.read_dir(tmp_path).summary(top=1)
    assert [row[0] for row in summary.rows()] == [0, 1]
    assert len(summary.tables["kernels"]) == 2
