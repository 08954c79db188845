"""Arguments of tools: unknown ones are errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kinetoscope._mcp.failure import CallError
from kinetoscope._mcp.quoted import quoted
from kinetoscope._mcp.requests import keys_of
from kinetoscope._mcp.suggestion import suggestion

_MAX_NAME = 60


def expect_known(tool: str, known: Iterable[str], given: Mapping[str, Any]) -> None:
    """Raises CallError for an argument that a tool lacks. It names the nearest known one."""
    names = list(known)
    unknown = next((name for name in given if name not in names), None)
    if unknown is None:
        return
    keys = keys_of(given.get("analysis")) if "analysis" in names else {}
    near = suggestion(unknown, {"": names, **{place: keys[place] for place in keys if place in names}})
    found = quoted(unknown, _MAX_NAME)
    instead = f"{tool} with {near} instead of {found}" if near else f"{tool} without {found}"
    raise CallError(f"expected arguments of {', '.join(names)}, found {found}", instead)


def expect_valid(tool: str, validate: Callable[[dict[str, Any]], object], given: dict[str, Any]) -> None:
    """Raises CallError for an argument of another type, and for one that is missing."""
    try:
        validate(given)
    except ValueError as error:  # of pydantic, which lists the faults
        first = getattr(error, "errors", list)()[0]
        name = quoted(".".join(map(str, first["loc"])), _MAX_NAME)
        is_missing = first["type"] == "missing"
        found = "none" if is_missing else quoted(repr(first["input"]), _MAX_NAME)
        problem = "a value" if is_missing else str(quoted(first["msg"], 200))
        raise CallError(f"expected {name}: {problem}, found {found}", f"{tool} with another {name}") from error
