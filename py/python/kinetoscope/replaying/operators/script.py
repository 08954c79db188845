"""Writes a benchmark of one operator as a standalone script."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kinetoscope.replaying.operators.call import OperatorCall
from kinetoscope.replaying.operators.index_range import PROBABILITIES, IndexRange, index_ranges
from kinetoscope.replaying.operators.literal import comment, literal
from kinetoscope.replaying.operators.value import TensorValue, Value, contiguous, tensors

MAX_LINES = 80
_WIDTHS = (100, 160, 300, 1000, 100_000)
_MANY = 4


class ScriptFacts(NamedTuple):
    """Texts and times that the script shows beside its measurement."""

    source: str
    recorded_ns: float | None
    is_device_time: bool
    num_calls: int
    roofline_ns: float | None
    bound: str | None
    device_name: str | None
    notes: Sequence[str] = ()


_HEAD = '''\
"""Benchmark of {name}, as recorded in {source}.

{calls}.
The trace does not know:
{unknown}
Inputs: {shapes}
"""

import statistics
import sys

import torch
from torch.utils.benchmark import Timer

DEVICE = sys.argv[1] if len(sys.argv) > 1 else {device}
RECORDED_NS = {recorded}
ROOFLINE_NS = {roofline}
'''

_MAKE = '''

def make(dtype, shape, stride=None, offset=0, end=None, device=DEVICE, fill=torch.{fill}):
    """A tensor in a storage of its own; `end` is above the largest whole number."""
    stride = stride or torch.empty(shape, device="meta").stride()
    length = offset + max(sum((size - 1) * step for size, step in zip(shape, stride)) + 1, 0)
    if dtype.is_floating_point or dtype.is_complex:
        storage = fill(length, device=device).to(dtype)
    else:
        low, high = (1, 2) if end is None else (0, end)
        storage = torch.randint(low, high, (length,), device=device).to(dtype)
    return storage.as_strided(shape, stride, offset)
'''

_CALL = """

OPERATOR = torch.ops.{namespace}.{operator}.{overload}
if not isinstance(OPERATOR, torch._ops.OpOverload):
    sys.exit("no such operator is registered: import the library that has it")


def call():
    return OPERATOR(*ARGUMENTS, **NAMED)
"""

_BIND = '''

def bind(operator, values):
    """The first overload that takes the arguments: the trace does not record the overload."""
    for name in operator.overloads():
        overload = getattr(operator, name)
        parameters = overload._schema.arguments
        split = sum(not each.kwarg_only for each in parameters)
        named = {{each.name: value for each, value in zip(parameters[split:], values[split:])}}
        try:
            if len(values) <= len(parameters):
                overload(*values[:split], **named)
                return lambda: overload(*values[:split], **named)
        except (RuntimeError, TypeError, ValueError):
            continue
    sys.exit("no overload takes the recorded arguments")


call = bind(torch.ops.{namespace}.{operator}, ARGUMENTS)
'''

_MEASURE = '''

def device_ns(runs=50):
    """The median time on the device, with a cold L2 cache."""
    size = 4 * torch.cuda.get_device_properties(DEVICE).L2_cache_size
    flush = torch.empty(size, dtype=torch.int8, device=DEVICE)
    marks = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(runs)]
    for begin, end in marks:
        flush.zero_()
        begin.record()
        call()
        end.record()
    torch.cuda.synchronize()
    return statistics.median(begin.elapsed_time(end) for begin, end in marks) * 1e6


with torch.no_grad():
    for _ in range(10):  # warm-up
        call()
    timer = Timer("call()", globals=globals(), num_threads=torch.get_num_threads())
    host_ns = timer.blocked_autorange(min_run_time=0.2).median * 1e9
    measured = device_ns() if DEVICE.startswith("cuda") else host_ns
times = {"recorded": RECORDED_NS, "measured": measured, "with launch, warm": host_ns, "roofline": ROOFLINE_NS}
for name, ns in times.items():
    print(f"{name:>17} {'unknown' if ns is None else f'{ns / 1e3:,.2f} us'}")
'''


def script(call: OperatorCall, facts: ScriptFacts) -> str:
    """Returns the text of a script that runs a call and measures it.

    Every value in it is a number, a quoted text or a name of torch.
    """
    writer = _Writer(call)
    lines = writer.definitions()
    namespace, _, operator = call.name.partition("::")
    fill = "rand" if operator in PROBABILITIES else "randn"
    head = _HEAD.format(
        name=call.name if call.signature is None else call.signature.full,
        source=comment(facts.source),
        calls=_calls(facts),
        unknown="\n".join(f"- {line}" for line in (*writer.unknown(), *facts.notes)),
        shapes=comment(_shapes(call)),
        device=writer.default_device(),
        recorded=_number(facts.recorded_ns),
        roofline=_number(facts.roofline_ns),
    )
    names = {"namespace": namespace, "operator": operator}
    run = _BIND.format(**names) if call.signature is None else ""
    if call.signature is not None:
        run = _CALL.format(**names, overload=call.signature.overload or "default")
    make = _MAKE.format(fill=fill) if "make(" in "".join(lines) else ""
    found = ""
    for width in _WIDTHS:
        body = "\n".join(line for each in lines for line in _wrapped(each, width))
        found = f"{head}{make}\n\n{body}\n{run}{_MEASURE}"
        if found.count("\n") <= MAX_LINES:
            return found
    return found


_LAUNCH = """

