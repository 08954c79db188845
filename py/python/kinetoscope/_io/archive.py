"""Several files in one: what is in a tar or zip archive, as files."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from kinetoscope import _native
from kinetoscope._base.warnings import warn
from kinetoscope._io.file import BytesFile

if TYPE_CHECKING:
    from kinetoscope._io.source import File

_TRACES = {"JSON", "a gzip stream", "an xz stream", "a zstd stream", "a kinetoscope snapshot", "an SQLite database"}
"""What the core calls the files that may be traces."""


class Archive(NamedTuple):
    """The files in an archive by their names, sorted by what their bytes say."""

    files: dict[str, File]
    """Those that may be traces, whatever they are called."""
    skipped: dict[str, str]
    """What the others are."""


def unpacked(file: File, max_bytes: int | None, begin: Callable[[str, File], object] | None = None) -> Archive:
    """All files in an archive. `begin` is called for each that may be a trace, while others are still packed.

    TraceError when they are larger together than `max_bytes`, OSError when it cannot be read. RuntimeWarning when it is
    cut or damaged: then what came before is there.
    """
    archive = Archive({}, {})

    def add(name: str, content: bytes) -> None:
        what = _native.sniff(content[:1024])
        inside = BytesFile(f"{file.label or 'archive'}/{name}", content)
        if _native.is_archive(inside.head()):
            archive.skipped[name] = "an archive in an archive"
        elif what in _TRACES:
            archive.files[name] = inside
            if begin:
                begin(name, inside)
        else:
            archive.skipped[name] = what

    with file.opened() as source:
        try:
            _native.members(source, add, max_bytes=max_bytes)
        except OSError as error:
            if error.errno is not None or not archive.files:  # the file cannot be read, or nothing in it
                raise
            warn(f"{file.label or 'the archive'} is damaged: what is whole was read: {error}")
            archive.skipped["(the rest)"] = f"damaged: {error}"
    return archive
