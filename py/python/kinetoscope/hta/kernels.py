"""Kernels and annotations by name and by type, in HTA's frames."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import pandas

from kinetoscope.hta.utils.utils import KernelType
from kinetoscope.hta.work import device_work, times_together

if TYPE_CHECKING:
    from kinetoscope.hta.common.trace import Trace

_TYPES = (KernelType.COMPUTATION.name, KernelType.COMMUNICATION.name, KernelType.MEMORY.name)
_STATISTICS = {"sum": "sum (us)", "max": "max (us)", "min": "min (us)", "std": "stddev", "mean": "mean (us)"}
_OTHERS = "others"
_EMPTY = {"name": object, "kernel_type": object, "rank": "int64"}


class Shown(NamedTuple):
    """Selects the names with their own row."""

    duration_ratio: float
    """Quantile of the cumulative sums (largest first) up to which names get a row."""
    num_kernels: int
    """Maximum number of names with a row; with fewer names, all get a row."""
    allowed: Sequence[str] = ()
    """Names that always get a row."""


def kernel_types(traces: Trace, *, with_memory: bool) -> pandas.DataFrame:
    """Sums the time (µs) of all ranks by the types of work that ran at once, largest first."""
    types = _TYPES if with_memory else _TYPES[:-1]
    sums: Counter[str] = Counter()
    for frame in traces.traces.values():
        for _, work in device_work(frame, traces.symbol_table).groupby("pid", sort=False):
            for mix, time in times_together(work, types).items():
                running = [name for bit, name in enumerate(types) if mix >> bit & 1]
                sums[" overlapping ".join(running)] += int(time)
    total = sum(sums.values())
    rows = [(label, time, round(100 * time / total, 1)) for label, time in sorted(sums.items(), key=_largest) if time]
    found = pandas.DataFrame(rows, columns=["kernel_type", "sum", "percentage"])
    return found.astype({"sum": "int64", "percentage": "float64"})


def _largest(of_label: tuple[str, int]) -> tuple[int, str]:
    return -of_label[1], of_label[0]


def kernel_table(traces: Trace, shown: Shown, *, with_memory: bool) -> pandas.DataFrame:
    """Computes statistics of kernel durations (µs) by rank, type and name."""
    tables = []
    for rank, frame in traces.traces.items():
        work = _named(device_work(frame, traces.symbol_table), traces)
        for kernel_type in _TYPES if with_memory else _TYPES[:-1]:
            table = _table(work.loc[work["kernel_type"] == kernel_type], shown)
            tables.append(table.assign(kernel_type=kernel_type, rank=rank))
    return _joined(tables, ["kernel_type", "name", "rank"])


def annotation_table(traces: Trace, category: str, shown: Shown) -> pandas.DataFrame | None:
    """Computes statistics of annotation durations (µs) by rank and name.

    Returns None if no trace has the category.
    """
    number = traces.symbol_table.get_sym_id_map().get(category)
    if number is None:
        return None
    tables = [
        _table(_named(frame.loc[frame["cat"] == number], traces), shown).assign(rank=rank)
        for rank, frame in traces.traces.items()
    ]
    return _joined(tables, ["rank", "name"])


def _named(rows: pandas.DataFrame, traces: Trace) -> pandas.DataFrame:
    names = traces.symbol_table.get_sym_table()
    return rows.assign(name=[names[number] for number in rows["name"]])


def _table(rows: pandas.DataFrame, shown: Shown) -> pandas.DataFrame:
    statistics = _statistics(rows["dur"], rows["name"])
    if len(statistics) <= shown.num_kernels:
        return statistics
    kept = statistics.loc[_has_row(statistics, shown), "name"]
    return _statistics(rows["dur"], rows["name"].where(rows["name"].isin(kept), _OTHERS))


def _statistics(durations: pandas.Series, names: pandas.Series) -> pandas.DataFrame:
    """Returns a row for each name, the largest sum first; a single run has deviation 0."""
    wide = durations.astype("int64" if durations.dtype.kind == "i" else "float64")
    found = wide.groupby(names).agg(list(_STATISTICS)).fillna({"std": 0.0})
    return found.sort_values("sum", ascending=False, kind="stable").rename_axis("name").reset_index()


def _has_row(statistics: pandas.DataFrame, shown: Shown) -> pandas.Series:
    sums = statistics["sum"].cumsum()
    is_first = (sums <= sums.quantile(shown.duration_ratio)) & (statistics.index < shown.num_kernels)
    return is_first | statistics["name"].isin(list(shown.allowed))


def _joined(tables: Sequence[pandas.DataFrame], order: list[str]) -> pandas.DataFrame:
    found = pandas.concat([table for table in tables if len(table)] or list(tables)[:1])
    if found.empty:  # without values, pandas knows no types
        found = found.astype({name: kind for name, kind in _EMPTY.items() if name in found})
    return found.sort_values(order, ignore_index=True).rename(columns=_STATISTICS)
