"""Layout of a trace summary, for text, HTML and terminals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from kinetoscope._base import text

Row = Mapping[str, Any]

_TEXT_WIDTH = 64

FOREIGN = ("foreign_program", "foreign_recorder")
"""Remarks that name another tool than Kineto: for other programs, and for those of PyTorch."""


class Section(NamedTuple):
    """A table of the summary, with formatted cells."""

    title: str
    header: list[str]
    rows: list[list[str]]
    numbers: list[bool]
    """Whether each column is numeric and right-aligned."""
    left_out: int
    """Number of rows that are not shown."""
    is_prose: bool = False
    """Whether the rows are sentences, which text shows as lines."""

    def __str__(self) -> str:
        if self.is_prose:
            rows = ["  →  ".join(filter(None, map(text.printable, row))) for row in self.rows]
            more = [f"and {self.left_out:,} more"] if self.left_out else []
            return "\n".join([self.title, *rows, *more])
        rows = [[text.clipped(text.printable(cell), _TEXT_WIDTH) for cell in row] for row in self.rows]
        lines = [self.title, text.aligned(self.header, rows, self.numbers)]
        return "\n".join([*lines, f"and {self.left_out:,} more"] if self.left_out else lines)


class Card(NamedTuple):
    """A headline number."""

    label: str
    value: str


class Summary:
    """Verdict, findings, devices, iterations, operators, kernels, modules and health.

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
        cards = [Card("recording", data["verdict"]), Card("span", text.duration(data["duration_ns"]))]
        cards.append(Card("events", text.count(data["num_events"])))
        if data["num_nodes"]:
            cards.append(Card("nodes", text.count(data["num_nodes"])))
        if data["iteration_time"]:
            cards.append(Card("iterations", _iterations(data["iteration_time"]) + _left_out(data["problems"])))
        cards += [_device_card(device) for device in data["devices"]]
        if data["sm_efficiency"] is not None:
            cards.append(Card("SM efficiency", text.share(data["sm_efficiency"], 1)))
        return cards

    @property
    def headline(self) -> str:
        """Title and headline numbers, in one line."""
        return f"{text.printable(self.title)}: {' · '.join(f'{card.label} {card.value}' for card in self.cards)}"

    def sections(self, limit: int = 10) -> list[Section]:
        """Returns the non-empty tables, each with at most `limit` rows."""
        rows = {**self.data, **_problems(self.data)}
        return [_section(layout, rows, limit) for layout in _LAYOUTS if rows[layout.key]]

    def __repr__(self) -> str:
        return "\n\n".join([text.printable(self.headline), *map(str, self.sections())])

    def _repr_html_(self) -> str:
        from kinetoscope._report.html import summary_html

        return summary_html(self)


def _problems(data: dict[str, Any]) -> dict[str, list[Row]]:
    """Separates problems that decide the verdict, or affect all numbers, from other defects."""
    problems = [row for row in data["problems"] if row["is_shown"]]
    names = {problem["name"] for problem in problems}
    return {"problems": problems, "health": [row for row in data["health"] if row["kind"] not in names]}


def _iterations(time: Row) -> str:
    """Formats count, mean, standard deviation and the slowest iteration."""
    spread = f" ± {text.duration(round(time['std_ns']))}" if time["std_ns"] is not None else ""
    slowest = f", slowest {time['slowest']}: {text.duration(time['slowest_ns'])}" if time["count"] > 1 else ""
    return f"{text.count(time['count'])} × {text.duration(time['mean_ns'])}{spread}{slowest}"


def _left_out(problems: list[Row]) -> str:
    """Names the number of observed iterations if their times are left out."""
    numbers = (row["count"] for row in problems if row["name"] == "observed_times" and not row["is_shown"])
    return "".join(f" (without {text.count(number)} observed)" for number in numbers)


def _device_card(device: Row) -> Card:
    number = "" if device["device"] is None else f" {device['device']}"
    unknown = f", unknown {text.share(device['unknown_share'], 1)}" if device["unknown_share"] else ""
    return Card(f"device{number} busy", f"{text.share(device['busy_share'], 1)}{unknown}")


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
    is_prose: bool = False


def _word(title: str, key: str) -> _Column:
    return _Column(title, key, str, is_number=False)


def _count(title: str, key: str) -> _Column:
    return _Column(title, key, text.count)


def _time(title: str, key: str) -> _Column:
    return _Column(title, key, text.duration)


def _device_time(title: str, key: str) -> _Column:
    return _Column(title, key, _known_time, is_optional=True)


def _share(number: float) -> str:
    return text.share(number, 1)


def _known_time(number: int | None) -> str:
    return "unknown" if number is None else text.duration(number)


_LAYOUTS = (
    _Layout("problems", "Problems", (_word("problem", "message"), _word("fix", "advice")), is_prose=True),
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
            _device_time("unknown", "unknown_ns"),
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
        (
            _count("iteration", "iteration"),
            _time("duration", "dur_ns"),
            _device_time("device busy", "device_busy_ns"),
            _device_time("device unknown", "device_unknown_ns"),
        ),
    ),
    _Layout(
        "iteration_markers",
        "Markers of iterations",
        (
            _word("marker", "marker"),
            _word("first name", "name"),
            _count("count", "count"),
            _Column("taken", "is_taken", lambda is_taken: "yes" if is_taken else "no", is_number=False),
        ),
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
    columns = [
        column for column in layout.columns if not column.is_optional or any(row[column.key] != 0 for row in rows)
    ]
    limit = min(limit, layout.limit or limit)
    num_rows = data[layout.count_key] if layout.count_key else len(rows)
    return Section(
        title=f"{layout.title}{_together(data) if layout.key == 'findings' else ''}",
        header=[column.title for column in columns],
        rows=[[column.words(row[column.key]) for column in columns] for row in rows[:limit]],
        numbers=[column.is_number for column in columns],
        left_out=num_rows - len(rows[:limit]),
        is_prose=layout.is_prose,
    )
