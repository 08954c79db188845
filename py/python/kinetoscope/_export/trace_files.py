"""Files with a trace, for other programs."""

from __future__ import annotations

import os

from kinetoscope._base import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kinetoscope import _native


class TraceFiles:
    """The methods of a trace that write it in a format of PyTorch or Perfetto."""

    _native: _native.Trace

    def to_chrome(self, path: str | os.PathLike[str]) -> lazy.Path:
        """Writes the Kineto trace as Chrome JSON for other viewers; gzip if `path` ends in `.gz`.

        Reading it back gives equal tables with equal ids. Nodes are not included. Raises OSError if
        the file cannot be written.
        """
        from kinetoscope._io.atomic import write_atomic

        return write_atomic(path, self._native.write_chrome)[0]

    def to_perfetto(self, path: str | os.PathLike[str]) -> lazy.Path:
        """Writes the Kineto trace as a Perfetto trace (`.pftrace`); gzip if `path` ends in `.gz`.

        Perfetto shows streams as queues of the GPU, and slices that overlap on several rows.
        Reading it back gives the same events, arguments, links, counters and header; ids are other
        ones. Flows from launches to device work become references. Other flows are kept if they
        start and end inside an event. Nodes are not included. Raises OSError if the file cannot be
        written.

        ::

            trace.to_perfetto("trace.pftrace")
        """
        from kinetoscope._io.atomic import write_atomic

        return write_atomic(path, self._native.write_perfetto)[0]

    def to_execution_trace(self, path: str | os.PathLike[str]) -> lazy.Path:
        """Writes the Execution Trace as JSON, with its original keys, types and digits.

        Compresses with gzip if `path` ends in `.gz`. Raises TraceError without an Execution Trace,
        and OSError if the file cannot be written.
        """
        from kinetoscope._io.atomic import write_atomic

        return write_atomic(path, self._native.write_execution)[0]
