"""Groups files into recordings, by their names and their first bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kinetoscope import _native
from kinetoscope._io.header import Head
from kinetoscope._io.paths import rank_of


class Pair(NamedTuple):
    """Names of the files of one recording, in their folder or archive; at least one is not None."""

    kineto: str | None
    """Name of the Kineto trace."""
    execution: str | None
    """Name of the Execution Trace."""
    how: str
    """Rule that paired the files.

    * `name`: the names differ only in the words for the two formats
    * `rank`: each is the only remaining file of its rank
    * `number`: the remaining Execution Traces are numbered like the ranks of the Kineto traces
    * `alone`: a single file
    * `given`: the caller chose the files
    """

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the files, the Kineto trace first."""
        return tuple(name for name in (self.kineto, self.execution) if name is not None)

    @property
    def rank(self) -> int | None:
        """Rank in a file name; None without one."""
        ranks = (rank_of(name) for name in self.names)
        return next((rank for rank in ranks if rank is not None), None)


class Pairing(NamedTuple):
    """Recordings among a set of files."""

    pairs: list[Pair]
    copies: dict[str, str]
    """Skipped files by name: another file holds the same recording. Each with the reason."""


def pair_up(names: Iterable[str], heads: Mapping[str, Head]) -> Pairing:
    """Pairs files to recordings, in natural order of their names.

    Heads override names. Each file is part of one pair, or is a copy.
    """
    files = list(names)
    pairs, copies = _native.pair_up([(name, heads.get(name, Head())) for name in files])

    def name(index: int | None) -> str | None:
        return None if index is None else files[index]

    return Pairing(
        [Pair(name(kineto), name(execution), how) for kineto, execution, how in pairs],
        {files[index]: reason for index, reason in copies},
    )
