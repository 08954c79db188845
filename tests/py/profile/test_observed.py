"""The iteration in which `ks.profile` lets the observer of the Execution Trace run, and what it costs."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope.profiling.pytorch import without_iteration
from support.recorded import iterations, observed, steps
from support.versions import needs_torch

torch = pytest.importorskip("torch")

pytestmark = [
    pytest.mark.torch,
    pytest.mark.usefixtures("nothing_left_running"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]

WINDOW: dict[str, Any] = {"wait": 1, "warmup": 1, "active": 2}


def work() -> None:
    y = torch.ones(8)
    for _ in range(300):
        y = y.add(1)


def loop(prof: ks.profile, number: int) -> None:
    for _ in range(number):
        work()
        prof.step()


def test_without_a_warm_up_an_iteration_is_added(tmp_path: Path) -> None:
    with ks.profile(tmp_path, wait=1, active=2) as prof:
        loop(prof, 6)
    assert steps(prof.files[0]) == {"ProfilerStep#1", "ProfilerStep#2", "ProfilerStep#3"}
    assert steps(prof.files[1]) == {"ProfilerStep#1"}


def test_both_traces_cover_the_same_iterations_on_request(tmp_path: Path) -> None:
    with ks.profile(tmp_path, **WINDOW, execution_trace="same") as prof:
        loop(prof, 6)
    assert steps(prof.files[0]) == steps(prof.files[1]) == {"ProfilerStep#2", "ProfilerStep#3"}
    assert [number for number, *_ in prof.trace.iterations.rows()] == [2, 3]


def test_torchs_averages_leave_the_observed_iteration_out(tmp_path: Path) -> None:
    counts = {}
    for execution_trace in (True, "same", False):
        with ks.profile(tmp_path, **WINDOW, execution_trace=execution_trace) as prof:
            loop(prof, 6)
        rows = prof.key_averages()
        counts[execution_trace] = {row.key: row.count for row in rows if row.key.startswith("aten::")}
        assert "aten::add" in rows.table(sort_by="self_cpu_time_total")
    assert counts[True] == counts["same"] == counts[False]


def test_events_of_a_device_leave_the_observed_iteration_out() -> None:
    """The device is late: its kernels of an iteration run during the next one on the host."""

    def event(name: str, start: int, end: int, stream: int | None = None) -> SimpleNamespace:
        device = torch.autograd.DeviceType.CPU if stream is None else torch.autograd.DeviceType.CUDA
        place = {"device_type": device, "device_index": 0, "device_resource_id": stream or 0}
        return SimpleNamespace(trace_name=name, time_range=SimpleNamespace(start=start, end=end), **place)

    kept = [
        *(event("ProfilerStep#2", 10, 20), event("aten::add", 11, 19)),
        *(event("ProfilerStep#2", 25, 30, 7), event("kernel", 25, 29, 7)),
        *(event("kernel", 14, 16, 20), event("ProfilerStep#2", 14, 16, 20)),
    ]
    left_out = [
        *(event("ProfilerStep#1", 0, 10), event("aten::add", 1, 9)),
        *(event("ProfilerStep#1", 15, 25, 7), event("kernel", 15, 20, 7)),
        *(event("ProfilerStep#1", 3, 5, 20), event("kernel", 3, 5, 20), event("memset", 3, 5, 9)),
    ]
    assert without_iteration([*left_out, *kept], 1) == kept
    assert without_iteration(left_out, 1) == left_out, "it is the only iteration"


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_an_error_in_the_observed_iteration_leaves_what_was_recorded(
    tmp_path: Path, error: type[BaseException]
) -> None:
    def fail() -> None:
        with prof:
            loop(prof, 1)
            work()
            raise error

    prof = ks.profile(tmp_path, wait=1, active=100)
    with pytest.raises(error):
        fail()
    assert steps(prof.files[0]) == steps(prof.files[1]) == {"ProfilerStep#1"}


def test_results_and_overhead_tell_the_observer_from_the_rest(tmp_path: Path) -> None:
    with ks.profile(tmp_path, wait=2, warmup=1, active=4) as prof:
        loop(prof, 8)
    trace, overhead = prof.trace, prof.overhead
    assert (observed(trace), iterations(trace)) == ([2], [3, 4, 5, 6])
    adds = {row[0]: row[1] for row in trace.operators().select("name", "count").rows()}["aten::add"]
    all_adds = dict(trace.operators(observed=True).select("name", "count").rows())["aten::add"]
    assert (adds, all_adds) == (4 * 300, 5 * 300)
    assert overhead.inflation is not None
    assert overhead.inflation > 1.5  # measured: 5 to 15
    assert "with the Execution Trace observer" in str(overhead)
    operators = trace.coverage["operators"]
    assert operators["num_linked"] > 0.99 * operators["count"]
    summary = trace.summary()
    assert [row["iteration"] for row in summary.data["iterations"]] == [3, 4, 5, 6]
    assert "iterations 4 ×" in summary.headline
    assert "(without 1 observed)" in summary.headline
    assert any("1 of 5 iterations ran with the Execution Trace observer" in found.message for found in prof.diagnosis)


def test_a_recording_that_is_observed_throughout_says_so(tmp_path: Path) -> None:
    with ks.profile(tmp_path, wait=2, warmup=1, active=2, execution_trace="same") as prof:
        loop(prof, 6)
    (remark,) = (found for found in prof.diagnosis if "ran with the Execution Trace observer" in found.message)
    assert "2 of 2 iterations" in remark.message
    assert "without it)" in remark.message
    assert prof.overhead.recording_ns is None
    assert "2 of 2 iterations ran with the Execution Trace observer" in repr(trace_summary := prof.trace.summary())
    assert trace_summary.data["problems"][0]["is_shown"]


def test_a_loop_that_ends_as_the_observed_iteration_begins_leaves_no_window(tmp_path: Path) -> None:
    with ks.profile(tmp_path, warmup=1, active=1, repeat=0) as prof:
        loop(prof, 4)
    assert [(observed(trace), iterations(trace)) for trace in prof.traces] == [([0], [1]), ([2], [3])]


def test_a_report_says_how_many_iterations_it_leaves_out(tmp_path: Path) -> None:
    with ks.profile(tmp_path, warmup=1, active=3) as prof:
        loop(prof, 5)
    page = prof.trace.report(tmp_path / "report.html", static=True).read_text()
    assert re.search(r"mean of 3 iterations ± [^<]*, without 1 observed<", page)
    page = prof.trace.trim(iteration=2).report(tmp_path / "part.html", static=True).read_text()
    assert "without 1 observed" not in page


def test_averages_by_input_shape_leave_the_observed_iteration_out(tmp_path: Path) -> None:
    with ks.profile(tmp_path, warmup=1, active=2) as prof:
        loop(prof, 4)
    shapes = {tuple(map(tuple, row.input_shapes)) for row in prof.key_averages(group_by_input_shape=True)}
    assert len(shapes) > 1
    assert prof.key_averages(group_by_stack_n=1)


@needs_torch(7, "averages cannot be grouped by overloads")
def test_averages_by_overload_leave_the_observed_iteration_out(tmp_path: Path) -> None:
    with ks.profile(tmp_path, warmup=1, active=2) as prof:
        loop(prof, 4)
    assert prof.key_averages(group_by_overload_name=True)
