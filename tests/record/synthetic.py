"""Writes trace pairs that no machine recorded, in the layout of PyTorch 2.15: a clock, host threads, device streams.

A `Recorder` is driven like a program that is being profiled. Every call moves the clock of its host thread;
`finish` writes the Kineto trace and the matching Execution Trace.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PROCESS = 4200
BASE_NS = 1_790_000_000_000_000_000
DEVICE = {
    "id": 0, "name": "Synthetic GPU (no hardware)", "totalGlobalMem": 16_000_000_000, "computeMajor": 9,
    "computeMinor": 0, "maxThreadsPerBlock": 1024, "maxThreadsPerMultiprocessor": 2048, "regsPerBlock": 65536,
    "warpSize": 32, "sharedMemPerBlock": 49152, "numSms": 100, "regsPerMultiprocessor": 65536,
    "sharedMemPerBlockOptin": 232448, "sharedMemPerMultiprocessor": 233472,
}  # fmt: skip
_EMPTY = {"values": [], "shapes": [], "types": [], "strides": []}

Json = dict[str, Any]


def us(ns: int) -> float:
    """Kineto's microseconds with three decimals, exact for the times used here (below 2^53 ns)."""
    return round(ns / 1000, 3)


def strides(shape: list[int]) -> list[int]:
    result = [1]
    for size in reversed(shape[1:]):
        result.insert(0, result[0] * size)
    return result[: len(shape)]


