"""A trace with the memory snapshot of the same run: one time axis."""

from __future__ import annotations

import gzip
import json
import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import kinetoscope as ks
import pytest
from kinetoscope._cli.main import main

if TYPE_CHECKING:
    from kinetoscope.table import Table

pytestmark = pytest.mark.unit

DATA = Path(__file__).parents[2] / "data/memory_cuda"
RECORDED, SNAPSHOT = DATA / "kineto_trace_0.json.gz", DATA / "trained.pickle.gz"

Row = dict[str, Any]


def without_records(folder: Path) -> Path:
    """The recorded trace as it were without `profile_memory`."""
    content = json.loads(gzip.decompress(RECORDED.read_bytes()))
    content["traceEvents"] = [event for event in content["traceEvents"] if event.get("name") != "[memory]"]
    path = folder / "trace.json"
    path.write_text(json.dumps(content))
    return path


def rows(table: Table) -> list[Row]:
    """Rows about the device, or about anything if the table has none."""
    found = [dict(zip(table.columns, row, strict=True)) for row in table]
    return [row for row in found if row.get("device", "cuda:0") == "cuda:0"]


def memory(trace: ks.Trace, table: str) -> list[Row]:
    return rows(trace.memory(start_ns=0).tables[table])


def event(name: str, start: int, dur: int, tid: int = 2, cat: str = "cpu_op") -> Row:
    return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid, "ts": start, "dur": dur}


def action(kind: str, time: int, address: int, size: int, line: int | None = None) -> Row:
    frames = [{"name": "step", "filename": "/srv/me/app/train.py", "line": line}] if line else []
    return {"action": kind, "time_us": time, "addr": address, "size": size, "stream": 0, "frames": frames}


def both(folder: Path, events: list[Row], actions: list[Row]) -> tuple[Path, Path]:
    trace, snapshot = folder / "trace.json", folder / "snapshot.pickle"
    trace.write_text(json.dumps({"traceEvents": events}))
    snapshot.write_bytes(pickle.dumps({"segments": [], "device_traces": [actions]}))
    return trace, snapshot


def test_a_snapshot_gives_the_answers_of_profile_memory(tmp_path: Path) -> None:
    recorded = ks.read(RECORDED, et=False)
    merged = ks.read(without_records(tmp_path), memory=SNAPSHOT)
    (found,), (expected,) = memory(merged, "memory"), memory(recorded, "memory")
    about = {"peak_ns"}
    assert {key: found[key] for key in found if key not in about} == {
        key: expected[key] for key in expected if key not in about
    }
    assert abs(found["peak_ns"] - expected["peak_ns"]) < 100_000

    def owners(trace: ks.Trace) -> dict[tuple[str, str], int]:
        sums: dict[tuple[str, str], int] = {}
        for row in memory(trace, "memory_owners"):
            key = (row["operator"], row["module"])
            sums[key] = sums.get(key, 0) + row["allocated_bytes"]
        return {key: size for key, size in sums.items() if size}

    assert owners(merged) == owners(recorded)


def test_records_of_the_profiler_stay_and_get_lines() -> None:
    recorded, merged = ks.read(RECORDED, et=False), ks.read(RECORDED, et=False, memory=SNAPSHOT)
    edit = merged.metadata["kineto"]["kinetoscope_edits"]
    assert edit == [{"edit": "memory", "num_matched": 462, "num_added": 0, "num_held": 123}]
    assert memory(merged, "memory_series") == memory(recorded, "memory_series")
    assert len(recorded.instants) + 123 == len(merged.instants)


def test_the_tensors_of_the_peak_make_the_peak() -> None:
    merged = ks.read(RECORDED, et=False, memory=SNAPSHOT)
    for part in ({"start_ns": 0}, {}):
        answer = merged.memory(**part)  # type: ignore[arg-type] # keys of a selection
        (peak,) = [row["peak_allocated_bytes"] for row in rows(answer.tables["memory"])]
        held = [row for row in rows(answer.tables["memory_allocations"]) if row["is_at_peak"]]
        # The history begins before the model is made, so all memory of the peak is known.
        assert sum(row["bytes"] for row in held) == peak
        categories = {row["category"] for row in held}
        assert {"parameter", "optimizer_state", "gradient"} <= categories
        assert "preexisting" not in {row["category"] for row in rows(answer.tables["memory_categories"])}


