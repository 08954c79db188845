"""Reads the file that requests windows. Whoever may write to its folder may have made it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from kinetoscope._base.system import SAFE_READ_FLAGS, user_id

_MAX_BYTES = 64
"""More bytes than an iteration has digits."""


def last_change(file: Path) -> int:
    """Returns the modification time of the file in ns; 0 without a file."""
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return 0


def requested_iteration(file: Path) -> int | None:
    """Reads the iteration in the file. Returns None if it has no number.

    Raises PermissionError for a file of another user, and OSError for a pipe or a device.
    """
    # a pipe without a writer would let the loop wait
    descriptor = os.open(file, SAFE_READ_FLAGS)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(f"expected a file, found something else: {file}")
        if not _is_trusted(found.st_uid):
            raise PermissionError(f"expected a file of this user, found one of user {found.st_uid}: {file}")
        content = os.read(descriptor, _MAX_BYTES).strip()
    finally:
        os.close(descriptor)
    return int(content) if content.isdigit() and len(content) < _MAX_BYTES else None


def _is_trusted(owner: int) -> bool:
    """Whether the owner is this user or root. Root trusts all: containers often run as root."""
    return user_id() in {None, 0, owner} or owner == 0
