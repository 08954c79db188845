"""What is in the cache: snapshots of what was read.

An entry is a snapshot with its checksum behind it, under a name made of what was read: sizes, times of change and
content. Entries appear whole, so that any number of processes may share a folder; all of it may be deleted any time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kinetoscope import _native
from kinetoscope._base.warnings import warn
from kinetoscope._io.atomic import written_whole
from kinetoscope._io.file import LocalFile

if TYPE_CHECKING:
    from kinetoscope._io.source import File
    from kinetoscope._load.load import Options

_DIGEST_BYTES = 32
_BLOCK_BYTES = 1 << 16
_NUM_BLOCKS = 64


def through_cache(
    folder: str, files: Sequence[File], options: Options, read: Callable[[], _native.Trace | _native.Tables]
) -> _native.Trace | _native.Tables:
    """What `read` gives, or the snapshot of what it gave before. Files without a path are read."""
    paths = [Path(file.path) for file in files if isinstance(file, LocalFile)]
    if len(paths) != len(files):
        return read()
    key = _key(paths, options.max_bytes)
    entry = Path(folder) / f"{key}.kscope"
    found = _loaded(entry, options.max_threads)
    if found is not None:
        return found
    trace = read()
    # another key: the files were changed while they were read
    if isinstance(trace, _native.Trace) and _key(paths, options.max_bytes) == key:
        _keep(trace, entry)
    return trace


def _loaded(entry: Path, max_threads: int) -> _native.Trace | None:
    try:
        return _native.Trace.from_snapshot(_checked(entry.read_bytes()), max_threads=max_threads)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        warn(f"{entry} in the cache was not read, the trace is read anew: {error}")
        return None


def _checked(content: bytes) -> bytes:
    snapshot, digest = content[:-_DIGEST_BYTES], content[-_DIGEST_BYTES:]
    if digest != _digest(snapshot):
        raise ValueError("expected its checksum, found another")
    return snapshot


def _keep(trace: _native.Trace, entry: Path) -> None:
    """A cache that cannot be written must not keep a trace from being read."""
    try:
        entry.parent.mkdir(parents=True, exist_ok=True)
        snapshot = trace.snapshot()
        with written_whole(entry) as temporary:
            temporary.write_bytes(snapshot + _digest(snapshot))
    except OSError as error:
        warn(f"{entry} in the cache was not written: {error}")


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES).digest()


def _key(paths: Sequence[Path], limit: int | None) -> str:
    """OSError when a file cannot be read."""
    key = hashlib.blake2b(f"{_native.__version__} {limit}".encode(), digest_size=16)
    for path in paths:
        about = path.stat()
        key.update(f" {about.st_size} {about.st_mtime_ns} ".encode())
        for block in _blocks(path, about.st_size):
            key.update(block)
    return key.hexdigest()


def _blocks(path: Path, size: int) -> list[bytes]:
    """The whole of a small file; of a large one as many blocks, evenly spread, the first and the last among them.

    Hashing all of it would take as long as reading it.
    """
    with path.open("rb") as file:
        if size <= _NUM_BLOCKS * _BLOCK_BYTES:
            return [file.read()]
        blocks: list[bytes] = []
        for number in range(_NUM_BLOCKS):
            file.seek(number * (size - _BLOCK_BYTES) // (_NUM_BLOCKS - 1))
            blocks.append(file.read(_BLOCK_BYTES))
        return blocks
