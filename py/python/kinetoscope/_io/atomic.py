"""Writes files that appear under their name only when they are complete."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

_Result = TypeVar("_Result")


@contextmanager
def atomic_path(path: Path) -> Generator[Path]:
    """Yields a temporary path beside `path`, and renames it to `path` at the end.

    Removes the temporary file if the block raises. Follows a symbolic link. Yields the path of a
    pipe or a device itself, because a rename would replace it with a file.

    Raises FileNotFoundError if the folder does not exist, IsADirectoryError if `path` is a folder.
    """
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "expected a folder to write to, found none", str(path.parent))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "expected a file to write, found a folder", str(path))
    if target.exists() and not target.is_file():
        yield target
        return
    # a random name: other threads, processes and machines may write the same file
    temporary = target.with_name(f".{target.name}.{os.urandom(6).hex()}.part")
    try:
        yield temporary
        temporary.replace(target)
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
