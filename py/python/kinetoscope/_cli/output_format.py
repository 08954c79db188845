"""In what form a command answers with a table: text, CSV and JSON printed, or a file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kinetoscope._base import text
from kinetoscope._cli.arguments import count
from kinetoscope._cli.output import expect_ending
from kinetoscope._export.tables import FORMATS, Part, export, export_json, json_array, write_csv

if TYPE_CHECKING:
    from kinetoscope.table import Table

_ROWS = 20
_FORMS = {"csv": "print CSV", "json": "print a JSON array", "parquet": "write Parquet (-o)"}
_PRINTED = (".csv", ".json")
_WRITTEN = (*FORMATS, ".json")
PICTURES = (".svg", ".html")
"""What a picture is written as."""


def add_form(command: argparse.ArgumentParser | argparse._ArgumentGroup, others: Sequence[str] = ()) -> None:
    """Options for the form; `others` are endings that the command knows besides."""
    forms = command.add_mutually_exclusive_group()
    for name, about in _FORMS.items():
        forms.add_argument(f"--{name}", dest="form", action="store_const", const=f".{name}", help=about)
    endings = ", ".join([*_WRITTEN, *others])
    command.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help=f"write it here, as the ending says: {endings}"
    )
    command.add_argument("--limit", type=count, default=_ROWS, metavar="N", help=f"rows of the text (default: {_ROWS})")


def form_of(options: argparse.Namespace, others: Sequence[str] = ()) -> str | None:
    """The format that is asked for, by a flag or by the ending; None for text."""
    form, output = options.form, options.output
    if output is None:
        if form and form not in _PRINTED:
            raise ValueError(f"expected a file to write to (-o) with --{form[1:]}, found none")
        return form
    if form:
        expect_ending(output, form)
        return form
    ending, known = output.suffix.lower(), (*_WRITTEN, *others)
    if ending not in known:
        raise ValueError(f"expected a file name that ends in {', '.join(known)}, found {output.name}")
    return ending


def hand_out(table: Table, form: str, output: Path | None) -> None:
    """Prints the table, or writes it and says so."""
    parts = [Part(table, {})]
    if output is None:
        if form == ".csv":
            write_csv(parts, sys.stdout, "\n")
        else:
            sys.stdout.writelines(json_array(parts))
        return
    path = export_json(parts, output) if form == ".json" else export(parts, output, form)
    print(f"{path}: {text.plural(len(table), 'row')} of {table.name}")
