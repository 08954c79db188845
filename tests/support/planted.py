"""A job with planted answers: a late rank, a slow host, a gap before a module, a costly copy."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

NUM_RANKS = 4
LATE_RANK = 2
LATE_US = 5_000
"""Longer data loading of the late rank, in each iteration."""
NUM_STEPS = 4
STEP_US = 30_000
SLOW_STEP = 3
SLOW_US = 4_000
"""More host work at the end of the slow iteration."""
GAP_US = 3_000
"""Host work before the module `Attention_0`, while the device is idle."""
TOKENIZE = "prepare.py(12): tokenize"
LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
GEMM_US = 2_000
SOFTMAX_US = 700
COPY_US = 900
GEMM = "ampere_sgemm_128x64_tn"
SOFTMAX = "softmax_warp_forward"


def write_planted(folder: Path, gemm_us: int = GEMM_US, *, lost: int = 0) -> Path:
    """Writes a file per rank, and returns the folder. `lost` kernels of rank 0 are missing."""
    folder.mkdir(parents=True, exist_ok=True)
    for rank in range(NUM_RANKS):
        events = [event for step in range(NUM_STEPS) for event in _iteration(rank, step, gemm_us)]
        if rank == 0 and lost:
            kernels = [at for at, event in enumerate(events) if event["name"] == GEMM][-lost:]
            events = [event for at, event in enumerate(events) if at not in kernels]
        document = {
            "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": NUM_RANKS},
            "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}],
            "with_stack": 1,
            "record_shapes": 1,
            "traceEvents": events,
        }
        (folder / f"rank{rank}.json.gz").write_bytes(gzip.compress(json.dumps(document).encode(), 1, mtime=0))
    return folder


def _iteration(rank: int, step: int, gemm_us: int) -> list[dict[str, Any]]:
    start = 1_000 + STEP_US * step
    loading = 200 + (LATE_US if rank == LATE_RANK else 0)
    dur = 24_000 + (SLOW_US if step == SLOW_STEP else 0)
    number = 100 * step
    at = start + loading
    events = [
        _host("user_annotation", f"ProfilerStep#{step}", start, dur),
        _host("user_annotation", LOADER, start + 10, loading - 20),
        # A copy from pageable memory, which the host waits for.
        _host("cpu_op", "aten::copy_", at, COPY_US + 60),
        _host("cuda_runtime", "cudaMemcpyAsync", at + 10, COPY_US + 30, correlation=number + 1),
        _device("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", (at + 20, COPY_US), number + 1, bytes=1 << 22),
    ]
    module = at + COPY_US + 100
    events += [
        _host("python_function", "nn.Module: Linear_0", module, 400, **{"Python id": number + 1}),
        *_operator("aten::mm", GEMM, (module + 10, module + 60, gemm_us), number + 2, shapes=[[512, 512], [512, 512]]),
    ]
    # The device is idle while the host prepares the input of the next module.
    end = module + 60 + gemm_us
    events += [
        _host("python_function", TOKENIZE, module + 410, gemm_us - 350 + GAP_US - 100, **{"Python id": number + 2})
    ]
    module = end + GAP_US - 60
    events += [
        _host("python_function", "nn.Module: Attention_0", module, 400, **{"Python id": number + 3}),
        *_operator("aten::softmax", SOFTMAX, (module + 10, module + 60, SOFTMAX_US), number + 3, shapes=[[512, 512]]),
    ]
    # All ranks end the collective at once.
    reduce = module + 60 + SOFTMAX_US + 100
    finish = start + 200 + LATE_US + COPY_US + 100 + 60 + GEMM_US + GAP_US - 60 + 60 + SOFTMAX_US + 100 + 800
    finish += gemm_us - GEMM_US
    record = {
        "Collective name": "allreduce",
        "Process Group Name": "0",
        "Process Group Description": "default_pg",
        "Group size": NUM_RANKS,
        "Seq": step,
        "dtype": "Float",
        "In msg nelems": 1 << 20,
        "Out msg nelems": 1 << 20,
    }
    name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL()"
    events += [
        _host("cpu_op", "record_param_comms", reduce - 90, 40, **record),
        _host("cuda_runtime", "cudaLaunchKernel", reduce - 80, 8, correlation=number + 4),
        _device("kernel", name, (reduce, finish - reduce), number + 4, stream=20),
        _host("cuda_runtime", "cudaDeviceSynchronize", reduce - 40, finish - reduce + 60),
    ]
    if step == SLOW_STEP:
        events.append(
            _host("python_function", "log.py(3): flush", start + 22_000, SLOW_US, **{"Python id": number + 4})
        )
    return events


def _operator(
    name: str, kernel: str, times: tuple[int, int, int], number: int, shapes: list[list[int]]
) -> list[dict[str, Any]]:
    call, start, dur = times
    types = ["float"] * len(shapes)
    return [
        _host("cpu_op", name, call, 40, **{"Input Dims": shapes, "Input type": types, "External id": number}),
        _host("cuda_runtime", "cudaLaunchKernel", call + 10, 10, correlation=number),
        _device("kernel", kernel, (start, dur), number),
    ]


def _host(category: str, name: str, start: int, dur: int, **args: Any) -> dict[str, Any]:
    return {"ph": "X", "pid": 100, "tid": 1, "cat": category, "name": name, "ts": start, "dur": dur, "args": args}


def _device(
    category: str, name: str, time: tuple[int, int], correlation: int, stream: int = 7, **more: Any
) -> dict[str, Any]:
    args = {"correlation": correlation, "device": 0, "stream": stream, **more}
    return {
        "ph": "X",
        "pid": 0,
        "tid": stream,
        "cat": category,
        "name": name,
        "ts": time[0],
        "dur": time[1],
        "args": args,
    }
