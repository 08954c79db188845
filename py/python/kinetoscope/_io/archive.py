"""Unpacks tar and zip archives into files in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from kinetoscope import _native
from kinetoscope._base.warnings import warn
from kinetoscope._io.file import BytesFile

if TYPE_CHECKING:
    from kinetoscope._io.source import File

_TRACES = {"JSON", "a gzip stream", "an xz stream", "a zstd stream", "a kinetoscope snapshot", "an SQLite database"}
"""Formats that a trace may have, in the words of `_native.sniff`."""


class Listing(NamedTuple):
    """Files of an archive or a folder, by name."""

    files: dict[str, File]
    """Files that may be traces."""
    skipped: dict[str, str]
    """All other files, each with the reason."""


def unpack(file: File, max_bytes: int | None, on_file: Callable[[str, File], object] | None = None) -> Listing:
    """Unpacks an archive and sorts its files by their first bytes.

    Calls `on_file` with each file that may be a trace, while it unpacks the rest. Warns if the
    archive is damaged, and returns the files before the damage.

    Raises TraceError if the files together exceed `max_bytes`, OSError if the archive is
    unreadable.
    """
    listing = Listing({}, {})

    def add(name: str, content: bytes) -> None:
        content_format = _native.sniff(content[:1024])
        member = BytesFile(f"{file.label or 'archive'}/{name}", content)
        if _native.is_archive(member.head()):
            listing.skipped[name] = "an archive inside an archive"
        elif content_format in _TRACES:
            listing.files[name] = member
            if on_file:
                on_file(name, member)
        else:
            listing.skipped[name] = content_format

    with file.opened() as source:
        try:
            _native.members(source, add, max_bytes=max_bytes)
        except OSError as error:
            # an error with a number is one of the disk; without files, there is nothing to return
            if error.errno is not None or not listing.files:
                raise
            warn(f"{file.label or 'the archive'} is damaged: read only the files before the damage ({error})")
            listing.skipped["(the rest)"] = f"damaged: {error}"
    return listing
