"""Which files are traces, which of them belong together, and which rank they are of: by their names and heads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kinetoscope import _native
from kinetoscope._io.header import Head
from kinetoscope._io.paths import natural, rank_of

__all__ = ["Found", "Pair", "natural", "pair_up", "rank_of"]


class Pair(NamedTuple):
    """The files of one recording, by their names in the folder or archive; at least one is there."""

    kineto: str | None
    execution: str | None
    how: str
    """`name`: the names are equal but for the words that tell the kinds apart; `rank`: each is the only one left of its
    rank; `number`: what is left is a series of Execution Traces numbered like the ranks of the Kineto traces; `alone`;
    `given`: the caller said so."""

    @property
    def names(self) -> tuple[str, ...]:
        """Those that are there, the Kineto trace first."""
        return tuple(name for name in (self.kineto, self.execution) if name is not None)

    @property
    def rank(self) -> int | None:
        """The rank that a name tells."""
        ranks = (rank_of(name) for name in self.names)
        return next((rank for rank in ranks if rank is not None), None)


class Found(NamedTuple):
    """The recordings among some files."""

    pairs: list[Pair]
    copies: dict[str, str]
    """Files that are passed over because the same recording is there in another form; and why."""


def pair_up(names: Iterable[str], heads: Mapping[str, Head]) -> Found:
    """The recordings among these files, in the order in which people count.

    Heads say more than names; every file is in one pair, or a copy.
    """
    files = list(names)
    pairs, copies = _native.pair_up([(name, heads.get(name, Head())) for name in files])

    def name(place: int | None) -> str | None:
        return None if place is None else files[place]

    return Found(
        [Pair(name(kineto), name(execution), how) for kineto, execution, how in pairs],
        {files[place]: why for place, why in copies},
    )
