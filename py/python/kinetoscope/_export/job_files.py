"""Files with all ranks of a job, for other programs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal, TypeAlias

from kinetoscope import _native
from kinetoscope._export.analysis_files import AnalysisFiles

Align: TypeAlias = Literal["clocks", "recorded"]
_WriteJob: TypeAlias = Callable[[list[tuple[int | None, _native.Trace]], bool, str, bool], None]


class JobFiles(AnalysisFiles):
    """The methods of a job that write one file of several ranks."""

    def chosen(self, rank: int | Iterable[int] | None) -> list[tuple[int | None, _native.Trace]]:
        """Reads the traces of these ranks, or all; returns each with its rank."""
        raise NotImplementedError

    def to_chrome(
        self,
        path: str | os.PathLike[str],
        *,
        rank: int | Iterable[int] | None = None,
        align: Align = "clocks",
    ) -> Path:
        """Writes all ranks to one Chrome trace, for Perfetto and other viewers; gzip for `.gz`.

        `rank` selects one rank or several. Processes are named by rank, as `rank 3: 4242`, and
        numbers of flows are told apart. `ks.read` reads the file as the job. Times are:

        * `"clocks"`: on the clock of the first trace, as far as communications tell
        * `"recorded"`: as in the files

        The header is that of the first trace, without its process groups. Nodes are not included.
        Raises ValueError for an unknown alignment, a missing rank or a job without traces, and
        OSError if the file cannot be written.

        ::

            job.to_chrome("job.json.gz")
        """
        return self._write(_native.write_chrome_of_job, path, rank, align)

    def to_perfetto(
        self,
        path: str | os.PathLike[str],
        *,
        rank: int | Iterable[int] | None = None,
        align: Align = "clocks",
    ) -> Path:
        """Writes all ranks to one Perfetto trace, with overlaps as tracks; gzip for `.gz`.

        Ranks, names of processes, times and errors are those of `to_chrome`. Perfetto shows all
        slices: those of a thread that overlap have tracks of their own. `ks.read` reads the file
        as the job.

        ::

            job.to_perfetto("job.pftrace")
        """
        return self._write(_native.write_perfetto_of_job, path, rank, align)

    def _write(
        self, write: _WriteJob, path: str | os.PathLike[str], rank: int | Iterable[int] | None, align: str
    ) -> Path:
        from kinetoscope._io.atomic import write_atomic

        if align not in ("clocks", "recorded"):
            raise ValueError(f'expected align="clocks" or "recorded", found {align!r}')
        traces = self.chosen(rank)
        if not traces:
            raise ValueError("expected at least one trace, found none")
        is_aligned = align == "clocks"
        return write_atomic(path, lambda target, gzip: write(traces, is_aligned, target, gzip))[0]