class Recorder:
    """The state of a recording: what has been written, and the clock of each thread and stream, in ns since BASE_NS."""

    def __init__(self, start_ns: int = 5_000_000_000) -> None:
        self.start_ns = start_ns
        self.process_name = "python"
        self.is_observed = True
        """Whether operators have a record id and a node: the observer of the Execution Trace runs."""
        self.device = dict(DEVICE)
        self.events: list[Json] = []
        self.nodes: list[Json] = []
        self.clock: dict[int, int] = {}
        self.stream_free: dict[int, int] = {}
        self._parents: dict[int, list[int]] = {}
        self._next_node = 2
        self._next_record = 1
        self._next_correlation = 100
        self._next_flow = 1

    # --- host -------------------------------------------------------------------------------------------------

    def now(self, thread: int) -> int:
        return self.clock.setdefault(thread, self.start_ns)

    def spend(self, thread: int, ns: int) -> None:
        """The thread computes, or waits, without a record of it."""
        self.clock[thread] = self.now(thread) + ns

    @contextmanager
    def operator(  # noqa: PLR0913 - what an operator's event can say, most of it rarely
        self, name: str, shapes: list[list[int]] | None = None, *, thread: int = 1, category: str = "cpu_op",
        seq: int = -1, schema: str = "", args: Json | None = None,
    ) -> Iterator[Json]:  # fmt: skip
        """A host event with its node; what happens in the `with` block is inside it. Yields the event."""
        record = self._next_record
        self._next_record += 1
        node = self._enter(thread)
        event = self._host_event(category, name, thread)
        record_id = record if self.is_observed else 0
        event["args"] = {"External id": record, "Record function id": record_id, **_shape_args(shapes), **(args or {})}
        event["args"] |= {"Sequence number": seq, "Fwd thread id": 0} if seq >= 0 else {}
        event["args"]["Ev Idx"] = record - 1
        self.spend(thread, 1_500)
        yield event
        self.spend(thread, 1_000)
        event["dur"] = us(self.now(thread) - event.pop("_start"))
        scope = 7 if category == "user_annotation" else 1 if name.endswith("Backward0") else 0
        self._leave(node, thread, name, _values(shapes, node), _attrs(record, seq, scope, thread, schema))

    def _host_event(self, category: str, name: str, thread: int) -> Json:
        start = self.now(thread)
        tid = PROCESS + thread - 1
        event = {"ph": "X", "cat": category, "name": name, "pid": PROCESS, "tid": tid, "ts": us(start), "dur": 0.0}
        self.events.append(event | {"_start": start})
        return self.events[-1]

    def _enter(self, thread: int) -> int:
        if thread not in self._parents:
            root = self._take_node()
            self._parents[thread] = [root]
            self.nodes.append(
                _node(root, 1, "[pytorch|profiler|execution_trace|thread]", _EMPTY, _attrs(0, -1, 7, thread))
            )
        node = self._take_node()
        self._parents[thread].append(node)
        return node

    def _leave(self, node: int, thread: int, name: str, inputs: Json, attrs: list[Json]) -> None:
        self._parents[thread].pop()
        if self.is_observed:
            self.nodes.append(_node(node, self._parents[thread][-1], name, inputs, attrs))

    def _take_node(self) -> int:
        self._next_node += 3  # the observer numbers tensors and storages from the same counter
        return self._next_node - 3

    # --- device -----------------------------------------------------------------------------------------------

    def launch(  # noqa: PLR0913 - a launch is its call, its work, and where both happen
        self, call: str, category: str, name: str, stream: int, dur_ns: int, *, thread: int = 1, overlap_ns: int = 0,
        args: Json | None = None,
    ) -> Json:  # fmt: skip
        """A host call that enqueues device work, the device event, and the arrow between them.

        The work starts when the stream is free, or `overlap_ns` before that.
        """
        correlation = self.runtime(call, thread=thread, dur_ns=4_000, arrow=True)
        launched = self.now(thread) + 2_500
        start = max(launched, self.stream_free.get(stream, 0) - overlap_ns)
        self.stream_free[stream] = max(start + dur_ns, self.stream_free.get(stream, 0))
        event = self.device_event(category, name, stream, start, dur_ns, correlation)
        event["args"] |= args or {}
        self._arrow("f", correlation, 0, stream, start)
        return event

    def runtime(self, call: str, *, thread: int = 1, dur_ns: int = 3_000, arrow: bool = False) -> int:
        """A call of the CUDA runtime; without `arrow` it enqueues nothing. Returns its correlation id."""
        correlation = self._next_correlation
        self._next_correlation += 1
        event = self._host_event("cuda_runtime", call, thread)
        self.spend(thread, dur_ns)
        event["dur"] = us(self.now(thread) - event.pop("_start"))
        event["args"] = {"External id": self._next_record - 1, "cbid": 211, "correlation": correlation}
        if arrow:
            self._arrow("s", correlation, PROCESS, event["tid"], self.now(thread) - dur_ns)
        return correlation

    def device_event(self, category: str, name: str, stream: int, start: int, dur_ns: int, correlation: int) -> Json:
        args = {
            "External id": self._next_record - 1,
            "device": 0,
            "context": 1,
            "stream": stream,
            "correlation": correlation,
        }
        event = {"ph": "X", "cat": category, "name": name, "pid": 0, "tid": stream, "ts": us(start), "dur": us(dur_ns)}
        self.events.append(event | {"args": args})
        return self.events[-1]

    def synchronize(self, thread: int = 1) -> None:
        """The thread waits until the device has finished everything."""
        wait = max(self.stream_free.values()) - self.now(thread)
        self.runtime("cudaDeviceSynchronize", thread=thread, dur_ns=max(wait, 0) + 3_000)

    def _arrow(self, phase: str, flow: int, pid: int, tid: int, at: int, name: str = "ac2g") -> None:
        arrow = {"ph": phase, "id": flow, "pid": pid, "tid": tid, "ts": us(at), "cat": name, "name": name}
        self.events.append(arrow | ({"bp": "e"} if phase == "f" else {}))

    def forward_backward(self, forward: Json, backward: Json) -> None:
        for phase, event in (("s", forward), ("f", backward)):
            self._arrow(phase, self._next_flow, event["pid"], event["tid"], round(event["ts"] * 1000), "fwdbwd")
        self._next_flow += 1

    def dangling_arrow(self, flow: int, at: int) -> None:
        """An arrow's head whose tail was never written, as real files have by the thousand."""
        self._arrow("f", flow, 0, 7, at)

    def memory(self, bytes_: int, total: int, *, thread: int = 1) -> None:
        args = {"Total Reserved": 33_554_432, "Total Allocated": total, "Bytes": bytes_, "Addr": 0x7F0000000000 + total,
                "Device Id": 0, "Device Type": 1}  # fmt: skip
        tid = PROCESS + thread - 1
        self.events.append({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": PROCESS,
                            "tid": tid, "ts": us(self.now(thread)), "args": args})  # fmt: skip

    # --- files ------------------------------------------------------------------------------------------------

    def finish(self, folder: Path, title: str, rank: int = 0) -> None:
        """Writes `kineto_trace_<rank>.json.gz` and `torch_et_<rank>.json.gz`."""
        folder.mkdir(parents=True, exist_ok=True)
        root = _node(1, 1, "[pytorch|profiler|execution_trace|process]", _EMPTY, _attrs(0, -1, 7, 0))
        execution = {"schema": "1.1.1-chakra.0.0.4", "pid": PROCESS, "time": "2026-09-21 12:00:00", "start_ts": 1000,
                     "nodes": [*self.nodes, root], "finish_ts": 1001}  # fmt: skip
        _write(folder / f"kineto_trace_{rank}.json.gz", self.kineto(title))
        _write(folder / f"torch_et_{rank}.json.gz", execution)

    def kineto(self, title: str) -> Json:
        """The Kineto trace."""
        end = max([*self.clock.values(), *self.stream_free.values()])
        span = {"ph": "X", "cat": "Trace", "ts": us(self.start_ns - 20_000), "dur": us(end - self.start_ns + 40_000),
                "pid": "Spans", "tid": "PyTorch Profiler", "name": "PyTorch Profiler (0)",
                "args": {"Op count": 0}}  # fmt: skip
        return {
            "schemaVersion": 1, "deviceProperties": [self.device], "record_shapes": 1, "displayTimeUnit": "ms",
            "synthetic": f"{title}: made by tests/record, not recorded on any hardware",
            "baseTimeNanoseconds": BASE_NS, "traceEvents": [*self._names(), *self.events, span], "traceName": title,
        }  # fmt: skip

    def _names(self) -> Iterator[Json]:
        """What the tracks are called."""
        for pid, label in ((PROCESS, "CPU"), (0, "GPU 0")):
            yield self._metadata("process_name", pid, 0, {"name": self.process_name})
            yield self._metadata("process_labels", pid, 0, {"labels": label})
            yield self._metadata("process_sort_index", pid, 0, {"sort_index": 5_000_000 - pid})
        for thread in self.clock:
            tid, name = PROCESS + thread - 1, self.process_name if thread == 1 else "pt_autograd_0"
            yield self._metadata("thread_name", PROCESS, tid, {"name": f"thread {tid} ({name})"})
        for stream in self.stream_free:
            yield self._metadata("thread_name", 0, stream, {"name": f"stream {stream} "})

    def _metadata(self, name: str, pid: int, tid: int, args: Json) -> Json:
        return {"ph": "M", "name": name, "ts": us(self.start_ns), "pid": pid, "tid": tid, "args": args}


