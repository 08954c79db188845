"""Traces that captured the graphs of another trace."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

from kinetoscope import _native
from kinetoscope.trace import Trace

Capture: TypeAlias = Trace | str | os.PathLike[str] | Sequence[Trace | str | os.PathLike[str]] | None
"""The trace of a capture, its path, a folder of such traces, or several of these."""


class Captures:
    """Traces of captures, read at their first use. Pickles if all are paths."""

    def __init__(self, capture: Capture) -> None:
        several = [] if capture is None else [capture] if isinstance(capture, (Trace, str, os.PathLike)) else capture
        self.sources: list[Any] = list(several)
        """As given."""
        self._natives: list[_native.Trace] | None = None
        for source in self.sources:
            if not isinstance(source, (Trace, str, os.PathLike)):
                raise TypeError(f"expected a Trace or a path as capture, found {type(source).__name__}")

    def added_to(self, native: _native.Trace, *, max_threads: int) -> _native.Trace:
        """Returns the trace with what its captures know; itself without any."""
        if not self.sources:
            return native
        if self._natives is None:
            self._natives = [trace._native for source in self.sources for trace in _traces(source)]  # noqa: SLF001 - the core links them
        return native.with_captures(self._natives, max_threads=max_threads)


def _traces(source: Trace | str | os.PathLike[str]) -> list[Trace]:
    """Returns the traces of a source; those of a folder in the order of its job."""
    if isinstance(source, Trace):
        return [source]
    if Path(source).is_dir():
        from kinetoscope._load.job import read_dir

        return list(read_dir(source, progress=False))
    from kinetoscope._load.read import read

    found = read(source)
    if isinstance(found, Trace):
        return [found]
    raise _native.UnsupportedTraceError(f"expected the trace of a capture, found another file: {source}")
