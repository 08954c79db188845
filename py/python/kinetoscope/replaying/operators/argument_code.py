"""Code for the arguments of a recorded call."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence

from kinetoscope.replaying.operators.call import OperatorCall
from kinetoscope.replaying.operators.fill_code import FillCode, default_fill, fill_codes, is_from_0_to_1
from kinetoscope.replaying.operators.literal import literal
from kinetoscope.replaying.operators.value import TensorValue, Value, contiguous, tensors

_MANY = 4


class ArgumentCode:
    """Code for the arguments of a call: tensors with their layout, and literals."""

    def __init__(self, call: OperatorCall) -> None:
        self._call = call
        self._inputs = call.inputs
        uses = Counter(each.storage_id for each in self._inputs if each.num_elems)  # empty ones need no storage
        self._shared = {storage: at for at, storage in enumerate(each for each, count in uses.items() if count > 1)}
        self._fills = fill_codes(call)
        devices = {each.device.partition(":")[0] for each in self._inputs}
        self._is_mixed = len(devices) > 1 and "cpu" in devices
        self._main = next((name for name in sorted(devices) if name != "cpu"), "cpu")
        self._shapes: dict[str, str] = {}
        self._given: list[str] = []
        self._named: list[str] = []
        for place, (value, parameter) in enumerate(call.arguments):
            code = self._hoisted(self._value(value, place), value)
            if parameter is not None and parameter.is_keyword:
                self._named.append(f'"{parameter.name}": {code}')
            else:
                self._given.append(code)
        self._storages = [self._storage(storage) for storage in self._shared]

    def default_device(self) -> str:
        """Returns code for the device where no argument gives it."""
        return '"cpu"' if self._main == "cpu" else '"cuda" if torch.cuda.is_available() else "cpu"'

    def unknown(self) -> list[str]:
        """Lists facts that the script assumes."""
        lines: list[str] = []
        if any(not each.is_integer for each in self._inputs):
            range_ = " from 0 to 1" if is_from_0_to_1(self._call.name) else ""
            lines.append(f"values of tensors: random{range_} here")
        for (place, _), found in self._fills.items():
            parameter = self._call.arguments[place].parameter
            lines.append(f"values of {parameter.name if parameter else f'argument {place}'}: {found.words}")
        if sum(each.is_integer for each in self._inputs) > sum(self._at(key).is_integer for key in self._fills):
            lines.append("values of the other whole numbers: 1 here")
        if any(each.is_assumed for each in self._inputs):
            lines.append("strides: contiguous here")
        if self._call.signature is None:
            lines.append("the overload, storages, devices, and arguments that are no numbers: defaults here")
        return list(dict.fromkeys(lines))

    def lines(self, width: int, *, is_packed: bool, name: str = "ARGUMENTS") -> list[str]:
        """Returns lines that define the arguments by place, and NAMED if there is a signature.

        Packed lines hold several arguments each.
        """
        lines = [line for line in self._storage_lines(width) for line in _wrapped(line, width)]
        for code, shapes in self._shapes.items():
            lines += _block(f"{shapes} = (", re.split(r"(?<=\)), ", code[1:-1]), ")", width, is_packed=True)
        lines += _block(f"{name} = [", self._given, "]", width, is_packed=is_packed)
        if self._call.signature is None:
            return lines
        return [*lines, *_block("NAMED = {", self._named, "}", width, is_packed=True)]

    def _storage_lines(self, width: int) -> list[str]:
        if len(self._storages) > _MANY:
            return _block("STORAGES = [", self._storages, "]", width, is_packed=True)
        return [f"STORAGE_{at} = {code}" for at, code in enumerate(self._storages)]

    def _hoisted(self, code: str, value: Value) -> str:
        """Gives long lists of shapes a name, because lists of one call often have equal ones."""
        begin, _, rest = code.partition(" for shape in ")
        if not rest or not isinstance(value, list):
            return code
        name = self._shapes.setdefault(rest.removesuffix("]"), f"SHAPES_{len(self._shapes)}")
        return f"{begin} for shape in {name}]"

    def _value(self, value: Value, place: int) -> str:
        if isinstance(value, TensorValue):
            return self._tensor(value, (place, -1))
        if isinstance(value, list) and any(isinstance(item, TensorValue) for item in value):
            return self._list(value, place)
        parameter = self._call.arguments[place].parameter
        device = '"cpu"' if self._is_mixed and getattr(value, "name", "") == "cpu" else "DEVICE"
        return literal(value, parameter, device)

    def _list(self, values: list[Value], place: int) -> str:
        items = list(tensors(values))
        if len(items) == len(values) > _MANY and all(map(self._is_plain, items)):
            rests = {self._parts(each, default_fill(each, self._call.name)) for each in items}
            shapes = [_tuple(each.shape) for each in items]
            dtypes = {each.dtype for each in items}
            if len(rests) == len(dtypes) == 1 and not any(key[0] == place for key in self._fills):
                each = "shape" if len(set(shapes)) > 1 else shapes[0]
                over = f"shape in ({', '.join(shapes)})" if each == "shape" else f"_ in range({len(shapes)})"
                return f"[make(torch.{dtypes.pop()}, {each}{rests.pop()}) for {over}]"
        codes = [
            self._tensor(item, (place, at)) if isinstance(item, TensorValue) else literal(item)
            for at, item in enumerate(values)
        ]
        return f"[{', '.join(codes)}]"

    def _is_plain(self, value: TensorValue) -> bool:
        return value.storage_id not in self._shared and value.stride == contiguous(value.shape) and not value.offset

    def _tensor(self, value: TensorValue, key: tuple[int, int]) -> str:
        fill = self._fills.get(key) or default_fill(value, self._call.name)
        if value.num_elems and value.storage_id in self._shared:
            at = self._shared[value.storage_id]
            name = f"STORAGES[{at}]" if len(self._shared) > _MANY else f"STORAGE_{at}"
            layout = f"{_tuple(value.shape)}, {_tuple(value.stride)}, {value.offset}"
            return f"{name}.view(torch.{value.dtype}).as_strided({layout}){fill.suffix}"
        stride = "" if value.stride == contiguous(value.shape) else f", {_tuple(value.stride)}"
        offset = f", offset={value.offset}" if value.offset else ""
        layout = f"torch.{value.dtype}, {_tuple(value.shape)}{stride}{offset}"
        return f"make({layout}{self._parts(value, fill)}){fill.suffix}"

    def _parts(self, value: TensorValue, fill: FillCode) -> str:
        """Returns code for the arguments of `make` besides type and layout."""
        function = f", fill={fill.function}" if fill.function else ""
        return f"{function}{self._device(value)}"

    def _device(self, value: TensorValue) -> str:
        return ', device="cpu"' if self._is_mixed and value.device == "cpu" else ""

    def _storage(self, storage: int) -> str:
        """Returns code for a storage of several arguments: each is a part of it."""
        parts = [each for each in self._inputs if each.storage_id == storage]
        widest = max(parts, key=lambda each: each.elem_bytes)
        num_elems = -(-max(each.num_bytes for each in parts) // widest.elem_bytes)
        own = [found for key, found in self._fills.items() if self._at(key).storage_id == storage and found.function]
        fill = min(own, key=lambda each: each.end or 0, default=default_fill(widest, self._call.name))
        return f"make(torch.{widest.dtype}, ({num_elems},){self._parts(widest, fill)})"

    def _at(self, key: tuple[int, int]) -> TensorValue:
        value = self._call.arguments[key[0]].value
        value = value[key[1]] if isinstance(value, list) else value
        assert isinstance(value, TensorValue)  # noqa: S101 - values are those of tensors
        return value


def _block(begin: str, items: Sequence[str], end: str, width: int, *, is_packed: bool) -> list[str]:
    """Returns lines with items between brackets: one line if packed and short."""
    whole = f"{begin}{', '.join(items)}{end}"
    if len(whole) <= width and (is_packed or not items):
        return [whole]
    lines: list[str] = []
    for code in items:
        if not lines or not is_packed or len(lines[-1]) + len(code) + 2 > width:
            lines.append("   ")
        lines[-1] += f" {code},"
    return [begin, *(part for line in lines for part in _wrapped(line, width)), end]


def _wrapped(line: str, width: int) -> Iterator[str]:
    if len(line) <= width:
        yield line
        return
    begin = line[: len(line) - len(line.lstrip())]
    yield from textwrap.wrap(
        line, width, subsequent_indent=f"{begin}    ", break_long_words=False, break_on_hyphens=False
    )


def _tuple(numbers: Sequence[int]) -> str:
    return f"({numbers[0]},)" if len(numbers) == 1 else f"({', '.join(map(str, numbers))})"
