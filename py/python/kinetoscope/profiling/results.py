"""What a recording has left: files and traces."""

from __future__ import annotations

import contextlib
import gzip
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kinetoscope._analysis.doctor import Diagnosis, diagnosis
from kinetoscope._base.warnings import warn
from kinetoscope._io.paths import is_url
from kinetoscope.profiling import pytorch
from kinetoscope.profiling.folder import Recording
from kinetoscope.profiling.gather import gather, parts
from kinetoscope.profiling.metrics import Energy
from kinetoscope.profiling.parity import TorchMethods
from kinetoscope.profiling.writer import Writer
from kinetoscope.trace import Trace


class Results(TorchMethods):
    """The part of `profile` that is about finished windows. Whoever asks waits until they are written."""

    def __init__(self, folder: Path) -> None:
        self.dir = folder
        self._writer = Writer()
        self._written: list[Recording] = []
        self._traces: dict[Path, Trace] = {}
        self._metrics: Path | None = None
        self._energy: list[Energy] = []
        self._has_failed = False

    @property
    def recordings(self) -> list[Recording]:
        """The files of each window, in order."""
        self._writer.wait()
        return list(self._written)

    @property
    def files(self) -> list[Path]:
        """The files written so far, in the order of their windows."""
        return [path for recording in self.recordings for path in (recording.kineto, recording.execution) if path]

    @property
    def _published(self) -> list[Path]:
        """All that it left in its folder."""
        sources = [recording.sources for recording in self.recordings]
        return [*self.files, *(path for path in [*sources, self._metrics] if path)]

    @property
    def energy(self) -> list[Energy]:
        """How much energy each iteration took, recorded or not, once the loop has ended. Needs `metrics`, and a GPU."""
        return self._energy

    @property
    def trace(self) -> Trace:
        """The last window, both traces linked. Read at first use. RuntimeError when there is none."""
        return self._read(self._last("read"))

    @property
    def traces(self) -> list[Trace]:
        """All windows, in order. Each is read at first use."""
        return [self._read(recording) for recording in self.recordings]

    @property
    def diagnosis(self) -> Diagnosis:
        """What is in the last window, what is missing, and what to record next time: as `kinetoscope doctor`."""
        return diagnosis(self.trace)

    def export_chrome_trace(self, path: str, **options: Any) -> None:
        """Writes the Kineto trace of the last window to `path`, compressed when that ends in `.gz`.

        Here because torch can save a window only once, and that has happened by the time anyone can ask; with options
        (`use_python_export` …) torch writes it another way, and is left to do so.
        """
        if any(options.values()):
            self._profiler.export_chrome_trace(path, **options)
        else:
            _copy_as(self._last("export").kineto, Path(path))

    def gather(
        self, to: str | os.PathLike[str] | None = None, *, storage_options: Mapping[str, Any] | None = None
    ) -> list[Path] | list[str]:
        """Brings the files of all ranks together: into `dir` of rank 0, or another folder of it, or at an address.

        Each rank calls it, also those that were not recorded. Files go to rank 0 through torch.distributed, and to an
        address (`s3://bucket/run`, through fsspec with these `storage_options`) from each rank. Gives the files that
        rank 0 has then, and nothing on other ranks; or the addresses of a rank's own.

        Called again after it was cut off, it goes on from there: what has arrived is not sent once more. OSError for
        what cannot be written, RuntimeError where there are other ranks and no torch.distributed.
        """
        with contextlib.nullcontext() if is_url(to) else pytorch.peers() as peers:
            return gather(parts(self.recordings, self._metrics), to, self.dir, peers, storage_options)

    def _last(self, wanted: str) -> Recording:
        if not self.recordings:
            raise RuntimeError(f"ks.profile: no window has been recorded yet, so there is no trace to {wanted}")
        return self._written[-1]

    def _read(self, recording: Recording) -> Trace:
        from kinetoscope._load.read import read

        if recording.kineto not in self._traces:
            self._traces[recording.kineto] = read(recording.kineto, recording.execution)
        return self._traces[recording.kineto]

    def _tell(self) -> None:
        """What went wrong on the writer's thread, as warnings where the loop is."""
        for trouble in self._writer.take():
            self._has_failed |= trouble.error is not None
            warn(f"ks.profile: {trouble}")


def _copy_as(source: Path, target: Path) -> None:
    if (source.suffix == ".gz") == (target.suffix == ".gz"):
        shutil.copyfile(source, target)
        return

    def opened(path: Path, mode: str) -> Any:
        return gzip.open(path, mode) if path.suffix == ".gz" else path.open(mode)

    with opened(source, "rb") as content, opened(target, "wb") as out:
        shutil.copyfileobj(content, out)
