"""Operators that torch composes of others. Their parts run instead, as they are recorded."""

from __future__ import annotations

from functools import cache

from kinetoscope.replaying.operators.schema import Signature


def is_composite(signature: Signature) -> bool:
    """Whether torch runs an operator as a sequence of others, which a trace records below it."""
    return signature.full in _composite()


@cache
def _composite() -> frozenset[str]:
    """Returns the names that scripts/composite_operators.py lists."""
    from importlib.resources import files

    return frozenset(files("kinetoscope.replaying.operators").joinpath("composite.txt").read_text("utf-8").split())
