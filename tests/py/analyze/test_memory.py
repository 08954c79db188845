"""What is said about memory: by traces, by snapshots of the allocator, by memory timelines."""

from __future__ import annotations

import json
import pickle
from collections import defaultdict
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytestmark = pytest.mark.unit

Event = dict[str, Any]


def host(name: str, start: int, end: int, category: str = "cpu_op") -> Event:
    return {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 1, "ts": start, "dur": end - start}


class Allocator:
    """Writes `[memory]` events."""

    def __init__(self, first_bytes: int) -> None:
        self.events: list[Event] = []
        self.allocated = first_bytes
        self.held: dict[int, int] = {}

    def change(self, at: int, address: int, size: int) -> None:
        self.allocated += size
        args = {"Device Type": 1, "Device Id": 0, "Bytes": size, "Addr": address, "Total Allocated": self.allocated}
        self.events.append({"ph": "i", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": at, "args": args})

    def alloc(self, at: int, address: int, size: int) -> None:
        self.held[address] = size
        self.change(at, address, size)

    def free(self, at: int, address: int) -> None:
        self.change(at, address, -self.held.pop(address))


def answered(folder: Path, events: list[Event]) -> Any:
    path = folder / "trace.json"
    path.write_text(json.dumps({"traceEvents": events}))
    trace = ks.read(path)
    assert isinstance(trace, ks.Trace)
    return trace.memory()


@pytest.mark.parametrize(("kind", "device"), [(0, "cpu"), (1, "cuda:3"), (6, "hip:3"), (19, "mtia:3"), (99, "99:3")])
def test_a_device_is_called_as_torch_calls_it(tmp_path: Path, kind: int, device: str) -> None:
    args = {"Device Type": kind, "Device Id": 3, "Bytes": 10, "Addr": 1, "Total Allocated": 10}
    event = {"ph": "i", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": 5, "args": args}
    assert answered(tmp_path, [host("aten::add", 0, 10), event]).select("device").rows() == [(device,)]


def test_what_no_total_counts_is_there_all_the_same(tmp_path: Path) -> None:
    """Memory that processes share, as batches of a data loader's workers, is told with a total of 0."""

    def change(at: int, address: int, size: int, total: int) -> Event:
        args = {"Device Type": 0, "Device Id": -1, "Addr": address, "Bytes": size, "Total Allocated": total}
        return {"ph": "i", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": at, "args": args}

    told = [change(1, 1, 100, 100), change(2, 9, 5000, 0), change(3, 2, 20, 120), change(4, 9, -5000, 0)]
    answer = answered(tmp_path, [host("aten::add", 0, 10), *told, change(5, 2, -20, 100)])
    assert [row[0] for row in answer.tables["memory_series"].select("allocated_bytes").rows()] == [
        *(100, 5100, 5120, 120, 100)
    ]
    assert answer.select("peak_allocated_bytes", "first_bytes", "last_bytes").rows() == [(5120, 0, 100)]
    peaks = answer.tables["memory_categories"].select("peak_bytes").rows()
    assert sum(peak for (peak,) in peaks) == 5120


def test_allocations_are_for_what_their_lives_tell(tmp_path: Path) -> None:
    memory = Allocator(first_bytes=1000)
    memory.alloc(11, 1, 10)  # in forward, released by its operator
    memory.alloc(12, 2, 20)  # in forward, released in backward
    memory.free(18, 1)
    memory.alloc(22, 3, 30)  # in forward, released after it, before backward
    memory.free(35, 3)
    memory.alloc(41, 4, 40)  # in backward, alive at its end
    memory.alloc(42, 5, 50)  # in backward, released by its operator
    memory.alloc(43, 6, 60)  # in backward, released by the next one
    memory.free(45, 5)
    memory.free(52, 6)
    memory.free(53, 2)
    memory.alloc(62, 7, 70)  # in the optimizer, kept
    memory.alloc(63, 8, 80)  # in the optimizer, released
    memory.free(64, 8)
    memory.alloc(75, 9, 90)  # in nothing
    events = [
        host("aten::linear", 10, 20),
        host("aten::relu", 21, 30),
        host("autograd::engine::evaluate_function: ReluBackward0", 40, 50),
        host("autograd::engine::evaluate_function: AddmmBackward0", 51, 59),
        host("Optimizer.step#Adam.step", 60, 70, "user_annotation"),
    ]
    answer = answered(tmp_path, events + memory.events)
    table = answer.tables["memory_categories"]
    columns = ("category", "num_allocations", "allocated_bytes", "peak_bytes", "kept_bytes")
    found = {category: tuple(row) for category, *row in table.select(*columns).rows()}
    assert found == {
        "preexisting": (0, 0, 1000, 1000),
        "temporary": (3, 140, 0, 0),
        "activation": (1, 20, 0, 0),
        "unknown": (2, 120, 90, 90),
        "gradient": (1, 40, 40, 40),
        "autograd_detail": (1, 60, 0, 0),
        "optimizer_state": (1, 70, 70, 70),
    }
    ((peak,),) = answer.select("peak_allocated_bytes").rows()
    assert peak == sum(row[2] for row in found.values()) == 1200


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 100), st.integers(0, 3)), max_size=40), st.integers(0, 500))
def test_categories_add_up_to_the_peak(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[int, int, int]], first_bytes: int
) -> None:
    memory = Allocator(first_bytes)
    for at, (address, size, gap) in enumerate(steps):
        time = 10 * (at // 3) + gap
        if address in memory.held:
            memory.free(max(time, 10 * at), address)
        else:
            memory.alloc(max(time, 10 * at), address, size)
    events = [host("aten::add", 0, 45), host("autograd::engine::evaluate_function: X", 50, 120)]
    answer = answered(tmp_path_factory.mktemp("memory"), events + memory.events)
    sums: defaultdict[str, int] = defaultdict(int)
    for name, *row in answer.tables["memory_categories"].select("category", "peak_bytes", "kept_bytes").rows():
        assert min(row) >= 0, name
        sums["peak"] += row[0]
        sums["kept"] += row[1]
    expected = answer.select("peak_allocated_bytes", "last_bytes").rows()
    assert [(sums["peak"], sums["kept"])] == (expected or [(0, 0)])


def test_a_timeline_says_what_held_its_peak() -> None:
    sizes = [[0, 100, 0, 0, 0, 10, 0, 0, 5], [0, 100, 0, 0, 7, 50, 0, 0, 5], [0, 100, 20, 0, 0, 0, 30, 0, 5]]
    timeline = ks.read(json.dumps([[1, 2, 3], sizes]).encode())
    assert isinstance(timeline, ks.MemoryTimeline)
    columns = ("category", "peak_bytes", "peak_ns", "at_peak_bytes", "share", "last_bytes")
    assert timeline.memory().select(*columns).rows() == [
        ("total", 162, 2000, 162, 1.0, 155),
        ("parameter", 100, 1000, 100, 100 / 162, 100),
        ("activation", 50, 2000, 50, 50 / 162, 0),
        ("temporary", 7, 2000, 7, 7 / 162, 0),
        ("unknown", 5, 1000, 5, 5 / 162, 5),
        ("optimizer_state", 20, 3000, 0, 0.0, 20),
        ("gradient", 30, 3000, 0, 0.0, 30),
    ]


def frames(function: str) -> list[Event]:
    inner = {"name": "empty", "filename": "/site/torch/functional.py", "line": 1}
    return [inner, {"name": function, "filename": "train.py", "line": 7}]


def action(name: str, address: int, size: int, at: int, function: str) -> Event:
    return {"action": name, "addr": address, "size": size, "stream": 0, "time_us": at, "frames": frames(function)}


def block(size: int, requested: int, state: str, function: str | None = None) -> Event:
    return {"size": size, "requested_size": requested, "state": state, "frames": frames(function) if function else []}


def test_a_snapshot_says_who_held_its_peak() -> None:
    segment = {
        "device": 0,
        "address": 1000,
        "total_size": 4096,
        "allocated_size": 1536,
        "active_size": 1536,
        "requested_size": 1100,
        "stream": 0,
        "segment_type": "small",
        "blocks": [
            block(1024, 1000, "active_allocated", "weights"),  # from before the actions
            block(512, 100, "active_allocated", "state"),
            block(2560, 0, "inactive"),
        ],
    }
    actions = [
        action("segment_alloc", 1000, 4096, 10, "first"),
        action("alloc", 3000, 300, 20, "forward"),
        action("alloc", 4000, 400, 30, "forward"),
        action("free_requested", 9000, 50, 35, "?"),
        action("free_completed", 9000, 50, 36, "?"),  # allocated before the actions
        action("free_completed", 4000, 400, 40, "?"),
        action("alloc", 1000 + 1024, 100, 50, "state"),
        action("free_completed", 3000, 300, 60, "?"),
    ]
    snapshot = ks.read(pickle.dumps({"segments": [segment], "device_traces": [actions]}))
    assert isinstance(snapshot, ks.MemorySnapshot)
    answer = snapshot.memory()
    assert dict(zip(answer.columns, answer.rows()[0], strict=True)) == {
        "device": 0,
        "peak_requested_bytes": 1750,
        "peak_ns": 30_000,
        "peak_allocated_bytes": 1024 + 3 * 512,
        "peak_reserved_bytes": 4096,
        "requested_bytes": 1100,
        "allocated_bytes": 1536,
        "reserved_bytes": 4096,
        "free_bytes": 2560,
        "cached_bytes": 0,
        "split_bytes": 2560,
        "split_share": 2560 / 4096,
        "largest_free_bytes": 2560,
        "num_segments": 1,
        "num_blocks": 2,
        "num_ooms": 0,
        "num_backward_passes": 0,
    }
    series = answer.tables["memory_series"].select("time_ns", "requested_bytes", "reserved_bytes").rows()
    assert series == [
        (10_000, 1050, 4096),
        (20_000, 1350, 4096),
        (30_000, 1750, 4096),
        (35_000, 1750, 4096),  # given back, but not free
        (36_000, 1700, 4096),
        (40_000, 1300, 4096),
        (50_000, 1400, 4096),
        (60_000, 1100, 4096),
    ]
    holders = answer.tables["memory_holders"].select("site", "held_bytes", "largest_bytes", "num_blocks").rows()
    assert holders == [
        ("weights (train.py:7)", 1000, 1000, 1),
        ("forward (train.py:7)", 700, 400, 2),
        (None, 50, 50, 1),
    ]


def test_a_snapshot_without_actions_is_its_own_peak() -> None:
    blocks = [block(512, 500, "active_allocated", "weights"), block(512, 0, "inactive")]
    segment = {"device": 2, "address": 8, "total_size": 1024, "allocated_size": 512, "blocks": blocks}
    snapshot = ks.read(pickle.dumps({"segments": [segment], "device_traces": []}))
    assert isinstance(snapshot, ks.MemorySnapshot)
    answer = snapshot.memory()
    assert answer.select("device", "peak_requested_bytes", "peak_reserved_bytes").rows() == [(2, 500, 1024)]
    assert answer.tables["memory_holders"].select("held_bytes", "share").rows() == [(500, 1.0)]
    nothing = ks.read(pickle.dumps({"segments": [], "device_traces": []}))
    assert isinstance(nothing, ks.MemorySnapshot)
    assert nothing.memory().reason is not None


def test_stacks_tell_what_the_memory_of_a_recorded_snapshot_is_for(data: Path) -> None:
    snapshot = ks.read(data / "memory_cuda/trained.pickle.gz")
    assert isinstance(snapshot, ks.MemorySnapshot)
    answer = snapshot.memory()
    rows = answer.tables["memory_categories"].select("category", "num_allocations", "kept_bytes").rows()
    categories = {category: numbers for category, *numbers in rows}
    # Four layers of a norm and two linear layers, each with weight and bias: 4 bytes a number.
    numbers = 4 * (2 * 512 + 512 * 2048 + 2048 + 2048 * 512 + 512)
    assert categories["parameter"] == [24, 4 * numbers]
    # Two moments of each parameter, and one counter each, of fused AdamW.
    assert categories["optimizer_state"] == [72, 4 * (2 * numbers + 24)]
    assert categories["activation"][0] > 0
    assert categories["gradient"][0] >= 24
    peak = answer.select("peak_requested_bytes").rows()
    at_peak = answer.tables["memory_categories"].select("peak_bytes").rows()
    assert sum(size for (size,) in at_peak) == peak[0][0]
    assert answer.tables["memory_leaks"].rows() == []


@pytest.mark.parametrize("size", [-(2**63), 2**63 - 1])
def test_sizes_that_no_memory_has_are_survived(size: int) -> None:
    actions = [action(name, 1, size, 1, "f") for name in ("free_completed", "alloc", "segment_free", "segment_alloc")]
    segment = {
        "device": 0,
        "address": 0,
        "total_size": size,
        "blocks": [block(size, size, "active_allocated", "f")] * 2,
    }
    snapshot = ks.read(pickle.dumps({"segments": [segment], "device_traces": [actions]}))
    assert isinstance(snapshot, ks.MemorySnapshot)
    assert len(snapshot.memory().tables["memory_series"]) == 4


@pytest.mark.shared
def test_a_recorded_snapshot_adds_up(shared: Path) -> None:
    snapshot = ks.read(shared / "MAGMA27__assignment2-systems/memory_snapshot.pickle")
    assert isinstance(snapshot, ks.MemorySnapshot)
    answer = snapshot.memory()
    columns = ("device", "peak_requested_bytes", "requested_bytes", "reserved_bytes")
    series: defaultdict[Any, list[tuple[int, int]]] = defaultdict(list)
    for device, *sizes in answer.tables["memory_series"].select("device", "requested_bytes", "reserved_bytes").rows():
        series[device].append((sizes[0], sizes[1]))
    held: defaultdict[Any, int] = defaultdict(int)
    for device, size in answer.tables["memory_holders"].select("device", "held_bytes").rows():
        held[device] += size
    assert len(answer)
    for device, peak, requested, reserved in answer.select(*columns).rows():
        assert held[device] == peak
        if series[device]:
            assert series[device][-1] == (requested, reserved)
            assert peak >= max(size for size, _ in series[device])
            assert min(min(point) for point in series[device]) >= 0
