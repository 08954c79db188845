"""Synthetic trace of a million events: threads with deep stacks, many streams, linked kernels."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

NUM_EVENTS = 1_000_000
NUM_THREADS = 4
NUM_STREAMS = 24
NUM_FRAMES = 24
NUM_OUTER = 3
NUM_LEAVES = 8
STEP_US = 0.4
BLOCK_US = 100
BLOCKS_PER_STEP = 250
EVENTS_PER_BLOCK = NUM_FRAMES + NUM_OUTER + 3 * NUM_LEAVES


def write(path: Path) -> None:
    """Writes it as a Kineto trace."""
    with path.open("w") as file:
        file.write('{"schemaVersion": 1, "traceEvents": [\n')
        for block in range(NUM_EVENTS // EVENTS_PER_BLOCK):
            file.writelines(f"{line},\n" for line in _block(block))
        file.write('{"ph": "X", "cat": "overhead", "name": "the end", "pid": 1, "tid": 1, "ts": 0, "dur": 1}\n]}\n')


def _block(block: int) -> Iterator[str]:
    """Writes a stack of Python frames, with operators, their launches and kernels."""
    thread, at = block % NUM_THREADS, block // NUM_THREADS
    start, dur = at * BLOCK_US, BLOCK_US * 0.95
    if at % BLOCKS_PER_STEP == 0 and thread == 0:
        whole = (start, BLOCK_US * BLOCKS_PER_STEP - 1)
        yield _event("user_annotation", f"ProfilerStep#{at // BLOCKS_PER_STEP}", (1, 1), whole)
    for depth in range(NUM_FRAMES + NUM_OUTER):
        category, name = _frame(depth, block)
        yield _event(category, name, (1, 1 + thread), (start + depth * STEP_US, dur - 2 * depth * STEP_US))
    inside = start + (NUM_FRAMES + NUM_OUTER) * STEP_US
    leaf = (dur - 2 * (NUM_FRAMES + NUM_OUTER) * STEP_US) / NUM_LEAVES
    for number in range(NUM_LEAVES):
        yield from _leaf(1 + block * NUM_LEAVES + number, thread, inside + number * leaf, leaf * 0.9)


def _frame(depth: int, block: int) -> tuple[str, str]:
    if depth < NUM_FRAMES:
        return "python_function", f"model/layers_{depth}.py({10 + block % 7}): forward_{(depth * 7 + block) % 40}"
    return "cpu_op", f"aten::outer_{depth - NUM_FRAMES}_{block % 12}"


def _leaf(number: int, thread: int, start: float, dur: float) -> Iterator[str]:
    host = (1, 1 + thread)
    yield _event("cpu_op", f"aten::leaf_{number % 30}", host, (start, dur))
    yield _event("cuda_runtime", "cudaLaunchKernel", host, (start + dur * 0.2, dur * 0.6), number)
    name = f"void at::native::kernel_{number % 60}<float, {number % 5}>(float*, int)"
    stream = (0, 7 + (number // 3) % NUM_STREAMS)
    yield _event("kernel", name, stream, (start + 20, dur * (0.3 + number % 7 / 10)), number)


def _event(category: str, name: str, place: tuple[int, int], span: tuple[float, float], number: int = 0) -> str:
    (pid, tid), (start, dur) = place, span
    args = f', "args": {{"correlation": {number}, "device": 0, "stream": {tid}}}' if number else ""
    head = f'{{"ph": "X", "cat": "{category}", "name": "{name}", "pid": {pid}, "tid": {tid}'
    return f'{head}, "ts": {start:.3f}, "dur": {dur:.3f}{args}}}'
