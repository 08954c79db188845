"""Frequent kernel sequences, in HTA's frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pandas

from kinetoscope.hta.owners import owners
from kinetoscope.hta.work import device_work

if TYPE_CHECKING:
    from kinetoscope.hta.common.trace import Trace

_SUMS = {"device_us": "GPU kernel duration (us)", "host_us": "CPU op duration (us)"}


class Sequences(NamedTuple):
    """Kernel sequences under the calls of an operator."""

    table: pandas.DataFrame
    """`pattern` (`operator|kernel|…`), `count` and summed durations (µs), by falling count."""
    members: dict[int, str]
    """The pattern of each event of a call, by the event's label in the frame."""


def frequent_sequences(traces: Trace, rank: int, operator: str, min_length: int) -> Sequences:
    """Groups matching calls by the sequence of their device events.

    Matching calls are outermost calls whose names contain `operator` and that launch at least
    `min_length` device events.
    """
    frame, symbols = traces.get_trace(rank), traces.symbol_table
    names = symbols.get_sym_table()
    around = owners(frame, symbols, lambda name: operator in name, innermost=False)
    work = device_work(frame, symbols).sort_values("ts", kind="stable")
    work = pandas.DataFrame(work[work["index_correlation"].isin(list(around))])
    work["call"] = [around[launch] for launch in work["index_correlation"]]
    work["kernel"] = [names[number] for number in work["name"]]
    calls = work.groupby("call").agg(kernels=("kernel", list), device_us=("dur", "sum"))
    calls = calls[calls["kernels"].map(len) >= min_length]
    rows = frame.loc[calls.index, ["name", "dur"]]
    calls["host_us"] = rows["dur"]
    heads = [names[number] for number in rows["name"]]
    calls["pattern"] = ["|".join([head, *kernels]) for head, kernels in zip(heads, calls["kernels"], strict=True)]
    patterns = dict(zip(calls.index, calls["pattern"], strict=True))
    owned = around | dict(zip(work["index"], work["call"], strict=True))
    members = {event: patterns[call] for event, call in owned.items() if call in patterns}
    return Sequences(_table(pandas.DataFrame(calls)), members)


def _table(calls: pandas.DataFrame) -> pandas.DataFrame:
    grouped = calls.groupby("pattern")
    found = pandas.DataFrame(grouped[list(_SUMS)].sum()).rename(columns=_SUMS)
    found.insert(0, "count", grouped.size())
    return found.reset_index().sort_values(["count", "pattern"], ascending=[False, True], ignore_index=True)
