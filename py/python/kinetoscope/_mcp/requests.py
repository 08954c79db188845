"""Requests of analyses: options and selections that a call may pass on."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from kinetoscope import _native
from kinetoscope._analysis.selection import Selection
from kinetoscope._mcp.failure import CallError
from kinetoscope._mcp.quoted import quoted
from kinetoscope._mcp.suggestion import suggestion

_LOCAL = {"executor", "progress", "rank"}
"""Keys of a selection that concern this process, or have an argument of their own."""


def request_of(analysis: str, options: dict[str, Any] | None, part: dict[str, Any] | None) -> dict[str, Any]:
    """Returns the arguments of an analysis. Raises CallError for an unknown name or key."""
    known = _analyses()
    if analysis not in known:
        names = ", ".join(known)
        raise CallError(f"expected an analysis of {names}, found {quoted(analysis, 60)}", "analyze with one of these")
    allowed = keys_of(analysis)
    for kind, given in (("options", options or {}), ("part", part or {})):
        unknown = sorted(set(given) - allowed[kind])
        if unknown:
            expected = ", ".join(sorted(allowed[kind])) or "none"
            near = suggestion(unknown[0], allowed)
            raise CallError(
                f"expected {kind} of {expected}, found {quoted(unknown[0], 60)}",
                f"analyze with {near or f'other {kind}'}",
            )
    return {**(options or {}), **(part or {})}


def keys_of(analysis: object) -> dict[str, set[str]]:
    """Returns the keys of `options` and `part`. An unknown analysis has no options."""
    options = _analyses().get(analysis, set()) if isinstance(analysis, str) else set[str]()
    return {"options": options, "part": _parts()}


@cache
def _analyses() -> dict[str, set[str]]:
    """Returns the options of each analysis."""
    analyses = json.loads(_native.analyses_json())
    return {analysis["name"]: {option["name"] for option in analysis["options"]} for analysis in analyses}


@cache
def _parts() -> set[str]:
    return set(Selection.__optional_keys__) - _LOCAL
