"""SVG elements without scripts, in the colours of the surrounding page; texts are escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kinetoscope._base import text
from kinetoscope.hta.drawing.units import Unit, ticks

WIDTH = 760.0
"""Width of a picture in pixels, except for pictures with very many bars."""
TALL = 600.0
"""Height in pixels from which a horizontal axis has labels at both ends."""
LETTER = 6.1
"""Width of an average letter in pixels."""
PITCH = 16.0
"""Distance of legend lines in pixels."""
GREY = "#8d949a"
"""The colour of `others`."""
COLOURS = (
    "#1a7fc4",
    "#e69f00",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#d55e00",
    "#7a68c8",
    "#b8a800",
    "#3aa6a6",
    "#c2445e",
    "#8a6d3b",
    "#6aa84f",
)
"""The colours of Okabe and Ito, legible on light and dark, and six more."""

_MOST_ENTRIES = 40
_MOST_LETTERS = 48
_STYLE = (
    "svg:root{color:#1f2328;background:#fff}"
    "@media(prefers-color-scheme:dark){svg:root{color:#e6edf3;background:#0d1117}}"
)
_FONT = "font-family=\"system-ui,-apple-system,'Segoe UI',sans-serif\" font-size='11' fill='currentColor'"


def colours(names: Iterable[str]) -> dict[str, str]:
    """Assigns a colour to each name, in order.

    The colours repeat after twelve names, and `others` is grey.
    """
    kept = dict.fromkeys(names)
    found = {name: COLOURS[at % len(COLOURS)] for at, name in enumerate(name for name in kept if name != "others")}
    return {name: found.get(name, GREY) for name in kept}


def escaped(words: object) -> str:
    """Escapes a text for SVG text or attributes; drops control characters."""
    return text.escaped(text.printable(str(words)))


def clipped(words: object, width: float) -> str:
    """Escapes a text and clips it to `width` pixels."""
    return escaped(text.clipped(str(words), max(4, int(width / LETTER))))


def tooltip(words: str) -> str:
    """Builds a tooltip for the enclosing element; keeps line breaks."""
    return f"<title>{chr(10).join(map(escaped, words.splitlines()))}</title>"


def text_at(x: float, y: float, words: str, anchor: str = "start", opacity: float = 0.78) -> str:
    """Builds a text element from an escaped text."""
    return f"<text x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}' fill-opacity='{opacity}'>{words}</text>"


def rect(box: tuple[float, float, float, float], colour: str, words: str = "") -> str:
    """Builds a filled box (x, y, width, height) with a tooltip."""
    x, y, width, height = box
    shape = f"<rect x='{x:.1f}' y='{y:.1f}' width='{max(width, 0):.1f}' height='{max(height, 0):.1f}' fill='{colour}'"
    return f"{shape}>{tooltip(words)}</rect>" if words else f"{shape}/>"


def path(steps: str, opacity: float = 0.13) -> str:
    """Builds a thin line."""
    return f"<path d='{steps}' stroke='currentColor' stroke-opacity='{opacity}' fill='none'/>"


def legend(entries: Mapping[str, str], top: float, values: Mapping[str, str] | None = None) -> tuple[str, float]:
    """Builds a legend of names and colours, and returns the legend and its height.

    The last entry counts the omitted names.
    """
    names = list(entries)
    parts: list[str] = []
    x, y = 0.0, top
    for name in names[:_MOST_ENTRIES]:
        label = text.clipped(name, _MOST_LETTERS)
        value = f" {values[name]}" if values else ""
        width = 34 + 6.5 * len(label + value)
        if x and x + width > WIDTH:
            x, y = 0.0, y + PITCH
        words = f"{tooltip(name)}{escaped(label)}<tspan fill-opacity='.6'>{escaped(value)}</tspan>"
        parts += [rect((x, y + 2, 10, 10), entries[name]), text_at(x + 15, y + 11, words, opacity=0.9)]
        x += width
    if len(names) > _MOST_ENTRIES:
        y += PITCH
        parts.append(text_at(0, y + 11, f"and {len(names) - _MOST_ENTRIES:,} more names"))
    return "".join(parts), (y - top + PITCH if names else 0)


def horizontal_axis(span: tuple[float, float], unit: Unit, box: tuple[float, float, float, float]) -> str:
    """Draws vertical grid lines at round numbers in a box (x, y, width, height).

    Labels are below the box, and also above tall boxes.
    """
    (low, high), (left, top, width, height) = span, box
    labels = {value: unit.words(value) for value in ticks(low, high, unit)}
    parts = []
    for value, label in labels.items():
        x = left + (value - low) / (high - low) * width
        parts.append(path(f"M{x:.1f} {top:.1f}v{height:.1f}", 0.4 if value == 0 and low < 0 else 0.13))
        ys = [top + height + 15, top - 6] if height > TALL else [top + height + 15]
        parts += [text_at(x, y, escaped(label), "middle") for y in ys]
    return "".join(parts)


def vertical_axis(span: tuple[float, float], unit: Unit, box: tuple[float, float, float, float]) -> str:
    """Draws horizontal grid lines at round numbers in a box (x, y, width, height).

    Labels are to the left of the box.
    """
    (low, high), (left, top, width, height) = span, box
    parts = []
    for value in ticks(low, high, unit):
        y = top + height - (value - low) / (high - low) * height
        parts.append(path(f"M{left:.1f} {y:.1f}h{width:.1f}", 0.4 if value == 0 and low < 0 else 0.13))
        parts.append(text_at(left - 7, y + 4, escaped(unit.words(value)), "end"))
    return "".join(parts)


def axis_width(span: tuple[float, float], unit: Unit) -> float:
    """Returns the width of a vertical axis's labels in pixels."""
    return 12 + LETTER * max((len(unit.words(value)) for value in ticks(*span, unit)), default=0)


def document(title: tuple[str, str], body: str, size: tuple[float, float], notes: Sequence[str] = ()) -> str:
    """Builds a complete SVG document: title, subtitle, body, and notes at the bottom."""
    (width, height), (head, rest) = size, title
    below = "".join(text_at(0, height + 12 + 15 * at, escaped(note)) for at, note in enumerate(notes))
    whole = height + 34 + 15 * len(notes)
    words = clipped(head, (width - LETTER * len(rest) - 20) * 0.85)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-12 -10 {width + 24:.0f} {whole + 20:.0f}" '
        f"width=\"{width + 24:.0f}\" role='img' style='max-width:100%;height:auto'>"
        f"<title>{escaped(head)}</title><style>{_STYLE}</style><g {_FONT}>"
        f"<text y='12'><tspan font-size='13' font-weight='600'>{words}</tspan>"
        f"<tspan dx='8' fill-opacity='.7'>{escaped(rest)}</tspan></text>"
        f"<g transform='translate(0 28)'>{body}{below}</g></g></svg>"
    )
