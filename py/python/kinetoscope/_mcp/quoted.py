"""Makes texts of traces safe for readers that take text as instructions."""

from __future__ import annotations

import json
from itertools import islice
from typing import Any

from kinetoscope._base import text

_MAX_CHARS = 400
_MAX_ITEMS = 100
"""Most items of a list or keys of an object."""
_MAX_CELL = 4_000
"""Most characters of a cell that is a list or an object."""


def cell(value: Any) -> Any:
    """Returns a value of a table, quoted; a long list or object as the start of its text."""
    found = quoted(value)
    if not isinstance(found, (list, dict)):
        return found
    written = json.dumps(found, ensure_ascii=False)
    return found if len(written) <= _MAX_CELL else f"{written[: _MAX_CELL - 1]}…"


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
        more = [f"… {len(value) - _MAX_ITEMS:,} more"] if len(value) > _MAX_ITEMS else []
        return [*(quoted(each, max_chars) for each in value[:_MAX_ITEMS]), *more]
    if isinstance(value, dict):
        shown = islice(value.items(), _MAX_ITEMS)
        found = {str(quoted(str(key), max_chars)): quoted(each, max_chars) for key, each in shown}
        return found | ({"…": f"{len(value) - _MAX_ITEMS:,} more"} if len(value) > _MAX_ITEMS else {})
    return quoted(str(value), max_chars)
