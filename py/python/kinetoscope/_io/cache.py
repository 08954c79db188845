"""The cache: a folder of snapshots of traces that were read before.

A cache entry is a snapshot followed by its checksum. Its name is a hash of the sizes, modification
times and content of the files that were read. Both hashes have a secret key of the user, so nobody
else can place an entry that is taken for a trace. Entries of other users and symbolic links are not
read. Entries are written atomically, so any number of processes may share a folder. Any entry may
be deleted at any time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from kinetoscope import _native
from kinetoscope._base import lazy
from kinetoscope._io.file import LocalFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from kinetoscope._io.source import File

_VARIABLE = "KINETOSCOPE_CACHE"
_DIGEST_BYTES = 32
_BLOCK_BYTES = 1 << 16
_NUM_BLOCKS = 64

_folder: list[str | None] = []
"""Argument of the last call of `use_cache`; empty before the first call."""

# Functions import at the call: programs without a cache need neither hashlib nor pathlib.


def use_cache(folder: str | os.PathLike[str] | None) -> None:
    """Sets the cache folder of every later `read` and `read_dir`; None disables the cache.

    Creates the folder at the first write. Before the first call, the environment variable
    KINETOSCOPE_CACHE names the folder. Only files with a local path are cached.
    """
    _folder[:] = [None if folder is None else os.fspath(folder)]


def cache_folder(cache: lazy.Cache) -> str | None:
    """Returns the folder for an argument `cache`, or None for no cache.

    `cache` is a folder, False for no cache, or None for the folder of `use_cache`.
    """
    if cache is False:
        return None
    if cache is None:
        return _folder[0] if _folder else os.environ.get(_VARIABLE) or None
    return os.fspath(cache)


def read_cached(
    folder: str,
    files: Sequence[File],
    read: Callable[[], _native.Trace | _native.Tables],
    *,
    max_bytes: int | None,
    max_threads: int = 1,
    include_environment: bool = False,
) -> _native.Trace | _native.Tables:
    """Loads the cache entry of these files; without an entry, calls `read` and stores its trace.

    Only calls `read` if any file has no local path. `max_bytes` is part of the key, because it
    decides whether `read` fails, and `include_environment`, because it decides on the metadata.
    Raises the errors of `read`.
    """
    from pathlib import Path

    from kinetoscope._io.user_secret import user_secret

    paths = [Path(file.path) for file in files if isinstance(file, LocalFile)]
    if len(paths) != len(files):
        return read()
    try:
        secret = user_secret()
    except OSError as error:
        from kinetoscope._base.warnings import warn

        warn(f"the cache is not used, because its key cannot be kept: {error}")
        return read()
    options = f"{max_bytes} {include_environment}"
    name = _name(paths, options, secret)
    entry = Path(folder) / f"{name}.kscope"
    cached = _load_entry(entry, secret, max_threads)
    if cached is not None:
        return cached
    trace = read()
    # another name: the files changed while they were read
    if isinstance(trace, _native.Trace) and _name(paths, options, secret) == name:
        _store(trace, entry, secret)
    return trace


def _load_entry(entry: Path, secret: bytes, max_threads: int) -> _native.Trace | None:
    from kinetoscope._io.user_secret import read_own

    try:
        return _native.Trace.from_snapshot(_verified(read_own(entry), secret), max_threads=max_threads)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        from kinetoscope._base.warnings import warn

        warn(f"cache entry {entry} was not read, reading the trace again: {error}")
        return None


def _verified(content: bytes, secret: bytes) -> bytes:
    """Returns the snapshot of an entry. Raises ValueError if the checksum differs."""
    snapshot, digest = content[:-_DIGEST_BYTES], content[-_DIGEST_BYTES:]
    if digest != _digest(snapshot, secret):
        raise ValueError("expected the checksum of the snapshot, found another")
    return snapshot


def _store(trace: _native.Trace, entry: Path, secret: bytes) -> None:
    """Writes an entry. Warns if that fails, because the trace itself is readable."""
    from kinetoscope._io.atomic import atomic_path

    try:
        entry.parent.mkdir(parents=True, exist_ok=True)
        snapshot = trace.snapshot()
        if entry.is_symlink():
            entry.unlink()
        with atomic_path(entry) as temporary:
            temporary.write_bytes(snapshot + _digest(snapshot, secret))
            temporary.chmod(0o600)
    except OSError as error:
        from kinetoscope._base.warnings import warn

        warn(f"cache entry {entry} was not written: {error}")


def _digest(content: bytes, secret: bytes) -> bytes:
    import hashlib

    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES, key=secret).digest()


def _name(paths: Sequence[Path], options: str, secret: bytes) -> str:
    """Returns the hash that names an entry. Raises OSError for an unreadable file."""
    import hashlib

    name = hashlib.blake2b(f"{_native.__version__} {options}".encode(), digest_size=16, key=secret)
    for path in paths:
        status = path.stat()
        name.update(f" {status.st_size} {status.st_mtime_ns} ".encode())
        for block in _blocks(path, status.st_size):
            name.update(block)
    return name.hexdigest()


def _blocks(path: Path, size: int) -> list[bytes]:
    """Returns a small file as one block, and 64 blocks of a large file.

    The blocks are evenly spread and include the start and the end of the file. Hashing a large
    file as a whole takes as long as reading it.
    """
    with path.open("rb") as file:
        if size <= _NUM_BLOCKS * _BLOCK_BYTES:
            return [file.read()]
        blocks: list[bytes] = []
        for number in range(_NUM_BLOCKS):
            file.seek(number * (size - _BLOCK_BYTES) // (_NUM_BLOCKS - 1))
            blocks.append(file.read(_BLOCK_BYTES))
        return blocks
