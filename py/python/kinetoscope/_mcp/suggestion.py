"""Suggestions for unknown names of arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

_MAX_NAME = 60


def suggestion(unknown: str, places: Mapping[str, Iterable[str]]) -> str | None:
    """Returns the argument that an unknown name stands for; None if no known name is close.

    `places` has the known names of each argument that takes keys, such as `part`; the place "" has
    the arguments themselves.
    """
    spellings: dict[str, str] = {}
    for place, names in places.items():
        for name in names:
            spellings.setdefault(name, f'{place}={{"{name}": ...}}' if place else name)
    if unknown in spellings:
        return spellings[unknown]
    close = get_close_matches(unknown[:_MAX_NAME].lower(), spellings, n=1)
    return spellings[close[0]] if close else None
