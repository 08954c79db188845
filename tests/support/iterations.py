"""Generated iterations with device work, of which some may be lost."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any


def iterations(durs_us: list[int], lost: Collection[int] = (), kernel_us: int = 300, rank: int | None = None) -> bytes:
    """Returns a trace of iterations with one operator inside another one.

    Those of `lost` have no kernel for their second launch.
    """
    events: list[dict[str, Any]] = []

    def add(name: str, category: str, start: int, dur: int, **more: Any) -> None:
        place = {"pid": 0, "tid": 7} if category == "kernel" else {"pid": 1, "tid": 1}
        events.append({"ph": "X", "name": name, "cat": category, "ts": start, "dur": dur, **place, **more})

    start = 0
    for at, dur in enumerate(durs_us):
        add(f"ProfilerStep#{at}", "user_annotation", start, dur)
        add("aten::linear", "cpu_op", start + 10, 200)
        for half in (0, 1):
            number, when = 2 * at + half + 1, start + 20 + 80 * half
            add("aten::mm", "cpu_op", when, 50)
            add("cudaLaunchKernel", "cuda_runtime", when + 10, 20, args={"correlation": number})
            if half == 0 or at not in lost:
                args = {"correlation": number, "stream": 7, "device": 0}
                add("gemm", "kernel", start + 50 + half * kernel_us, kernel_us, args=args)
        start += dur + 100
    header = {} if rank is None else {"distributedInfo": {"rank": rank, "world_size": 3}}
    return json.dumps({"traceEvents": events, **header}).encode()
