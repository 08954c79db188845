"""The traces of a job, as HTA's analyses take them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kinetoscope.hta.common.trace import DEFAULT_TRACE_DIR, Trace


class TraceAnalysis:
    """Reads the traces of a job into frames."""

    def __init__(
        self,
        trace_files: Mapping[int, str] | Sequence[str] | None = None,
        trace_dir: str = DEFAULT_TRACE_DIR,
        include_last_profiler_step: bool | None = False,  # noqa: FBT001, FBT002 - HTA's signature
    ) -> None:
        self.t = Trace(trace_files, trace_dir)
        """The traces and their frames."""
        self.t.load_traces(include_last_profiler_step)
