"""Files that appear under their name only when they are complete."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

_Answer = TypeVar("_Answer")


@contextmanager
def written_whole(path: Path) -> Generator[Path]:
    """Gives a path beside `path` to write to, and renames it at the end; removes it when the block raises.

    A link stays, and what it points to is written. A pipe or a device is written to as it is: a file in its place would
    be another thing. FileNotFoundError, which names the folder, where there is none; IsADirectoryError for a folder.
    """
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "expected a folder to write to, found none", str(path.parent))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "expected a file to write, found a folder", str(path))
    if target.exists() and not target.is_file():
        yield target
        return
    # others may be writing the same file: threads, processes, machines that share a disk
    temporary = target.with_name(f".{target.name}.{os.urandom(6).hex()}.part")
    try:
        yield temporary
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def write_whole(path: str | os.PathLike[str], write: Callable[[str, bool], _Answer]) -> tuple[Path, _Answer]:
    """Has a file written as `written_whole` does; gives its path, and what `write` gave.

    `write` is told where to, and whether compressed: when `path` ends in `.gz`.
    """
    target = Path(path)
    with written_whole(target) as temporary:
        answer = write(str(temporary), target.suffix == ".gz")
    return target, answer


def write_bytes(path: str | os.PathLike[str], content: bytes) -> Path:
    """Has a file written as `written_whole` does; gives its path."""
    return write_whole(path, lambda target, _: Path(target).write_bytes(content))[0]
