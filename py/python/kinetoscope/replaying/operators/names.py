"""Checks of names that a user gives against those of a trace."""

from __future__ import annotations

from collections.abc import Collection, Iterable

_SHOWN = 5


def nearest(names: Iterable[str], known: Collection[str]) -> list[str]:
    """Returns known names that resemble the given ones, or the first known ones if none does."""
    from difflib import get_close_matches

    found = [close for name in names for close in get_close_matches(name, known, 3)]
    return (list(dict.fromkeys(found)) or sorted(known))[:_SHOWN]


def expect_operators(names: Iterable[str], known: Collection[str]) -> None:
    """Raises ValueError for names of operators that do not run as a whole."""
    missing = sorted(set(names) - set(known))
    if missing:
        close = ", ".join(nearest(missing, known))
        raise ValueError(f"expected names of operators that run as a whole ({close}), found {', '.join(missing)}")
