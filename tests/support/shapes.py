"""Shapes of traces in which something is very many, each with about `n` elements."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

Event = dict[str, Any]
Shape = Callable[[int], bytes]

SHAPES: dict[str, Shape] = {}


def shape(make: Shape) -> Shape:
    SHAPES[make.__name__] = make
    return make


def trace(events: list[Event], **header: Any) -> bytes:
    return json.dumps({**header, "traceEvents": events}).encode()


def event(category: str, name: str, start: float, dur: float, place: tuple[int, int] = (1, 1), **args: Any) -> Event:
    found: Event = {"ph": "X", "cat": category, "name": name, "ts": start, "dur": dur, "pid": place[0], "tid": place[1]}
    return {**found, "args": args} if args else found


def operator(name: str, start: float, dur: float, place: tuple[int, int] = (1, 1), **args: Any) -> Event:
    return event("cpu_op", name, start, dur, place, **args)


def call(start: float, number: int | None, name: str = "cudaLaunchKernel", dur: float = 1, **args: Any) -> Event:
    numbered: Event = {} if number is None else {"correlation": number}
    return event("cuda_runtime", name, start, dur, **numbered, **args)


def with_args(found: Event, args: Event) -> Event:
    """The event with arguments whose names are not known."""
    return {**found, "args": args}


def kernel(
    start: float, number: int | None, dur: float = 1, place: tuple[int, int] = (0, 7), name: str = "k", **args: Any
) -> Event:
    numbered: Event = {} if number is None else {"correlation": number}
    return event("kernel", name, start, dur, place, device=place[0], stream=place[1], **numbered, **args)


def arrow(number: int, start: float, end: float, category: str = "ac2g", to: tuple[int, int] = (0, 7)) -> list[Event]:
    both: Event = {"cat": category, "name": category, "id": number}
    return [
        {**both, "ph": "s", "ts": start, "pid": 1, "tid": 1},
        {**both, "ph": "f", "bp": "e", "ts": end, "pid": to[0], "tid": to[1]},
    ]


def launched(n: int) -> list[Event]:
    """Operators that each launch a kernel."""
    return [
        part
        for at in range(n)
        for part in (
            operator("aten::mm", at * 10, 8),
            call(at * 10 + 1, at + 1),
            kernel(at * 10 + 3, at + 1, 5),
        )
    ]


# --- launches -------------------------------------------------------------------------------------


@shape
def kernels_of_one_launch(n: int) -> bytes:
    return trace([call(0, 5), *(kernel(at + 2, 5) for at in range(n))])


@shape
def launches_and_kernels_of_one_number(n: int) -> bytes:
    return trace([*(call(at, 5) for at in range(n)), *(kernel(at + 2, 5) for at in range(n))])


@shape
def two_kernels_for_each_launch_of_one_number(n: int) -> bytes:
    return trace([*(call(at * 10, 5) for at in range(n // 2)), *(kernel(at * 5 + 2, 5) for at in range(n))])


@shape
def one_number_in_many_processes(n: int) -> bytes:
    calls = [{**call(at, 5), "pid": at + 10, "tid": at + 10} for at in range(n)]
    return trace([*calls, *(kernel(at + 2, 5) for at in range(n))])


@shape
def kernels_of_one_graph(n: int) -> bytes:
    nodes: list[Event] = [{"graph node id": at, "graph id": 1} for at in range(n)]
    launch = call(0, 5, "cudaGraphLaunch")
    return trace([launch, *(kernel(at + 2, 5, **args) for at, args in enumerate(nodes))])


@shape
def everything_at_one_instant(n: int) -> bytes:
    found: list[Event] = []
    for at in range(n):
        found += [call(5, at + 1), kernel(5, at + 1), *arrow(at + 1, 5, 5)]
    return trace(found)


@shape
def arrows_alone_at_one_instant(n: int) -> bytes:
    found: list[Event] = []
    for at in range(n):
        found += [call(5, None, x=1), kernel(5, None), *arrow(at + 1, 5, 5)]
    return trace(found)


@shape
def arrows_after_events_at_one_instant(n: int) -> bytes:
    calls = [part for _ in range(n) for part in (call(5, None, x=1), kernel(5, None))]
    return trace([*calls, *(end for at in range(n) for end in arrow(at + 1, 5, 5))])


@shape
def arrows_of_one_number(n: int) -> bytes:
    found: list[Event] = []
    for at in range(n):
        found += [call(2 * at, None, x=1), kernel(2 * at + 1, None), *arrow(1, 2 * at, 2 * at + 1)]
    return trace(found)


@shape
def one_external_id(n: int) -> bytes:
    number: Event = {"External id": 5}
    calls = [call(2 * at, None, **number) for at in range(n)]
    return trace([*calls, *(kernel(2 * at + 1, None, **number) for at in range(n))])


@shape
def lost_kernels(n: int) -> bytes:
    return trace([*(call(at * 3, at + 1) for at in range(n)), *(kernel(at * 3 + 1, at + 1) for at in range(0, n, 2))])


@shape
def lost_kernels_of_many_streams(n: int) -> bytes:
    found: list[Event] = []
    for at in range(n):
        calls = [call(at * 10 + 1, 2 * at + 1), call(at * 10 + 4, 2 * at + 2)]
        found += [operator(f"aten::x{at}", at * 10, 8), *calls, kernel(at * 10 + 3, 2 * at + 1, 1, (0, at))]
    return trace(found)


@shape
def waits_for_the_device(n: int) -> bytes:
    found: list[Event] = []
    for at in range(n):
        wait = call(at * 10 + 2, 2 * at + 2, "cudaDeviceSynchronize", 5)
        found += [call(at * 10, 2 * at + 1), kernel(at * 10 + 1, 2 * at + 1, 5), wait]
    return trace(found)


@shape
def captures_in_many_processes(n: int) -> bytes:
    found: list[Event] = []
    for at in range(n):
        place: Event = {"pid": at + 10, "tid": at + 10}
        found += [{**call(at * 10, None, "cudaGraphInstantiate", x=1), **place}, {**call(at * 10 + 2, at + 1), **place}]
        found.append(kernel(at * 10 + 4, at + 1, args=1))
    return trace(found)


# --- nesting --------------------------------------------------------------------------------------


def steps(n: int, start: Callable[[int], float], dur: Callable[[int], float], num_threads: int = 1) -> list[Event]:
    names = (f"ProfilerStep#{at}" for at in range(n))
    return [
        event("user_annotation", name, start(at), dur(at), (1, 1 + at % num_threads)) for at, name in enumerate(names)
    ]


@shape
def iterations(n: int) -> bytes:
    return trace([*steps(n, lambda at: at * 10, lambda _: 10), *launched(n)])


@shape
def overlapping_iterations(n: int) -> bytes:
    return trace([*steps(n, lambda at: at * 10, lambda _: n * 10, 50), *launched(n)])


@shape
def nested_iterations(n: int) -> bytes:
    return trace([*steps(n, lambda at: at, lambda at: 2 * (n * 10) - 2 * at), *launched(n)])


@shape
def iterations_with_names_of_their_own(n: int) -> bytes:
    own = [operator(f"op_{at}", at * 10 + 1, 5) for at in range(n)]
    return trace([*steps(n, lambda at: at * 10, lambda _: 10), *own])


def nested(category: str, n: int, name: Callable[[int], str], numbers: str = "") -> bytes:
    def args(at: int) -> Event:
        return {"Python id": at, "Python parent id": at - 1 if at else None} if numbers else {}

    frames = [event(category, name(at), at, 2 * n - 2 * at, **args(at)) for at in range(n)]
    return trace([*frames, call(n - 0.5, 1, dur=0.1), kernel(n + 1, 1)])


@shape
def nested_operators(n: int) -> bytes:
    return nested("cpu_op", n, lambda at: f"aten::op{at}")


@shape
def nested_annotations(n: int) -> bytes:
    return nested("user_annotation", n, lambda at: f"a{at}")


@shape
def nested_frames_with_long_names(n: int) -> bytes:
    return nested("python_function", n, lambda at: f"{'a' * 200}{at}.py(1): f{at}", "Python")


@shape
def nested_modules(n: int) -> bytes:
    return nested("python_function", n, lambda at: f"nn.Module: M{at}_0", "Python")


@shape
def operators_that_outlast_each_other(n: int) -> bytes:
    return trace([operator(f"o{at % 7}", at, n) for at in range(n)])


@shape
def kernels_that_outlast_each_other(n: int) -> bytes:
    return trace([*(call(at, at + 1) for at in range(n)), *(kernel(at + 1, at + 1, n * 3) for at in range(n))])


@shape
def begins_without_ends(n: int) -> bytes:
    return trace([{"ph": "B", "name": f"a{at}", "ts": at, "pid": 1, "tid": 1} for at in range(n)])


# --- places ---------------------------------------------------------------------------------------


@shape
def processes(n: int) -> bytes:
    found: list[Event] = []
    for at in range(n):
        name = {"ph": "M", "name": "process_name", "pid": at + 1, "args": {"name": f"python {at}"}}
        found += [operator("a", at, 1, (at + 1, at + 1)), name]
    return trace(found)


@shape
def threads(n: int) -> bytes:
    return trace([operator("a", at, 1, (1, at + 1)) for at in range(n)])


@shape
def streams(n: int) -> bytes:
    return trace([*(call(at, at + 1) for at in range(n)), *(kernel(at + 1, at + 1, 1, (0, at)) for at in range(n))])


@shape
def devices(n: int) -> bytes:
    return trace([*(call(at, at + 1) for at in range(n)), *(kernel(at + 1, at + 1, 1, (at, 7)) for at in range(n))])


# --- arguments, names, counters, metadata ---------------------------------------------------------


@shape
def series_of_one_counter(n: int) -> bytes:
    values = {f"s{at}": at for at in range(n)}
    return trace([{"ph": "C", "name": "c", "ts": 1, "pid": 1, "args": values}, operator("a", 0, 3)])


@shape
def counters(n: int) -> bytes:
    points = [{"ph": "C", "name": f"c{at}", "ts": at, "pid": 1, "args": {"v": at}} for at in range(n)]
    return trace([*points, operator("a", 0, n)])


@shape
def names(n: int) -> bytes:
    kernels = [kernel(at * 3 + 1, at + 1, name=f"kernel_{at}") for at in range(n)]
    return trace(
        [*(call(at * 3, at + 1) for at in range(n)), *kernels, *(operator(f"op_{at}", at, 1) for at in range(n))]
    )


@shape
def argument_names(n: int) -> bytes:
    return trace([with_args(operator("a", at, 1), {f"k{at}": at}) for at in range(n)])


@shape
def arguments_of_one_event(n: int) -> bytes:
    return trace([with_args(operator("a", at, 1), {f"k{number}": number for number in range(n)}) for at in range(2)])


@shape
def shapes_of_tensors(n: int) -> bytes:
    return trace(
        [
            with_args(operator("aten::mm", at, 1), {"Input Dims": [[at, at], [at, 3]], "Input type": ["float"] * 2})
            for at in range(n)
        ]
    )


@shape
def header_keys(n: int) -> bytes:
    return trace([operator("a", 0, 1)], **{f"h{at}": at for at in range(n)})


@shape
def names_of_one_thread(n: int) -> bytes:
    name: Event = {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1}
    return trace([operator("a", 0, 1), *({**name, "args": {"name": f"t{at}"}} for at in range(n))])


@shape
def blocks_of_memory(n: int) -> bytes:
    where: Event = {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 1, "tid": 1}
    sizes: Event = {"Bytes": 100, "Device Id": 0, "Device Type": 1}
    points = [
        {**where, "ts": at, "args": {**sizes, "Addr": at, "Total Allocated": at, "Total Reserved": at}}
        for at in range(n)
    ]
    return trace([operator("a", 0, n), *points])


@shape
def one_sequence_number(n: int) -> bytes:
    found: list[Event] = []
    for at in range(n):
        found += [
            with_args(operator("aten::mm", at * 10, 8), {"Sequence number": 5, "Fwd thread id": 0}),
            with_args(operator("MmBackward0", (n + at) * 10, 8, (1, 2)), {"Sequence number": 5, "Fwd thread id": 1}),
        ]
    return trace(found)


@shape
def collectives_of_many_groups(n: int) -> bytes:
    found: list[Event] = []
    for at in range(n):
        facts: Event = {"Collective name": "allreduce", "In msg nelems": 100, "Out msg nelems": 100, "Group size": 8}
        facts |= {"dtype": "Float", "Process Group Name": str(at), "Process Group Ranks": "[0, 1, 2, 3, 4, 5, 6, 7]"}
        name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
        record = operator("record_param_comms", at * 10, 8, **facts)
        found += [record, call(at * 10 + 1, at + 1), kernel(at * 10 + 3, at + 1, 5, name=name, **facts)]
    groups = [{"pg_name": str(at), "pg_size": 8, "ranks": list(range(8))} for at in range(n)]
    return trace(found, distributedInfo={"rank": 0, "world_size": 8, "pg_config": groups})


# --- Execution Traces -----------------------------------------------------------------------------


def node(
    number: int, inputs: list[list[Any]] | None = None, outputs: list[list[Any]] | None = None, parent: int = 1
) -> Event:
    def side(tensors: list[list[Any]] | None) -> Event:
        num = len(tensors or [])
        return {"values": tensors or [], "shapes": [[2, 2]] * num, "types": ["Tensor(float)"] * num}

    numbers = {"rf_id": number, "fw_parent": 0, "seq_id": -1, "scope": 0, "tid": 1, "fw_tid": 0}
    attrs: list[Event] = [{"name": name, "type": "uint64", "value": value} for name, value in numbers.items()]
    attrs.append({"name": "op_schema", "type": "string", "value": ""})
    places = {"id": number, "name": "aten::mm", "ctrl_deps": parent}
    return {**places, "inputs": side(inputs), "outputs": side(outputs), "attrs": attrs}


def execution(nodes: list[Event]) -> bytes:
    root = {**node(1), "name": "[pytorch|profiler|execution_trace|thread]"}
    header = {"schema": "1.1.1-chakra.0.0.4", "pid": 1, "time": "x", "start_ts": 0}
    return json.dumps({**header, "nodes": [root, *nodes]}).encode()


def tensor(number: int, storage: int, offset: int = 0, elems: int = 4) -> list[Any]:
    return [number, storage, offset, elems, 4, "cpu"]


@shape
def uses_of_one_tensor(n: int) -> bytes:
    return execution([node(at + 2, [tensor(1, 1)], [tensor(1, 1)]) for at in range(n)])


@shape
def views_of_one_storage(n: int) -> bytes:
    return execution([node(at + 2, [tensor(at, 1, at)], [tensor(at + n, 1, at * 2, n * 8)]) for at in range(n)])


@shape
def views_inside_one_another(n: int) -> bytes:
    return execution([node(at + 2, [tensor(at, 1, 0, n * 4)], [tensor(at + n, 1, at)]) for at in range(n)])


@shape
def readers_before_writers(n: int) -> bytes:
    readers = [node(at + 2, [tensor(1, 1)]) for at in range(n)]
    return execution([*readers, *(node(n + 2 + at, None, [tensor(1, 1)]) for at in range(n))])


@shape
def tensors_of_one_node(n: int) -> bytes:
    return execution([node(2, [tensor(at, at) for at in range(n)], [tensor(n + 1, n + 1)])])


@shape
def nested_nodes(n: int) -> bytes:
    return execution([node(at + 2, parent=at + 1) for at in range(n)])


@shape
def nodes_of_one_id(n: int) -> bytes:
    return execution([node(2) for _ in range(n)])
