"""Layout of a trace summary, for text, HTML and terminals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from kinetoscope._base import text

Row = Mapping[str, Any]

_TEXT_WIDTH = 64


class Section(NamedTuple):
    """A table of the summary, with formatted cells."""

    title: str
    header: list[str]
    rows: list[list[str]]
    numbers: list[bool]
    """Whether each column is numeric and right-aligned."""
    left_out: int
    """Number of rows that are not shown."""

    def __str__(self) -> str:
        rows = [[text.clipped(text.printable(cell), _TEXT_WIDTH) for cell in row] for row in self.rows]
        lines = [self.title, text.aligned(self.header, rows, self.numbers)]
        return "\n".join([*lines, f"and {self.left_out:,} more"] if self.left_out else lines)


class Card(NamedTuple):
    """A headline number."""

    label: str
    value: str


class Summary:
    """Findings, devices, iterations, operators, kernels, modules and health of a trace or range.

    `data` holds the numbers, with integer ns. `str()` and `repr()` give plain text; notebooks show
    HTML.
    """

    def __init__(self, data: dict[str, Any], title: str = "trace") -> None:
        self.data = data
        self.title = title

    @property
    def cards(self) -> list[Card]:
        """Headline numbers."""
        data = self.data
        cards = [Card("span", text.duration(data["duration_ns"])), Card("events", text.count(data["num_events"]))]
        if data["num_nodes"]:
            cards.append(Card("nodes", text.count(data["num_nodes"])))
        if data["iteration_time"]:
            cards.append(Card("iterations", _iterations(data["iteration_time"])))
        return cards + [_device_card(device) for device in data["devices"]]

    @property
    def headline(self) -> str:
        """Title and headline numbers, in one line."""
        return f"{text.printable(self.title)}: {' · '.join(f'{card.label} {card.value}' for card in self.cards)}"

    def sections(self, limit: int = 10) -> list[Section]:
        """Returns the non-empty tables, each with at most `limit` rows."""
        return [_section(layout, self.data, limit) for layout in _LAYOUTS if self.data[layout.key]]

    def __repr__(self) -> str:
        return "\n\n".join([text.printable(self.headline), *map(str, self.sections())])

    def _repr_html_(self) -> str:
        from kinetoscope._report.html import summary_html

        return summary_html(self)


def _iterations(time: Row) -> str:
    """Formats count, mean, standard deviation and the slowest iteration."""
    spread = f" ± {text.duration(round(time['std_ns']))}" if time["std_ns"] is not None else ""
    slowest = f", slowest {time['slowest']}: {text.duration(time['slowest_ns'])}" if time["count"] > 1 else ""
    return f"{text.count(time['count'])} × {text.duration(time['mean_ns'])}{spread}{slowest}"


def _device_card(device: Row) -> Card:
    number = "" if device["device"] is None else f" {device['device']}"
    return Card(f"device{number} busy", text.share(device["busy_share"], 1))


def _optional_time(number: int | None) -> str:
    return "" if number is None else text.duration(number)


# --- layout --------------------------------------------------------------------------------------


class _Column(NamedTuple):
    title: str
    key: str
    words: Callable[[Any], str]
    is_number: bool = True
    is_optional: bool = False
    """Omitted if all its values are zero."""


class _Layout(NamedTuple):
    key: str
    title: str
    columns: Sequence[_Column]
    count_key: str | None = None
    """Key of the total number of rows, if the data holds only some."""
    limit: int | None = None
    """Maximum number of rows."""


def _word(title: str, key: str) -> _Column:
    return _Column(title, key, str, is_number=False)


def _count(title: str, key: str) -> _Column:
    return _Column(title, key, text.count)


def _time(title: str, key: str) -> _Column:
    return _Column(title, key, text.duration)


def _device_time(title: str, key: str) -> _Column:
    return _Column(title, key, text.duration, is_optional=True)


def _share(number: float) -> str:
    return text.share(number, 1)


_LAYOUTS = (
    _Layout(
        "findings",
        "Findings",
        (
            _word("finding", "name"),
            _word("subject", "subject"),
            _time("cost", "cost_ns"),
            _Column("share", "share", _share),
            _Column("also in others", "overlap_ns", _optional_time, is_optional=True),
            _word("fix", "advice"),
        ),
        "num_findings",
        limit=3,
    ),
    _Layout(
        "breakdown",
        "Devices",
        (
            _Column("device", "device", lambda number: "" if number is None else str(number)),
            _time("compute", "compute_ns"),
            _device_time("exposed communication", "exposed_communication_ns"),
            _device_time("exposed copies", "exposed_copy_ns"),
            _device_time("exposed other work", "exposed_other_ns"),
            _time("idle", "idle_ns"),
        ),
    ),
    _Layout(
        "time_by_kind",
        "Time by event kind",
        (_word("kind", "kind"), _count("count", "count"), _time("total", "total_ns"), _time("self", "self_ns")),
    ),
    _Layout(
        "iterations",
        "Iterations",
        (_count("iteration", "iteration"), _time("duration", "dur_ns"), _device_time("device busy", "device_busy_ns")),
    ),
    _Layout(
        "operators",
        "Top operators",
        (
            _word("operator", "name"),
            _count("count", "count"),
            _time("self", "self_ns"),
            _time("total", "total_ns"),
            _device_time("device self", "device_self_ns"),
            _device_time("device total", "device_total_ns"),
        ),
        "num_operators",
    ),
    _Layout(
        "kernels",
        "Top kernels, copies and fills",
        (
            _word("name", "name"),
            _word("kind", "kind"),
            _count("count", "count"),
            _time("total", "total_ns"),
            _time("mean", "mean_ns"),
            _time("longest", "max_ns"),
            _Column("share", "share", _share),
        ),
        "num_kernels",
    ),
    _Layout(
        "modules",
        "Top modules",
        (
            _word("module", "module"),
            _count("count", "count"),
            _time("total", "total_ns"),
            _device_time("device self", "device_self_ns"),
            _device_time("device total", "device_total_ns"),
        ),
        "num_modules",
    ),
    _Layout("health", "Health", (_word("message", "message"), _count("count", "count"), _word("first", "first"))),
)


def _together(data: dict[str, Any]) -> str:
    """Says how long all costs last, where overlapping costs count once."""
    cost_ns = data["findings_cost_ns"]
    return (
        f" (costs overlap: together at most {text.duration(cost_ns)})" if cost_ns and len(data["findings"]) > 1 else ""
    )


def _section(layout: _Layout, data: dict[str, Any], limit: int) -> Section:
    rows: list[Row] = data[layout.key]
    columns = [column for column in layout.columns if not column.is_optional or any(row[column.key] for row in rows)]
    limit = min(limit, layout.limit or limit)
    num_rows = data[layout.count_key] if layout.count_key else len(rows)
    return Section(
        title=f"{layout.title}{_together(data) if layout.key == 'findings' else ''}",
        header=[column.title for column in columns],
        rows=[[column.words(row[column.key]) for column in columns] for row in rows[:limit]],
        numbers=[column.is_number for column in columns],
        left_out=num_rows - len(rows[:limit]),
    )
