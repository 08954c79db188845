"""Generates tests/data/synthetic_memory: a memory snapshot of an imagined GPU, as `torch.cuda.memory._dump_snapshot`
pickles one.

python tests/record/synthetic_memory.py
"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

FILE = Path(__file__).resolve().parents[1] / "data/synthetic_memory/memory_snapshot.pickle"
KIB, MIB = 1 << 10, 1 << 20
STREAM = 0x55D0_1234_5680
START_US = 1_750_000_000_000_000

Stack = list[dict[str, Any]]


def frame(name: str, filename: str, line: int, **extra: str) -> dict[str, Any]:
    return {"name": name, "filename": filename, "line": line, **extra}


MAIN = frame("<module>", "train.py", 41)
FORWARD: Stack = [frame("forward", "model.py", 12), frame("__call__", "torch/nn/modules/module.py", 1751), MAIN]
COMPILED: Stack = [frame("call", "fx_generated.py", 7, fx_node_op="call_function", fx_node_name="mm"), *FORWARD]
BACKWARD: Stack = [frame("backward", "torch/_tensor.py", 631), MAIN]
LOAD: Stack = [frame("pin", "data.py", 5)]


class Allocator:
    """The caching allocator of one device, with nothing but what a snapshot shows of it."""

    def __init__(self) -> None:
        self.segments: list[dict[str, Any]] = []
        self.trace: list[dict[str, Any]] = []
        self.time_us = START_US

    def record(self, action: str, size: int, stack: Stack, **more: Any) -> None:
        self.time_us += 13
        told = {"size": size, "stream": STREAM, "time_us": self.time_us, "compile_context": "N/A", "user_metadata": ""}
        if stack is COMPILED:
            told["compile_context"] = "0/0"
        self.trace.append({"action": action, **more, **told, "frames": stack})

    def alloc(self, requested: int, stack: Stack) -> int:
        size = -(-requested // 512) * 512
        segment, block = self.fitting(size) or self.grow(size, stack)
        rest = {**block, "address": block["address"] + size, "size": block["size"] - size}
        block.update(size=size, requested_size=requested, state="active_allocated", frames=stack)
        if rest["size"]:
            segment["blocks"].insert(segment["blocks"].index(block) + 1, rest)
        self.record("alloc", size, stack, addr=block["address"])
        return block["address"]

    def fitting(self, size: int) -> tuple[dict[str, Any], dict[str, Any]] | None:
        kind = "small" if size <= MIB else "large"
        for segment in self.segments:
            for block in segment["blocks"]:
                if (segment["segment_type"], block["state"]) == (kind, "inactive") and block["size"] >= size:
                    return segment, block
        return None

    def grow(self, size: int, stack: Stack) -> tuple[dict[str, Any], dict[str, Any]]:
        kind, total = ("small", 2 * MIB) if size <= MIB else ("large", 20 * MIB)
        address = 0x7F00_0000_0000 + 64 * MIB * len(self.segments)
        block = {"address": address, "size": total, "requested_size": 0, "state": "inactive", "frames": []}
        segment = {"device": 0, "address": address, "total_size": total, "stream": STREAM, "segment_type": kind}
        segment |= {"segment_pool_id": (0, 0), "is_expandable": False, "frames": stack, "blocks": [block]}
        self.segments.append(segment)
        self.record("segment_alloc", total, stack, addr=address)
        return segment, block

    def free(self, address: int, stack: Stack) -> None:
        for segment in self.segments:
            for block in segment["blocks"]:
                if block["address"] == address:
                    block["state"] = "inactive"
                    self.record("free_requested", block["size"], stack, addr=address)
                    self.record("free_completed", block["size"], stack, addr=address)

    def state(self) -> list[dict[str, Any]]:
        for segment in self.segments:
            used = [block for block in segment["blocks"] if block["state"] == "active_allocated"]
            segment["allocated_size"] = segment["active_size"] = sum(block["size"] for block in used)
            segment["requested_size"] = sum(block["requested_size"] for block in used)
        return self.segments


def snapshot() -> dict[str, Any]:
    """Two steps of an imagined model, and a third that runs out of memory."""
    device, host, annotations = Allocator(), Allocator(), []
    for size in (300 * KIB, 1000, 6 * MIB):
        device.alloc(size, FORWARD)
    host.record("alloc", 4096, LOAD, addr=0x7EFF_0000_0000)
    for step in range(2):
        annotations.append({"name": f"step {step}", "stage": "START", "device": 0, "time_us": device.time_us})
        kept = [device.alloc(77, COMPILED), device.alloc(3 * MIB, FORWARD), device.alloc(700 * KIB, COMPILED)]
        gradient = device.alloc(5 * MIB, BACKWARD)
        for address in reversed(kept):
            device.free(address, BACKWARD)
        device.free(gradient, [])
        annotations.append({"name": f"step {step}", "stage": "END", "device": 0, "time_us": device.time_us})
    device.record("oom", 1 << 40, FORWARD, device_free=123 * MIB)
    device.record("snapshot", 0, [], addr=0)
    pinned = {"address": 0x7EFF_0000_0000, "size": 4096, "state": "active_allocated", "frames": LOAD}
    return {
        "segments": device.state(),
        "device_traces": [device.trace, []],
        "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1, "expandable_segments": False},
        "external_annotations": annotations,
        "host_segments": [pinned],
        "host_traces": host.trace,
    }


def main() -> None:
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_bytes(pickle.dumps(snapshot(), protocol=4))
    print(f"{FILE.name}: {FILE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
