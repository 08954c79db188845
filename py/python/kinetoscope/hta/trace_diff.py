"""Two traces compared: how often each operator and kernel ran in an iteration, and for how long."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from enum import Enum
from pathlib import Path
from typing import TypeAlias

import pandas

from kinetoscope.hta.common.trace import Trace
from kinetoscope.hta.common.trace_symbol_table import shorten_name
from kinetoscope.notice import warn

_STEP = re.compile(r"ProfilerStep ?# ?(\d+)")
_LABELS = itertools.count()
_NUMBERS = ["counts", "total_duration"]
_Numbers: TypeAlias = int | Sequence[int] | None


class DeviceType(Enum):
    """Whose events are compared."""

    CPU = 1
    """The host's."""
    GPU = 2
    """Those of streams."""
    ALL = 3
    """Both."""


class LabeledTrace:
    """The traces of a job, whole and on the clock of their files, with a name for columns."""

    def __init__(self, label: str | None = None, t: Trace | None = None, trace_dir: str | None = None) -> None:
        if t is None and (trace_dir is None or not Path(trace_dir).expanduser().is_dir()):
            raise ValueError(f"expected a Trace or a folder of traces, found {trace_dir}")
        self.label = f"t{next(_LABELS)}" if label is None else label
        """What it is called."""
        self.t = Trace(trace_dir=str(trace_dir)) if t is None else t
        """The traces."""
        if not self.t.is_parsed:
            self.t.parse_traces()

    def ranks(self) -> list[int]:
        """The ranks, ascending."""
        return self.t.get_ranks()

    def iterations(self) -> list[int]:
        """The numbers of the steps that any rank has, ascending."""
        found = (_STEP.match(symbol) for symbol in self.t.symbol_table.get_sym_table())
        return sorted({int(match[1]) for match in found if match})

    def extract_ops(
        self, rank: _Numbers = None, iteration: _Numbers = None, device_type: DeviceType = DeviceType.ALL
    ) -> pandas.DataFrame:
        """Rows of the frames; by default of the first rank, and of its first iteration where there are iterations.

        ValueError for a rank or an iteration that there is not.
        """
        ranks = _chosen(rank, self.ranks(), "ranks")
        rows: pandas.DataFrame = pandas.concat([self.t.get_trace(number) for number in ranks])
        if iterations := _chosen(iteration, self.iterations(), "iterations"):
            rows = rows.loc[rows["iteration"].isin(iterations)]
        if device_type is DeviceType.ALL:
            return rows
        return rows.loc[(rows["stream"] == -1) == (device_type is DeviceType.CPU)]

    def get_ops_summary(self, ops: pandas.DataFrame) -> pandas.DataFrame:
        """Rows of a frame by name: how many, and their durations summed, in µs."""
        groups = ops.groupby(["cat", "name"], sort=False)["dur"]
        found = pandas.DataFrame({"counts": groups.size(), "total_duration": groups.sum()}).reset_index()
        symbols = self.t.symbol_table.get_sym_table()
        names = [symbols[number] for number in found["name"]]
        columns = {
            "cat": [symbols[number] for number in found["cat"]],
            "name": names,
            "short_name": [shorten_name(name) for name in names],
            "counts": found["counts"],
            "total_duration": found["total_duration"],
            "cat_id": found["cat"],
            "name_id": found["name"],
        }
        return pandas.DataFrame(columns)


_Traces: TypeAlias = LabeledTrace | Trace | str


class TraceDiff:
    """What changed between two traces, `control` and `test`."""

    @classmethod
    def compare_traces(
        cls,
        control: _Traces,
        test: _Traces,
        control_rank: _Numbers = None,
        test_rank: _Numbers = None,
        control_iteration: _Numbers = None,
        test_iteration: _Numbers = None,
        device_type: DeviceType = DeviceType.ALL,
        use_short_name: bool = False,
    ) -> pandas.DataFrame:
        """A row for each name: counts and durations (µs) in both traces, and the change from `control` to `test`.

        `counts_change_categories` is `+`, `-` or `=`. Of the first rank and the first iteration by default.
        """
        name = "short_name" if use_short_name else "name"
        first, second = _labeled(control, "Control"), _labeled(test, "Test")
        labels = [first.label, second.label if second.label != first.label else f"{second.label}_control_test"]
        summaries = [
            _by_name(trace, trace.extract_ops(rank, iteration, device_type), name).add_prefix(f"{label}_")
            for trace, label, rank, iteration in (
                (first, labels[0], control_rank, control_iteration),
                (second, labels[1], test_rank, test_iteration),
            )
        ]
        found = summaries[0].join(summaries[1], how="outer").fillna(0)
        for change, number in (("diff_counts", "counts"), ("diff_duration", "total_duration")):
            found[change] = found[f"{labels[1]}_{number}"] - found[f"{labels[0]}_{number}"]
        found["counts_change_categories"] = [
            "+" if more > 0 else "-" if more < 0 else "=" for more in found["diff_counts"]
        ]
        return found

    @classmethod
    def ops_diff(
        cls,
        control: _Traces,
        test: _Traces,
        control_rank: _Numbers = None,
        test_rank: _Numbers = None,
        control_iteration: _Numbers = None,
        test_iteration: _Numbers = None,
        device_type: DeviceType = DeviceType.ALL,
    ) -> dict[str, list[str]]:
        """The names that were `added`, `deleted`, `increased`, `decreased` or `unchanged`, by how often they ran."""
        ranks_and_iterations = (control_rank, test_rank, control_iteration, test_iteration)
        found = cls.compare_traces(control, test, *ranks_and_iterations, device_type)
        changes: dict[str, list[str]] = {
            change: [] for change in ("added", "deleted", "increased", "decreased", "unchanged")
        }
        for name, before, _, after, *_ in found.itertuples():
            changes[_change(before, after)].append(str(name))
        return changes

    @classmethod
    def visualize_counts_diff(
        cls, df: pandas.DataFrame, show_image: bool = True, export_image_path: str | None = None
    ) -> None:
        """Draws nothing; RuntimeWarning when a file is asked for."""
        _not_drawn(export_image_path)

    @classmethod
    def visualize_duration_diff(
        cls, df: pandas.DataFrame, show_image: bool = True, export_image_path: str | None = None
    ) -> None:
        """Draws nothing; RuntimeWarning when a file is asked for."""
        _not_drawn(export_image_path)


def _labeled(traces: _Traces, label: str) -> LabeledTrace:
    if isinstance(traces, LabeledTrace):
        return traces
    return LabeledTrace(label, t=traces) if isinstance(traces, Trace) else LabeledTrace(label, trace_dir=traces)


def _by_name(trace: LabeledTrace, ops: pandas.DataFrame, name: str) -> pandas.DataFrame:
    return pandas.DataFrame(trace.get_ops_summary(ops).groupby(name)[_NUMBERS].sum())


def _change(before: float, after: float) -> str:
    if before == after:
        return "unchanged"
    if not before or not after:
        return "deleted" if before else "added"
    return "increased" if after > before else "decreased"


def _chosen(asked: _Numbers, known: Iterable[int], what: str) -> list[int]:
    """The first of what is known, or those asked for."""
    known = list(known)
    chosen = known[:1] if asked is None else [asked] if isinstance(asked, int) else list(asked)
    if unknown := [number for number in chosen if number not in known]:
        raise ValueError(f"expected one of the {what} {known}, found {unknown[0]}")
    return chosen


def _not_drawn(path: str | None) -> None:
    if path is not None:
        warn(f"{path} was not written: nothing is drawn")
