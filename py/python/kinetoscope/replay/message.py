"""What is said once: the facts of a communication that all of its repetitions share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

_EXCHANGES = {"all_to_all", "all_to_allv"}
_ALIASES = {"all_gather_v": "all_gather", "reduce_scatter_v": "reduce_scatter", "allreduce_sparse": "all_reduce"}
_P2P = {"send", "recv"}
_REDUCED = {"all_reduce", "allreduce_coalesced", "reduce", "broadcast"}
_GATHERED = {"all_gather", "all_gather_base", "allgather_into_tensor_coalesced"}
_SCATTERED = {"reduce_scatter", "reduce_scatter_base", "reduce_scatter_tensor_coalesced"}
SUPPORTED = {*_EXCHANGES, *_ALIASES, *_P2P, *_REDUCED, *_GATHERED, *_SCATTERED, "gather", "scatter", "barrier"}
"""Names of what can be replayed."""


class Group(NamedTuple):
    """A process group, as far as its ranks take part in the replay."""

    name: str
    size: int
    """How many ranks it had when it was recorded."""
    members: tuple[int, ...]
    """Those of them that replay."""


class Message(NamedTuple):
    """A communication of one rank; sizes are elements, a root and a peer are places in the group."""

    collective: str
    group: Group | None
    """None where it is not recorded."""
    root: int | None
    peer: int | None
    dtype: str
    elem_bytes: int
    in_elems: tuple[int, ...]
    out_elems: tuple[int, ...]
    in_split: tuple[int, ...] = ()
    out_split: tuple[int, ...] = ()
    reduction: str | None = None
    tag: int | None = None
    """By which a receive chooses; None where the backend takes no notice of it."""

    @property
    def is_p2p(self) -> bool:
        """Whether it is between two ranks."""
        return self.collective in _P2P

    @property
    def is_exchange(self) -> bool:
        """Whether every rank sends something else to every other."""
        return self.collective in _EXCHANGES

    @property
    def is_gathered(self) -> bool:
        """Whether all get what each has."""
        return self.collective in _GATHERED

    @property
    def is_scattered(self) -> bool:
        """Whether each gets a part of what all have."""
        return self.collective in _SCATTERED

    @property
    def is_whole(self) -> bool:
        """Whether its tensors are recorded: of a call that raised, not all are."""
        sides = [bool(self.in_elems), bool(self.out_elems)]
        needs_both = self.is_exchange or self.is_gathered or self.is_scattered
        return self.collective == "barrier" or (all(sides) if needs_both else any(sides))

    @property
    def num_ranks(self) -> int:
        """How many replay it; 1 where no group is known."""
        return len(self.group.members) if self.group else 1

    @property
    def in_bytes(self) -> int:
        """Bytes that go in."""
        return sum(self.in_elems) * self.elem_bytes

    @property
    def out_bytes(self) -> int:
        """Bytes that come out."""
        return sum(self.out_elems) * self.elem_bytes

    def kept_bytes(self, place: int) -> tuple[int | None, int | None]:
        """Bytes of an exchange in uneven parts that stay on the rank at this place, in and out."""
        if not self.is_exchange:
            return None, None
        found = [split[place] * self.elem_bytes if len(split) > place else None for split in self.splits()]
        return found[0], found[1]

    def splits(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The parts of an exchange, in and out, in elements; empty where they are even."""
        if self.collective == "all_to_all":
            return self.in_elems, self.out_elems
        return _in_elems(self.in_split, self.in_elems), _in_elems(self.out_split, self.out_elems)

    def __str__(self) -> str:
        sizes = "+".join(str(elems) for elems in self.in_elems or self.out_elems)
        ends = "" if self.root is None else f" (root {self.root})"
        ends = ends if self.peer is None else f" ({'to' if self.collective == 'send' else 'from'} {self.peer})"
        parts = f" in parts {list(self.in_split)} to {list(self.out_split)}" if self.in_split or self.out_split else ""
        return f"{self.collective} of {sizes or 'no'} {self.dtype}{parts}{ends}"


def canonical(name: str) -> str:
    """The name under which something is replayed."""
    return _ALIASES.get(name, name)


def named(spellings: Iterable[str]) -> tuple[str, ...]:
    """The names of what is spelled so (`allreduce`, `isend`). ValueError for what cannot be replayed."""
    names = {_letters(name): name for name in SUPPORTED} | {"isend": "send", "irecv": "recv", "wait": "wait"}
    spellings = [spellings] if isinstance(spellings, str) else list(spellings)
    unknown = [spelling for spelling in spellings if _letters(spelling) not in names]
    if unknown or not spellings:
        raise ValueError(f"expected names of {', '.join(sorted(SUPPORTED))}, found {', '.join(unknown) or 'none'}")
    return tuple(names[_letters(spelling)] for spelling in spellings)


def _letters(name: str) -> str:
    return "".join(filter(str.isalpha, name.lower()))


def _in_elems(split: tuple[int, ...], elems: tuple[int, ...]) -> tuple[int, ...]:
    """Recorded parts are rows of a tensor; all rows have as many elements."""
    rows, total = sum(split), sum(elems)
    return tuple(part * total // rows for part in split) if rows > 0 else split