def call():
    return {name}.run(*ARGUMENTS, stream=torch.cuda.current_stream().cuda_stream)
"""


def kernel_text(call: OperatorCall, source: str, facts: ScriptFacts) -> str:
    """Returns the text of a script that runs a generated kernel, after its source."""
    writer = _Writer(call)
    unknown = (
        "- values of tensors: random here, and 1 for whole numbers\n"
        "- whether the compiler of this machine tunes the kernel alike"
    )
    head = _HEAD.format(
        name=call.name,
        source=comment(facts.source),
        calls=_calls(facts),
        unknown=unknown,
        shapes=comment(_shapes(call)),
        device=writer.default_device(),
        recorded=_number(facts.recorded_ns),
        roofline=_number(facts.roofline_ns),
    )
    body = "\n".join(line for each in writer.definitions() for line in _wrapped(each, _WIDTHS[0]))
    launch = _LAUNCH.format(name=call.name)
    stored = f"# --- source of the kernel, as stored beside the trace ---\n{source.strip()}\n"
    return f"{head}\n{stored}{_MAKE.format(fill='randn')}\n\n{body}\n{launch}{_MEASURE}"


def _calls(facts: ScriptFacts) -> str:
    time = "on the device" if facts.is_device_time else "on the host"
    where = f", {comment(facts.device_name)}" if facts.device_name else ""
    number = f"{facts.num_calls:,} call{'' if facts.num_calls == 1 else 's'}"
    if facts.recorded_ns is None:
        return f"Recorded without times: {number}"
    bound = f"; the roofline is that of {facts.bound}" if facts.bound in {"memory", "compute"} else ""
    return f"RECORDED_NS is the mean of {number} {time}{where}{bound}"


def _shapes(call: OperatorCall) -> str:
    found = Counter(f"{each.dtype}{list(each.shape)}" for each in call.inputs)
    return ", ".join(name if count == 1 else f"{count} x {name}" for name, count in found.items()) or "no tensors"


def _number(ns: float | None) -> str:
    return "None  # unknown" if ns is None else f"{ns:.0f}"


def _wrapped(line: str, width: int) -> Iterator[str]:
    if len(line) <= width:
        yield line
        return
    begin = line[: len(line) - len(line.lstrip())]
    yield from textwrap.wrap(
        line, width, subsequent_indent=f"{begin}    ", break_long_words=False, break_on_hyphens=False
    )


class _Writer:
    """Code for the arguments of a call."""

    def __init__(self, call: OperatorCall) -> None:
        self._call = call
        self._inputs = call.inputs
        uses = Counter(each.storage_id for each in self._inputs)
        self._shared = {storage: at for at, storage in enumerate(each for each, count in uses.items() if count > 1)}
        self._ranges = index_ranges(call)
        devices = {each.device.partition(":")[0] for each in self._inputs}
        self._is_mixed = len(devices) > 1 and "cpu" in devices
        self._main = next((name for name in sorted(devices) if name != "cpu"), "cpu")
        self._texts: dict[str, str] = {}

    def default_device(self) -> str:
        """Returns code for the device where no argument gives it."""
        return '"cpu"' if self._main == "cpu" else '"cuda" if torch.cuda.is_available() else "cpu"'

    def unknown(self) -> list[str]:
        """Lists facts that the script assumes."""
        lines: list[str] = []
        if any(not each.is_integer for each in self._inputs):
            lines.append("values of tensors: random here")
        for (place, _), found in self._ranges.items():
            parameter = self._call.arguments[place].parameter
            name = parameter.name if parameter else f"argument {place}"
            kind = "offsets in equal steps up to" if found.is_sorted else "random whole numbers below"
            lines.append(f"values of {name}: {kind} {found.end}, the valid range; real ones may repeat more")
        ranged = len(self._ranges)
        if sum(each.is_integer for each in self._inputs) > ranged:
            lines.append("values of the other whole numbers: 1 here")
        if self._call.signature is None:
            lines.append("the overload, storages, devices, and arguments that are no numbers")
        written = [each for each in self._call.arguments if each.parameter and each.parameter.is_written]
        if written:
            lines.append("the state before each call: the operator changes its arguments here again and again")
        return list(dict.fromkeys(lines)) or ["nothing that matters to the time"]

    def definitions(self) -> list[str]:
        """Returns lines that define ARGUMENTS and NAMED."""
        lines = [self._storage(storage, at) for storage, at in self._shared.items()]
        given: list[str] = []
        named: list[str] = []
        for place, (value, parameter) in enumerate(self._call.arguments):
            code = self._hoisted(self._value(value, place), value)
            if parameter is not None and parameter.is_keyword:
                named.append(f'"{parameter.name}": {code}')
            else:
                given.append(code)
        lines += [f"{name} = {code}" for code, name in self._texts.items()]
        lines += ["ARGUMENTS = [", *(f"    {code}," for code in given), "]"]
        if self._call.signature is not None:
            lines.append(f"NAMED = {{{', '.join(named)}}}")
        return lines

    def _hoisted(self, code: str, value: Value) -> str:
        """Gives long lists of shapes a name, because lists of one call often have equal ones."""
        begin, _, rest = code.partition(" for shape in ")
        if not rest or not isinstance(value, list):
            return code
        name = self._texts.setdefault(rest.removesuffix("]"), f"SHAPES_{len(self._texts)}")
        return f"{begin} for shape in {name}]"

    def _value(self, value: Value, place: int) -> str:
        if isinstance(value, TensorValue):
            return self._tensor(value, self._ranges.get((place, -1)))
        if isinstance(value, list) and any(isinstance(item, TensorValue) for item in value):
            return self._list(value, place)
        parameter = self._call.arguments[place].parameter
        device = '"cpu"' if self._is_mixed and getattr(value, "name", "") == "cpu" else "DEVICE"
        return literal(value, parameter, device)

    def _list(self, values: list[Value], place: int) -> str:
        items = list(tensors(values))
        plain = [self._tensor(each, None) for each in items]
        equal = {code.partition("(")[2].partition(", ")[0] for code in plain}
        if len(items) == len(values) > _MANY and len(equal) == 1 and all(map(self._is_plain, items)):
            shapes = ", ".join(_tuple(each.shape) for each in items)
            cpu = ', device="cpu"' if self._is_on_host(items[0]) else ""
            return f"[make({equal.pop()}, shape{cpu}) for shape in ({shapes})]"
        codes = [
            self._tensor(item, self._ranges.get((place, at))) if isinstance(item, TensorValue) else literal(item)
            for at, item in enumerate(values)
        ]
        return f"[{', '.join(codes)}]"

    def _is_plain(self, value: TensorValue) -> bool:
        return value.storage_id not in self._shared and value.stride == contiguous(value.shape) and not value.offset

    def _is_on_host(self, value: TensorValue) -> bool:
        return self._is_mixed and value.device == "cpu"

    def _tensor(self, value: TensorValue, known: IndexRange | None) -> str:
        at = self._shared.get(value.storage_id)
        if at is not None:
            layout = f"{_tuple(value.shape)}, {_tuple(value.stride)}, {value.offset}"
            return f"STORAGE_{at}.view(torch.{value.dtype}).as_strided({layout})"
        parts = [f"torch.{value.dtype}", _tuple(value.shape)]
        if value.stride != contiguous(value.shape):
            parts.append(_tuple(value.stride))
        if value.offset:
            parts.append(f"offset={value.offset}")
        if known is not None and not known.is_sorted:
            parts.append(f"end={known.end}")
        if self._is_on_host(value):
            parts.append('device="cpu"')
        code = f"make({', '.join(parts)})"
        return f"{code}.copy_({_offsets(value, known)})" if known is not None and known.is_sorted else code

    def _storage(self, storage: int, at: int) -> str:
        """Returns code for a storage of several arguments: each is a part of it."""
        parts = [each for each in self._inputs if each.storage_id == storage]
        widest = max(parts, key=lambda each: each.elem_bytes)
        num_elems = -(-max(each.num_bytes for each in parts) // widest.elem_bytes)
        ends = [found.end for key, found in self._ranges.items() if self._at(key).storage_id == storage]
        end = f", end={min(ends)}" if ends else ""
        cpu = ', device="cpu"' if self._is_on_host(widest) else ""
        return f"STORAGE_{at} = make(torch.{widest.dtype}, ({num_elems},){end}{cpu})"

    def _at(self, key: tuple[int, int]) -> TensorValue:
        value = self._call.arguments[key[0]].value
        value = value[key[1]] if isinstance(value, list) else value
        assert isinstance(value, TensorValue)  # noqa: S101 - ranges are those of tensors
        return value


def _offsets(value: TensorValue, known: IndexRange) -> str:
    end = known.end if known.reaches_end else known.end * (value.num_elems - 1) // max(value.num_elems, 1)
    return f"torch.linspace(0, {end}, {value.num_elems})"


def _tuple(numbers: Sequence[int]) -> str:
    return f"({numbers[0]},)" if len(numbers) == 1 else f"({', '.join(map(str, numbers))})"