def test_a_change_is_on_the_thread_with_an_operator(tmp_path: Path) -> None:
    events = [
        event("app/train.py(7): step", 0, 1_000, cat="python_function"),
        event("aten::mm", 10, 20),
        event("aten::mul", 60, 20, tid=3),
        event("aten::sum", 100, 20),
        event("aten::add", 100, 20, tid=3),
        event("aten::sub", 200, 20, tid=3),
        event("aten::div", 200, 20, tid=4),
        event("end", 5_000_000, 1, cat="user_annotation"),
    ]
    actions = [
        action("alloc", 15, 4096, 700, line=7),
        action("alloc", 65, 8192, 512),
        action("alloc", 110, 12_288, 512, line=7),
        action("alloc", 210, 16_384, 512, line=9),
        action("free_requested", 300, 4096, 700),
        action("free_completed", 300, 4096, 700),
    ]
    trace, snapshot = both(tmp_path, events, actions)
    found = memory(ks.read(trace, memory=snapshot), "memory_allocations")
    assert [(row["operator"], row["line"], row["bytes"], row["end_ns"]) for row in found] == [
        ("aten::mm", "app/train.py(7): step", 1024, 300_000),
        ("aten::mul", None, 512, None),
        ("aten::sum", "app/train.py(7): step", 512, None),
        (None, "/srv/me/app/train.py(9): step", 512, None),
    ]


def test_memory_from_before_the_trace_is_known(tmp_path: Path) -> None:
    actions = [
        action("alloc", 10, 4096, 512, line=3),
        action("alloc", 20, 8192, 512, line=4),
        action("free_requested", 30, 8192, 512),
        action("free_completed", 30, 8192, 512),
        action("alloc", 1_010, 12_288, 1024, line=7),
        action("free_requested", 1_020, 4096, 512),
        action("free_completed", 1_020, 4096, 512),
    ]
    trace, snapshot = both(tmp_path, [event("aten::mm", 1_000, 100)], actions)
    merged = ks.read(trace, memory=snapshot)
    assert [
        (row["start_ns"], row["bytes"], row["is_at_peak"], row["end_ns"])
        for row in memory(merged, "memory_allocations")
    ] == [
        (None, 512, True, 1_020_000),
        (1_010_000, 1024, True, None),
    ]
    assert len(merged.iterations) == 0
    assert min(merged.instants["time_ns"]) == 1_000_000


def test_a_saved_and_an_exported_trace_have_the_same_memory(tmp_path: Path) -> None:
    merged = ks.read(RECORDED, et=False, memory=SNAPSHOT)
    merged.save(tmp_path / "trace.kscope")
    merged.to_chrome(tmp_path / "trace.json")
    for name in ("trace.kscope", "trace.json"):
        assert memory(ks.read(tmp_path / name), "memory_allocations") == memory(merged, "memory_allocations")


def test_a_snapshot_of_another_run_is_refused(tmp_path: Path) -> None:
    content = json.loads(gzip.decompress(RECORDED.read_bytes()))
    for instant in content["traceEvents"]:
        if instant.get("name") == "[memory]":
            instant["args"]["Addr"] += 64
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(content))
    with pytest.raises(ks.TraceError, match=r"same process and run, found one with 0 of the trace's 461 records"):
        ks.read(path, memory=SNAPSHOT)
    trace, snapshot = both(tmp_path, [event("aten::mm", 1_000_000, 100)], [action("alloc", 10, 4096, 512)])
    with pytest.raises(
        ks.TraceError, match="actions from 1000000000 to 1000100000 ns, found actions from 10000 to 10000"
    ):
        ks.read(trace, memory=snapshot)
    trace, snapshot = both(tmp_path, [event("aten::mm", 0, 100)], [])
    with pytest.raises(ks.TraceError, match="no action with a time"):
        ks.read(trace).with_memory(snapshot)
    with pytest.raises(ks.UnsupportedTraceError, match="expected a memory snapshot"):
        ks.read(trace).with_memory(trace)
    with pytest.raises(TypeError, match="expected a MemorySnapshot or a path, found int"):
        ks.read(trace).with_memory(7)  # type: ignore[arg-type] # the point of the test


def test_lines_of_a_snapshot_are_redacted(tmp_path: Path) -> None:
    trace, snapshot = both(tmp_path, [event("aten::mm", 0, 100)], [action("alloc", 10, 4096, 512, line=31_337)])
    merged = ks.read(trace, memory=snapshot)
    page = merged.report(tmp_path / "report.html", redact=True).read_text(encoding="utf-8")
    assert "train.py" not in page
    assert "/srv/me" not in page
    assert memory(merged.redact(), "memory_allocations")[0]["line"] != "/srv/me/app/train.py(31337): step"


