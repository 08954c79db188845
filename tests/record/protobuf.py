"""Protobuf as its specification lays it down, for tests that need a Chakra trace of someone else's making."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

ATTRIBUTES = (
    *("double", "float", "int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64"),
    *("sfixed32", "sfixed64", "bool", "string", "bytes"),
)
"""Types of attributes in the order of their tags: 3 is a double, 4 a list of them, and so on."""

_FIXED = {"double": "d", "float": "f", "fixed32": "I", "fixed64": "Q", "sfixed32": "i", "sfixed64": "q"}
_WIRE = {"d": 1, "Q": 1, "q": 1, "f": 5, "I": 5, "i": 5}

Value = float | str | bytes | Sequence[float] | Sequence[str] | Sequence[bytes]


def varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def scalar(tag: int, sort: str, value: object) -> bytes:
    """A field of one value."""
    if sort in _FIXED:
        return varint(tag << 3 | _WIRE[_FIXED[sort]]) + struct.pack(f"<{_FIXED[sort]}", value)
    if sort in ("string", "bytes", "message"):
        assert isinstance(value, (str, bytes))
        content = value.encode() if isinstance(value, str) else value
        return varint(tag << 3 | 2) + varint(len(content)) + content
    assert isinstance(value, int)
    zigzag = value << 1 ^ value >> 63 if sort.startswith("sint") else value
    return varint(tag << 3) + varint(zigzag)


def attribute(name: str, sort: str, value: Value, doc: str = "") -> bytes:
    """An `AttributeProto`; `sort` is one of `ATTRIBUTES`, or that with `_list`."""
    element = sort.removesuffix("_list")
    tag = 3 + 2 * ATTRIBUTES.index(element)
    body = scalar(1, "string", name) + (scalar(2, "string", doc) if doc else b"")
    if sort == element:
        return body + scalar(tag, sort, value)
    assert isinstance(value, Sequence)
    return body + scalar(tag + 1, "message", _items(element, value))


def _items(sort: str, values: Iterable[object]) -> bytes:
    """The field of a list's values: numbers are packed into one."""
    if sort in ("string", "bytes"):
        return b"".join(scalar(1, sort, value) for value in values)
    key = len(varint(1 << 3))
    return _field(1, "message", b"".join(scalar(1, sort, value)[key:] for value in values))


class Node(NamedTuple):
    """A `Node`; times in microseconds, inputs as values, shapes and types."""

    number: int
    name: str
    sort: int
    control: Sequence[int] = ()
    data: Sequence[int] = ()
    start: int = 0
    dur: int = 0
    inputs: tuple[str, ...] = ()
    attrs: Sequence[bytes] = ()

    def encoded(self) -> bytes:
        """The message, in protobuf's own layout: fields in order, lists packed, defaults left out."""
        texts = b"".join(_field(tag, "string", text) for tag, text in enumerate(self.inputs, 1))
        fields = (
            *((1, "uint64", self.number), (2, "string", self.name), (3, "int32", self.sort)),
            *((4, "message", b"".join(map(varint, self.control))), (5, "message", b"".join(map(varint, self.data)))),
            *((6, "uint64", self.start), (7, "uint64", self.dur), (8, "message", texts)),
        )
        head = b"".join(_field(*field) for field in fields)
        return head + b"".join(scalar(10, "message", attr) for attr in self.attrs)


def _field(tag: int, sort: str, value: float | str | bytes) -> bytes:
    return scalar(tag, sort, value) if value else b""


def metadata(version: str = "", attrs: Iterable[bytes] = ()) -> bytes:
    """A `GlobalMetadata`."""
    head = scalar(1, "string", version) if version else b""
    return head + b"".join(scalar(2, "message", attr) for attr in attrs)


def stream(*messages: bytes) -> bytes:
    """Messages one after another, each behind its length."""
    return b"".join(varint(len(message)) + message for message in messages)


class Attribute(NamedTuple):
    """An `AttributeProto` as it was decoded."""

    name: str
    sort: str
    value: object


class Message(NamedTuple):
    """A `Node` or a `GlobalMetadata` as it was decoded; the latter has a version in place of a name."""

    number: int
    name: str
    sort: int
    control: list[int]
    data: list[int]
    start: int
    dur: int
    inputs: tuple[str, str, str]
    outputs: tuple[str, str, str]
    attrs: list[Attribute]


def decoded(content: bytes) -> list[Message]:
    """The messages of a stream, the `GlobalMetadata` first."""
    found: list[Message] = []
    at = 0
    while at < len(content):
        length, at = _read_varint(content, at)
        assert at + length <= len(content), "a message is cut"
        found.append(_message(content[at : at + length], is_first=not found))
        at += length
    return found


def _message(content: bytes, *, is_first: bool) -> Message:
    fields = list(_fields(content))
    last = dict(fields)
    if is_first:
        attrs = [_attribute(value) for tag, value in fields if tag == 2]
        return Message(0, _text(last.get(1)), 0, [], [], 0, 0, ("",) * 3, ("",) * 3, attrs)
    attrs = [_attribute(value) for tag, value in fields if tag == 10]
    numbers = [_number(last.get(tag)) for tag in (1, 3, 6, 7)]
    lists = [[each for tag, value in fields if tag == wanted for each in _packed(value)] for wanted in (4, 5)]
    texts = [_texts(last.get(tag)) for tag in (8, 9)]
    return Message(numbers[0], _text(last.get(2)), numbers[1], *lists, *numbers[2:], *texts, attrs)


def _attribute(content: object) -> Attribute:
    assert isinstance(content, bytes)
    fields = dict(_fields(content))
    (tag,) = fields.keys() - {1, 2}
    sort = ATTRIBUTES[(tag - 3) // 2]
    assert tag % 2, "no list is written"
    return Attribute(_text(fields[1]), sort, _value(sort, fields[tag]))


def _value(sort: str, value: object) -> object:
    if sort == "string":
        return _text(value)
    if sort == "bool":
        return bool(value)
    assert isinstance(value, int), f"{sort} is not written"
    assert sort in ("int32", "int64", "uint64"), f"{sort} is not written"
    return value - (1 << 64) if sort.startswith("int") and value >> 63 else value


def _fields(content: bytes) -> Iterator[tuple[int, int | bytes]]:
    at = 0
    while at < len(content):
        key, at = _read_varint(content, at)
        assert key & 7 in (0, 2), "neither fixed32 nor fixed64 is written"
        value, at = _read_varint(content, at)
        if key & 7 == 2:
            assert at + value <= len(content), "a field is cut"
            at += value
            yield key >> 3, content[at - value : at]
        else:
            yield key >> 3, value


def _read_varint(content: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while content[at] & 0x80:
        number |= (content[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
    return number | content[at] << shift, at + 1


def _packed(content: object) -> list[int]:
    assert isinstance(content, bytes)
    found: list[int] = []
    at = 0
    while at < len(content):
        number, at = _read_varint(content, at)
        found.append(number)
    return found


def _texts(content: object) -> tuple[str, str, str]:
    fields = dict(_fields(content)) if isinstance(content, bytes) else {}
    return _text(fields.get(1)), _text(fields.get(2)), _text(fields.get(3))


def _text(content: object) -> str:
    return content.decode() if isinstance(content, bytes) else ""


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
