"""The files that git tracks or would track, so that a new file is looked at before it is committed."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


@cache
def files() -> tuple[str, ...]:
    """Paths from the root, with forward slashes, sorted."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return tuple(sorted(name for name in set(listing.split("\0")) if name and (ROOT / name).is_file()))


def under(folder: str, *suffixes: str) -> list[str]:
    """Files in a folder (`""` is the root) whose names end in one of the suffixes."""
    prefix = f"{folder}/" if folder else ""
    return [name for name in files() if name.startswith(prefix) and name.endswith(suffixes or ("",))]


def text(name: str) -> str:
    """What a file says; what is no text in it is replaced."""
    return (ROOT / name).read_bytes().decode("utf-8", "replace")
