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
from kinetoscope._base import text
from kinetoscope._base.warnings import warn
from kinetoscope._io.inputs import identity
from kinetoscope._io.paths import is_url
from kinetoscope.profiling import pytorch
from kinetoscope.profiling.check import flaws
from kinetoscope.profiling.folder import Finished, Recording, RecordingFolder
from kinetoscope.profiling.gather import files_of, gather
from kinetoscope.profiling.metrics import Energy
from kinetoscope.profiling.parity import TorchMethods
from kinetoscope.profiling.writer import Problem, Writer
from kinetoscope.trace import Trace

_DEFAULT_STREAM = 7
"""Default of torch's `export_chrome_trace`."""


class Results(TorchMethods):
    """Finished windows of a `profile`. Properties wait until all windows are written."""

    _is_recorded: Any

    def __init__(self, folder: Path) -> None:
        self.dir = folder
        self._writer = Writer()
        self._written: list[Recording] = []
        self._identities: dict[Path, object] = {}
        self._traces: dict[Path, Trace] = {}
        self._metrics: Path | None = None
        self._energy: list[Energy] = []
        self._has_failed = False
        self._check = True

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

    def _repr_html_(self) -> str:
        """The state of the recording and the summary of the last window, without waiting for it."""
        state = f"<p>{text.escaped(repr(self))}</p>"
        if not self._written:
            return state
        try:
            return f"{state}{self._read(self._written[-1])._repr_html_()}"
        except (OSError, RuntimeError, ValueError) as error:
            return f"{state}<p>{text.escaped(text.printable(str(error)))}</p>"

    @property
    def diagnosis(self) -> Diagnosis:
        """Contents and gaps of the last window, and advice, as in `kinetoscope doctor`."""
        return diagnosis(self.trace)

    def export_chrome_trace(
        self,
        path: str,
        use_python_export: bool = False,  # noqa: FBT001, FBT002 - torch's
        cuda_graph_annotations: Mapping[int, Any] | None = None,
        graph_lanes: str = "none",
        default_stream: int = _DEFAULT_STREAM,
    ) -> None:
        """Writes the Kineto trace of the last window to `path`; gzip if `path` ends in `.gz`.

        Copies the recorded file, because torch can save a window only once. Torch writes the file
        if one of its other options differs from the default, or if the window was recorded with
        `start_trace`. Raises RuntimeError without a window, or if a later recording replaced its
        files.
        """
        given = {
            "use_python_export": use_python_export,
            "cuda_graph_annotations": cuda_graph_annotations,
            "graph_lanes": None if graph_lanes == "none" else graph_lanes,
            "default_stream": None if default_stream == _DEFAULT_STREAM else default_stream,
        }
        options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        if any(options.values()) or (not self.recordings and self._profiler.profiler is not None):
            write = self._profiler.export_chrome_trace
            write(path, **pytorch.known_options(write, options))
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
            RuntimeError: the job has other ranks, but torch.distributed is not initialised; or a
                later recording replaced files of this one. The files of other windows are gathered.
        """
        own = [recording for recording in self.recordings if self._is_own(recording)]
        with contextlib.nullcontext() if is_url(to) else pytorch.peers() as peers:
            gathered = gather(files_of(own, self._metrics), to, self.dir, peers, storage_options)
        for recording in self.recordings:  # raised only now, because other ranks wait for this one
            self._expect_own(recording, "gather")
        return gathered

    def _last(self, action: str) -> Recording:
        if not self.recordings:
            reason = f": {self.shortfall}" if self.shortfall else ""
            raise RuntimeError(f"ks.profile: expected a recorded window to {action}, found none{reason}")
        return self._written[-1]

    @property
    def shortfall(self) -> str:
        """Steps that the loop lacked for a first recorded iteration, in words; empty if none."""
        num_steps, num_before = self._profiler.step_num, self._plan.num_before
        if not self._is_recorded or not num_before or num_steps > num_before:
            return ""
        return f"the first recorded iteration needs {num_before + 1:,} calls of step(), found {num_steps:,}"

    def _remember(self, recording: Recording) -> None:
        """Adds a window, with the identity of its files."""
        paths = [path for path in (recording.kineto, recording.execution) if path]
        self._identities |= {path: _identity(path) for path in paths}
        self._written.append(recording)

    def _publish(self, folder: RecordingFolder, window: Finished, rank: int, cycle: int) -> list[Problem]:
        """Publishes and checks a window, on the writer's thread."""
        num_bytes = window.kineto.stat().st_size
        rival = folder.rival(rank, cycle)
        recording = folder.publish(window, rank=rank, cycle=cycle)
        self._remember(recording)
        problems = flaws(recording, num_bytes) if self._check else []
        if rival:
            problems.append(f"replaced {rival} of another process: pass a different rank= or dir= to each process")
        return [Problem(problem) for problem in problems]

    def _expect_own(self, recording: Recording, action: str) -> None:
        """Raises RuntimeError if a file of the window is gone or was replaced."""
        if not self._is_own(recording):
            raise RuntimeError(
                f"ks.profile: expected the recorded {recording.kineto} to {action}, found that its files were removed "
                "or replaced, as by a later recording: pass a different dir= to each"
            )

    def _is_own(self, recording: Recording) -> bool:
        paths = [path for path in (recording.kineto, recording.execution) if path]
        return all(_identity(path) == self._identities[path] for path in paths)

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
    if _identity(source) == _identity(target):
        return
    if (source.suffix == ".gz") == (target.suffix == ".gz"):
        shutil.copyfile(source, target)
        return

    def opened(path: Path, mode: str) -> Any:
        return gzip.open(path, mode) if path.suffix == ".gz" else path.open(mode)

    with opened(source, "rb") as content, opened(target, "wb") as out:
        shutil.copyfileobj(content, out)
