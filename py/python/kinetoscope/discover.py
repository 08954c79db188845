"""Which files of a folder are traces, which of them belong together, and which rank they are of."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

_SUFFIX = re.compile(r"\.json(\.gz)?$", re.IGNORECASE)
_SEPARATORS = re.compile(r"[._-]+")
_WORDS = frozenset({"kineto", "trace", "torch", "pytorch", "execution", "et", "pt"})
"""Words that say what kind of file it is. Without them, the two files of one recording have the same name."""
_RANKS = re.compile(r"^(?:kineto_trace|torch_et)_(\d+)|(?:^|[^a-z])rank[-_]?(\d+)", re.IGNORECASE)


class Pair(NamedTuple):
    """The files of one recording; at least one is there."""

    kineto: Path | None
    execution: Path | None
    how: str
    """`name`: the names are equal but for the words that tell the kinds apart; `rank`: each is the only one left of its
    rank; `alone`."""

    @property
    def rank(self) -> int | None:
        """The rank that the name tells."""
        return rank_of(self.kineto or self.execution or Path())


def is_execution(path: Path) -> bool:
    """Whether the name is that of an Execution Trace: `torch_et_0.json.gz`, `rank-3.et.json`, `linear_et.json`."""
    words = _words(path)
    return "et" in words or {"execution", "trace"} <= set(words)


def rank_of(path: Path) -> int | None:
    """The rank in `kineto_trace_<rank>`, `torch_et_<rank>`, `rank-<rank>`, `rank_<rank>`; no other number is one."""
    match = _RANKS.search(path.name)
    return int(match[1] or match[2]) if match else None


def execution_beside(kineto: Path) -> Path | None:
    """The Execution Trace that was recorded with a Kineto trace, by its name; a compressed one before a plain one."""
    if not _SUFFIX.search(kineto.name) or is_execution(kineto):
        return None
    key = _key(kineto)
    beside = (path for path in _traces(kineto.parent) if is_execution(path) and _key(path) == key)
    return min(beside, key=_preference, default=None)


class Found(NamedTuple):
    """The traces of a folder."""

    pairs: list[Pair]
    """In the order of rank and name."""
    copies: list[Path]
    """Plain files that are passed over because they are there compressed, too."""


def find(folder: str | os.PathLike[str]) -> Found:
    """All files of a folder that may be traces. OSError when it cannot be listed."""
    paths = list(_traces(Path(folder)))
    copies = [path for path in paths if path.with_name(path.name + ".gz") in paths]
    originals = [path for path in paths if path not in copies]
    kinetos = [path for path in originals if not is_execution(path)]
    found = _by_name(kinetos, _keyed(path for path in originals if is_execution(path)))
    return Found(sorted(_by_rank(found), key=_order), copies)


def _traces(folder: Path) -> Iterable[Path]:
    paths = sorted(folder.iterdir())  # not a glob, which finds nothing where there is no folder
    return (path for path in paths if _SUFFIX.search(path.name) and not path.name.startswith("."))


def _keyed(executions: Iterable[Path]) -> dict[str, Path]:
    """By what is left of the name without the words; by the whole name where that is taken, so that none is lost."""
    keyed: dict[str, Path] = {}
    for path in executions:
        keyed[path.name if _key(path) in keyed else _key(path)] = path
    return keyed


def _by_name(kinetos: list[Path], executions: dict[str, Path]) -> list[Pair]:
    paired: list[Pair] = []
    for kineto in kinetos:
        execution = executions.pop(_key(kineto), None)
        paired.append(Pair(kineto, execution, "name" if execution else "alone"))
    return paired + [Pair(None, execution, "alone") for execution in executions.values()]


def _by_rank(found: list[Pair]) -> list[Pair]:
    """Joins what is left of a rank when it is one trace of each kind."""
    left: dict[int, list[Pair]] = defaultdict(list)
    for pair in found:
        if pair.how == "alone" and pair.rank is not None:
            left[pair.rank].append(pair)
    for lonely in left.values():
        kinetos = [pair.kineto for pair in lonely if pair.kineto]
        executions = [pair.execution for pair in lonely if pair.execution]
        if len(kinetos) == len(executions) == 1:
            found = [pair for pair in found if pair not in lonely] + [Pair(kinetos[0], executions[0], "rank")]
    return found


def _preference(path: Path) -> tuple[bool, str]:
    return path.suffix != ".gz", path.name


def _order(pair: Pair) -> tuple[bool, int, str]:
    path = pair.kineto or pair.execution or Path()
    return pair.rank is None, pair.rank or 0, _key(path)


def _words(path: Path) -> list[str]:
    return [word for word in _SEPARATORS.split(_SUFFIX.sub("", path.name.lower())) if word]


def _key(path: Path) -> str:
    return ".".join(word for word in _words(path) if word not in _WORDS)
