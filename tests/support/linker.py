"""Reference implementation of `chakra_trace_link`, without sync dependencies.

It omits two errors: a record id of 0 means none, and a pair needs no `ProfilerStep`.
"""

from __future__ import annotations

import copy
from bisect import bisect_left
from collections import defaultdict
from operator import itemgetter
from typing import Any

LAUNCHES = {
    *("cuLaunchKernel", "cuLaunchKernelEx", "cudaLaunchKernel", "cudaLaunchKernelExC", "cudaLaunchCooperativeKernel"),
    *("cudaMemcpy", "cudaMemcpyAsync", "cudaMemcpyFromSymbol", "cudaMemcpyToSymbol", "hipMemcpyWithStream"),
    *("hipLaunchKernel", "hipExtLaunchKernel", "hipExtModuleLaunchKernel", "hipModuleLaunchKernel", "hipMemcpyAsync"),
}
GAP_US = 1000

Event = dict[str, Any]
Node = dict[str, Any]


def record_id(event: Event) -> int | None:
    return event.get("args", {}).get("Record function id") or None


def external_id(event: Event) -> int:
    return event.get("args", {}).get("External id", -1)


class Linker:
    """A pair, linked."""

    def __init__(self, execution: dict[str, Any], kineto: dict[str, Any]) -> None:
        events = sorted((event for event in kineto["traceEvents"] if event.get("ph") == "X"), key=itemgetter("ts"))
        self.execution = execution
        self.ops = [
            event
            for event in events
            if event.get("cat") in {"cpu_op", "user_annotation"} and "ProfilerStep" not in event["name"]
        ]
        self.op_starts = [op["ts"] for op in self.ops]
        self.threads: dict[Any, list[Event]] = defaultdict(list)
        for op in self.ops:
            self.threads[op["tid"]].append(op)
        self.launches = {
            event["args"]["correlation"]: event
            for event in events
            if event.get("cat") in {"cuda_runtime", "cuda_driver"} and event["name"] in LAUNCHES
        }
        self.exclusive = {id(op): time for thread in self.threads.values() for op, time in exclusive_times(thread)}
        self.waits = self.thread_waits()
        self.kernels: dict[int, list[Event]] = defaultdict(list)
        for event in events:
            if event.get("cat") in {"kernel", "gpu_memcpy"}:
                op = self.closest(event)
                if op is not None:
                    self.kernels[external_id(op)].append(event)

    def thread_waits(self) -> dict[int, Event | None]:
        """For each operator, what its thread waited for."""
        waits: dict[int, Event | None] = {}
        for tid, thread in self.threads.items():
            latest: Event | None = None
            for before, op in zip([None, *thread], thread, strict=False):
                if before is None or op["ts"] - before["ts"] - before["dur"] > GAP_US:
                    latest = self.latest(tid, op["ts"])
                waits[id(op)] = latest
        return waits

    def latest(self, tid: Any, start: float) -> Event | None:
        found: Event | None = None
        for other, thread in self.threads.items():
            for op in thread:
                if other != tid and op["ts"] < start and (found is None or op["ts"] > found["ts"]):
                    found = op
        return found

    def closest(self, kernel: Event) -> Event | None:
        """The operator that a kernel is given to."""
        launch = self.launches.get(kernel["args"].get("correlation"))
        if launch is None:
            return None
        fallback = None
        for op in reversed(self.ops[: bisect_left(self.op_starts, launch["ts"])]):
            if op["tid"] != launch["tid"] or ("nccl" in kernel["name"].lower() and op["name"] == "nccl:coalesced"):
                continue
            if external_id(op) == external_id(kernel):
                return op
            fallback = fallback or op
        return fallback

    def linked(self) -> dict[str, Any]:
        """The Execution Trace with times and kernels."""
        by_record = {record_id(op): op for op in self.ops if record_id(op)}
        nodes = sorted(copy.deepcopy(self.execution["nodes"]), key=itemgetter("id"))
        op_of = {node["id"]: by_record[record] for node in nodes if (record := node_record(node)) in by_record}
        numbers: dict[int, int] = {}
        found: dict[int | None, int] = {}
        result: list[Node] = []
        fresh = 0
        for node in nodes:
            old = node["id"]
            node["id"] = numbers[old] = fresh
            fresh += 1
            result.append(node)
            op = op_of.get(old)
            if op is None:
                continue
            wait = self.waits[id(op)]
            node["inclusive_dur"], node["exclusive_dur"], node["ts"] = op["dur"], self.exclusive[id(op)], op["ts"]
            node["inter_thread_dep"] = found.get(record_id(wait)) if wait else None
            found[record_id(op)] = node["id"]
            for kernel in sorted(self.kernels.get(external_id(op), []), key=itemgetter("ts")):
                result.append(kernel_node(node, old, fresh, kernel))
                fresh += 1
        for node in result:
            if "ctrl_deps" in node:
                if node["ctrl_deps"] not in numbers:
                    numbers[node["ctrl_deps"]] = fresh
                    fresh += 1
                node["ctrl_deps"] = numbers[node["ctrl_deps"]]
        return self.execution | {"nodes": result}


