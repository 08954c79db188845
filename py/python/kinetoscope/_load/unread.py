"""Reads the members of a job, and tells which files could not be read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from kinetoscope import _native
from kinetoscope._base.progress import bar
from kinetoscope._base.threads import for_each

if TYPE_CHECKING:
    from kinetoscope._io.discovery import Pair
    from kinetoscope._load.member import Member


_NUMBER = re.compile(r"\d+")


class UnreadReason(str):
    """Why a file of the job could not be read: data is missing.

    Other reasons to skip a file are plain text: a copy, or a file of another kind.
    """

    __slots__ = ()


class FailedRead(NamedTuple):
    """Why a recording could not be read."""

    reason: str
    is_other_kind: bool
    """Whether the files are of another kind than traces."""


def skip_reasons(members: Sequence[Member], failures: Mapping[Member, FailedRead]) -> dict[Member, str]:
    """Returns the reason to skip each member that could not be read.

    A file of another kind belongs to the job if its name has a rank. It belongs there, too, if its
    name differs from that of a trace in numbers alone.
    """
    readable = {_shape(name) for member in members if member not in failures for name in member.pair.names}

    def is_of_job(pair: Pair) -> bool:
        return pair.rank is not None or any(_shape(name) in readable for name in pair.names)

    return {
        member: UnreadReason(failed.reason) if not failed.is_other_kind or is_of_job(member.pair) else failed.reason
        for member, failed in failures.items()
    }


def _shape(name: str) -> str:
    return _NUMBER.sub("#", name)


def unread_files(skipped: Mapping[str, str]) -> list[tuple[str, str]]:
    """Returns unread files by name with the reason, both without folders, for a page."""
    reasons = {name: reason for name, reason in skipped.items() if isinstance(reason, UnreadReason)}
    return [(PurePath(name).name, _without_folder(PurePath(name).name, reason)) for name, reason in reasons.items()]


def _without_folder(name: str, reason: str) -> str:
    """Removes the folder from `… (/folder/name, byte 0)`."""
    place = reason.rfind(name)
    if place < 1 or reason[place - 1] not in "/\\":
        return str(reason)
    return f"{reason[: max(reason.find(' ('), 0)]} ({reason[place:]}".strip()


def without_names(skipped: Mapping[str, str]) -> dict[str, str]:
    """Counts the unread files in place of their names, which may be private."""
    reason = UnreadReason("its name is redacted")
    return {f"#{number}": reason for number, _ in enumerate(unread_files(skipped), start=1)}


def by_file(failures: Mapping[Member, str]) -> dict[str, str]:
    """Returns the reasons of unreadable members by the names of their files."""
    return {name: reason for member, reason in failures.items() for name in member.pair.names}


def read_all(members: Sequence[Member], *, progress: bool | None, may_fail: bool = False) -> dict[Member, str]:
    """Reads members in parallel. With `may_fail`, returns unreadable ones with the reason.

    Otherwise raises the error of the first unreadable member.
    """

    def read(member: Member, reading: _native.Reading) -> FailedRead | None:
        try:
            member.read(reading)
        except (_native.TraceError, OSError) as error:
            if not may_fail or (isinstance(error, _native.TraceLimitError) and member.is_archived):
                raise
            is_other_kind = isinstance(error, _native.UnsupportedTraceError)
            if is_other_kind:
                member.forget_inputs()
            return FailedRead(str(error), is_other_kind)
        return None

    size = sum(member.size for member in members)
    with bar("reading traces", size, len(members), wanted=progress) as update:
        found = for_each(members, read, update)
    failures = {member: failed for member, failed in zip(members, found, strict=True) if failed is not None}
    return skip_reasons(members, failures)
