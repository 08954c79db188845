"""HTML of a trace summary, without scripts, for notebooks.

Every text from a trace passes through `text.escaped`, or through the escaping of the core.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote

from kinetoscope._base import text

if TYPE_CHECKING:
    from kinetoscope._analysis.summary import Section, Summary
    from kinetoscope.trace import Trace

_NAME_WIDTH = 160
_NUM_ROWS = 10
_TEXT_CELLS = ("td", "th scope='row'", "th scope='col'")
_WORD_WIDTH = 24
_PART = re.compile(r"[^:,<(_/.-]*[:,<(_/.-]+|[^:,<(_/.-]+")
_SVG = re.compile(
    r'<svg(?: xmlns="[^"]*")?'
    r'(?P<rest>[^>]* viewBox="0 0 (?P<width>\d+) (?P<height>\d+)"[^>]* aria-label="(?P<label>[^"]*)".*)',
    re.DOTALL,
)
_CHART = re.compile(
    r'<svg [^>]* viewBox="\S+ \S+ (?P<width>\d+) (?P<height>\d+)"[^>]*><title>(?P<label>[^<]*)</title>', re.DOTALL
)
# The outline of names is visible only where the page is dark and the picture does not know it.
_IMAGE_STYLE = (
    "<style>text{stroke:#fff;stroke-width:3px;stroke-linejoin:round;paint-order:stroke}svg{color:#1f2328}"
    "@media(prefers-color-scheme:dark){text{stroke:#111}svg{color:#e6e9ee}}</style>"
)
_SAFE = " !'()*+,-./:;=?@_~"
"""Characters that need no escape in an address within double quotes."""

# Text has the colours of the host, and lines and cards are translucent grey: this fits all themes.
# Hosts style tables by class and tag, so an id in each selector outranks them. `revert` then undoes
# their rules; only pictures keep theirs, because `revert` also removes the attributes of SVG.
# Untrusted outputs lose the rules, and JupyterLab keeps the `style` of a cell.
_SCOPE = ".ks:not(#ks)"
_RULES = """
&{all:revert;max-width:1100px;text-align:left;text-indent:0;text-transform:none;letter-spacing:normal;
word-spacing:normal;white-space:normal;overflow-wrap:normal;word-break:normal;hyphens:manual;
color:var(--jp-content-font-color1,var(--vscode-editor-foreground,inherit));
font:13px/1.45 var(--jp-ui-font-family,system-ui,sans-serif)}
& :not(svg,svg *,img){all:revert}
& .ks-title{font-size:inherit;font-weight:600;margin:0 0 8px}
& .ks-hint{margin:0 0 8px}
& .ks-picture{margin:0 0 12px;overflow-x:auto}
& .ks-picture :is(svg,img){max-width:100%;height:auto;margin:0;padding:0;border:0}
& .ks-picture img{display:block;width:100%}
& .ks-sections{display:flex;flex-wrap:wrap;gap:4px 32px;align-items:flex-start}
& .ks-section{max-width:100%;overflow-x:auto}
& table{border-collapse:collapse;margin:0 0 16px;color:inherit;font:inherit;font-size:12px;
font-variant-numeric:tabular-nums}
& caption{text-align:left;font-weight:600;padding:4px 0}
& :is(th,td){text-align:left;font-weight:400;padding:2px 12px 2px 0;
border-bottom:1px solid rgba(128,128,128,.28);vertical-align:top;max-width:52em;overflow-wrap:break-word}
& :is(th,.ks-note){opacity:.72}
& .ks-number{text-align:right;white-space:nowrap}
& .ks-cards{display:block;margin:0 0 12px}
& .ks-cards tbody{display:flex;flex-wrap:wrap;gap:8px}
& .ks-card{display:block;background:rgba(128,128,128,.13);border-radius:6px;padding:6px 12px}
& .ks-card :is(th,td){display:block;padding:0;border:0}
& .ks-card th{font-size:11px}
& .ks-card td{font-size:16px}
& summary{cursor:pointer}
& details{overflow-x:auto}
"""
_MARKS = {
    "light": ":is(html,body).light,:is(html,body):is([theme=light],[data-theme=light]),.vscode-light,"
    ".vscode-high-contrast-light,[data-jp-theme-light=true]",
    "dark": ":is(html,body).dark,:is(html,body):is([theme=dark],[data-theme=dark]),.vscode-dark,"
    ".vscode-high-contrast:not(.vscode-high-contrast-light),[data-jp-theme-light=false]",
}
"""Selectors of hosts that state their theme, as in `wasm/web/host/theme.ts`."""


def follow_theme(selector: str) -> str:
    """Style that gives images or frames, which cannot see the host's page, the host's theme."""
    return "\n".join(f":is({marks}) {selector}{{color-scheme:{theme}}}" for theme, marks in _MARKS.items())


STYLE = f"{_RULES}{follow_theme('& .ks-picture img')}".replace("&", _SCOPE)

# In a notebook that runs, the widget appears first, and hides the rest before it is visible.
_SAVED_STYLE = """
.jp-OutputArea-child:has(+ .jp-OutputArea-child [data-ks-saved])>.jp-OutputArea-output:not(:has(*)){display:none}
@keyframes ks-saved{from{max-height:0;overflow:hidden;visibility:hidden}}
.jp-NotebookPanel [data-ks-saved]:not(#ks){animation:ks-saved 1.5s step-end}
"""


def trace_html(trace: Trace, summary: Summary) -> str:
    """HTML of a trace: its summary, with a picture of the timeline."""
    return block(f"{_heading(summary)}{image(trace.picture())}{_tables(summary)}")


def summary_html(summary: Summary) -> str:
    """HTML of a summary."""
    return block(f"{_heading(summary)}{_tables(summary)}")


def picture_html(title: str, picture: str, sections: Sequence[Section]) -> str:
    """HTML of an object with a picture of the core and tables."""
    tables = "".join(map(table_html, sections))
    return block(f"<p class='ks-title'>{_name(title)}</p>{image(picture)}<div class='ks-sections'>{tables}</div>")


def saved_html(key: str, hint: str, picture: str, summary: Summary | None = None) -> str:
    """HTML of a timeline that is not live: a picture of the core below a hint, and a summary.

    The widget with this key hides it, see `wasm/web/host/saved.ts`. The style hides the error that
    JupyterLab shows in the output before, where a reopened notebook has no widget.
    """
    content = (
        f"{_heading(summary) if summary else ''}{_hint(hint)}{image(picture)}{_tables(summary) if summary else ''}"
    )
    return f"<style>{_SAVED_STYLE}</style>{block(content, f' data-ks-saved={key}')}"


def block(content: str, attributes: str = "") -> str:
    """Wraps content with its style, which is independent of the host's."""
    for cell in _TEXT_CELLS:
        content = content.replace(f"<{cell}>", f"<{cell} style='text-align:left'>")
    return f"<style>{STYLE}</style><div class='ks'{attributes}>{content}</div>"


def _hint(hint: str) -> str:
    return f"<p class='ks-hint'>{text.escaped(hint)}</p>" if hint else ""


def _heading(summary: Summary) -> str:
    """Title and cards. The cards are a table, which stays readable without styles."""
    cards = "".join(
        f"<tr class='ks-card'><th scope='row'>{text.escaped(card.label)}</th><td>{text.escaped(card.value)}</td></tr>"
        for card in summary.cards
    )
    return f"<p class='ks-title'>{_name(summary.title)}</p><table class='ks-cards'><tbody>{cards}</tbody></table>"


def figure(picture: str) -> str:
    """Wraps a picture of the core; empty for an empty picture."""
    return f"<figure class='ks-picture'>{picture}</figure>" if picture else ""


def image(picture: str) -> str:
    """Wraps a timeline or a chart of the core as an image, which sanitisers of notebooks keep.

    They remove SVG elements, and leave the names of the tracks as one word.
    """
    if chart := _CHART.match(picture):  # has its own colours
        return _image(chart, picture)
    match = _SVG.match(picture)
    if match is None:
        return ""
    rest = match["rest"].replace('width="100%"', _size(match), 1).replace(">", f">{_IMAGE_STYLE}", 1)
    return _image(match, f"<svg xmlns='http://www.w3.org/2000/svg'{rest}")


def _image(match: re.Match[str], picture: str) -> str:
    address = quote(picture, safe=_SAFE)
    return figure(f'<img {_size(match)} alt="{match["label"]}" src="data:image/svg+xml,{address}">')


def _size(match: re.Match[str]) -> str:
    return f"width='{match['width']}' height='{match['height']}'"


def _tables(summary: Summary) -> str:
    return f"<div class='ks-sections'>{''.join(map(table_html, summary.sections(_NUM_ROWS)))}</div>"


def table_html(section: Section) -> str:
    """HTML of a table, with all its rows."""
    header = _row(section.header, section.numbers, "th scope='col'", "th")
    prose = {at for at, name in enumerate(section.header) if name in text.SENTENCES}
    rows = "".join(_row(row, section.numbers, "td", "td", prose) for row in section.rows)
    more = f"<p class='ks-note'>and {text.count(section.left_out)} more</p>" if section.left_out else ""
    return (
        f"<div class='ks-section'><table><caption>{text.escaped(section.title)}</caption>"
        f"<thead>{header}</thead><tbody>{rows}</tbody></table>"
        f"{more}</div>"
    )


def _row(
    cells: list[str],
    numbers: list[bool],
    opening: str,
    closing: str,
    prose: Collection[int] = (),
) -> str:
    def cell_html(at: int, cell: str) -> str:
        if at in prose:
            return f"<{opening}>{text.escaped(text.printable(cell))}</{closing}>"
        return f"<{opening}{' class=ks-number' if numbers[at] else ''}>{_name(cell)}</{closing}>"

    return f"<tr>{''.join(cell_html(at, cell) for at, cell in enumerate(cells))}</tr>"


def _name(name: str) -> str:
    """Escapes a name. Very long names lose their middle, and show it on hover."""
    shown = text.clipped(text.printable(name), _NAME_WIDTH)
    if shown == name:
        return _breakable(name)
    return f"<span title='{text.escaped(text.printable(name))}'>{_breakable(shown)}</span>"


def _breakable(name: str) -> str:
    """Escapes a name, and lets its long words break between their parts."""
    words = (text.escaped(word) if len(word) <= _WORD_WIDTH else _parts(word) for word in name.split(" "))
    return " ".join(words)


def _parts(word: str) -> str:
    return "<wbr>".join(text.escaped(part) for part in _PART.findall(word))
