"""Allocations of a trace over time, as bands that lie on each other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest

pytestmark = pytest.mark.unit

Row = dict[str, Any]


def trace_of(path: Path, changes: list[tuple[int, int]], total: int | None, rank: int | None = None) -> Path:
    """Changes of memory a microsecond apart: bytes and an address; `total` is in use before."""
    events: list[Row] = [
        {"ph": "X", "cat": "cpu_op", "name": "aten::empty", "pid": 1, "tid": 1, "ts": 0, "dur": 100},
    ]
    for at, (size, address) in enumerate(changes):
        args = {"Device Type": 1, "Device Id": 0, "Bytes": size, "Addr": address}
        if total is not None:
            total += size
            args["Total Allocated"] = total
        events.append({"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": at, "args": args})
    info = {} if rank is None else {"distributedInfo": {"rank": rank, "world_size": 2}}
    path.write_text(json.dumps({"traceEvents": events, **info}))
    return path


def bands(trace: ks.Trace) -> list[Row]:
    table = trace.memory().tables["memory_bands"]
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows()]


def in_use(rows: list[Row], device: str, time: int) -> int:
    return sum(row["bytes"] for row in rows if row["device"] == device and row["start_ns"] <= time < row["end_ns"])


@pytest.mark.parametrize("folder", ["memory_cuda", "transformer_cuda"])
def test_bands_add_up_to_the_peak(data: Path, folder: str) -> None:
    trace = ks.read(data / folder / "kineto_trace_0.json.gz")
    rows = bands(trace)
    peaks = trace.memory().select("device", "peak_ns", "peak_allocated_bytes").rows()
    assert peaks
    for device, time, peak in peaks:
        assert in_use(rows, device, time) == peak


def test_memory_from_before_is_a_band(tmp_path: Path) -> None:
    """Memory that is released is known from the start; the rest of the total stays."""
    changes = [(512, 1), (-2048, 9), (1024, 2), (-512, 1)]
    start = 1_000
    rows = [
        (row["start_ns"] - start, row["end_ns"] - start, row["bottom_bytes"], row["bytes"], row["site"])
        for row in bands(ks.read(trace_of(tmp_path / "trace.json", [(8, 7), *changes], 10_000)))
        if row["start_ns"] >= start
    ]
    before = "in use before the recording"
    assert (0, 1_000, 10_008, 512, "aten::empty") in rows
    found = bands(ks.read(trace_of(tmp_path / "trace.json", changes, 10_000)))
    assert [(row["end_ns"], row["bytes"], row["category"]) for row in found if row["site"] == before] == [
        (1_000, 2048, "preexisting"),
        (3_000, 10_000 - 2048, "preexisting"),
    ]
    without = bands(ks.read(trace_of(tmp_path / "trace.json", changes, None)))
    assert [row["bytes"] for row in without if row["site"] == before] == [2048]


def test_bands_are_drawn_and_in_the_report(data: Path, tmp_path: Path) -> None:
    trace = ks.read(data / "transformer_cuda/kineto_trace_0.json.gz")
    svg = trace.memory().plot("memory_bands").svg
    assert "each allocation is a band" in svg
    assert "cuda:0" in svg
    assert "activation" in svg
    page = trace.report(tmp_path / "page.html").read_text()
    assert "each allocation is a band" in page


def test_ranks_have_panels_of_their_own(tmp_path: Path) -> None:
    for rank in (0, 1):
        trace_of(tmp_path / f"rank{rank}.json", [(512 << rank, 1), (-(512 << rank), 1)], 0, rank)
    svg = ks.read_dir(tmp_path).memory().plot("memory_bands").svg
    assert "rank 0, window 0, cuda:0: 512 B at the peak; rank 1, window 0, cuda:0: 1 KiB at the peak" in svg


def test_the_device_with_most_memory_comes_first(data: Path) -> None:
    rows = bands(ks.read(data / "memory_cuda/kineto_trace_0.json.gz"))
    assert list(dict.fromkeys(row["device"] for row in rows)) == ["cuda:0", "cpu"]


def test_pictures_have_the_order_of_the_table(data: Path) -> None:
    picture = ks.read(data / "memory_cuda/kineto_trace_0.json.gz").memory().plot("memory_bands").svg
    assert picture.index(">cuda:0<") < picture.index(">cpu<")
