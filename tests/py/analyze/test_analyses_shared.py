"""Laws that analyses keep on everybody's traces."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from support.shared_files import members

pytestmark = pytest.mark.shared

WORK = ("kernel", "copy", "fill")
PARTS = ("compute_ns", "exposed_communication_ns", "exposed_copy_ns", "exposed_other_ns", "unknown_ns", "idle_ns")


def traces(folder: Path) -> Iterator[tuple[str, ks.Trace]]:
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        for member in members(path):
            try:
                trace = ks.read(member.content)
            except ks.TraceError:
                continue
            if isinstance(trace, ks.Trace) and len(trace.events):
                yield str(path.relative_to(folder)), trace


def sums(table: ks.Table, *columns: str) -> dict[Any, int]:
    """The last of the columns, added up for each value of the others."""
    found: defaultdict[Any, int] = defaultdict(int)
    for *key, ns in table.select(*columns).rows():
        found[tuple(key)] += ns
    return dict(found)


def idle_of_streams(work: list[tuple[Any, ...]]) -> dict[Any, int]:
    """The time of each stream, from its first start to its last end, in which nothing runs."""
    idle: dict[Any, int] = {}
    ends: dict[Any, int] = {}
    for device, stream, start, dur in sorted(work, key=lambda row: row[2]):
        key = (device, stream)
        idle[key] = idle.get(key, 0) + max(start - ends.get(key, start), 0)
        ends[key] = max(ends.get(key, start + dur), start + dur)
    return {key: ns for key, ns in idle.items() if ns}


def check_device_time(trace: ks.Trace, work: list[tuple[Any, ...]]) -> None:
    whole = trace.breakdown(per="selection")
    for *parts, span in whole.select(*PARTS, "span_ns").rows():
        assert sum(parts) == span
    spans = sums(whole, "device", "span_ns")
    assert sums(whole.tables["concurrency"], "device", "total_ns") == {key: ns for key, ns in spans.items() if ns}
    all_work = sum(dur for *_, dur in work)
    assert sum(sums(trace.kernels(), "class", "total_ns").values()) == all_work
    attribution = trace.operators().tables["device_attribution"]
    assert sum(sums(attribution, "name", "total_ns").values()) == all_work
    roofline = trace.roofline()
    modelled = [ns for (ns,) in roofline.select("total_ns").rows()]
    unmodelled = [ns for (ns,) in roofline.tables["roofline_unmodelled"].select("total_ns").rows()]
    assert sum(modelled) + sum(unmodelled) == all_work
    check_idle(trace, idle_of_streams(work))


def check_idle(trace: ks.Trace, of_streams: dict[Any, int]) -> None:
    """Unknown time of lost work may lie in a gap, before the first work and after the last."""
    idle, unknown = Counter[Any](), Counter[Any]()
    for *stream, category, ns in trace.idle().select("device", "stream", "category", "total_ns").rows():
        (unknown if category == "unknown" else idle)[tuple(stream)] += ns
    assert {key: ns for key, ns in idle.items() if key not in unknown} == {
        key: ns for key, ns in of_streams.items() if key not in unknown
    }
    assert all(idle[key] <= of_streams.get(key, 0) <= idle[key] + ns for key, ns in unknown.items())


def check_iterations(trace: ks.Trace) -> None:
    spans = sums(trace.iterations, "iteration", "dur_ns")
    if spans:
        breakdown = trace.breakdown()
        assert sums(breakdown.tables["step_time"], "iteration", "total_ns") == spans
        for *parts, span in breakdown.select(*PARTS, "span_ns").rows():
            assert sum(parts) == span


def check_memory(trace: ks.Trace) -> None:
    memory = trace.memory()
    peaks = {key: size for key, size in sums(memory, "device", "peak_allocated_bytes").items() if size}
    held = sums(memory.tables["memory_categories"], "device", "peak_bytes")
    assert {key: size for key, size in held.items() if size} == peaks


def check_counts(trace: ks.Trace, kinds: Counter[str], num_launched: int) -> None:
    assert sum(count for (count,) in trace.operators().select("count").rows()) == kinds["operator"]
    assert sum(count for (count,) in trace.operators(by="shape").select("count").rows()) == kinds["operator"]
    assert sum(count for (count,) in trace.annotations().select("count").rows()) == kinds["annotation"]
    assert sum(count for (count,) in trace.kernels().select("count").rows()) == sum(kinds[kind] for kind in WORK)
    assert len(trace.launches()) == num_launched
    assert sum(count for (count,) in trace.queue_length().select("count").rows()) == num_launched


def test_laws(shared: Path) -> None:
    num_traces = 0
    for name, trace in traces(shared):
        columns = ("kind", "launch_id", "device", "stream", "start_ns", "dur_ns")
        events = trace.events.select(*columns).rows()
        work = [row for row in events if row[0] in WORK]
        try:
            check_device_time(trace, [row[2:] for row in work])
            check_iterations(trace)
            check_memory(trace)
            check_counts(trace, Counter(row[0] for row in events), sum(row[1] is not None for row in work))
        except AssertionError as error:
            raise AssertionError(name) from error
        num_traces += 1
    assert num_traces > 50
