"""The files of a recording: where they are written, under which names, and how they get there whole."""

from __future__ import annotations

import contextlib
import errno
import gzip
import json
import os
import re
import shutil
from collections.abc import Iterable, Sequence
from itertools import count
from pathlib import Path
from typing import NamedTuple

from kinetoscope._io.paths import metrics_name

_PROBE_BYTES = 1 << 20
_TAIL_BYTES = 1 << 14
_LAST_KEYS = (b'"traceName"', b'"finish_ts"')
"""What torch writes at the end of a Kineto trace and of an Execution Trace."""
_COMPRESS_LEVEL = 3  # whoever stops the recording waits for it: level 9 takes four times as long for a tenth less


class Recording(NamedTuple):
    """The files that one window of `profile` left in its folder."""

    kineto: Path
    """`kineto_trace_<rank>.json.gz`: what ran when."""
    execution: Path | None
    """`torch_et_<rank>.json.gz`: the graph of operators; None when it was not asked for or could not be recorded."""
    rank: int
    cycle: int
    """0 for the first window, 1 for the second of a repeated schedule, and so on."""
    sources: Path | None = None
    """`torch_et_<rank>.json_resources`: the sources of kernels that Triton and Inductor generated; None without any."""


class Finished(NamedTuple):
    """The unfinished files of a window that has ended."""

    kineto: Path
    execution: Path | None
    sources: Sequence[Path] = ()
    """Where the sources of generated kernels are."""


def file_names(rank: int, cycle: int, *, compress: bool) -> tuple[str, str]:
    """Names of the Kineto trace and the Execution Trace; cycles after the first have their number after the rank."""
    stem = str(rank) if cycle == 0 else f"{rank}.{cycle}"
    suffix = ".json.gz" if compress else ".json"
    return f"kineto_trace_{stem}{suffix}", f"torch_et_{stem}{suffix}"


class RecordingFolder:
    """A folder that recordings are published into: each file appears under its final name only when it is complete.

    Unfinished files live in a hidden folder inside it, so that a rename is enough to publish them.
    """

    def __init__(self, path: str | os.PathLike[str], *, compress: bool, published: Iterable[Path] = ()) -> None:
        """Creates the folder. OSError when it cannot be created or written, or when the disk is full.

        `published` are files of the same recording that are there already.
        """
        self.path = Path(path)
        self._compress = compress
        self._published = {file.name for file in published}
        self._numbers = count(1)
        self.path.mkdir(parents=True, exist_ok=True)
        self._temporary = self.path / f".kinetoscope-{os.urandom(6).hex()}"
        try:
            self._temporary.mkdir(mode=0o700)
            self._begun_ns = self._temporary.stat().st_mtime_ns
            self._probe()
        except BaseException:  # Ctrl-C, too
            self.close()
            raise

    def _probe(self) -> None:
        """A full disk or a spent quota shows only when bytes are written."""
        probe = self.temporary("probe")
        probe.write_bytes(bytes(_PROBE_BYTES))
        probe.unlink()

    def temporary(self, name: str) -> Path:
        """A fresh path for an unfinished file."""
        return self._temporary / f"{next(self._numbers)}.{name}"

    def publish(self, window: Finished, *, rank: int, cycle: int) -> Recording:
        """Moves finished files to their final names and takes away what an earlier recording of the same rank left.

        OSError when a file cannot be written; then the names hold what they held before.
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
        """What another process has written since this recording began, where `publish` is going to put its own."""
        name = file_names(rank, cycle, compress=self._compress)[0]
        with contextlib.suppress(OSError):
            if name not in self._published and (self.path / name).stat().st_mtime_ns > self._begun_ns:
                return name
        return None

    def metrics(self, rank: int) -> Path:
        """A path for metrics to be sampled to; those that the same recording sampled before are in it already."""
        path, before = self.temporary("metrics.jsonl"), self.path / metrics_name(rank)
        if before.name in self._published:
            shutil.copyfile(before, path)
        return path

    def publish_metrics(self, source: Path, rank: int) -> Path:
        """Moves a finished file of metrics to its final name. OSError when it cannot be written."""
        return self._place(source, metrics_name(rank))

    def _pack(self, source: Path) -> Path:
        _expect_end(source)
        return _compressed(source) if self._compress else source

    def _place(self, source: Path, name: str) -> Path:
        target = self.path / name
        source.replace(target)
        return target

    def _keep(self, sources: Sequence[Path], name: str) -> Path | None:
        if not sources:
            return None
        folder, target = self.temporary("sources"), self.path / name
        folder.mkdir()
        for source in sources:
            with contextlib.suppress(FileNotFoundError):  # a cache that was cleared
                shutil.copyfile(source, folder / source.name)
        shutil.rmtree(target, ignore_errors=True)  # a folder takes the place of an empty one only
        return self._place(folder, name)

    def _remove_stale(self, rank: int) -> None:
        """A pair left by an earlier run would be read as a cycle of this one, or paired with its trace."""
        for path in list(self.path.iterdir()):
            if path.name not in self._published and _is_recording_of(path.name, rank):
                with contextlib.suppress(OSError):
                    shutil.rmtree(path) if path.is_dir() else path.unlink()

    def close(self) -> None:
        """Removes the unfinished files. Never raises."""
        shutil.rmtree(self._temporary, ignore_errors=True)


def sources_name(execution: str) -> str:
    """The folder of kernels' sources beside an Execution Trace, where PyTorch's own tools look for it."""
    return f"{os.path.splitext(execution)[0]}_resources"  # noqa: PTH122 - as PyTorch makes it: of the last ending alone


def _is_recording_of(name: str, rank: int) -> bool:
    return (
        re.fullmatch(rf"(kineto_trace|torch_et|metrics)_{rank}(\.\d+)?(\.jsonl?)?(\.gz|_resources)?", name) is not None
    )


def _rename_inside(source: Path, final: Path) -> None:
    """Kineto ends its file with `traceName`, the path it wrote to: the final one is what a reader can look for."""
    with source.open("r+b") as file:
        start = max(0, source.stat().st_size - _TAIL_BYTES)
        file.seek(start)
        tail = file.read()
        file.seek(start)
        file.write(tail.replace(json.dumps(str(source)).encode(), json.dumps(str(final)).encode()))
        file.truncate()


def _expect_end(source: Path) -> None:
    """Torch does not say that the disk was full while it wrote; the file's end does."""
    with source.open("rb") as file:
        file.seek(max(0, source.stat().st_size - _TAIL_BYTES))
        tail = file.read()
        if not tail.rstrip().endswith(b"}") or not any(key in tail for key in _LAST_KEYS):
            raise OSError(errno.ENOSPC, "expected a whole file, found one cut off: is the disk full?", str(source))


def _compressed(source: Path) -> Path:
    """Deflates a file beside itself and removes the original. Equal bytes stay equal: the header has no name."""
    target = source.with_name(source.name + ".gz")
    with (
        source.open("rb") as plain,
        target.open("wb") as raw,
        gzip.GzipFile("", "wb", _COMPRESS_LEVEL, raw, 0) as packed,
    ):
        shutil.copyfileobj(plain, packed, 1 << 20)
    source.unlink()
    return target
