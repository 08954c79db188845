"""Generates tests/data/synthetic_perfetto: one recording as PyTorch 2.15 writes it, once in each of its formats.

Nothing here was measured. The columns are those of the recorder on CUPTI (`torch.profiler._cuspy`); PyTorch's own code
writes them as Chrome JSON and as a Perfetto trace. It wants two tables of NVIDIA's module `cupti`, which has no use
without a device: names of calls by their numbers stand in for them.

    python tests/record/synthetic_perfetto.py
"""

from __future__ import annotations

import enum
import gzip
import json
import sys
import tempfile
import types
from pathlib import Path
from unittest import mock

import numpy as np

FOLDER = Path(__file__).resolve().parents[1] / "data/synthetic_perfetto"
BASE_NS = 1_790_000_000_000_000_000
THREADS = (101, 202)
MODULE = "torch.profiler._cuspy.trace"
ABOUT = {"process_id": "100", "process_name": "python"}


RUNTIME = {
    "cudaMemcpyAsync_v3020": 41,
    "cudaDeviceSynchronize_v3020": 165,
    "cudaLaunchKernel_v7000": 211,
    "cudaGraphLaunch_v10000": 311,
}
"""The calls of the runtime in the recording, by their numbers in CUPTI."""
DRIVER = {"cuLaunchKernelEx": 652}
"""A call of the driver."""


def stand_in() -> None:
    """Puts the names of calls where PyTorch looks for NVIDIA's module."""
    cupti = types.ModuleType("cupti")
    tables = types.ModuleType("cupti.cupti")
    tables.Runtime_api_trace_cbid = enum.Enum("Runtime_api_trace_cbid", RUNTIME)  # type: ignore[attr-defined] # a module made here
    tables.Driver_api_trace_cbid = enum.Enum("Driver_api_trace_cbid", DRIVER)  # type: ignore[attr-defined] # as above
    sys.modules.setdefault("cupti", cupti)
    sys.modules.setdefault("cupti.cupti", tables)


def host() -> dict[str, object]:
    """Kineto's part: what runs on the host."""
    events: list[dict[str, object]] = [
        {"ph": "M", "name": "process_name", "pid": 100, "tid": 0, "ts": 0, "args": {"name": "python"}},
        {"ph": "M", "name": "process_labels", "pid": 100, "tid": 0, "ts": 0, "args": {"labels": "CPU"}},
    ]
    for thread in THREADS:
        name = {"name": f"thread {thread} (python)"}
        events.append({"ph": "M", "name": "thread_name", "pid": 100, "tid": thread, "ts": 0, "args": name})
    number = 0
    for step in range(3):
        start = 1000.0 + 200 * step
        for thread, category, name, begin, dur in (
            (101, "user_annotation", f"ProfilerStep#{step}", 0.0, 150.0),
            (101, "python_function", "train.py(3): step", 1.0, 140.0),
            (101, "cpu_op", "aten::linear", 5.0, 40.0),
            (101, "cpu_op", "aten::t", 5.0, 5.125),
            (101, "cpu_op", "aten::addmm", 10.125, 30.0),
            (101, "cpu_op", "aten::relu", 45.0, 20.0),
            (202, "cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", 70.0, 50.0),
            (202, "cpu_op", "aten::mm", 80.5, 30.0),
        ):
            number += 1
            args: dict[str, object] = {"External id": number, "Ev Idx": number - 1}
            if category == "cpu_op":
                args |= {
                    "Record function id": number + 500,
                    "Input Dims": [[2, 3], [3, 4], []],
                    "Input type": ["float", "float", "Scalar"],
                    "Concrete Inputs": ["", "", "1."],
                }
            events.append(
                {
                    "ph": "X",
                    "cat": category,
                    "name": name,
                    "pid": 100,
                    "tid": thread,
                    "ts": start + begin,
                    "dur": dur,
                    "args": args,
                }
            )
    return {"schemaVersion": 1, "baseTimeNanoseconds": BASE_NS, "displayTimeUnit": "ms", "traceEvents": events}


def columns(rows: list[dict[str, object]]) -> dict[str, np.ndarray]:
    """Rows as columns: integers, or objects for texts."""
    return {
        key: np.asarray([row[key] for row in rows], dtype=np.int64 if isinstance(rows[0][key], int) else object)
        for key in rows[0]
    }


