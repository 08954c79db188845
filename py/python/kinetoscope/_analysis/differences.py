"""What differs between two traces, or two jobs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

from kinetoscope import _native
from kinetoscope._analysis.request import written
from kinetoscope._analysis.result import AnalysisResult
from kinetoscope._analysis.session import Align, Part, Screen
from kinetoscope._base import lazy
from kinetoscope.trace import Trace
from kinetoscope.trace_set import TraceSet


def diff(
    before: Trace | TraceSet, after: Trace | TraceSet, *, rank: int | Iterable[int] | None = None, **part: Any
) -> Differences:
    """What got slower or faster from one trace to another, where, and by how much; of two jobs, rank by rank.

    The first row is the step (an iteration on average, or all that is looked at where there are none), the others are
    the parts that it is the sum of: how a device spent it, as `breakdown` has it, or, where there is no device, the
    outermost operators and annotations of the thread of the iterations. `change_ns = after_ns - before_ns`, `share` is
    that over the step's. `p_value` is that of Welch's test: how often chance makes as large a difference, given how
    much the iterations of each trace differ among themselves; below 0.05 it `is_significant`. Null with fewer than two
    iterations.

    Beside it `diff_operators`, `diff_shapes`, `diff_kernels` and `diff_modules`, by name, for an iteration; and
    `diff_structure`, calls and kernels that were added, removed or replaced under the same calls; and
    `diff_iterations`. `part` is looked at in both, as analyses take it; of jobs perhaps one or several `rank`s alone.
    TypeError for a trace and a job; TraceError for a part that there is not, or jobs without a common rank.
    """
    request = written(part)
    if isinstance(before, TraceSet) and isinstance(after, TraceSet):
        from kinetoscope._base.processors import num_processors

        found = _native.diff_of_jobs(before.chosen(rank), after.chosen(rank), request, num_processors())
        return Differences(found, [*before.on_screen(rank, "before"), *after.on_screen(rank, "after")])
    if isinstance(before, TraceSet) or isinstance(after, TraceSet):
        raise TypeError("expected two traces or two jobs, found one of each")
    found = _native.diff(before._native, after._native, request)  # noqa: SLF001 - the core compares them
    return Differences(found, [Part(before, "before"), Part(after, "after")])


class Differences(AnalysisResult):
    """What differs, as tables; and both sides on one timeline."""

    def __init__(
        self, found: tuple[Sequence[_native.Table], str | None, _native.Plot | None], parts: list[Part]
    ) -> None:
        super().__init__(*found)
        self._parts = parts

    def timeline(self, *, align: Align = None, height: int = 720) -> lazy.Timeline:
        """Both sides on one timeline, one below the other; `height` in pixels. Needs anywidget.

        `align` says how their times are laid over each other, as in `TraceSet.timeline`. If it says nothing, the first
        iteration that all have is at one place, or else their starts are.
        """
        from kinetoscope._notebook.widget import Timeline

        return Timeline(self._parts, align=align or _first_of_all(self._parts), height=height)

    def report(
        self, path: str | os.PathLike[str], *, title: str = "before and after", align: Align = None
    ) -> lazy.Path:
        """Writes one HTML file with what changed, and both sides on one timeline; returns its path.

        As `Trace.report`; `align` as in `timeline`. OSError when it cannot be written.
        """
        from kinetoscope._io.atomic import write_bytes
        from kinetoscope._report.comparison import timeline_page

        page = timeline_page(self._screen(align), title, self.tables).encode()
        return write_bytes(path, page)

    def render_static(self, height: int = 720, *, align: Align = None) -> lazy.Static:
        """The report in a frame, for the output of a notebook's cell: as `Trace.render_static`."""
        from kinetoscope._report.comparison import static_timeline

        return static_timeline(self._screen(align), "before and after", height, self.tables)

    def _screen(self, align: Align) -> Screen:
        return Screen(self._parts, align or _first_of_all(self._parts))


def _first_of_all(parts: list[Part]) -> Align:
    numbers = ({number for (number,) in part.trace.iterations.select("iteration").rows()} for part in parts)
    common = set.intersection(*numbers)
    return {"iteration": min(common)} if common else "start"
