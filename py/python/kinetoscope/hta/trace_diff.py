"""Comparison of two traces: counts and durations of operators and kernels."""

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
    """Events that a comparison selects."""

    CPU = 1
    """Host events."""
    GPU = 2
    """Events on streams."""
    ALL = 3
    """Host and device events."""


class LabeledTrace:
    """The traces of a job, with a label that names their columns in a comparison.

    The frames contain all events, with times on the clocks of their files.

    Reads the traces of `t`, or the traces in the folder `trace_dir`. If `t` has been read already,
    it stays unchanged and its frames are built again. Raises ValueError if both are missing, or if
    `trace_dir` is no folder.
    """

    def __init__(self, label: str | None = None, t: Trace | None = None, trace_dir: str | None = None) -> None:
        if t is None and (trace_dir is None or not Path(trace_dir).expanduser().is_dir()):
            raise ValueError(f"expected a Trace or an existing folder of traces, found {trace_dir}")
        self.label = label or f"t{next(_LABELS)}"
        """Prefix of the columns in a comparison."""
        self.t = _whole(Trace(trace_dir=str(trace_dir)) if t is None else t)
        """The traces, with frames of all events."""
        self.s_map = self.t.symbol_table.get_sym_index_series()
        """Ids of names and categories, by text."""
        self.s_tab = self.t.symbol_table.get_sym_table_series()
        """Names and categories, by id."""
        found = [(name, number, _STEP.match(name)) for name, number in self.t.symbol_table.get_sym_index().items()]
        steps = [(name, number, int(step[1])) for name, number, step in found if step]
        self.iteration_df = pandas.DataFrame(steps, columns=["symbol", "id", "iteration"])
        """The steps: `symbol`, `id` of the symbol, and step number `iteration`."""

    def ranks(self) -> list[int]:
        """Returns the ranks, ascending."""
        return self.t.get_ranks()

    def iterations(self) -> list[int]:
        """Returns the step numbers of all ranks, ascending."""
        return sorted(self.iteration_df["iteration"].tolist())

    def extract_ops(
        self, rank: _Numbers = None, iteration: _Numbers = None, device_type: DeviceType = DeviceType.ALL
    ) -> pandas.DataFrame:
        """Selects rows by rank and step, by default the first rank and the first step.

        Rows of several ranks have the columns `rank` and `idx` (the row's label in its frame).
        Raises ValueError for an unknown rank or step, and if there are no ranks or no steps.
        """
        ranks = self._selected(rank, self.ranks(), "rank")
        iterations = self._selected(iteration, self.iterations(), "iteration")
        frames = [self.t.get_trace(number) for number in ranks]
        several = len(ranks) > 1
        rows = pandas.concat(frames, keys=ranks, names=["rank", "idx"]).reset_index() if several else frames[0]
        rows = rows.loc[rows["iteration"].isin(iterations)]
        if device_type is DeviceType.ALL:
            return rows
        return rows.loc[(rows["stream"] == _HOST) == (device_type is DeviceType.CPU)]

    def get_ops_summary(self, ops: pandas.DataFrame) -> pandas.DataFrame:
        """Counts the rows of each category and name, and sums their durations in µs."""
        found = ops.groupby(["cat", "name"])["dur"].agg(counts="count", total_duration="sum").reset_index()
        found = found.rename(columns={"cat": "cat_id", "name": "name_id"})
        for column in ("cat", "name"):
            found[column] = self.s_tab.reindex(found[f"{column}_id"]).to_numpy()
        found["short_name"] = [shorten_name(name) for name in found["name"]]
        return found.loc[:, _SUMMARY]

    def _selected(self, requested: object, known: list[int], kind: str) -> list[int]:
        """Returns the requested numbers, or the first known number by default."""
        if not known:
            raise ValueError(f"expected at least one {kind} in {self.label}, found none")
        selected = known[:1] if requested is None else [requested] if isinstance(requested, int) else requested
        if not isinstance(selected, list):
            raise ValueError(f"expected an integer or a list for {kind}, found {requested!r}")  # noqa: TRY004 - as HTA
        if unknown := [number for number in selected if number not in known]:
            raise ValueError(f"expected one of the {kind}s {known}, found {unknown[0]}")
        return selected


_Traces: TypeAlias = LabeledTrace | Trace | TraceDir


class TraceDiff:
    """Differences between two traces, `control` and `test`.

    Each is a LabeledTrace, a Trace or a folder.
    """

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
        """Returns a row for each name, with counts and durations (µs) in both traces.

        Compares the first rank and the first step by default. The columns are:

        * `<label>_counts` and `<label>_total_duration` of each trace
        * `diff_counts` and `diff_duration`, test minus control
        * `counts_change_categories`: `+`, `-` or `=`

        If both labels are equal, the label of `test` changes.

        Raises ValueError for an unknown rank or step, and for an unsupported type of trace.
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
        """Groups names by the change of their counts.

        The keys are `added`, `deleted`, `increased`, `decreased` and `unchanged`.

        Takes the arguments of `compare_traces`, and raises the same errors.
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
        """Draws the counts of a comparison.

        Writes the picture to `export_image_path` if that is given.
        """
        drawing.draw_counts_diff(df, show_image, export_image_path)

    @classmethod
    def visualize_duration_diff(
        cls, df: pandas.DataFrame, show_image: bool = True, export_image_path: str | None = None
    ) -> None:
        """Draws the durations of a comparison.

        Writes the picture to `export_image_path` if that is given.
        """
        drawing.draw_duration_diff(df, show_image, export_image_path)


def _whole(traces: Trace) -> Trace:
    """Returns the traces with frames of all events: builds the frames now, or again."""
    if not traces.trace_files:  # a caller has set the frames directly
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
    """Returns two different labels; renames `test` if both are equal, as in HTA."""
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
