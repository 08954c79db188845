"""Files that appear under their name only when they are complete."""

from __future__ import annotations

import errno
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def written_whole(path: Path) -> Generator[Path]:
    """Gives a path beside `path` to write to, and renames it at the end; removes it when the block raises.

    FileNotFoundError, which names the folder, where there is none.
    """
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "expected a folder to write to, found none", str(path.parent))
    # others may be writing the same file: threads, processes, machines that share a disk
    temporary = path.with_name(f".{path.name}.{os.urandom(6).hex()}.part")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