def _write(path: Path, document: Json) -> None:
    path.write_bytes(gzip.compress(json.dumps(document).encode(), 9, mtime=0))
    print(f"{path.parent.name}/{path.name}: {path.stat().st_size / 1000:.0f} kB")


def _shape_args(shapes: list[list[int]] | None) -> Json:
    if shapes is None:
        return {}
    return {"Concrete Inputs": [""] * len(shapes), "Input type": ["float"] * len(shapes),
            "Input Strides": [strides(shape) for shape in shapes], "Input Dims": shapes}  # fmt: skip


def _values(shapes: list[list[int]] | None, node: int) -> Json:
    if not shapes:
        return _EMPTY
    values = []
    for index, shape in enumerate(shapes):
        count = 1
        for size in shape:
            count *= size
        values.append([100_000 + node + index, 200_000 + node + index, 0, count, 4, "cuda:0"])
    types = ["Tensor(float)"] * len(shapes)
    return {"values": values, "shapes": shapes, "types": types, "strides": [strides(shape) for shape in shapes]}


def _node(node: int, parent: int, name: str, inputs: Json, attrs: list[Json]) -> Json:
    return {"id": node, "name": name, "ctrl_deps": parent, "inputs": inputs, "outputs": _EMPTY, "attrs": attrs}


def _attrs(record: int, seq: int, scope: int, thread: int, schema: str = "") -> list[Json]:
    return [
        {"name": "rf_id", "type": "uint64", "value": record}, {"name": "fw_parent", "type": "uint64", "value": 0},
        {"name": "seq_id", "type": "int64", "value": seq}, {"name": "scope", "type": "uint64", "value": scope},
        {"name": "tid", "type": "uint64", "value": thread}, {"name": "fw_tid", "type": "uint64", "value": 0},
        {"name": "op_schema", "type": "string", "value": schema},
        {"name": "kernel_backend", "type": "string", "value": ""},
        {"name": "kernel_file", "type": "string", "value": ""}, {"name": "tensor_range", "type": "string", "value": ""},
    ]  # fmt: skip
