"""A secret of the user: a file that nobody else may read or replace."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from kinetoscope._base.system import NO_LINKS_FLAG, SAFE_CREATE_FLAGS, SAFE_READ_FLAGS, replace_file, user_id

_KEY_BYTES = 32


def user_secret() -> bytes:
    """Returns the user's key; makes one at the first use. Raises OSError if it cannot be kept."""
    cache = os.environ.get("XDG_CACHE_HOME")
    path = (Path(cache) if cache else Path.home() / ".cache") / "kinetoscope" / "cache.key"
    for _ in range(2):
        try:
            secret = read_own(path)
        except FileNotFoundError:
            secret = b""
        if len(secret) == _KEY_BYTES:
            return secret
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _write(path, os.urandom(_KEY_BYTES))
    raise OSError(f"expected a key of {_KEY_BYTES} bytes, found another file: {path}")


def _write(path: Path, content: bytes) -> None:
    """Writes a file that only this user may read, unless another process was faster."""
    temporary = path.with_name(f"{path.name}.{os.urandom(6).hex()}")
    descriptor = os.open(temporary, SAFE_CREATE_FLAGS, 0o600)
    try:
        os.write(descriptor, content)
    finally:
        os.close(descriptor)
    try:
        path.hardlink_to(temporary)
    except FileExistsError:
        if path.stat().st_size != len(content):
            replace_file(temporary, path)
    except OSError:  # a file system without hard links, such as exFAT
        replace_file(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def read_own(path: Path) -> bytes:
    """Reads a file of this user. Raises OSError for a symbolic link or a file of another user."""
    descriptor = os.open(path, SAFE_READ_FLAGS | NO_LINKS_FLAG)
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(f"expected a regular file, found another: {path}")
        if user_id() not in {None, found.st_uid}:
            raise OSError(f"expected a file of this user, found one of user {found.st_uid}: {path}")
        return file.read()
