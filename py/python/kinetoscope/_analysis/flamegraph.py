"""The result of `Trace.flamegraph`: a table of frames, drawn, shown and written for other tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kinetoscope._analysis.result import AnalysisResult
from kinetoscope._base import text

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from kinetoscope._analysis.stack_methods import StackAnalyses
    from kinetoscope._notebook.widget import Timeline


class FlameGraph(AnalysisResult):
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
        """Builds the flame graph of a trace or a job."""
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
        from kinetoscope._notebook.widget import Timeline
        from kinetoscope.trace import Trace
        from kinetoscope.trace_set import TraceSet

        request = {key: value for key, value in self._request.items() if key != "rank"}
        if isinstance(self._source, TraceSet):
            parts = self._source.on_screen(self._request.get("rank"))
            return Timeline(parts, align="clocks", height=height, flame=request)
        if not isinstance(self._source, Trace):
            raise TypeError(f"expected a trace or a job, found {type(self._source).__name__}")
        return Timeline(self._source, height=height, flame=request)

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

    def _repr_html_(self) -> str:
        if self.reason is not None:
            return f"<p>{text.escaped(self.name)}: {text.escaped(self.reason)}</p>"
        return self.plot()._repr_html_()
