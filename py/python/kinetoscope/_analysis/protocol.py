"""Requests and responses of the viewer protocol (see docs/protocol.md)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from kinetoscope._base.json_text import parsed
from kinetoscope._native import TraceError

if TYPE_CHECKING:
    from kinetoscope import _native

_ALIGNMENT = 8
_FORMATS: dict[str, Literal["d", "I", "B"]] = {"f64": "d", "u32": "I", "u8": "B"}
_SIZES = {"f64": 8, "u32": 4, "u8": 1}


class QueryResult(NamedTuple):
    """A response of the core."""

    data: dict[str, Any]
    """JSON data of the header: times in ns since `origin_ns`, large integers as text."""
    columns: dict[str, memoryview[Any]]
    """Columns by name, as memoryviews of format `d`, `I` or `B`; numpy needs no copy."""


def ask(trace: _native.Trace | _native.Session, request: dict[str, Any]) -> QueryResult:
    """Sends a request. Raises TraceError if the core rejects it."""
    return decoded(trace.query(json.dumps(request).encode()))


def decoded(response: bytes) -> QueryResult:
    """Decodes a response: a JSON header and binary columns. Raises TraceError for an error."""
    end = 4 + int.from_bytes(response[:4], "little")
    header = parsed(response[4:end])
    if not header["ok"]:
        raise TraceError(header["error"])
    content = memoryview(response)[-(-end // _ALIGNMENT) * _ALIGNMENT :]
    columns = {column["name"]: _view(content, column) for column in header.get("columns", [])}
    return QueryResult(header.get("data", {}), columns)


def _view(content: memoryview[int], column: dict[str, Any]) -> memoryview[Any]:
    start = column["offset"]
    stop = start + column["length"] * _SIZES[column["type"]]
    view: Any = content[start:stop].cast(_FORMATS[column["type"]])
    return view
