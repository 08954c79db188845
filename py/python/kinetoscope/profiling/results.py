"""Results of a recording: files, traces and energy."""

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
from kinetoscope._io.inputs import identity
from kinetoscope._io.paths import is_url
from kinetoscope.profiling import pytorch
from kinetoscope.profiling.folder import Recording
from kinetoscope.profiling.gather import files_of, gather
from kinetoscope.profiling.metrics import Energy
from kinetoscope.profiling.parity import TorchMethods
from kinetoscope.profiling.writer import Writer
from kinetoscope.trace import Trace


class Results(TorchMethods):
    """Finished windows of a `profile`. Properties wait until all windows are written."""

    def __init__(self, folder: Path) -> None:
        self.dir = folder
        self._writer = Writer()
        self._written: list[Recording] = []
        self._identities: dict[Path, object] = {}
        self._traces: dict[Path, Trace] = {}
        self._metrics: Path | None = None
        self._energy: list[Energy] = []
        self._has_failed = False

    @property
    def recordings(self) -> list[Recording]:
        """Files of each window, in order."""
        self._writer.wait()
        return list(self._written)

    @property
    def files(self) -> list[Path]:
        """Paths of all traces, in order of their windows."""
        return [path for recording in self.recordings for path in (recording.kineto, recording.execution) if path]

    @property
    def _published(self) -> list[Path]:
        """Paths of all files in the folder, including kernel sources and metrics."""
        sources = [recording.sources for recording in self.recordings]
        return [*self.files, *(path for path in [*sources, self._metrics] if path)]

    @property
    def energy(self) -> list[Energy]:
        """Energy of each iteration, recorded or not, after the loop.

        Requires `metrics` and a GPU.
        """
        return self._energy

    @property
    def trace(self) -> Trace:
        """Trace of the last window, read at first use.

        Raises RuntimeError without a window, or if a later recording replaced its files.
        """
        return self._read(self._last("read"))

    @property
    def traces(self) -> list[Trace]:
        """Traces of all windows, in order."""
        return [self._read(recording) for recording in self.recordings]

    @property
    def diagnosis(self) -> Diagnosis:
        """Contents and gaps of the last window, and advice, as in `kinetoscope doctor`."""
        return diagnosis(self.trace)

    def export_chrome_trace(self, path: str, **options: Any) -> None:
        """Writes the Kineto trace of the last window to `path`; gzip if `path` ends in `.gz`.

        Copies the recorded file, because torch can save a window only once. With options, such as
        `use_python_export`, torch writes the file. Raises RuntimeError without a window, or if a
        later recording replaced its files.
        """
        if any(options.values()):
            self._profiler.export_chrome_trace(path, **options)
        else:
            recording = self._last("export")
            self._expect_own(recording, "export")
            _copy_as(recording.kineto, Path(path))

    def gather(
        self, to: str | os.PathLike[str] | None = None, *, storage_options: Mapping[str, Any] | None = None
    ) -> list[Path] | list[str]:
        """Gathers the files of all ranks in a folder of rank 0, or at a URL.

        Every rank must call this method, even a rank that was not recorded. `to` is a folder of
        rank 0 (default: `dir`) or a URL, such as `s3://bucket/run`. Files reach rank 0 through
        torch.distributed. Each rank uploads to a URL itself, through fsspec with `storage_options`.

        Returns all paths at rank 0 and an empty list at other ranks; for a URL, the URLs of the
        files of this rank. A second call resumes an interrupted transfer.

        Raises:
            OSError: a file cannot be read or written.
            RuntimeError: the job has other ranks, but torch.distributed is not initialised.
        """
        with contextlib.nullcontext() if is_url(to) else pytorch.peers() as peers:
            return gather(files_of(self.recordings, self._metrics), to, self.dir, peers, storage_options)

    def _last(self, action: str) -> Recording:
        if not self.recordings:
            raise RuntimeError(f"ks.profile: expected a recorded window to {action}, found none")
        return self._written[-1]

    def _remember(self, recording: Recording) -> None:
        """Adds a window, with the identity of its files."""
        paths = [path for path in (recording.kineto, recording.execution) if path]
        self._identities |= {path: _identity(path) for path in paths}
        self._written.append(recording)

    def _expect_own(self, recording: Recording, action: str) -> None:
        """Raises RuntimeError if a file is gone, or another one with the same name."""
        for path in (recording.kineto, recording.execution):
            if path and _identity(path) != self._identities[path]:
                raise RuntimeError(
                    f"ks.profile: expected the recorded {path} to {action}, found that it was removed or replaced, "
                    "as by a later recording: pass a different dir= to each"
                )

    def _read(self, recording: Recording) -> Trace:
        from kinetoscope._load.read import read

        if recording.kineto not in self._traces:
            self._expect_own(recording, "read")
            self._traces[recording.kineto] = read(recording.kineto, recording.execution)
        return self._traces[recording.kineto]

    def _warn_problems(self) -> None:
        """Warns, on the thread of the loop, about problems of the writer's thread."""
        for problem in self._writer.take():
            self._has_failed |= problem.error is not None
            warn(f"ks.profile: {problem}")


def _identity(path: Path) -> object:
    """Returns the identity of a file; None without a file."""
    try:
        return identity(path)
    except OSError:
        return None


def _copy_as(source: Path, target: Path) -> None:
    if (source.suffix == ".gz") == (target.suffix == ".gz"):
        shutil.copyfile(source, target)
        return

    def opened(path: Path, mode: str) -> Any:
        return gzip.open(path, mode) if path.suffix == ".gz" else path.open(mode)

    with opened(source, "rb") as content, opened(target, "wb") as out:
        shutil.copyfileobj(content, out)
