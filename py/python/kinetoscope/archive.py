"""Several files in one: what is in a tar or zip archive, as files."""

from __future__ import annotations

from typing import NamedTuple

from kinetoscope import _native
from kinetoscope.file import BytesFile, File

_TRACES = {"JSON", "a gzip stream", "an xz stream", "a zstd stream", "a kinetoscope snapshot"}
"""What the core calls the files that may be traces."""


class Archive(NamedTuple):
    """The files in an archive by their names, sorted by what their bytes say."""

    files: dict[str, File]
    """Those that may be traces, whatever they are called."""
    left_out: dict[str, str]
    """What the others are."""


def is_archive(file: File) -> bool:
    """Whether a file is an archive, by its bytes. OSError when it cannot be read."""
    return _native.is_archive(file.head())


def unpacked(file: File, max_bytes: int | None) -> Archive:
    """All files in an archive.

    TraceError when they are larger together than `max_bytes`, OSError when the archive is damaged.
    """
    with file.opened() as source:
        members = _native.members(source, max_bytes=max_bytes) or []
    archive = Archive({}, {})
    for name, content in members:
        what = _native.sniff(content[:1024])
        inside = BytesFile(f"{file.label or 'archive'}/{name}", content)
        if _native.is_archive(inside.head()):
            archive.left_out[name] = "an archive in an archive"
        elif what in _TRACES:
            archive.files[name] = inside
        else:
            archive.left_out[name] = what
    return archive
