"""Pages with several traces on one timeline: a comparison, or the ranks of a job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kinetoscope._analysis.session import Align, TimelineSession
from kinetoscope._base import text
from kinetoscope._io.paths import distinct_names
from kinetoscope._report.html import figure, table_html
from kinetoscope._report.page import page_of, snapshot_data
from kinetoscope._report.static import Static
from kinetoscope._report.table_text import section
from kinetoscope.table import Table

_PICTURE_WIDTH = 1200
_ROWS = 12
_FILES = 3
_TITLES = {
    "diff": "Changes",
    "diff_device_work": "Device work by class",
    "diff_kernels": "Kernels, copies and fills",
    "diff_operators": "Operators",
    "diff_modules": "Modules",
    "diff_iterations": "Iterations",
    "diff_recorded": "Recorded data",
}
"""Tables on a page about differences, in this order."""
_PLAIN = ("diff_iterations", "diff_recorded")
"""Tables without times per iteration."""
_WIDE = ("diff", "diff_kernels")
_COLUMNS = {
    "part", "name", "status", "before_iteration", "after_iteration", "before_count", "after_count", "before_ns",
    "after_ns", "change_ns", "share", "is_significant", "note", "class", "kind", "is_compared", "reason",
}  # fmt: skip


def timeline_page(session: TimelineSession, title: str, tables: Mapping[str, Any] | None = None) -> str:
    """Builds a page with the timeline, and with tables of differences if given."""
    return _page(session, session.picture(_PICTURE_WIDTH), title, tables)


def static_timeline(
    session: TimelineSession, title: str, height: int, tables: Mapping[str, Any] | None = None
) -> Static:
    """Builds the page in a frame."""
    picture = session.picture(_PICTURE_WIDTH)
    return Static(_page(session, picture, title, tables), picture, title, height)


def _page(session: TimelineSession, picture: str, title: str, tables: Mapping[str, Any] | None) -> str:
    names = [name for name in _TITLES if tables and len(tables[name])]
    # Kernel names are long. Other tables stand in pairs; a last one without a partner is wide, too.
    halves = [name for name in names if name not in _WIDE]
    wide = {*_WIDE, *halves[len(halves) // 2 * 2 :]}
    sections = {name: _table(name, tables[name], is_wide=name in wide) for name in names if tables}
    first = sections.pop("diff", "")
    links = "".join(f"<a href='#{name}'>{_TITLES[name]}</a>" for name in sections)
    links = f"<a href='#timeline'>Timeline</a>{links}"
    body = (
        f"<header class='ks-head'><h1 class='ks-title'>{text.escaped(title)}</h1>"
        f"{_sides(session) if tables else ''}</header>"
        f"<nav class='ks-nav' aria-label='Contents'>{links}</nav>"
        f"<div class='ks-grid'>{first}{_timeline(picture)}{''.join(sections.values())}</div>"
    )
    data = (snapshot_data(rank, trace.snapshot(), name) for trace, name, rank in session.parts)
    return page_of(title, body, "".join(data), _hash(session.align))


def _sides(session: TimelineSession) -> str:
    """Lists the files of both sides."""
    files: dict[str, list[str]] = {}
    names = distinct_names([part.trace.source or "" for part in session.parts])
    for part, name in zip(session.parts, names, strict=True):
        if part.name and name:
            files.setdefault(part.name, []).append(name)
    sides = [(text.escaped(side), text.escaped(_shortened(names))) for side, names in files.items()]
    return "".join(f"<p><b>{side}</b> {names}</p>" for side, names in sides)


def _shortened(names: list[str]) -> str:
    more = f" and {len(names) - _FILES} more" if len(names) > _FILES else ""
    return ", ".join(names[:_FILES]) + more


def _table(name: str, table: Table, *, is_wide: bool) -> str:
    shown = table.select(*(column for column in table.columns if column in _COLUMNS))
    rows = section(shown, _ROWS)
    header = [column.replace("is_significant", "significant").replace("_", " ") for column in rows.header]
    rows = rows._replace(title="" if name in _PLAIN else "per iteration", header=header)
    kind = "wide" if is_wide else "half"
    return (
        f"<section class='ks-{kind}' id='{name}'><h2>{_TITLES[name]}</h2>"
        f"<div class='ks-scroll' tabindex='0'>{table_html(rows, names='name')}</div></section>"
    )


def _timeline(picture: str) -> str:
    inside = f"<div id='ks-timeline'>{figure(picture)}</div>"
    return f"<section class='ks-wide' id='timeline'><h2>Timeline</h2>{inside}</section>"


def _hash(align: Align) -> str:
    """Fragment of the address that selects the alignment."""
    if align is None or align == "clocks":
        return ""
    return f"#align=iteration-{align['iteration']}" if isinstance(align, dict) else f"#align={align}"
