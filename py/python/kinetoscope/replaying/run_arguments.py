"""Arguments that the commands which replay have in common."""

from __future__ import annotations

import argparse

from kinetoscope._cli.arguments import Group, count, flag, number
from kinetoscope._cli.output_format import add_writing


def add_number(group: Group, name: str, summary: str, default: int | None) -> None:
    """Adds a count; its help tells the default, if there is one."""
    suffix = "" if default is None else f" (default: {default})"
    group.add_argument(flag(name), type=count, metavar="N", default=default, help=f"{summary}{suffix}")


def add_timeout(group: Group, summary: str, default: float) -> None:
    """Adds the seconds after which a replay gives up."""
    help_text = f"{summary} in seconds (default: {default:g})"
    group.add_argument("--timeout", type=number, metavar="S", default=default, help=help_text)


def add_output(parser: argparse.ArgumentParser) -> None:
    """Adds where the replay's own trace and the results go."""
    output = parser.add_argument_group("Output")
    output.add_argument("--profile", metavar="DIR", help="record the replay into DIR")
    add_writing(output)
