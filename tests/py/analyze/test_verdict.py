"""The verdict on a recording, as `trace.verdict`, summary, doctor and report show it."""

from __future__ import annotations

import gzip
import json
import warnings
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope._analysis.doctor import diagnosis
from support.graph import rows

pytestmark = pytest.mark.unit


def _call(name: str, number: int, start: int) -> dict[str, Any]:
    args = {"correlation": number}
    return {"ph": "X", "cat": "cuda_runtime", "name": name, "pid": 9, "tid": 9, "ts": start, "dur": 10, "args": args}


def _kernel(name: str, number: int, start: int, duration: int) -> dict[str, Any]:
    args = {"device": 0, "stream": 7, "correlation": number}
    return {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": start, "dur": duration, "args": args}


def _operator(name: str, start: int) -> dict[str, Any]:
    return {"ph": "X", "cat": "cpu_op", "name": name, "pid": 9, "tid": 9, "ts": start, "dur": 40}


def _trace(folder: Path, events: list[dict[str, Any]], name: str = "trace.json") -> Path:
    path = folder / name
    path.write_text(json.dumps({"traceEvents": events}))
    return path


def _lossy(num_lost: int) -> list[dict[str, Any]]:
    """Ten kernel launches a millisecond apart, of which the last have no kernel."""
    events = []
    for number in range(1, 11):
        start = 1_000 * number
        events += [_operator("aten::mm", start), _call("cudaLaunchKernel", number, start + 10)]
        if number <= 10 - num_lost:
            events.append(_kernel("gemm", number, start + 50, 600))
    return events


@pytest.fixture
def lossy(tmp_path: Path) -> Path:
    return _trace(tmp_path, _lossy(4))


def test_a_trace_that_lost_work_is_incomplete(lossy: Path) -> None:
    verdict = ks.read(lossy).verdict
    assert verdict.state == "incomplete"
    (row,) = rows(verdict.problems)
    assert (row["problem"], row["state"], row["count"], row["num_all"]) == ("lost_device_work", "incomplete", 4, 10)
    assert (row["device"], row["stream"], row["start_ns"]) == (0, 7, 7_010_000)
    assert len(json.loads(row["event_ids"])) == 4
    text = "4 of 10 kernel launches at the end of the recording have no device work: its records were dropped"
    assert str(verdict) == f"incomplete\n{text} (device 0, stream 7)"


def test_a_complete_trace_has_no_problem(tmp_path: Path) -> None:
    verdict = ks.read(_trace(tmp_path, _lossy(0))).verdict
    assert (verdict.state, len(verdict.problems), str(verdict)) == ("complete", 0, "complete")
    assert verdict.problems.reason == "the recording has no known problem"


def test_the_verdict_comes_first_in_summary_and_doctor(lossy: Path) -> None:
    trace = ks.read(lossy)
    summary = trace.summary()
    assert summary.cards[0] == ("recording", "incomplete")
    assert summary.sections()[0].title == "Problems"
    lines = str(summary).splitlines()
    assert lines[0].startswith("trace.json: recording incomplete · ")
    assert lines[3].startswith("4 of 10 kernel launches at the end of the recording have no device work")
    assert "unknown" in summary.cards[-1].value
    first = diagnosis(trace)[0]
    assert (first.mark, first.advice) == ("incomplete", "synchronize the device before the profiler stops")
    html = summary._repr_html_()
    assert html.index("recording") < html.index("Problems") < html.index("Devices")


def test_doctor_calls_a_complete_recording_complete(tmp_path: Path) -> None:
    trace = ks.read(_trace(tmp_path, _lossy(0)))
    assert str(diagnosis(trace)).startswith("complete ")


def test_no_advice_switches_on_what_was_on(tmp_path: Path) -> None:
    """A file with launches was recorded with the device on."""
    lines = str(diagnosis(ks.read(_trace(tmp_path, _lossy(10)))))
    assert "10 of 10 kernel launches have no device work: the file has none of their records" in lines
    assert "ProfilerActivity" not in lines


def test_operators_whose_work_was_lost_have_no_device_time(lossy: Path, tmp_path: Path) -> None:
    partly = rows(ks.read(lossy).operators())
    assert [(row["device_total_ns"], row["device_self_ns"]) for row in partly] == [(6 * 600_000,) * 2]
    lost = ks.read(_trace(tmp_path, _lossy(10), "lost.json"))
    assert [(row["device_total_ns"], row["device_self_ns"]) for row in rows(lost.operators())] == [(None, None)]
    assert "unknown" in str(lost.summary())
    assert lost.events.select("name", "device_ns").rows(0, 1) == [("aten::mm", None)]


def test_parts_of_device_time_add_up(lossy: Path) -> None:
    trace = ks.read(lossy)
    (row,) = rows(trace.breakdown(per="selection"))
    parts = ("compute_ns", "exposed_communication_ns", "exposed_copy_ns", "exposed_other_ns", "idle_ns", "unknown_ns")
    assert sum(row[part] for part in parts) == row["span_ns"]
    assert row["unknown_ns"] == 3_030_000  # from the seventh launch to the end of the trace
    idle = {row["category"]: row["total_ns"] for row in rows(trace.idle())}
    assert idle["unknown"] == row["unknown_ns"]
    sets = {row["classes"]: row["total_ns"] for row in rows(trace.breakdown().tables["concurrency"])}
    assert sets["unknown"] == row["unknown_ns"]
    assert sum(sets.values()) == row["span_ns"]
    timeline = {row["type"]: row["total_ns"] for row in rows(trace.breakdown().tables["gpu_timeline"])}
    assert timeline["unknown_time"] == row["unknown_ns"]


def test_problems_of_a_selection_are_those_in_it(lossy: Path) -> None:
    trace = ks.read(lossy)
    assert len(trace.problems(end_ns=6_500_000)) == 0
    assert len(trace.problems(start_ns=6_500_000)) == 1


def test_a_job_has_the_worst_verdict_of_its_ranks(tmp_path: Path) -> None:
    for rank, num_lost in enumerate([0, 4, 0]):
        _trace(tmp_path, _lossy(num_lost), f"rank{rank}.pt.trace.json")
    verdict = ks.read_dir(tmp_path).verdict
    assert verdict.state == "incomplete"
    assert verdict.problems.select("rank", "count").rows() == [(1, 4)]
    assert str(verdict).splitlines()[1].startswith("rank 1: 4 of 10 kernel launches")


def test_the_report_begins_with_the_verdict(lossy: Path, tmp_path: Path) -> None:
    page = ks.read(lossy).report(tmp_path / "page.html").read_text()
    heading = page.index("Incomplete recording")
    assert heading < page.index('<dl class="ks-cards"') < page.index('id="time"')
    assert "4 of 10 kernel launches at the end of the recording" in page
    assert "Fix: synchronize the device before the profiler stops." in page
    complete = ks.read(_trace(tmp_path, _lossy(0), "all.json")).report(tmp_path / "all.html").read_text()
    assert "Complete recording." in complete


def test_pages_name_no_folder_of_the_machine(tmp_path: Path) -> None:
    folder = tmp_path / "secret-folder"
    folder.mkdir()
    (folder / "cut.json").write_text('{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1')
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trace = ks.read(folder / "cut.json")
    assert "secret-folder" not in trace.report(tmp_path / "page.html").read_text()
    (message,) = trace.verdict.problems.select("message").rows()[0]
    assert "cut.json" in message
    assert "secret-folder" not in message


@pytest.fixture
def truncated(data: Path, tmp_path: Path) -> ks.Trace:
    """A recording that ends before most of its device work."""
    whole = gzip.decompress((data / "transformer_cuda/kineto_trace_0.json.gz").read_bytes())
    path = tmp_path / "cut.json"
    path.write_bytes(whole[: len(whole) * 85 // 100])
    found = ks.read(path, et=False)
    assert isinstance(found, ks.Trace)
    return found


def test_a_truncated_file_is_never_idle(truncated: ks.Trace) -> None:
    assert truncated.verdict.state == "incomplete"
    breakdown = truncated.breakdown().select("busy_ns", "idle_ns", "unknown_ns", "span_ns").rows()
    assert breakdown
    assert all(idle == 0 and busy + unknown == span for busy, idle, unknown, span in breakdown)
    assert not {"long_idle", "launch_bound"} & {name for (name,) in truncated.findings().select("finding").rows()}
    assert truncated.check(idle="99 %").outcome == "unknown"


def test_device_time_of_a_file_without_its_end_is_unknown(data: Path, tmp_path: Path) -> None:
    whole = gzip.decompress((data / "transformer_cuda/kineto_trace_0.json.gz").read_bytes())
    path = tmp_path / "cut.json"
    path.write_bytes(whole[: whole.index(b'"cat": "kernel"')])
    trace = ks.read(path, et=False)
    for table in (trace.operators(), trace.modules()):
        assert {value for (value,) in table.select("device_total_ns").rows()} == {None}
    assert (
        trace.kernels().reason == "the file ends early: if device work ran, its records are missing (see the verdict)"
    )
    rules = dict(trace.findings().tables["finding_rules"].select("finding", "num_found").rows())
    assert rules["long_idle"] is None
    assert rules["recompilation"] is not None


@pytest.mark.parametrize("name", ["copy.json.gz", "copy.pftrace"])
def test_what_is_written_keeps_that_something_is_missing(truncated: ks.Trace, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    truncated.to_perfetto(path) if name.endswith(".pftrace") else truncated.to_chrome(path)
    again = ks.read(path)
    assert isinstance(again, ks.Trace)
    assert again.verdict.state == "incomplete"
    assert "truncated" in dict(again.health.select("kind", "count").rows())
    assert again.breakdown().rows() == truncated.breakdown().rows()
    assert again.metadata == truncated.metadata


def test_a_second_document_is_missing(lossy: Path) -> None:
    whole = _trace(lossy.parent, _lossy(0), "all.json").read_bytes()
    verdict = ks.read(whole + b"\n" + whole).verdict
    assert verdict.state == "incomplete"
    assert "a second document follows" in str(verdict)


def test_a_rank_that_lost_its_work_does_not_count_as_idle(tmp_path: Path) -> None:
    for rank, num_lost in enumerate([0, 0, 10]):
        _trace(tmp_path, _lossy(num_lost), f"rank{rank}.pt.trace.json")
    findings = ks.read_dir(tmp_path).findings().select("finding").rows()
    assert ("imbalanced_ranks",) not in findings


def test_a_file_of_a_job_keeps_which_rank_is_cut(data: Path, tmp_path: Path) -> None:
    whole = gzip.decompress((data / "transformer_cuda/kineto_trace_0.json.gz").read_bytes())
    for rank in range(2):
        text = whole[: len(whole) * 85 // 100] if rank else whole
        (tmp_path / f"rank{rank}.pt.trace.json").write_bytes(text)
    job = ks.read_dir(tmp_path)
    again = ks.read(job.to_chrome(tmp_path / "job.json"))
    assert isinstance(again, ks.TraceSet)
    assert [trace.verdict.state for trace in again] == [trace.verdict.state for trace in job]
    found = [of.breakdown().select("rank", "idle_ns", "unknown_ns").rows() for of in (job, again)]
    assert found[0] == found[1]
    assert {rank for rank, idle, _ in found[0] if idle} == {0}
