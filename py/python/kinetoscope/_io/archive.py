"""Unpacks tar and zip archives into files in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from kinetoscope import _native
from kinetoscope._base.warnings import warn
from kinetoscope._io.file import MemberFile

if TYPE_CHECKING:
    from kinetoscope._io.source import File


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

    The text of all files together may have `max_bytes`: reading more of it raises
    TraceLimitError.

    Raises TraceLimitError if a compressed archive exceeds `max_bytes`, TraceError if it is damaged
    before its first trace, OSError if the file cannot be read.
    """
    listing = Listing({}, {})

    def add(found: _native.ArchiveMember) -> None:
        member = MemberFile(found)
        if found.is_archive:
            listing.skipped[found.name] = "an archive inside an archive"
        elif not found.may_be_recording:
            listing.skipped[found.name] = found.format
        else:
            listing.files[found.name] = member
            if on_file:
                on_file(found.name, member)

    with file.opened() as source:
        try:
            _native.members(source, add, max_bytes=max_bytes)
        except OSError as error:
            # an error with a number is one of the disk
            if error.errno is not None:
                raise
            if not listing.files:
                where = f"{file.label}: " if file.label else ""
                raise _native.TraceError(f"{where}expected an archive, found a damaged one: {error}") from error
            warn(f"{file.label or 'the archive'} is damaged: read only the files before the damage ({error})")
            listing.skipped["(the rest)"] = f"damaged: {error}"
    return listing
