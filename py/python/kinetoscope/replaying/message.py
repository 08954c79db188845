"""Communications and groups: the properties that all repetitions share."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

_EXCHANGES = {"all_to_all", "all_to_allv"}
_ALIASES = {"all_gather_v": "all_gather", "reduce_scatter_v": "reduce_scatter", "allreduce_sparse": "all_reduce"}
_P2P = {"send", "recv"}
_REDUCED = {"all_reduce", "allreduce_coalesced", "reduce", "broadcast"}
_GATHERED = {"all_gather", "all_gather_base", "allgather_into_tensor_coalesced"}
_SCATTERED = {"reduce_scatter", "reduce_scatter_base", "reduce_scatter_tensor_coalesced"}
SUPPORTED = {*_EXCHANGES, *_ALIASES, *_P2P, *_REDUCED, *_GATHERED, *_SCATTERED, "gather", "scatter", "barrier"}
"""Names of communications that can be replayed."""


class Group(NamedTuple):
    """A process group, with its ranks that take part in the replay."""

    name: str
    size: int
    """Number of recorded ranks."""
    members: tuple[int, ...]
    """Ranks that take part in the replay."""


class Message(NamedTuple):
    """A communication of one rank. Sizes are in elements; root and peer are places in the group."""

    collective: str
    group: Group | None
    """None if the trace does not name it."""
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
    """Tag that a receive matches; None if the backend ignores tags."""

    @property
    def is_p2p(self) -> bool:
        """Whether this is a send or a receive."""
        return self.collective in _P2P

    @property
    def is_exchange(self) -> bool:
        """Whether each rank sends different data to each other rank."""
        return self.collective in _EXCHANGES

    @property
    def is_gathered(self) -> bool:
        """Whether each rank receives the data of all ranks."""
        return self.collective in _GATHERED

    @property
    def is_scattered(self) -> bool:
        """Whether each rank receives one part of the reduced data."""
        return self.collective in _SCATTERED

    @property
    def is_whole(self) -> bool:
        """Whether the trace has all tensors. A call that raised has only some."""
        sides = [bool(self.in_elems), bool(self.out_elems)]
        needs_both = self.is_exchange or self.is_gathered or self.is_scattered
        return self.collective == "barrier" or (all(sides) if needs_both else any(sides))

    @property
    def num_ranks(self) -> int:
        """Number of ranks that take part in the replay; 1 without a group."""
        return len(self.group.members) if self.group else 1

    @property
    def in_bytes(self) -> int:
        """Size of the inputs in bytes."""
        return sum(self.in_elems) * self.elem_bytes

    @property
    def out_bytes(self) -> int:
        """Size of the outputs in bytes."""
        return sum(self.out_elems) * self.elem_bytes

    def kept_bytes(self, place: int) -> tuple[int | None, int | None]:
        """Returns the bytes of an exchange that stay on the rank at a place: input and output.

        None if the communication is no exchange, or has no such part.
        """
        if not self.is_exchange:
            return None, None
        sizes = [split[place] * self.elem_bytes if len(split) > place else None for split in self.splits()]
        return sizes[0], sizes[1]

    def splits(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Returns the input and output parts of an exchange in elements; empty if equal."""
        if self.collective == "all_to_all":
            return self.in_elems, self.out_elems
        return _in_elems(self.in_split, self.in_elems), _in_elems(self.out_split, self.out_elems)

    def __str__(self) -> str:
        sizes = "+".join(str(elems) for elems in self.in_elems or self.out_elems)
        ends = "" if self.root is None else f" (root {self.root})"
        ends = ends if self.peer is None else f" ({'to' if self.collective == 'send' else 'from'} {self.peer})"
        parts = f" in parts {list(self.in_split)} to {list(self.out_split)}" if self.in_split or self.out_split else ""
        return f"{self.collective} of {sizes or 'no'} {self.dtype}{parts}{ends}"


@lru_cache(maxsize=1024)  # most calls of a job repeat
def call(message: Message) -> str:
    """Returns a call in JSON, as the core compares it."""
    in_split, out_split = message.splits() if message.is_exchange else (message.in_split, message.out_split)
    facts = {
        "collective": message.collective,
        "dtype": message.dtype,
        "root": message.root,
        "reduction": message.reduction,
        "in_elems": message.in_elems,
        "out_elems": message.out_elems,
        "in_split": in_split,
        "out_split": out_split,
        "members": None if message.group is None else message.group.members,
    }
    return json.dumps(facts)


def canonical(name: str) -> str:
    """Returns the name of the communication that replaces `name` in the replay."""
    return _ALIASES.get(name, name)


def named(spellings: Iterable[str]) -> tuple[str, ...]:
    """Returns names of communications from other spellings, such as `allreduce` or `isend`.

    Raises ValueError for a name that cannot be replayed.
    """
    names = {_letters(name): name for name in SUPPORTED} | {"isend": "send", "irecv": "recv", "wait": "wait"}
    spellings = [spellings] if isinstance(spellings, str) else list(spellings)
    unknown = [spelling for spelling in spellings if _letters(spelling) not in names]
    if unknown or not spellings:
        raise ValueError(f"expected names of {', '.join(sorted(SUPPORTED))}, found {', '.join(unknown) or 'none'}")
    return tuple(names[_letters(spelling)] for spelling in spellings)


def _letters(name: str) -> str:
    return "".join(filter(str.isalpha, name.lower()))


def _in_elems(split: tuple[int, ...], elems: tuple[int, ...]) -> tuple[int, ...]:
    """Converts recorded parts from rows to elements; all rows have equal size."""
    rows, total = sum(split), sum(elems)
    return tuple(part * total // rows for part in split) if rows > 0 else split
