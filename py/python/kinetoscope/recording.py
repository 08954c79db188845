"""The files of a recording: where they are written, under which names, and how they get there whole."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

_PROBE_BYTES = 1 << 20
_TAIL_BYTES = 1 << 14
_COMPRESS_LEVEL = 3  # the training waits for it: level 9 takes four times as long for a tenth less


class Recording(NamedTuple):
    """The files that one window of `profile` left in its folder."""

    kineto: Path
    """`kineto_trace_<rank>.json.gz`: what ran when."""
    execution: Path | None
    """`torch_et_<rank>.json.gz`: the graph of operators; None when it was not asked for or could not be recorded."""
    rank: int
    cycle: int
    """0 for the first window, 1 for the second of a repeated schedule, and so on."""


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
        self._num_temporary = 0
        self.path.mkdir(parents=True, exist_ok=True)
        self._temporary = Path(tempfile.mkdtemp(prefix=".kinetoscope-", dir=self.path))
        try:
            self._probe()
        except OSError:
            self.close()
            raise

    def _probe(self) -> None:
        """A full disk or a spent quota shows only when bytes are written."""
        probe = self.temporary("probe")
        probe.write_bytes(bytes(_PROBE_BYTES))
        probe.unlink()

    def temporary(self, name: str) -> Path:
        """A fresh path for an unfinished file."""
        self._num_temporary += 1
        return self._temporary / f"{self._num_temporary}.{name}"

    def publish(self, kineto: Path, execution: Path | None, *, rank: int, cycle: int) -> Recording:
        """Moves a finished pair to its final names and takes away what an earlier recording of the same rank left.

        OSError when a file cannot be written; then the names hold what they held before.
        """
        names = file_names(rank, cycle, compress=self._compress)
        _rename_inside(kineto, self.path / names[0])
        ready = [self._pack(kineto), self._pack(execution) if execution else None]
        targets = [self._place(source, name) for source, name in zip(ready, names, strict=True) if source]
        self._published.update(target.name for target in targets)
        self._remove_stale(rank)
        return Recording(targets[0], targets[1] if execution else None, rank, cycle)

    def _pack(self, source: Path) -> Path:
        return _compressed(source) if self._compress else source

    def _place(self, source: Path, name: str) -> Path:
        target = self.path / name
        source.replace(target)
        return target

    def _remove_stale(self, rank: int) -> None:
        """A pair left by an earlier run would be read as a cycle of this one, or paired with its trace."""
        for path in list(self.path.iterdir()):
            if path.name not in self._published and _is_recording_of(path.name, rank):
                with contextlib.suppress(OSError):
                    path.unlink()

    def close(self) -> None:
        """Removes the unfinished files. Never raises."""
        shutil.rmtree(self._temporary, ignore_errors=True)


def _is_recording_of(name: str, rank: int) -> bool:
    return re.fullmatch(rf"(kineto_trace|torch_et)_{rank}(\.\d+)?\.json(\.gz)?", name) is not None


def _rename_inside(source: Path, final: Path) -> None:
    """Kineto ends its file with `traceName`, the path it wrote to: the final one is what a reader can look for."""
    with source.open("r+b") as file:
        start = max(0, source.stat().st_size - _TAIL_BYTES)
        file.seek(start)
        tail = file.read()
        file.seek(start)
        file.write(tail.replace(json.dumps(str(source)).encode(), json.dumps(str(final)).encode()))
        file.truncate()


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
