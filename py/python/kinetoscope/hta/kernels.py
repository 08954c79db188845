"""Kernels and annotations by name and by type, in HTA's frames."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas

if TYPE_CHECKING:
    from kinetoscope.hta.common.trace import Trace

_NS = 1000
_TYPES = {"computation": "COMPUTATION", "communication": "COMMUNICATION", "memory": "MEMORY"}
_TIMES = ("name", "sum (us)", "max (us)", "min (us)", "stddev", "mean (us)")
_OTHERS = "others"


class _Runs(NamedTuple):
    """All runs of one name."""

    name: str
    num_runs: int
    total_ns: int
    std_ns: float | None
    min_ns: int
    max_ns: int


class Shown(NamedTuple):
    """Which names have a row of their own."""

    duration_ratio: float
    """The quantile of the running sums, from the largest, up to which they have one."""
    num_kernels: int
    """How many at most; if there are no more, all."""
    allowed: Sequence[str] = ()
    """Names with any of these in them have one."""


def kernel_types(traces: Trace, *, with_memory: bool) -> pandas.DataFrame:
    """Time of all ranks by the types of the work that ran at the same time."""
    types = {name: label for name, label in _TYPES.items() if with_memory or name != "memory"}
    sums: Counter[str] = Counter()
    for rank in traces.get_ranks():
        mixes = traces.analyze(rank, "breakdown", per="work").tables["concurrency"]
        for classes, total_ns in mixes.select("classes", "total_ns").rows():
            running = [types[name] for name in classes.split("+") if name in types]
            if running:
                sums[" overlapping ".join(running)] += total_ns
    total = sum(sums.values())
    rows = [(label, ns / _NS, round(100 * ns / total, 1)) for label, ns in sums.most_common()]
    return pandas.DataFrame(rows, columns=["kernel_type", "sum", "percentage"])


def kernel_table(traces: Trace, shown: Shown, *, with_memory: bool) -> pandas.DataFrame:
    """Kernels of each rank and type by name."""
    rows = []
    for rank in traces.get_ranks():
        kernels = traces.analyze(rank, "kernels")
        found = kernels.select("class", "name", "count", "total_ns", "std_ns", "min_ns", "max_ns").rows()
        for name, label in _TYPES.items():
            if with_memory or name != "memory":
                of_type = [_Runs(*runs) for of_class, *runs in found if of_class == name]
                rows += [(*row, label, rank) for row in _rows(of_type, shown)]
    frame = pandas.DataFrame(rows, columns=[*_TIMES, "kernel_type", "rank"])
    return frame.sort_values(["kernel_type", "name", "rank"], ignore_index=True)


def annotation_table(traces: Trace, side: str, shown: Shown) -> pandas.DataFrame | None:
    """Annotations of each rank by name, on `host` or `device`; None where there is none."""
    rows = []
    for rank in traces.get_ranks():
        annotations = traces.analyze(rank, "annotations")
        found = annotations.select("side", "name", "count", "total_ns", "std_ns", "min_ns", "max_ns").rows()
        of_side = [_Runs(*runs) for on_side, *runs in found if on_side == side]
        rows += [(*row, rank) for row in _rows(of_side, shown)]
    frame = pandas.DataFrame(rows, columns=[*_TIMES, "rank"])
    return frame.sort_values(["rank", "name"], ignore_index=True) if rows else None


def _rows(found: Iterable[_Runs], shown: Shown) -> list[tuple[Any, ...]]:
    by_name: dict[str, list[_Runs]] = {}
    for runs in found:
        by_name.setdefault(runs.name, []).append(runs)
    names = sorted((_together(name, runs) for name, runs in by_name.items()), key=lambda runs: -runs.total_ns)
    places = list(zip(names, _shown(names, shown), strict=True))
    kept = [runs for runs, has_row in places if has_row]
    others = [runs for runs, has_row in places if not has_row]
    return [_row(runs) for runs in (*kept, *([_together(_OTHERS, others)] if others else []))]


def _shown(names: Sequence[_Runs], shown: Shown) -> list[bool]:
    if len(names) <= shown.num_kernels:
        return [True] * len(names)
    sums = pandas.Series([runs.total_ns for runs in names]).cumsum()
    most = sums.quantile(shown.duration_ratio)
    is_first = [sum_ns <= most and place < shown.num_kernels for place, sum_ns in enumerate(sums)]
    is_allowed = [any(pattern in runs.name for pattern in shown.allowed) for runs in names]
    return [first or allowed for first, allowed in zip(is_first, is_allowed, strict=True)]


def _together(name: str, parts: Sequence[_Runs]) -> _Runs:
    """Runs of several names as those of one."""
    if len(parts) == 1:
        return parts[0]._replace(name=name)
    count, total_ns = sum(runs.num_runs for runs in parts), sum(runs.total_ns for runs in parts)
    mean = total_ns / count
    squares = sum(
        (runs.std_ns or 0) ** 2 * (runs.num_runs - 1) + runs.num_runs * (runs.total_ns / runs.num_runs - mean) ** 2
        for runs in parts
    )
    shortest, longest = min(runs.min_ns for runs in parts), max(runs.max_ns for runs in parts)
    return _Runs(name, count, total_ns, math.sqrt(squares / (count - 1)), shortest, longest)


def _row(runs: _Runs) -> tuple[Any, ...]:
    times = (runs.total_ns, runs.max_ns, runs.min_ns, runs.std_ns or 0, runs.total_ns / runs.num_runs)
    return (runs.name, *(ns / _NS for ns in times))
