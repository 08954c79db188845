"""Formats durations, sizes, counts and shares; makes text safe for terminals and HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kinetoscope import _native

SENTENCES = frozenset({"advice", "detail", "evidence", "fix", "message", "problem", "reason"})
"""Columns of sentences in tables. They wrap at blanks; other texts lose a part in the middle."""

_UNITS = (("s", 1_000_000_000), ("ms", 1_000_000), ("µs", 1_000))
_SIZES = ("B", "KiB", "MiB", "GiB", "TiB")
_STEP = 1024
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})


def duration(ns: float | None) -> str:
    """Formats ns with four significant digits, at least 1 ns: `12.35 µs`. `–` for None."""
    if ns is None:
        return "–"
    if ns < 0:
        return f"−{duration(-ns)}"
    rounded = float(f"{ns:.4g}")  # 999 950 ns would otherwise be 1000 µs
    for unit, size in _UNITS:
        if rounded >= size:
            return f"{float(f'{ns / size:.4g}'):,.10g} {unit}"
    return f"{round(ns)} ns"


def size(number: float | None) -> str:
    """Formats bytes with four significant digits: `1.5 MiB`. `–` for None."""
    if number is None:
        return "–"
    if number < 0:
        return f"−{size(-number)}"
    for unit in _SIZES:
        if float(f"{number:.4g}") < _STEP or unit == _SIZES[-1]:
            return f"{float(f'{number:.4g}'):,.10g} {unit}"
        number /= _STEP
    return ""


def count(number: float | None) -> str:
    """Formats all digits in groups of three: `132,152`. `–` for None."""
    return "–" if number is None else f"{number:,}"


def share(part: float | None, whole: float | None) -> str:
    """Formats a percentage; `–` without a whole.

    A part of more than 0 is at least `<0.1 %`; a part below the whole is at most `>99.9 %`.
    """
    if part is None or not whole:
        return "–"
    percent = round(100 * part / whole, 1) + 0.0  # turns -0.0 into 0.0
    if 0 < part < whole and percent in {0, 100}:
        return ">99.9 %" if percent else "<0.1 %"
    return f"{percent:.1f} %".replace("100.0", "100").replace("-", "−")


def plural(number: int, noun: str, nouns: str = "") -> str:
    """Formats a number with its noun: `1 event`, `2 events`. `nouns` is an irregular plural."""
    return f"{count(number)} {noun if number == 1 else nouns or noun + 's'}"


def printable(text: str) -> str:
    """Escapes control characters, so that a name from a trace cannot control a terminal."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def printable_lines(text: str) -> str:
    """Escapes control characters but line feeds."""
    return "\n".join(map(printable, text.split("\n")))


def escaped(text: str) -> str:
    """Escapes text for HTML, including attributes, like `html.escape`.

    The module `html` would load a table of all entities: one megabyte.
    """
    return text.translate(_ENTITIES)


def html_table(header: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """Returns an HTML table with escaped cells."""

    def line(cells: Sequence[str], tag: str) -> str:
        return f"<tr>{''.join(f'<{tag}>{escaped(printable(cell))}</{tag}>' for cell in cells)}</tr>"

    title = f"<caption>{escaped(caption)}</caption>" if caption else ""
    body = "".join(line(row, "td") for row in rows)
    return f"<table>{title}<thead>{line(header, 'th')}</thead><tbody>{body}</tbody></table>"


def clipped(text: str, width: int) -> str:
    """Shortens text to at most `width` characters.

    Keeps the part that distinguishes kernel names if it fits, otherwise both ends.
    """
    if len(text) > width:
        text = _native.fitting(text, width)
    if len(text) <= width:
        return text
    tail = width // 3
    return f"{text[: width - tail - 1]}…{text[len(text) - tail :]}"


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool]) -> str:
    """Aligns a table in plain text, one line per row; `right` marks numeric columns."""
    lines = [header, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(_line(cells, widths, right) for cells in lines)


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = (
        f"{cell:>{w}}" if is_right else f"{cell:<{w}}" for cell, w, is_right in zip(cells, widths, right, strict=True)
    )
    return "  ".join(padded).rstrip()
