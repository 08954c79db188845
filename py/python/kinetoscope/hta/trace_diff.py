"""Comparison of two traces: how often each operator and kernel runs, and how long."""

from __future__ import annotations

import copy
import itertools
import re
from enum import Enum
from pathlib import Path
from typing import TypeAlias

import pandas

from kinetoscope.hta import drawing
from kinetoscope.hta.common.trace import Trace
from kinetoscope.hta.common.trace_symbol_table import TraceSymbolTable
from kinetoscope.hta.utils.utils import flatten_column_names, shorten_name

_STEP = re.compile(r"ProfilerStep\s*#\s*(\d+)")
_LABELS = itertools.count()
_NUMBERS = ["counts", "total_duration"]
_SUMMARY = ["cat", "name", "short_name", *_NUMBERS, "cat_id", "name_id"]
_HOST = -1
_Numbers: TypeAlias = int | list[int] | None

TraceDir = str


class DeviceType(Enum):
    """Events to compare."""

    CPU = 1
    """Host events."""
    GPU = 2
    """Events on streams."""
    ALL = 3
    """Both."""


class LabeledTrace:
    """A job's traces with a label for columns. The frames are whole, with times on the clocks of their files.

    Reads the traces of `t`, or those in `trace_dir`. A `t` that is read already stays as it is: the frames are made
    anew for the comparison. Raises ValueError without a Trace and without a folder.
    """

    def __init__(self, label: str | None = None, t: Trace | None = None, trace_dir: str | None = None) -> None:
        if t is None and (trace_dir is None or not Path(trace_dir).expanduser().is_dir()):
            raise ValueError(f"expected a Trace or an existing folder of traces, found {trace_dir}")
        self.label = label or f"t{next(_LABELS)}"
        """The label."""
        self.t = _whole(Trace(trace_dir=str(trace_dir)) if t is None else t)
        """The traces."""
        self.s_map = self.t.symbol_table.get_sym_index_series()
        """Ids of names and categories, by text."""
        self.s_tab = self.t.symbol_table.get_sym_table_series()
        """Names and categories, by id."""
        found = [(name, number, _STEP.match(name)) for name, number in self.t.symbol_table.get_sym_index().items()]
        steps = [(name, number, int(step[1])) for name, number, step in found if step]
        self.iteration_df = pandas.DataFrame(steps, columns=["symbol", "id", "iteration"])
        """The steps: `symbol`, its `id`, and the number as `iteration`."""

    def ranks(self) -> list[int]:
        """Returns the ranks, ascending."""
        return self.t.get_ranks()

    def iterations(self) -> list[int]:
        """Returns the numbers of the steps that any rank has, ascending."""
        return sorted(self.iteration_df["iteration"].tolist())

    def extract_ops(
        self, rank: _Numbers = None, iteration: _Numbers = None, device_type: DeviceType = DeviceType.ALL
    ) -> pandas.DataFrame:
        """Selects rows of the frames, by default of the first rank and the first step.

        Rows of several ranks have the columns `rank` and `idx`, their label. Raises ValueError for a rank or a step
        that does not exist, and where there is none at all.
        """
        ranks = self._chosen(rank, self.ranks(), "rank")
        iterations = self._chosen(iteration, self.iterations(), "iteration")
        frames = [self.t.get_trace(number) for number in ranks]
        several = len(ranks) > 1
        rows = pandas.concat(frames, keys=ranks, names=["rank", "idx"]).reset_index() if several else frames[0]
        rows = rows.loc[rows["iteration"].isin(iterations)]
        if device_type is DeviceType.ALL:
            return rows
        return rows.loc[(rows["stream"] == _HOST) == (device_type is DeviceType.CPU)]

    def get_ops_summary(self, ops: pandas.DataFrame) -> pandas.DataFrame:
        """Counts the rows of each category and name, and sums their durations, in µs."""
        found = ops.groupby(["cat", "name"])["dur"].agg(counts="count", total_duration="sum").reset_index()
        found = found.rename(columns={"cat": "cat_id", "name": "name_id"})
        for column in ("cat", "name"):
            found[column] = self.s_tab.reindex(found[f"{column}_id"]).to_numpy()
        found["short_name"] = [shorten_name(name) for name in found["name"]]
        return found.loc[:, _SUMMARY]

    def _chosen(self, asked: object, known: list[int], what: str) -> list[int]:
        """The numbers asked for, or the first known one."""
        if not known:
            raise ValueError(f"expected at least one {what} in {self.label}, found none")
        chosen = known[:1] if asked is None else [asked] if isinstance(asked, int) else asked
        if not isinstance(chosen, list):
            raise ValueError(f"expected an integer or a list for {what}, found {asked!r}")  # noqa: TRY004 - HTA's kind
        if unknown := [number for number in chosen if number not in known]:
            raise ValueError(f"expected one of the {what}s {known}, found {unknown[0]}")
        return chosen


