"""Pages of several traces on one timeline: two sides that are compared, or those of a job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kinetoscope._analysis.session import Align, Screen
from kinetoscope._base import text
from kinetoscope._io.paths import told_apart
from kinetoscope._report.html import figure, table_html
from kinetoscope._report.page import page_of, snapshot_data
from kinetoscope._report.static import Static
from kinetoscope._report.table_text import section
from kinetoscope.table import Table

_PICTURE_WIDTH = 1200
_ROWS = 12
_FILES = 3
_TITLES = {
    "diff": "What changed",
    "diff_kernels": "Kernels, copies and fills",
    "diff_operators": "Operators",
    "diff_modules": "Modules",
    "diff_iterations": "Iterations",
}
"""The tables that a page about differences shows, in this order."""
_WIDE = ("diff", "diff_kernels")
_COLUMNS = {
    "part", "name", "status", "before_iteration", "after_iteration", "before_count", "after_count", "before_ns",
    "after_ns", "change_ns", "share", "is_significant",
}  # fmt: skip


def timeline_page(screen: Screen, title: str, tables: Mapping[str, Any] | None = None) -> str:
    """The whole page: tables of what differs, if there are any, and the timeline of all."""
    return _page(screen, screen.picture(_PICTURE_WIDTH), title, tables)


def static_timeline(screen: Screen, title: str, height: int, tables: Mapping[str, Any] | None = None) -> Static:
    """The page in a frame."""
    picture = screen.picture(_PICTURE_WIDTH)
    return Static(_page(screen, picture, title, tables), picture, title, height)


def _page(screen: Screen, picture: str, title: str, tables: Mapping[str, Any] | None) -> str:
    names = [name for name in _TITLES if tables and len(tables[name])]
    # Names of kernels are long; what is left over of the pairs has all the room, too.
    halves = [name for name in names if name not in _WIDE]
    wide = {*_WIDE, *halves[len(halves) // 2 * 2 :]}
    sections = {name: _table(name, tables[name], is_wide=name in wide) for name in names if tables}
    first = sections.pop("diff", "")
    links = "".join(f"<a href='#{name}'>{_TITLES[name]}</a>" for name in sections)
    links = f"<a href='#timeline'>Timeline</a>{links}"
    body = (
        f"<header class='ks-head'><h1 class='ks-title'>{text.escaped(title)}</h1>"
        f"{_sides(screen) if tables else ''}</header>"
        f"<nav class='ks-nav' aria-label='Contents'>{links}</nav>"
        f"<div class='ks-grid'>{first}{_timeline(picture)}{''.join(sections.values())}</div>"
    )
    data = (snapshot_data(rank, trace.snapshot(), name) for trace, name, rank in screen.parts)
    return page_of(title, body, "".join(data), _hash(screen.align))


def _sides(screen: Screen) -> str:
    """Which files the sides are of."""
    files: dict[str, list[str]] = {}
    for part, name in zip(screen.parts, told_apart([part.trace.source or "" for part in screen.parts]), strict=True):
        if part.name and name:
            files.setdefault(part.name, []).append(name)
    return "".join(f"<p><b>{text.escaped(side)}</b> {text.escaped(_few(names))}</p>" for side, names in files.items())


def _few(names: list[str]) -> str:
    more = f" and {len(names) - _FILES} more" if len(names) > _FILES else ""
    return ", ".join(names[:_FILES]) + more


def _table(name: str, table: Table, *, is_wide: bool) -> str:
    shown = table.select(*(column for column in table.columns if column in _COLUMNS))
    found = section(shown, _ROWS)
    header = [column.replace("is_significant", "more than chance").replace("_", " ") for column in found.header]
    found = found._replace(title="" if name == "diff_iterations" else "for an iteration", header=header)
    kind = "wide" if is_wide else "half"
    return (
        f"<section class='ks-{kind}' id='{name}'><h2>{_TITLES[name]}</h2>"
        f"<div class='ks-scroll' tabindex='0'>{table_html(found, names='name')}</div></section>"
    )


def _timeline(picture: str) -> str:
    inside = f"<div id='ks-timeline'>{figure(picture)}</div>"
    return f"<section class='ks-wide' id='timeline'><h2>Timeline</h2>{inside}</section>"


def _hash(align: Align) -> str:
    """Where the page opens: how the traces lie over each other, as its address has it."""
    if align is None or align == "clocks":
        return ""
    return f"#align=iteration-{align['iteration']}" if isinstance(align, dict) else f"#align={align}"
