"""The command `sql`."""

from __future__ import annotations

import argparse
from typing import NamedTuple

from kinetoscope import _native
from kinetoscope._cli.arguments import command
from kinetoscope._cli.output_format import WritingOptions, add_writing, format_of, print_or_write
from kinetoscope._cli.reading import ReadingOptions, add_rank, add_reading, add_traces, read_recordings, report_defects
from kinetoscope._cli.terminal import busy

TABLES = {
    "a trace": _native.Trace.table_names(),
    "a memory snapshot": ["actions", "segments", "blocks", "past_blocks", "frames", "annotations", "health"],
    "a memory timeline": ["sizes", "actions", "health"],
}
"""Names of tables by the kind of file."""


class SqlOptions(NamedTuple):
    """Options of `sql`."""

    query: str
    traces: list[str]
    rank: int | None
    writing: WritingOptions
    reading: ReadingOptions


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", metavar="QUERY", help="such as: select name, sum(dur_ns) from events group by 1")
    add_traces(parser)
    add_rank(parser.add_argument_group("Selection"))
    add_writing(parser.add_argument_group("Output"))
    add_reading(parser)


def _sql(options: SqlOptions) -> None:
    extension = format_of(options.writing)
    found = read_recordings(options.traces, options.reading, rank=options.rank, output=options.writing.output)
    report_defects(found)
    with busy("running the query"):
        table = found.sql(options.query)
    print_or_write(table, options.writing, extension)


SQL = command(
    "sql",
    "Run a SQL query with DuckDB, and print or save the result",
    details=" ".join(f"Tables of {kind}: {', '.join(names)}." for kind, names in TABLES.items()),
    add_arguments=_add_arguments,
    options=SqlOptions,
    run=_sql,
)
