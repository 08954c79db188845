"""JSON text of the core."""

from __future__ import annotations

import json

from kinetoscope._base import lazy


def parsed(text: str | bytes) -> lazy.Any:
    """Parses JSON. Integers of more digits than Python converts become floats, which are infinite.

    The core keeps numbers as a file writes them; Python refuses integers of thousands of digits.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise
    except ValueError:
        return json.loads(text, parse_int=_number)


def _number(digits: str) -> int | float:
    try:
        return int(digits)
    except ValueError:
        return float(digits)
