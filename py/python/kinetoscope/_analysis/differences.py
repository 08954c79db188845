"""Comparison of two traces, or of two jobs."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, cast, overload

from kinetoscope import _native
from kinetoscope._analysis.flamegraph import FlameChanges
from kinetoscope._analysis.gate import Gate
from kinetoscope._analysis.request import written
from kinetoscope._analysis.result import AnalysisResult
from kinetoscope._analysis.session import Align, Part, TimelineSession
from kinetoscope._base import lazy
from kinetoscope._load.job import read_dir
from kinetoscope._load.read import read
from kinetoscope.memory import MemorySnapshot
from kinetoscope.trace import Trace
from kinetoscope.trace_set import TraceSet

Side: TypeAlias = Trace | TraceSet | MemorySnapshot | str | os.PathLike[str]

_Result: TypeAlias = tuple[Sequence[_native.Table], str | None, _native.Plot | None]
"""Tables, the reason why there are no rows, and how they are drawn."""


@overload
def diff(
    before: Trace | TraceSet | str | os.PathLike[str],
    after: Trace | TraceSet | str | os.PathLike[str],
    *,
    rank: int | Iterable[int] | None = None,
    **part: Any,
) -> Differences: ...
@overload
def diff(before: MemorySnapshot, after: MemorySnapshot) -> AnalysisResult: ...
def diff(
    before: Side, after: Side, *, rank: int | Iterable[int] | None = None, **part: Any
) -> Differences | AnalysisResult:
    """Compares two traces, or two jobs rank by rank: changes of the step and of its parts.

    A side is a Trace, a TraceSet, or a path or URL: a file is read as `read` does, a folder as
    `read_dir` does. Two memory snapshots are compared by origin; see below.

    The first row is the step: the host time of the mean iteration, or of the selected range if a
    trace has no iterations. The other rows are its parts and add up to it. If both traces recorded
    a device, they are the classes of `breakdown`, counted for the step that launched the work:

    * `launched_outside`: device work in the step that other steps launched
    * `ran_outside`: less the device work of the step that ran outside of its host time

    Otherwise they are the outermost operators and annotations of the thread with the iterations.

    * `change_ns = after_ns - before_ns`
    * `share`: `change_ns` over that of the step; null for a part that changed more than the step
    * `p_value`: Welch's t-test over the iterations of both traces; null with fewer than two
    * `is_significant`: whether `p_value < 0.05`
    * `note`: explains the row, or lists kinds of data that are not compared

    Only kinds of data that both traces recorded are compared. Further tables, per iteration:

    * `diff_recorded`: kinds of data, their records in each trace, and whether they are compared
    * `diff_device_work`: device work by class; `diff_kernels` and `diff_operators` add up to it
    * `diff_operators`, `diff_shapes`, `diff_kernels`, `diff_modules`: by name
    * `diff_structure`: calls and kernels that were added, removed or replaced below equal calls
    * `diff_iterations`: the iterations, in pairs
    * `diff_nodes`: operators of two Execution Traces whose number of calls differs, by name and
      shapes: `added`, `removed` or `changed`. The first table if the traces have no events

    `part` is a selection for both sides (see `Selection`); for jobs, `rank` restricts the
    comparison. Device work is never cut: it counts if its launch is selected.

    ::

        changes = ks.diff("before.json.gz", "after.json.gz")
        changes.tables["diff_kernels"].to_polars().filter(pl.col("is_significant"))
        changes.report("changes.html")

    Of two memory snapshots, the table `memory_growth` has the bytes in use by origin, `site`: the
    innermost frame of a stack outside of torch. The first row is all memory; the others add up to
    it, the largest `change_bytes` first. `memory_peak_growth` has the same at the peaks.

    Raises:
        TypeError: a side is of another type, or the sides are of two types.
        TraceError: a side is not a readable trace or lacks the selection, or the jobs have no rank
            in common.
        OSError: a file cannot be opened.
    """
    request = written(part)
    before, after = _opened("before", before), _opened("after", after)
    if isinstance(before, MemorySnapshot) and isinstance(after, MemorySnapshot):
        if part or rank is not None:
            raise TypeError(f"expected no selection of memory snapshots, found {', '.join(part) or 'rank'}")
        return AnalysisResult(*before._native.memory_growth(after._native))  # noqa: SLF001 - the core compares
    if isinstance(before, TraceSet) and isinstance(after, TraceSet):
        from kinetoscope._base.system import num_processors

        sides, threads = (before.chosen(rank), after.chosen(rank)), num_processors()
        differences = _native.diff_of_jobs(*sides, request, threads)
        parts = [*before.on_screen(rank, "before"), *after.on_screen(rank, "after")]
        sources = GateSides(sides, TraceSet, rank)
        flame = lambda options: _native.flame_changes_of_jobs(*sides, options, threads)  # noqa: E731 - fits one line
        return Differences(differences, parts, request, flame, sources)
    if not (isinstance(before, Trace) and isinstance(after, Trace)):
        sides = f"{_described(before)} and {_described(after)}"
        raise TypeError(f"expected two traces, two jobs or two memory snapshots, found {sides}")
    one, other = before._native, after._native  # noqa: SLF001 - the core compares traces
    return Differences(
        _native.diff(one, other, request),
        [Part(before, "before"), Part(after, "after")],
        request,
        lambda options: _native.flame_changes(one, other, options),
        GateSides(([(before.rank, one)], [(after.rank, other)]), Trace, None),
    )


def _opened(side: str, source: object) -> Trace | TraceSet | MemorySnapshot:
    if isinstance(source, Trace | TraceSet | MemorySnapshot):
        return source
    if not isinstance(source, str | os.PathLike):
        raise TypeError(
            f"expected a Trace, a TraceSet, a MemorySnapshot or a path as {side}, found {_described(source)}"
        )
    path = os.fspath(cast("bytes | os.PathLike[str] | os.PathLike[bytes]", source))
    if not isinstance(path, str):
        raise TypeError(f"expected a path of text as {side}, found bytes")
    is_folder = path.endswith("/") or Path(path).is_dir()
    found: object = read_dir(path) if is_folder else read(path)
    if not isinstance(found, Trace | TraceSet | MemorySnapshot):
        expected = "the path of a trace, a job or a memory snapshot"
        raise TypeError(f"expected {expected} as {side}, found {_described(found)}: {path}")
    return found


def _described(source: object) -> str:
    name = type(source).__name__
    return f"an {name}" if name[:1] in "aeiouAEIOU" else f"a {name}"


_Run: TypeAlias = Sequence[tuple[int | None, _native.Trace]]
"""Traces with their ranks."""


class GateSides(NamedTuple):
    """Both sides as a gate takes them."""

    runs: tuple[_Run, _Run]
    kind: type[Trace | TraceSet]
    """Type that further runs have, too."""
    rank: int | Iterable[int] | None


class Differences(AnalysisResult):
    """Result of `diff`: tables of changes, and both sides on one timeline."""

    def __init__(
        self, result: _Result, parts: list[Part], request: str, flames: Callable[[str], _Result], sides: GateSides
    ) -> None:
        super().__init__(*result)
        self._sides = sides
        self._parts = parts
        self._flames = flames
        self._selection: dict[str, Any] = json.loads(request)

    def gate(
        self,
        fail_over: str | float = "3%",
        metrics: str | Sequence[str] = "step",
        *,
        baselines: Sequence[Side] = (),
        candidates: Sequence[Side] = (),
        allow_unknown: bool = False,
    ) -> Gate:
        """Decides whether the change made a metric worse: by more than a threshold, and than noise.

        `fail_over` is a percentage such as `"3%"`, or a share such as 0.03. `baselines` are further
        runs of the side before, `candidates` further runs of the side after: traces, jobs or paths.
        They show how much runs differ. Iterations of one run do not show that.

        Larger is worse for all `metrics`:

        * `step`: host time of the iteration
        * `device`: duration of the device work that the iteration launched
        * `compute`, `exposed_communication`, `exposed_copy`, `exposed_other`, `idle`: parts of the
          step, as in `diff`
        * `memory`: most bytes that one device held in the iteration (`profile_memory`)
        * `phase:NAME`: host time of the iterations of a phase, such as `phase:decode`
        * `operator:NAME`, `module:NAME`: its own time, as in `diff`: without operators or modules
          inside it. Device time, or host time if no device work was recorded. Unknown if it has no
          time of its own: name those inside
        * `kernel:NAME`: its duration. In all three, `*` stands for any text, and takes each name
          with at least 1 % of the time of its kind

        `step`, `phase:NAME` and `memory` count all iterations. The other metrics are of the device:
        they leave out iterations that lost device work, and their `note` says how many. They are
        unknown if more than one iteration in ten lost some.

        Each side has runs, and each run iterations. `before_value` and `after_value` are means over
        the runs of the mean over their iterations.

        * `change_share = (after_value - before_value) / before_value`
        * `noise_share`: the largest change that chance makes, over `before_value`: the larger noise
        * Noise of iterations: `t * sqrt(Σ W / k)` over both sides of `k` runs. `W` is the mean over
          the runs of `s² / n * (1 + r) / (1 - r)`: `s²` is the variance of `n` iterations, and `r`
          the correlation of neighbours, at least 0. `t` is Student's quantile for 1/500, over all
          metrics together, with Welch's degrees of freedom
        * Noise of runs, if a side has several: `t * S * sqrt(Σ 1 / k)`. `S²` is the variance of the
          means of a side's runs, and `t` Student's quantile for 1/200
        * `p_value`: probability that chance makes an increase as large; the larger of both
        * `status`: `worse` if `change_share` exceeds both `threshold_share` and `noise_share`;
          `noisy` if it exceeds the threshold alone; `better`; `same`; or `unknown`
        * `is_failing`: true for `worse`. Null for `unknown`, unless `allow_unknown`

        A metric is unknown if a run lacks it, or if nothing tells the noise: one iteration per run
        needs several runs. The outcome is then `unknown` instead of `passed`.

        Further table: `gate_causes`, operators, kernels and modules that changed by more than both.
        Jobs are compared rank by rank; their tables begin with `rank` and `window`.

        ::

            changes = ks.diff("before_1.json.gz", "after_1.json.gz")
            gate = changes.gate("3%", baselines=["before_2.json.gz", "before_3.json.gz"])
            gate.passed, gate.failures

        Raises:
            TypeError: a further run is a job among traces, or another type.
            TraceError: `fail_over` or a metric is invalid, no run has the name of a metric, or a
                further run is not a readable trace.
            OSError: a file cannot be opened.
        """
        from kinetoscope._base.system import num_processors

        before, after = self._sides.runs
        runs = [before, *map(self._run, baselines)], [after, *map(self._run, candidates)]
        names = [metrics] if isinstance(metrics, str) else list(metrics)
        # NaN is no JSON
        threshold = fail_over if isinstance(fail_over, str) or math.isfinite(fail_over) else str(fail_over)
        request = {"fail_over": threshold, "metrics": names, "allow_unknown": allow_unknown}
        return Gate(*_native.gate(runs[0], runs[1], written(self._selection | request), num_processors()))

    def _run(self, source: Side) -> _Run:
        """Returns a further run of a side."""
        found = _opened("a further run", source)
        if isinstance(found, TraceSet) and self._sides.kind is TraceSet:
            return found.chosen(self._sides.rank)
        if isinstance(found, Trace) and self._sides.kind is Trace:
            return [(found.rank, found._native)]  # noqa: SLF001 - the core compares traces
        expected = "a job" if self._sides.kind is TraceSet else "a trace"
        raise TypeError(f"expected {expected} as a further run, found {_described(found)}")

    def flamegraph(
        self,
        by: str = "chain",
        weight: str = "auto",
        *,
        classes: bool = False,
        program_only: bool = False,
    ) -> FlameChanges:
        """Compares the flame graphs of both sides: red frames grew, blue frames shrank.

        `by`, `weight`, `classes` and `program_only` are those of `Trace.flamegraph`, and the
        selection is that of the comparison. Weights are those of an iteration, if both sides have
        iterations. A frame is as wide as `before_weight + after_weight`, so that added and removed
        frames are seen. `change_weight = after_weight - before_weight`; `before_id` and `after_id`
        are the calls of the most weight. Jobs are compared rank by rank.

        ::

            ks.diff("before.json.gz", "after.json.gz").flamegraph(classes=True)
        """
        options = {"by": by, "weight": weight, "classes": classes, "program_only": program_only}
        return FlameChanges(*self._flames(written(self._selection | options)))

    def timeline(self, *, align: Align = None, height: int = 720) -> lazy.Timeline:
        """Shows both sides on one timeline; `height` in pixels. Needs anywidget.

        `align` is as in `TraceSet.timeline`. By default, the first common iteration starts at the
        same time on both sides, or else the traces do.
        """
        from kinetoscope._notebook.widget import Timeline

        return Timeline(self._parts, align=align or _default_alignment(self._parts), height=height)

    def report(
        self, path: str | os.PathLike[str], *, title: str = "before and after", align: Align = None
    ) -> lazy.Path:
        """Writes one HTML file with the changes and both sides on one timeline; returns its path.

        `align` is as in `timeline`. If the file cannot be written, raises OSError and leaves `path`
        unchanged.
        """
        from kinetoscope._io.atomic import write_bytes
        from kinetoscope._report.comparison import comparison_page

        page = comparison_page(self._session(align), title, self._selection).encode("utf-8", "replace")
        return write_bytes(path, page)

    def render_static(self, height: int = 720, *, align: Align = None) -> lazy.Static:
        """Returns the report in a frame for a notebook cell, as `Trace.render_static`."""
        from kinetoscope._report.comparison import static_comparison

        return static_comparison(self._session(align), "before and after", height, self._selection)

    def digest(self, max_chars: int = 8_000, *, form: lazy.DigestForm = "markdown") -> str:
        """Summarizes the changes as short text, as `Trace.digest` does.

        In commands, `$BEFORE` and `$AFTER` are the paths of both sides.
        """
        from kinetoscope._analysis.digest import digest_of

        return digest_of(self._parts, max_chars, form, comparison=self._selection)

    def _session(self, align: Align) -> TimelineSession:
        return TimelineSession(self._parts, align or _default_alignment(self._parts))


def _default_alignment(parts: list[Part]) -> Align:
    numbers = ({number for (number,) in part.trace.iterations.select("iteration").rows()} for part in parts)
    common = set.intersection(*numbers)
    return {"iteration": min(common)} if common else "start"
