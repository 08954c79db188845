"""Which files are traces, which of them belong together, and which rank they are of: by their names and heads."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from kinetoscope.head import Head
from kinetoscope.names import PACKED, bare, is_execution, is_report, stem

_SEPARATORS = re.compile(r"[._-]+")
_RANKS = re.compile(r"^(?:kineto_trace|torch_et|nsys)_(\d+)|(?:^|[^a-z])rank[-_]?(\d+)", re.IGNORECASE)

Match = tuple[str, str]
"""The names of a Kineto trace and of the Execution Trace recorded with it."""


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


def rank_of(name: str) -> int | None:
    """The rank in `kineto_trace_<rank>`, `torch_et_<rank>`, `nsys_<rank>`, `rank-<rank>`, `rank_<rank>`.

    No other number is one.
    """
    match = _RANKS.search(PurePosixPath(name).name)
    return int(match[1] or match[2]) if match else None


def pair_up(names: Iterable[str], heads: Mapping[str, Head]) -> Found:
    """The recordings among these files. Heads say more than names; every file is in one pair, or a copy."""
    ordered = sorted(names, key=natural)
    copies = _copies(ordered)
    originals = [name for name in ordered if name not in copies]
    kinds = {name: heads.get(name, Head()).is_execution for name in originals}
    executions = [name for name in originals if (is_execution(name) if kinds[name] is None else kinds[name])]
    kinetos = [name for name in originals if name not in executions]

    def rank(name: str) -> int | None:
        told = heads.get(name, Head()).rank
        return rank_of(name) if told is None else told

    pairs: list[Pair] = []
    for how, matches in _RULES:
        matched = matches(kinetos, executions, rank)
        pairs += [Pair(kineto, execution, how) for kineto, execution in matched]
        kinetos = [name for name in kinetos if name not in {kineto for kineto, _ in matched}]
        executions = [name for name in executions if name not in {execution for _, execution in matched}]
    pairs += [Pair(name, None, "alone") for name in kinetos] + [Pair(None, name, "alone") for name in executions]
    return Found(sorted(pairs, key=lambda pair: natural(pair.names[0])), copies)


def natural(name: str) -> list[tuple[int, str]]:
    """Sorts names as people do: `trace_9`, `trace_9.1`, `trace_10`."""
    words = (word for word in _SEPARATORS.split(name.lower().replace("/", ".")) if word)
    return [(int(part), "") if part.isdecimal() else (-1, part) for word in words for part in _parts(word)]


# --- rules --------------------------------------------------------------------------------------------------------

Ranks = Callable[[str], int | None]


def _by_name(kinetos: Sequence[str], executions: Sequence[str], _rank: Ranks) -> list[Match]:
    """In the same folder; the first of those that are named alike."""
    left: dict[Match, list[str]] = defaultdict(list)
    for name in executions:
        left[_folder(name), bare(name)].append(name)
    places = ((name, left[_folder(name), bare(name)]) for name in kinetos)
    return [(name, same.pop(0)) for name, same in places if same]


def _by_bare_name(kinetos: Sequence[str], executions: Sequence[str], _rank: Ranks) -> list[Match]:
    """In different folders, as in an archive with one for each kind."""
    return _only(kinetos, executions, bare)


def _by_rank(kinetos: Sequence[str], executions: Sequence[str], rank: Ranks) -> list[Match]:
    return _only(kinetos, executions, rank)


def _by_number(kinetos: Sequence[str], executions: Sequence[str], rank: Ranks) -> list[Match]:
    """A series of names in which one number varies, over just the ranks of the others."""
    split = [_parts(PurePosixPath(name).name) for name in executions]
    if len({len(parts) for parts in split}) != 1:
        return []
    varying = [column for column in zip(*split, strict=True) if len(set(column)) > 1]
    if len(varying) != 1 or not all(part.isdecimal() for part in varying[0]):
        return []
    by_number = {int(part): name for part, name in zip(varying[0], executions, strict=True)}
    by_rank = {number: name for name in kinetos if (number := rank(name)) is not None}
    if by_number.keys() != by_rank.keys() or not len(kinetos) == len(by_rank) == len(executions):
        return []
    return [(by_rank[number], by_number[number]) for number in sorted(by_rank)]


def _only(kinetos: Sequence[str], executions: Sequence[str], key: Callable[[str], object]) -> list[Match]:
    """Those that are the only ones of their kind with a key."""
    groups: dict[object, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for sort, names in enumerate((kinetos, executions)):
        for name in names:
            groups[key(name)][sort].append(name)
    return [
        (of_kineto[0], of_execution[0])
        for told, (of_kineto, of_execution) in groups.items()
        if told is not None and len(of_kineto) == len(of_execution) == 1
    ]


_RULES: tuple[tuple[str, Callable[[Sequence[str], Sequence[str], Ranks], list[Match]]], ...] = (
    ("name", _by_name),
    ("name", _by_bare_name),
    ("rank", _by_rank),
    ("number", _by_number),
)


# --- names --------------------------------------------------------------------------------------------------------


def _copies(names: Sequence[str]) -> dict[str, str]:
    there = set(names)
    stems = {stem(name) for name in names if not name.endswith(".kscope")}
    copies: dict[str, str] = {}
    for name in names:
        if any(f"{name}{ending}" in there for ending in PACKED):
            copies[name] = "passed over, it is there compressed, too"
        elif is_report(name) and f"{stem(name)}.sqlite" in there:
            copies[name] = "passed over, its export is there"
        elif name.endswith(".kscope") and stem(name) in stems:
            copies[name] = "passed over, the files that it is a snapshot of are there"
    return copies


def _folder(name: str) -> str:
    return str(PurePosixPath(name).parent)


def _parts(word: str) -> list[str]:
    """The numbers in a word, and what is between them."""
    return [part for part in re.split(r"(\d+)", word) if part]
