"""Files of a recording: names, temporary files, and publishing by rename."""

from __future__ import annotations

import contextlib
import errno
import gzip
import json
import os
import re
import shutil
import time
from collections.abc import Iterable, Sequence
from itertools import count
from pathlib import Path
from typing import NamedTuple

from kinetoscope._base.system import replace_file
from kinetoscope._io.paths import metrics_name

_TEMPORARY = ".kinetoscope-"
_LEFTOVER_S = 7 * 24 * 3600
"""Age of a temporary folder that no process uses any more, also on another machine."""
_PROBE_BYTES = 1 << 20
_TAIL_BYTES = 1 << 14
_LAST_KEYS = (b'"traceName"', b'"finish_ts"')
"""Keys at the end of a complete Kineto trace and Execution Trace."""
_COMPRESS_LEVEL = 3  # `stop` waits for gzip: level 9 takes four times as long and saves a tenth


class Recording(NamedTuple):
    """Files of one window of `profile`."""

    kineto: Path
    """`kineto_trace_<rank>.json.gz`: the timeline."""
    execution: Path | None
    """`torch_et_<rank>.json.gz`: the graph of operators; None if disabled or failed."""
    rank: int
    cycle: int
    """Number of the window, from 0."""
    sources: Path | None = None
    """`torch_et_<rank>.json_resources`: sources of Triton and Inductor kernels, if any."""


class Finished(NamedTuple):
    """Temporary files of a window that has ended."""

    kineto: Path
    execution: Path | None
    sources: Sequence[Path] = ()
    """Paths of the sources of generated kernels."""


def file_names(rank: int, cycle: int, *, compress: bool) -> tuple[str, str]:
    """Returns the names of Kineto trace and Execution Trace.

    They contain `<rank>`, or `<rank>.<cycle>` from cycle 1.
    """
    stem = str(rank) if cycle == 0 else f"{rank}.{cycle}"
    suffix = ".json.gz" if compress else ".json"
    return f"kineto_trace_{stem}{suffix}", f"torch_et_{stem}{suffix}"


