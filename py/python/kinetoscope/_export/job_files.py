"""Files with all ranks of a job, for other programs."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from kinetoscope import _native
from kinetoscope._export.analysis_files import AnalysisFiles


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
        align: Literal["clocks", "recorded"] = "clocks",
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
        from kinetoscope._io.atomic import write_atomic

        if align not in ("clocks", "recorded"):
            raise ValueError(f'expected align="clocks" or "recorded", found {align!r}')
        traces = self.chosen(rank)
        if not traces:
            raise ValueError("expected at least one trace, found none")
        is_aligned = align == "clocks"
        return write_atomic(path, lambda target, gzip: _native.write_chrome_of_job(traces, is_aligned, target, gzip))[0]