def node_record(node: Node) -> int | None:
    attrs = {attr["name"]: attr["value"] for attr in node.get("attrs", [])}
    return node.get("rf_id", attrs.get("rf_id")) or None


def kernel_node(host: Node, host_id: int, new_id: int, kernel: Event) -> Node:
    node = copy.deepcopy(host)
    node.update(id=new_id, ctrl_deps=host_id, name=kernel["name"], cat=kernel["cat"], ph=kernel["ph"])
    node.update(inclusive_dur=kernel["dur"], exclusive_dur=kernel["dur"], ts=kernel["ts"])
    node["stream"] = kernel["args"].get("stream")
    if "ncclDevKernel" in kernel["name"] and "Process Group Name" in kernel["args"]:
        node["pg_name"] = kernel["args"]["Process Group Name"]
    return node


def exclusive_times(thread: list[Event]) -> list[tuple[Event, float]]:
    """Durations without the union of later, fully nested events, by start and duration."""
    ops = sorted(thread, key=itemgetter("ts", "dur"))
    times: list[tuple[Event, float]] = []
    for at, op in enumerate(ops):
        end, rest = op["ts"] + op["dur"], op["dur"]
        inside: list[list[float]] = []
        for other in ops[at + 1 :]:
            if other["ts"] > end:
                break
            other_end = other["ts"] + other["dur"]
            if other_end > end:
                continue
            if inside and other["ts"] <= inside[-1][1]:
                inside[-1][1] = max(inside[-1][1], other_end)
            else:
                inside.append([other["ts"], other_end])
        for first, last in inside:
            rest -= last - first
        times.append((op, rest))
    return times


def dependencies(nodes: list[Node]) -> dict[int, set[int]]:
    """Reference implementation of the dependencies of `chakra_converter`, for a linked trace.

    Nodes of a thread depend on each other in call order, device work on its node, and all on the
    dependencies that they name. The times that the converter compares first are those of the nodes.
    """
    children: dict[int, list[Node]] = defaultdict(list)
    starts = {node["id"]: node.get("ts", 0) for node in nodes}
    for node in nodes:
        children[node["parent" if "parent" in node else "ctrl_deps"]].append(node)
    waits: dict[int, set[int]] = defaultdict(set)
    for root in (node for node in nodes if node["name"].endswith("|thread]")):
        stack, before = [root], None
        while stack:
            node = stack.pop()
            found = waits[node["id"]]
            found |= {node["inter_thread_dep"]} if node.get("inter_thread_dep") and "cat" not in node else set()
            found |= {before} if before is not None else set()
            found |= {source for source in node.get("sync_dep", []) if starts[source] < starts[node["id"]]}
            before = before if "cat" in node else node["id"]
            stack.extend(sorted(children[node["id"]], key=itemgetter("id"), reverse=True))
    return waits
