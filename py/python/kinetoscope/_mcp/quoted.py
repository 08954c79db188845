"""Makes texts of traces safe for readers that take text as instructions."""

from __future__ import annotations

from typing import Any

from kinetoscope._base import text

_MAX_CHARS = 400


def quoted(value: Any, max_chars: int = _MAX_CHARS) -> Any:
    """Escapes hidden characters of a text, and cuts it. Other values pass, non-finite ones as None.

    Escapes control characters, line feeds, and marks of direction.
    """
    if isinstance(value, str):
        plain = text.printable(value)
        return plain if len(plain) <= max_chars else f"{plain[: max_chars - 1]}…"
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, (list, tuple)):
        return [quoted(each, max_chars) for each in value]
    if isinstance(value, dict):
        return {str(quoted(str(key), max_chars)): quoted(each, max_chars) for key, each in value.items()}
    return quoted(str(value), max_chars)