def device() -> dict[str, object]:
    """CUPTI's part: calls, and work on three streams of two devices, of which some is that of a graph."""
    kernels: list[dict[str, object]] = []
    copies: list[dict[str, object]] = []
    fills: list[dict[str, object]] = []
    calls: list[dict[str, object]] = []
    external: list[dict[str, object]] = []
    for step in range(3):
        start = BASE_NS + (1000 + 200 * step) * 1000
        for at, (thread, begin, dur, gap, name, on) in enumerate(
            (
                (101, 15_000, 3_000, 9_000, "ampere_sgemm_128x64_tn", (0, 7)),
                (101, 50_000, 2_500, 4_000, "void at::native::vectorized_elementwise_kernel<4, float>(int)", (0, 7)),
                (202, 85_000, 3_125, 8_000, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", (0, 20)),
                (202, 100_001, 3_000, 8_000, "ampere_sgemm_64x64_nt", (1, 7)),
            )
        ):
            correlation = 1000 * (step + 1) + at
            calls.append(call(start + begin, dur, thread, correlation, 211))
            kernels.append(kernel(start + begin + gap, 12_000 - at, on, correlation, name, (0, 0)))
            external.append({"correlation_id": correlation, "external_id": 8 * step + (5, 6, 8, 8)[at]})
        graph = 1000 * (step + 1) + 10
        calls.append(call(start + 125_000, 4_000, 101, graph, 311))
        kernels += [
            kernel(start + 131_000, 6_000, (0, 7), graph, "triton_poi_fused_add_0", (5, 5 << 32 | 1)),
            kernel(start + 137_000, 5_000, (0, 20), graph, "triton_red_fused_sum_1", (5, 5 << 32 | 2)),
        ]
        copy = 1000 * (step + 1) + 11
        calls += [call(start + 133_000, 2_000, 101, copy, 41), call(start + 139_000, 11_000, 101, copy + 1, 165)]
        copies.append(work(start + 145_000, 3_000, (0, 7), copy) | {"bytes": 4096, "copy_kind": 2} | KINDS)
        fills.append(work(start + 150_000, 1_000, (0, 7), graph) | {"bytes": 512, "value": 0, "memory_kind": 3} | FLAGS)
    sync = {"start_ns": BASE_NS + 1_140_000, "end_ns": BASE_NS + 1_149_000, "sync_type": 3, "context_id": 1}
    sync |= {"stream_id": 7, "correlation_id": 1012, "cuda_event_sync_id": 0, "cuda_event_id": 0}
    environment = [
        {"start_ns": BASE_NS + 1_000_000 + 100_000 * at, "device_id": 0, "environment_kind": kind, "data": data}
        for at in range(4)
        for kind, data in ((3, (250_000 + at) | 700_000 << 32), (1, (1980 - at) | 2619 << 32))
    ]
    sampled = [
        {"start_ns": BASE_NS + 1_020_000 + 10_000 * at, "device_id": 0, "sm__cycles_active.avg.pct_of_peak": at * 12.5}
        for at in range(5)
    ]
    overhead = [{"start_ns": BASE_NS + 1_016_000, "end_ns": BASE_NS + 1_017_000, "name": "Instrumentation"}]
    found = {
        "kernel": kernels,
        "gpu_memcpy": copies,
        "gpu_memset": fills,
        "cuda_runtime": calls,
        "cuda_sync": [sync],
        "overhead": overhead,
        "external_correlation": external,
        "environment": environment,
        "pm_sampling": sampled,
    }
    by_kind = {kind: columns(rows) for kind, rows in found.items()}
    by_kind["pm_sampling"]["sm__cycles_active.avg.pct_of_peak"] = np.asarray([12.5 * at for at in range(5)])
    return {"columns": by_kind, "thread_resource_map": {}, "graph_deps": {5 << 32 | 2: [5 << 32 | 1]}}


FLAGS = {"flags": 0, "channel": 3, "channel_type": 1, "annotation": None, "metadata": None}
KINDS = {"src_kind": 3, "dst_kind": 2} | FLAGS


def call(start: int, dur: int, thread: int, correlation: int, number: int) -> dict[str, object]:
    """A call of the runtime."""
    times = {"start_ns": start, "end_ns": start + dur}
    return times | {"process_id": 100, "thread_id": thread, "correlation_id": correlation, "cbid": number}


def work(start: int, dur: int, on: tuple[int, int], correlation: int) -> dict[str, object]:
    """Work on a stream of a device."""
    place = {"device_id": on[0], "context_id": on[0] + 1, "stream_id": on[1], "correlation_id": correlation}
    return {"start_ns": start, "end_ns": start + dur, "graph_node_id": 0, "graph_id": 0} | place


def kernel(
    start: int, dur: int, on: tuple[int, int], correlation: int, name: str, graph: tuple[int, int]
) -> dict[str, object]:
    """A kernel, alone or as a node of a graph."""
    launch = {"grid_x": 10, "grid_y": 2, "grid_z": 1, "block_x": 128, "block_y": 1, "block_z": 1}
    memory = {"registers_per_thread": 32, "dynamic_shared_memory": 1024, "static_shared_memory": 0}
    queue = {"priority": 0, "queued": 0} | FLAGS
    node = {"graph_id": graph[0], "graph_node_id": graph[1]}
    return work(start, dur, on, correlation) | launch | memory | queue | node | {"name": name}


def write(folder: Path) -> None:
    """Writes both files with PyTorch's own code."""
    stand_in()
    from torch.profiler._cuspy.trace import merge_trace_window_into_chrome_trace

    # PyTorch writes its process and the machine's device into each kernel.
    about = mock.patch(f"{MODULE}._gpu_panel_const_extra", return_value=list(ABOUT.items()))
    with tempfile.TemporaryDirectory() as temporary, about:
        recorded = Path(temporary, "host.json")
        recorded.write_text(json.dumps(host()))
        merge_trace_window_into_chrome_trace(recorded, folder / "trace.pftrace", device())
        chrome = Path(temporary, "trace.json")
        merge_trace_window_into_chrome_trace(recorded, chrome, device(), trace_name="trace.json")
        (folder / "trace.json.gz").write_bytes(gzip.compress(chrome.read_bytes(), mtime=0))


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    write(FOLDER)