class RecordingFolder:
    """A folder of recordings. A file gets its final name only when it is complete.

    Temporary files are in a hidden folder inside, so that a rename publishes them atomically.
    """

    def __init__(self, path: str | os.PathLike[str], *, compress: bool, published: Iterable[Path] = ()) -> None:
        """Creates the folder. `published` are its existing files of the same recording.

        Raises OSError if the folder cannot be created or written, or if the disk is full.
        """
        self.path = Path(path)
        self._compress = compress
        self._published = {file.name for file in published}
        self._numbers = count(1)
        self.path.mkdir(parents=True, exist_ok=True)
        self._remove_leftovers()
        self._temporary = self.path / f"{_TEMPORARY}{os.urandom(6).hex()}"
        try:
            self._temporary.mkdir(mode=0o700)
            self._begun_ns = self._temporary.stat().st_mtime_ns
            self._probe()
        except BaseException:  # also Ctrl-C
            self.close()
            raise

    def _remove_leftovers(self) -> None:
        """Removes temporary folders of killed recordings. A living one changes at each window."""
        for path in self.path.glob(f"{_TEMPORARY}*"):
            with contextlib.suppress(OSError):
                if time.time() - path.stat().st_mtime > _LEFTOVER_S:
                    shutil.rmtree(path)

    def _probe(self) -> None:
        """Writes bytes, because only a write detects a full disk or an exceeded quota."""
        probe = self.temporary("probe")
        probe.write_bytes(bytes(_PROBE_BYTES))
        probe.unlink()

    def temporary(self, name: str) -> Path:
        """Returns an unused path for a temporary file."""
        self._temporary.mkdir(mode=0o700, exist_ok=True)  # idle for long, it may count as a leftover
        return self._temporary / f"{next(self._numbers)}.{name}"

    def publish(self, window: Finished, *, rank: int, cycle: int) -> Recording:
        """Moves files to their final names, and removes files of earlier recordings of the rank.

        Raises OSError if a file cannot be written; the existing files stay in this case.
        """
        names = file_names(rank, cycle, compress=self._compress)
        _rename_inside(window.kineto, self.path / names[0])
        ready = [self._pack(window.kineto), self._pack(window.execution) if window.execution else None]
        targets = [self._place(source, name) for source, name in zip(ready, names, strict=True) if source]
        sources = self._keep(window.sources, sources_name(names[1])) if window.execution else None
        self._published.update(target.name for target in [*targets, sources] if target)
        self._remove_stale(rank)
        return Recording(targets[0], targets[1] if window.execution else None, rank, cycle, sources)

    def rival(self, rank: int, cycle: int) -> str | None:
        """Returns the name of a file that another process wrote after this recording started.

        `publish` replaces this file. None if there is none.
        """
        name = file_names(rank, cycle, compress=self._compress)[0]
        with contextlib.suppress(OSError):
            if name not in self._published and (self.path / name).stat().st_mtime_ns > self._begun_ns:
                return name
        return None

    def metrics(self, rank: int) -> Path:
        """Returns a temporary path for metrics, with the earlier metrics of the same recording."""
        path, before = self.temporary("metrics.jsonl"), self.path / metrics_name(rank)
        if before.name in self._published:
            shutil.copyfile(before, path)
        return path

    def publish_metrics(self, source: Path, rank: int) -> Path:
        """Moves a metrics file to its final name. Raises OSError if that fails."""
        return self._place(source, metrics_name(rank))

    def _pack(self, source: Path) -> Path:
        _expect_end(source)
        return _compressed(source) if self._compress else source

    def _place(self, source: Path, name: str) -> Path:
        target = self.path / name
        replace_file(source, target)
        return target

    def _keep(self, sources: Sequence[Path], name: str) -> Path | None:
        if not sources:
            return None
        folder, target = self.temporary("sources"), self.path / name
        folder.mkdir()
        for source in sources:
            with contextlib.suppress(FileNotFoundError):  # the cache may have been cleared
                shutil.copyfile(source, folder / source.name)
        shutil.rmtree(target, ignore_errors=True)  # a rename only replaces an empty folder
        return self._place(folder, name)

    def _remove_stale(self, rank: int) -> None:
        """Removes files of an earlier run: they would be read as windows of this one."""
        for path in list(self.path.iterdir()):
            if path.name not in self._published and _is_recording_of(path.name, rank):
                with contextlib.suppress(OSError):
                    shutil.rmtree(path) if path.is_dir() else path.unlink()

    def close(self) -> None:
        """Removes temporary files. Never raises."""
        shutil.rmtree(self._temporary, ignore_errors=True)


def sources_name(execution: str) -> str:
    """Returns the folder of kernel sources beside an Execution Trace, as PyTorch's tools expect."""
    return f"{os.path.splitext(execution)[0]}_resources"  # noqa: PTH122 - PyTorch removes only the last extension


def _is_recording_of(name: str, rank: int) -> bool:
    return (
        re.fullmatch(rf"(kineto_trace|torch_et|metrics)_{rank}(\.\d+)?(\.jsonl?)?(\.gz|_resources)?", name) is not None
    )


def _rename_inside(source: Path, final: Path) -> None:
    """Replaces the temporary path in `traceName`, the last key, with the final path."""
    with source.open("r+b") as file:
        start = max(0, source.stat().st_size - _TAIL_BYTES)
        file.seek(start)
        tail = file.read()
        file.seek(start)
        file.write(tail.replace(json.dumps(str(source)).encode(), json.dumps(str(final)).encode()))
        file.truncate()


def _expect_end(source: Path) -> None:
    """Raises OSError if the end of the file is missing: torch does not report a full disk."""
    with source.open("rb") as file:
        file.seek(max(0, source.stat().st_size - _TAIL_BYTES))
        tail = file.read()
        if not tail.rstrip().endswith(b"}") or not any(key in tail for key in _LAST_KEYS):
            raise OSError(
                errno.ENOSPC, "expected a complete file, found a truncated one: is the disk full?", str(source)
            )


def _compressed(source: Path) -> Path:
    """Replaces a file with a gzip file.

    The header has no name or time, so output is deterministic.
    """
    target = source.with_name(source.name + ".gz")
    with (
        source.open("rb") as plain,
        target.open("wb") as raw,
        gzip.GzipFile("", "wb", _COMPRESS_LEVEL, raw, 0) as packed,
    ):
        shutil.copyfileobj(plain, packed, 1 << 20)
    source.unlink()
    return target
