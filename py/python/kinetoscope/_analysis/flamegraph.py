"""Flame graphs and their comparison: tables of frames, drawn, shown and written for other tools."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NoReturn

from kinetoscope import _native
from kinetoscope._analysis.result import AnalysisResult
from kinetoscope._base import text

if TYPE_CHECKING:
    from pathlib import Path

    from kinetoscope._analysis.stack_methods import StackAnalyses
    from kinetoscope._notebook.widget import Timeline


class _DrawnFrames(AnalysisResult):
    """Frames that a notebook shows as a picture."""

    def _repr_html_(self) -> str:
        if self.reason is not None:
            return f"<p>{text.escaped(self.name)}: {text.escaped(self.reason)}</p>"
        return self.plot()._repr_html_()


class FlameGraph(_DrawnFrames):
    """A flame graph: frames inside of frames, each with the weight of all calls inside it.

    A notebook shows it as a picture.

    ::

        graph = trace.flamegraph(by="stack", weight="host_ns")
        graph.timeline()                                       # interactive, beside the timeline
        graph.to_speedscope("stacks.speedscope.json")
    """

    _source: StackAnalyses
    _request: dict[str, Any]

    @classmethod
    def of(cls, source: StackAnalyses, request: dict[str, Any]) -> FlameGraph:
        """Builds the flame graph of a trace or a job. Raises TraceError for callers of no frame."""
        if request.get("direction") == "callers" and request.get("focus") is None:
            raise _native.TraceError(
                'expected focus with direction="callers", found none: name the frames whose callers are shown'
            )
        result = source.analyze("flamegraph", **request)
        tables = [table._native for table in result.tables.values()]  # noqa: SLF001 - the same tables
        graph = cls(tables, result.reason, result._plot)  # noqa: SLF001 - the same plot
        graph._source, graph._request = source, request
        return graph

    def timeline(self, *, height: int = 480) -> Timeline:
        """Shows the flame graph in the timeline's place. Needs anywidget.

        A click chooses a frame, a double click zooms. Frames lead to their largest call in the
        timeline, and the key `e` leads back. `height` is in pixels. A job shows its first rank;
        the reader selects others.
        """
        from kinetoscope._notebook.widget import FlameStart, Timeline
        from kinetoscope.trace import Trace
        from kinetoscope.trace_set import TraceSet

        request = {key: value for key, value in self._request.items() if key != "rank"}
        flame = FlameStart(request, self.plot().svg, repr(self))
        if isinstance(self._source, TraceSet):
            parts = self._source.on_screen(self._request.get("rank"))
            return Timeline(parts, align="clocks", height=height, flame=flame)
        if not isinstance(self._source, Trace):
            raise TypeError(f"expected a trace or a job, found {type(self._source).__name__}")
        return Timeline(self._source, height=height, flame=flame)

    def to_folded(self, path: str | os.PathLike[str]) -> Path:
        """Writes folded stacks: a line for each frame with a weight of its own.

        The line is `outermost;…;innermost weight`, as flamegraph.pl, inferno and speedscope read
        it. Semicolons and line ends in names become colons and spaces. A path that ends in `.gz` is
        compressed. Raises OSError if the file cannot be written.
        """
        from kinetoscope._export.flame import write_folded

        return write_folded(self, path)

    def to_speedscope(self, path: str | os.PathLike[str]) -> Path:
        """Writes a file for speedscope: a profile, or one per rank or phase.

        A path that ends in `.gz` is compressed. Raises OSError if the file cannot be written.
        """
        from kinetoscope._export.flame import write_speedscope

        return write_speedscope(self, path)


class FlameChanges(_DrawnFrames):
    """Flame graphs of two sides in one: red frames grew, blue frames shrank.

    A notebook shows it as a picture.
    """

    def to_folded(self, path: str | os.PathLike[str]) -> Path:
        """Writes folded stacks with the weights of both sides, as difffolded.pl does.

        The line is `outermost;…;innermost before after`, for each frame with a weight of its own on
        either side, as flamegraph.pl and inferno read it. Otherwise as `FlameGraph.to_folded`.
        """
        from kinetoscope._export.flame import write_folded_changes

        return write_folded_changes(self, path)

    def to_speedscope(self, path: str | os.PathLike[str]) -> NoReturn:
        """Raises TypeError: a frame in speedscope has one weight, which cannot be a change."""
        raise TypeError(
            f"expected one side for speedscope, found a comparison, which its format cannot hold: {os.fspath(path)}; "
            "write the flamegraph() of each side"
        )
