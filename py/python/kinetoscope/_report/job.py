"""The report of a job with more ranks than a page has room for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from kinetoscope import _native
from kinetoscope._analysis.protocol import decoded
from kinetoscope._io.atomic import write_bytes
from kinetoscope._report.page import Unread, num_removed, page_with, report_request, static_page
from kinetoscope._report.size_limit import Ranked, expect_size, fitting_page

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from kinetoscope._load.member import Member

MAX_TIMELINES = 16
"""A page of more traces shows some of them on its timeline."""


def write_job_report(
    gathered: tuple[Sequence[Member], _native.GatheredJob],
    path: str | os.PathLike[str],
    title: str,
    max_size: int | str | None,
    *,
    static: bool,
    unread: Unread,
) -> Path:
    """Writes the report of all members, with the timelines of a few. Raises OSError on failure.

    `unread` are files of the job that could not be read.
    """
    members, job = gathered
    shown = [members[at] for at, _ in job.shown_ranks()] or members[:1]
    traces = [(member.rank, member.trace) for member in shown]

    def body(carried: Ranked, left_out: Mapping[str, int]) -> str:
        natives = [("", rank, trace._native) for rank, trace in carried]  # noqa: SLF001 - sessions are built from native traces
        request = json.dumps(report_request(carried, title, left_out, unread)).encode()
        answer: str = decoded(job.report(_native.Session(natives), request)).data["html"]
        return answer

    def page(carried: Ranked, snapshots: Sequence[bytes]) -> str:
        left_out = {} if carried is traces else num_removed(carried)
        return page_with(title, body(traces, left_out), traces, snapshots)

    if static:
        return write_bytes(path, expect_size(static_page(title, body(traces, {})), max_size))
    return write_bytes(path, fitting_page(traces, max_size, page))
