"""Writes files that appear under their name only when they are complete.

All outputs go through here: nothing replaces a file that was read, permissions stay, and what an
interrupted write left behind is removed.
"""

from __future__ import annotations

import errno
import hashlib
import os
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from kinetoscope._base.system import IS_WINDOWS, SAFE_CREATE_FLAGS, lock_file, replace_file
from kinetoscope._io.inputs import note_output, refuse_input

_Result = TypeVar("_Result")

_UNLOCKED_SECONDS = 24 * 3600
"""Age at which a temporary file is a leftover, on systems without locks of files."""
_CREATED_SECONDS = 10
"""Age at which an empty temporary file that nobody locked is a leftover."""


@contextmanager
def atomic_path(path: Path) -> Generator[Path]:
    """Yields a temporary path beside `path`, and renames it to `path` at the end.

    The temporary file exists, with the permissions of the file at `path`. It is removed if the
    block raises. Follows a symbolic link. Yields the path of a pipe or a device itself, because a
    rename would replace it with a file.

    Raises ValueError if `path` is a file that was read, FileNotFoundError if the folder does not
    exist, IsADirectoryError if `path` is a folder.
    """
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "expected a folder to write to, found none", str(path.parent))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "expected a file to write, found a folder", str(path))
    if target.exists() and not target.is_file():
        yield target
        return
    refuse_input(path)
    _remove_leftovers(target)
    # a random name: other threads, processes and machines may write the same file
    temporary = target.with_name(f"{_prefix(target)}{os.urandom(6).hex()}{_SUFFIX}")
    try:
        with _created(temporary, target):
            yield temporary
            refuse_input(path)  # the block may have read it
            replace_file(temporary, target)  # while it is locked: other writers remove what is not
        note_output(target)
    finally:
        temporary.unlink(missing_ok=True)


def write_atomic(path: str | os.PathLike[str], write: Callable[[str, bool], _Result]) -> tuple[Path, _Result]:
    """Writes a file through `atomic_path`. Returns its path and the result of `write`.

    Calls `write` with the temporary path, and True if `path` ends in `.gz`: then it writes gzip.
    """
    target = Path(path)
    with atomic_path(target) as temporary:
        result = write(str(temporary), target.suffix == ".gz")
    return target, result


def write_bytes(path: str | os.PathLike[str], content: bytes) -> Path:
    """Writes bytes through `atomic_path`. Returns the path of the file."""
    return write_atomic(path, lambda target, _: Path(target).write_bytes(content))[0]


def append_bytes(path: str | os.PathLike[str], content: bytes) -> None:
    """Appends bytes to a file that other programs append to, such as the summary of a job of CI.

    Raises ValueError if `path` is a file that was read.
    """
    refuse_input(path)
    with Path(path).open("ab") as file:
        file.write(content)


_SUFFIX = ".part"


def _prefix(target: Path) -> str:
    """Returns the start of names of temporary files; a name of 255 bytes leaves no more room."""
    return f".{hashlib.blake2b(os.fsencode(target.name), digest_size=8).hexdigest()}-"


@contextmanager
def _created(temporary: Path, target: Path) -> Generator[None]:
    """Creates a temporary file with the permissions of `target`, locked while it is written."""
    mode = target.stat().st_mode & 0o777 if target.exists() else None
    try:
        descriptor = os.open(temporary, SAFE_CREATE_FLAGS, 0o666 if mode is None else 0o600)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(target)) from None
    try:
        lock_file(descriptor)
        if mode is not None:
            temporary.chmod(mode)  # unlike the mode of `open`, not cut by the umask
        if IS_WINDOWS:  # an open file cannot be renamed there
            os.close(descriptor)
        yield
    finally:
        if not IS_WINDOWS:
            os.close(descriptor)


def _remove_leftovers(target: Path) -> None:
    """Removes temporary files of killed writes; those that are being written are locked."""
    prefix = _prefix(target)
    with suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            if entry.name.startswith(prefix) and entry.name.endswith(_SUFFIX) and _is_leftover(entry.path):
                with suppress(OSError):
                    Path(entry.path).unlink()


def _is_leftover(path: str) -> bool:
    try:
        descriptor = os.open(path, os.O_WRONLY)
    except OSError:
        return False
    try:
        found = os.fstat(descriptor)
        age = time.time() - found.st_mtime
        # an empty one may have been created just now, and not be locked yet
        return age > _UNLOCKED_SECONDS or ((found.st_size > 0 or age > _CREATED_SECONDS) and lock_file(descriptor))
    finally:
        os.close(descriptor)
