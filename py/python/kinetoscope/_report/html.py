"""HTML of a trace summary, without scripts, for notebooks.

Every text from a trace passes through `text.escaped`, or through the escaping of the core.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinetoscope import _native
from kinetoscope._base import text

if TYPE_CHECKING:
    from kinetoscope._analysis.summary import Section, Summary
    from kinetoscope.trace import Trace

_NAME_WIDTH = 160
_NUM_ROWS = 10

# Text has the colours of the host, and lines and cards are translucent grey: this fits all themes.
STYLE = """
.ks{color:var(--jp-content-font-color1,var(--vscode-editor-foreground,inherit));
font:13px/1.45 var(--jp-ui-font-family,system-ui,sans-serif);max-width:1100px}
.ks-title{font-size:inherit;font-weight:600;margin:0 0 8px}
.ks-cards{display:flex;flex-wrap:wrap;gap:8px;margin:0 0 12px;padding:0}
.ks-card{background:rgba(128,128,128,.13);border-radius:6px;padding:6px 12px;margin:0}
.ks-card dt{opacity:.72;font-size:11px;font-weight:400}
.ks-card dd{margin:0;font-size:16px;font-variant-numeric:tabular-nums}
.ks-picture{margin:0 0 12px;overflow-x:auto}.ks-picture svg{max-width:100%;height:auto}
.ks-sections{display:flex;flex-wrap:wrap;gap:4px 32px;align-items:flex-start}
.ks table{border-collapse:collapse;margin:0 0 16px;font-size:12px;font-variant-numeric:tabular-nums}
.ks caption{text-align:left;font-weight:600;padding:4px 0;color:inherit}
.ks th,.ks td{text-align:left;padding:2px 12px 2px 0;border:0;border-bottom:1px solid rgba(128,128,128,.28);
vertical-align:top;max-width:52em;overflow-wrap:anywhere;white-space:normal;background:none}
.ks th{font-weight:400}
.ks th,.ks-note{color:inherit;opacity:.72}
.ks .ks-number{text-align:right;white-space:nowrap}
"""


def trace_html(trace: Trace, summary: Summary) -> str:
    """HTML of a trace: its summary, with a picture of the timeline."""
    return _block(summary, trace.picture())


def summary_html(summary: Summary) -> str:
    """HTML of a summary."""
    return _block(summary, "")


def _block(summary: Summary, picture: str) -> str:
    return f"<style>{STYLE}</style><div class='ks'>{_heading(summary)}{figure(picture)}{_tables(summary)}</div>"


def _heading(summary: Summary) -> str:
    cards = "".join(
        f"<div class='ks-card'><dt>{text.escaped(card.label)}</dt><dd>{text.escaped(card.value)}</dd></div>"
        for card in summary.cards
    )
    return f"<p class='ks-title'>{_name(summary.title)}</p><dl class='ks-cards'>{cards}</dl>"


def figure(picture: str) -> str:
    """Wraps a picture of the core; empty for an empty picture."""
    return f"<figure class='ks-picture'>{picture}</figure>" if picture else ""


def _tables(summary: Summary) -> str:
    return f"<div class='ks-sections'>{''.join(map(table_html, summary.sections(_NUM_ROWS)))}</div>"


def table_html(section: Section, names: str | None = None) -> str:
    """HTML of a table, with all its rows. `names` is a column to format like kernel names."""
    header = _row(section.header, section.numbers, "th scope='col'", "th")
    at = section.header.index(names) if names in section.header else -1
    rows = "".join(_row(row, section.numbers, "td", "td", at) for row in section.rows)
    more = f"<p class='ks-note'>and {text.count(section.left_out)} more</p>" if section.left_out else ""
    return (
        f"<div><table><caption>{text.escaped(section.title)}</caption><thead>{header}</thead><tbody>{rows}</tbody></table>"
        f"{more}</div>"
    )


def _row(cells: list[str], numbers: list[bool], opening: str, closing: str, names: int = -1) -> str:
    def cell_html(at: int, cell: str) -> str:
        if at == names:
            return f"<{opening} class=ks-name>{_native.name_html(cell)}</{closing}>"
        return f"<{opening}{' class=ks-number' if numbers[at] else ''}>{_name(cell)}</{closing}>"

    return f"<tr>{''.join(cell_html(at, cell) for at, cell in enumerate(cells))}</tr>"


def _name(name: str) -> str:
    """Escapes a name. Very long names lose their middle, and show it on hover."""
    shown = text.clipped(text.printable(name), _NAME_WIDTH)
    if shown == name:
        return text.escaped(name)
    return f"<span title='{text.escaped(text.printable(name))}'>{text.escaped(shown)}</span>"