_Traces: TypeAlias = LabeledTrace | Trace | TraceDir


class TraceDiff:
    """Differences between two traces, `control` and `test`. Each is a LabeledTrace, a Trace or a folder."""

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
        """Returns a row for each name: counts and durations (µs) in both traces, and test minus control.

        The first columns are `<label>_counts` and `<label>_total_duration` of each trace; equal labels are made
        different. `counts_change_categories` is `+`, `-` or `=`. The first rank and the first step are compared by
        default. Raises ValueError for a rank or a step that does not exist, and for another kind of trace.
        """
        before, after = _trace_argument_adapter(control, "Control"), _trace_argument_adapter(test, "Test")
        labels = _different_labels(before, after)
        name = "short_name" if use_short_name else "name"
        summaries = [
            _by_name(trace.get_ops_summary(trace.extract_ops(rank, iteration, device_type)), name)
            for trace, rank, iteration in (
                (before, control_rank, control_iteration),
                (after, test_rank, test_iteration),
            )
        ]
        found = pandas.concat(summaries, axis="columns", keys=labels).fillna(0)
        flatten_column_names(found)
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
        """Returns the names that are `added`, `deleted`, `increased`, `decreased` or `unchanged` in their counts.

        Arguments and errors as those of `compare_traces`.
        """
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
        """Draws the counts of a comparison, and writes the picture to a file if a path is given."""
        drawing.draw_counts_diff(df, show_image, export_image_path)

    @classmethod
    def visualize_duration_diff(
        cls, df: pandas.DataFrame, show_image: bool = True, export_image_path: str | None = None
    ) -> None:
        """Draws the durations of a comparison, and writes the picture to a file if a path is given."""
        drawing.draw_duration_diff(df, show_image, export_image_path)


def _whole(traces: Trace) -> Trace:
    """The traces with whole frames: made now, or anew of what was read."""
    if not traces.trace_files:  # whose frames were set by hand
        return traces
    if traces.is_parsed:
        traces = copy.copy(traces)
        traces.traces, traces.meta_data, traces.symbol_table = {}, {}, TraceSymbolTable()
    traces.parse_traces()
    return traces


def _trace_argument_adapter(t: object, default_label: str) -> LabeledTrace:
    if isinstance(t, LabeledTrace):
        return t
    if isinstance(t, Trace):
        return LabeledTrace(default_label, t=t)
    if isinstance(t, TraceDir):
        return LabeledTrace(default_label, trace_dir=t)
    raise ValueError(f"expected a LabeledTrace, a Trace or a folder, found {type(t).__name__}")


def _different_labels(control: LabeledTrace, test: LabeledTrace) -> list[str]:
    """The labels; where they are equal, `test` gets another one, as in HTA."""
    if control.label != test.label:
        return [control.label, test.label]
    label = f"{test.label}_control_test"
    if test is not control:
        test.label = label
    return [control.label, label]


def _by_name(summary: pandas.DataFrame, name: str) -> pandas.DataFrame:
    return pandas.DataFrame(summary.groupby(name)[_NUMBERS].sum())


def _change(before: float, after: float) -> str:
    if before == after:
        return "unchanged"
    if not before or not after:
        return "deleted" if before else "added"
    return "increased" if after > before else "decreased"
