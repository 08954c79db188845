"""Pages with several traces on one timeline: a comparison, or the ranks of a job."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from kinetoscope._analysis.protocol import decoded
from kinetoscope._analysis.session import Align, TimelineSession
from kinetoscope._base import text
from kinetoscope._io.paths import distinct_names
from kinetoscope._report.html import figure
from kinetoscope._report.page import page_of, snapshot_data
from kinetoscope._report.static import Static

_PICTURE_WIDTH = 1200
_FILES = 3


def comparison_page(session: TimelineSession, title: str, selection: Mapping[str, Any]) -> str:
    """Builds the report of what changed from the parts named `before` to the others."""
    facts = [(side, _shortened(names)) for side, names in _files(session).items()]
    request = {"type": "report", "title": title, "facts": facts, "comparison": selection, "align": session.align}
    return _page_of(session, title, str(decoded(session.query(json.dumps(request))).data["html"]))


def static_comparison(session: TimelineSession, title: str, height: int, selection: Mapping[str, Any]) -> Static:
    """Builds the report in a frame."""
    picture = session.picture(_PICTURE_WIDTH)
    return Static(comparison_page(session, title, selection), picture, title, height)


def static_timeline(session: TimelineSession, title: str, height: int) -> Static:
    """Builds a page with the timeline alone, in a frame."""
    picture = session.picture(_PICTURE_WIDTH)
    inside = f"<div id='ks-timeline'>{figure(picture)}</div>"
    body = (
        f"<header class='ks-head'><h1 class='ks-title'>{text.escaped(title)}</h1></header>"
        f"<div class='ks-grid'><section class='ks-wide' id='timeline'><h2>Timeline</h2>{inside}</section></div>"
    )
    return Static(_page_of(session, title, body), picture, title, height)


def _page_of(session: TimelineSession, title: str, body: str) -> str:
    data = (snapshot_data(rank, trace.snapshot(), name) for trace, name, rank in session.parts)
    return page_of(title, body, "".join(data), _hash(session.align))


def _files(session: TimelineSession) -> dict[str, list[str]]:
    """Returns the file names of each side."""
    files: dict[str, list[str]] = {}
    names = distinct_names([part.trace.source or "" for part in session.parts])
    for part, name in zip(session.parts, names, strict=True):
        if part.name and name:
            files.setdefault(part.name, []).append(name)
    return files


def _shortened(names: list[str]) -> str:
    more = f" and {len(names) - _FILES} more" if len(names) > _FILES else ""
    return ", ".join(names[:_FILES]) + more


def _hash(align: Align) -> str:
    """Fragment of the address that selects the alignment."""
    if align is None or align == "clocks":
        return ""
    return f"#align=iteration-{align['iteration']}" if isinstance(align, dict) else f"#align={align}"