def test_the_command_takes_a_snapshot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(RECORDED), "--no-et", "--memory", str(SNAPSHOT), "-o", str(tmp_path / "r.html")]) == 0
    assert "cuda_memory.py(30): forward" in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert main(["analyze", "memory", str(DATA), "--memory", str(SNAPSHOT)]) == 2
    assert "expected a file with --memory, found a folder" in capsys.readouterr().err


def test_an_address_that_is_used_again_at_once_is_matched_in_order(tmp_path: Path) -> None:
    """The profiler records each change up to 3 µs after the allocator; the changes are 2 µs apart."""
    events, actions, total = [event("aten::mm", 0, 100)], [], 0
    for number in range(20):
        is_release = number % 2 == 1
        kind = "free_requested" if is_release else "alloc"
        actions.append(action(kind, 10 + 2 * number, 4096, 512, line=number + 1))
        size = -512 if is_release else 512
        total += size
        args = {"Device Type": 1, "Device Id": 0, "Addr": 4096, "Bytes": size, "Total Allocated": total}
        instant = {"ph": "i", "s": "t", "name": "[memory]", "cat": "cpu_instant_event", "pid": 1, "tid": 2}
        events.append({**instant, "ts": 10 + 2 * number + 1 + 2 * (number % 3) / 2, "args": args})
    trace, snapshot = both(tmp_path, events, actions)
    merged = ks.read(trace, memory=snapshot)
    assert [row["line"] for row in memory(merged, "memory_allocations")] == [
        f"/srv/me/app/train.py({number + 1}): step" for number in range(0, 20, 2)
    ]
    assert merged.metadata["kineto"]["kinetoscope_edits"][0]["num_added"] == 0


