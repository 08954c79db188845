"""Output formats of a table: text, CSV or JSON on stdout, or a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kinetoscope._base import text
from kinetoscope._base.tell import data_output, tell
from kinetoscope._cli.arguments import Group, count
from kinetoscope._cli.output import expect_extension
from kinetoscope._cli.terminal import print_section
from kinetoscope._export.tables import FORMATS, Part, export, json_array, write_csv
from kinetoscope._report.table_text import section

if TYPE_CHECKING:
    from kinetoscope.table import Table

_LIMIT = 20
_FLAGS = {"csv": "print CSV", "json": "print a JSON array", "parquet": "write Parquet; requires -o"}
_PRINTABLE = (".csv", ".json")
PICTURES = (".svg", ".html")
"""Extensions of pictures."""


class WritingOptions(NamedTuple):
    """Options of a command that prints or writes a table."""

    format: str | None
    """Extension of the format that a flag chooses."""
    output: Path | None
    limit: int
    """Maximum number of rows of the text."""


def add_writing(group: Group, others: Sequence[str] = ()) -> None:
    """Adds the arguments of `WritingOptions`; `others` are additional extensions."""
    flags = group.add_mutually_exclusive_group()
    for name, summary in _FLAGS.items():
        flags.add_argument(f"--{name}", dest="format", action="store_const", const=f".{name}", help=summary)
    extensions = ", ".join([*FORMATS, *others])
    group.add_argument("-o", "--output", type=Path, metavar="FILE", help=f"write to FILE; extensions: {extensions}")
    group.add_argument(
        "--limit", type=count, default=_LIMIT, metavar="N", help=f"print at most N rows as text (default: {_LIMIT})"
    )


def format_of(options: WritingOptions, others: Sequence[str] = ()) -> str | None:
    """Returns the extension of the format, from the flag or the output file; None for text.

    Raises ValueError if the flag needs a file, contradicts the file, or the extension is unknown.
    """
    output = options.output
    if output is None:
        if options.format and options.format not in _PRINTABLE:
            raise ValueError(f"expected an output file (-o) with --{options.format[1:]}, found none")
        return options.format
    if options.format:
        expect_extension(output, options.format)
        return options.format
    extension, supported = output.suffix.lower(), (*FORMATS, *others)
    if extension not in supported:
        raise ValueError(f"expected a file name that ends in {', '.join(supported)}, found {output.name}")
    return extension


def print_or_write(table: Table, options: WritingOptions, extension: str | None) -> None:
    """Prints a table as text, CSV or JSON, or writes it to the output file and prints the path."""
    parts = [Part(table, {})]
    if extension is None:
        print_section(section(table, options.limit))
    elif options.output is not None:
        path = export(parts, options.output, extension)
        tell(f"{path}: {text.plural(len(table), 'row')} of {table.name}")
    elif extension == ".csv":
        write_csv(parts, data_output(), "\n")
    else:
        data_output().writelines(json_array(parts))
