"""Traces of a job of any size, with ranks that come late to each all-reduce."""

from __future__ import annotations

import gzip
import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

ON_A_MACHINE = 4
LATE_US = 30


def write_job(folder: Path, num_ranks: int, late: Collection[int]) -> Path:
    """Writes a file per rank, `rank N.json.gz`, and returns the folder."""
    for rank in range(num_ranks):
        content = json.dumps(rank_trace(rank, num_ranks, LATE_US if rank in late else 0)).encode()
        (folder / f"rank {rank}.json.gz").write_bytes(gzip.compress(content, 1, mtime=0))
    return folder


def rank_trace(rank: int, num_ranks: int, late_us: int) -> dict[str, Any]:
    """Three iterations of 190 to 192 µs: a matrix product, then an all-reduce with all ranks."""
    events: list[dict[str, Any]] = []
    for step in range(3):
        events += iteration(rank, num_ranks, late_us, step)
    info = {"backend": "nccl", "rank": rank, "world_size": num_ranks}
    devices = [{"id": device, "name": "GPU"} for device in range(ON_A_MACHINE)]
    return {"distributedInfo": info, "deviceProperties": devices, "traceEvents": events}


def iteration(rank: int, num_ranks: int, late_us: int, step: int) -> list[dict[str, Any]]:
    """The events of an iteration. The all-reduce ends on all ranks at once."""
    start = 1_000 + 200 * step
    record = {
        "Collective name": "allreduce",
        "Process Group Name": "0",
        "Process Group Description": "default_pg",
        "Group size": num_ranks,
        "Seq": step,
        "dtype": "Float",
        "In msg nelems": 1_000,
        "Out msg nelems": 1_000,
    }
    begin = start + 80 + late_us
    return [
        host("user_annotation", f"ProfilerStep#{step}", start, 190 + rank % 3),
        host("cpu_op", "aten::mm", start + 5, 20),
        host("cuda_runtime", "launch", start + 10, 2, correlation=10 * step + 1),
        kernel(rank, "gemm", 7, (start + 20, 40 + late_us), 10 * step + 1),
        host("cpu_op", "record_param_comms", start + 60, 5, **record),
        host("cuda_runtime", "launch", start + 61, 2, correlation=10 * step + 2),
        kernel(rank, "ncclDevKernel_AllReduce_Sum_f32_RING_LL()", 9, (begin, start + 130 - begin), 10 * step + 2),
    ]


def host(category: str, name: str, start: int, dur: int, **args: Any) -> dict[str, Any]:
    """An event of the host."""
    return {"ph": "X", "pid": 100, "tid": 1, "cat": category, "name": name, "ts": start, "dur": dur, "args": args}


def kernel(rank: int, name: str, stream: int, time: tuple[int, int], correlation: int) -> dict[str, Any]:
    """A kernel on the device of the rank; start and duration in µs."""
    device = rank % ON_A_MACHINE
    args = {"correlation": correlation, "device": device, "stream": stream}
    return {
        "ph": "X",
        "pid": device,
        "tid": stream,
        "cat": "kernel",
        "name": name,
        "ts": time[0],
        "dur": time[1],
        "args": args,
    }