@pytest.mark.parametrize("cut", range(0, 4000, 97))
def test_damaged_snapshots_raise_errors_of_ours(tmp_path: Path, cut: int) -> None:
    content = gzip.decompress(SNAPSHOT.read_bytes())
    path = tmp_path / "snapshot.pickle"
    path.write_bytes(content[: len(content) * cut // 4000])
    trace = ks.read(RECORDED, et=False)
    with pytest.raises((ks.TraceError, ks.UnsupportedTraceError)):
        trace.with_memory(path)


def record(time: int, address: int, size: int, total: int, **more: Any) -> Row:
    """A record of the profiler."""
    args = {"Device Type": 1, "Device Id": 0, "Addr": address, "Bytes": size, "Total Allocated": total}
    args |= more.pop("args", {})
    return {
        "ph": "i",
        "s": "t",
        "name": "[memory]",
        "cat": "cpu_instant_event",
        "pid": 1,
        "tid": 2,
        "ts": time,
        "args": args,
        **more,
    }


def sums(trace: ks.Trace) -> dict[str, int]:
    """Bytes at the peak, by each table that tells them."""
    (peak,) = [row["peak_allocated_bytes"] for row in memory(trace, "memory")]
    found = {
        table: sum(row["peak_bytes"] for row in memory(trace, table))
        for table in ("memory_owners", "memory_categories")
    }
    return {"memory": peak, **found}


def test_blocks_larger_than_what_was_requested_are_matched(tmp_path: Path) -> None:
    events = [event("aten::mm", 0, 1_000), record(101, 4096, 2_411_520, 2_411_520), record(201, 4096, -2_411_520, 0)]
    actions = [action("alloc", 100, 4096, 1_572_864, line=3), action("free_requested", 200, 4096, 1_572_864)]
    trace, snapshot = both(tmp_path, events, actions)
    merged = ks.read(trace, memory=snapshot)
    (row,) = memory(merged, "memory_allocations")
    assert (row["bytes"], row["line"]) == (2_411_520, "/srv/me/app/train.py(3): step")
    assert len(memory(merged, "memory_series")) == 2


def test_a_snapshot_of_another_device_is_refused(tmp_path: Path) -> None:
    events = [event("aten::mm", 0, 1_000), record(101, 4096, 512, 512, args={"Device Id": 1})]
    events.append(record(301, 4096, -512, 0, args={"Device Id": 1}))
    trace, snapshot = both(tmp_path, events, [action("alloc", 100, 4096, 512), action("alloc", 400, 8192, 512)])
    with pytest.raises(ks.TraceError, match="same process and run"):
        ks.read(trace, memory=snapshot)


def test_a_history_that_begins_in_the_trace_counts_nothing_twice(tmp_path: Path) -> None:
    changes = [(100, 4096, 4096), (110, 16_384, 1_048_576), (150, 16_384, -1_048_576), (200, 2_097_152, 8192)]
    changes += [(300, 8192, 512), (310, 8192, -512), (400, 2_097_152, -8192)]
    totals = [sum(size for _, _, size in changes[: at + 1]) for at in range(len(changes))]
    events = [record(*change, total) for change, total in zip(changes, totals, strict=True)]
    actions = [
        action("alloc" if size > 0 else "free_requested", time, address, abs(size))
        for time, address, size in changes
        if time >= 300
    ]
    trace, snapshot = both(tmp_path, [event("aten::mm", 0, 1_000), *events], actions)
    assert set(sums(ks.read(trace, memory=snapshot)).values()) == {4096 + 1_048_576}


def test_an_address_is_allocated_again_without_a_release(tmp_path: Path) -> None:
    actions = [action("alloc", 100, 4096, 1 << 20, line=3), action("alloc", 200, 4096, 4 << 20, line=4)]
    trace, snapshot = both(tmp_path, [event("aten::mm", 0, 1_000)], actions)
    merged = ks.read(trace, memory=snapshot)
    assert set(sums(merged).values()) == {4 << 20}
    assert [row["is_at_peak"] for row in memory(merged, "memory_allocations")] == [False, True]


def test_memory_of_an_earlier_iteration_is_known_in_a_later_one(tmp_path: Path) -> None:
    steps = [event(f"ProfilerStep#{number}", 500 * number, 500, cat="user_annotation") for number in (0, 1, 2)]
    actions = [action("alloc", 100, 4096, 4096, line=3), action("alloc", 700, 16_384, 512, line=4)]
    trace, snapshot = both(tmp_path, [*steps, event("aten::mm", 50, 100), event("aten::mul", 650, 100)], actions)
    rows_of_step = rows(ks.read(trace, memory=snapshot).memory(iteration=1).tables["memory_allocations"])
    assert [(row["operator"], row["start_ns"], row["bytes"]) for row in rows_of_step] == [
        ("aten::mm", 100_000, 4096),
        ("aten::mul", 700_000, 512),
    ]


@pytest.mark.parametrize("time", [500, 1_500])
def test_actions_close_to_a_trace_are_not_in_it(tmp_path: Path, time: int) -> None:
    trace, snapshot = both(tmp_path, [event("aten::mm", 1_000, 100)], [action("alloc", time, 4096, 512)])
    with pytest.raises(ks.TraceError, match="expected a memory snapshot with actions from"):
        ks.read(trace, memory=snapshot)


def test_a_snapshot_is_of_one_process(tmp_path: Path) -> None:
    events = [event("aten::mm", 0, 1_000)]
    for process in (1, 2, 3, 4):
        events.append(record(101, 4096 * process, 512, 512, pid=process))
        events.append(record(201, 4096 * process, -512, 0, pid=process))
    actions = [action("alloc", 100, 8192, 512, line=3), action("free_requested", 200, 8192, 512)]
    trace, snapshot = both(tmp_path, events, actions)
    merged = ks.read(trace, ranks="merge", memory=snapshot)
    assert [row["line"] for row in memory(merged, "memory_allocations")] == [
        None,
        "/srv/me/app/train.py(3): step",
        None,
        None,
    ]


def test_a_second_snapshot_is_refused() -> None:
    merged = ks.read(RECORDED, et=False, memory=SNAPSHOT)
    with pytest.raises(ks.TraceError, match="expected a trace without a memory snapshot"):
        merged.with_memory(SNAPSHOT)


def test_actions_out_of_the_order_of_time_keep_their_totals(tmp_path: Path) -> None:
    actions = [action("alloc", 200, 4096, 4096), action("alloc", 100, 16_384, 512)]
    trace, snapshot = both(tmp_path, [event("aten::mm", 0, 1_000)], actions)
    merged = ks.read(trace, memory=snapshot)
    assert [row["allocated_bytes"] for row in memory(merged, "memory_series")] == [4096, 4608]
    assert set(sums(merged).values()) == {4608}
