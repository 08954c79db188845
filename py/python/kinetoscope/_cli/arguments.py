"""Arguments of the command line: commands, typed options and value types."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar, get_type_hints

Options = TypeVar("Options")
Group = argparse.ArgumentParser | argparse._ArgumentGroup  # noqa: SLF001 - argparse has no public name for it
"""Accepts arguments: a parser, or a group of its help."""

_MAX_COUNT = 1 << 63


class Command(NamedTuple):
    """A command. Created by `command`, which lets pyright compare `run` with `options`."""

    name: str
    summary: str
    """One line of help: starts with a verb, ends without a full stop."""
    details: str
    """Sentences that the help of the command adds to the summary."""
    add_arguments: Callable[[argparse.ArgumentParser], None]
    options: Callable[..., Any]
    """The NamedTuple with one field per argument."""
    run: Callable[[Any], None]
    """Runs the command with its options. Raises ValueError or OSError for invalid input."""


class CommandGroup(NamedTuple):
    """Commands that share a parser: those of the program, or the analyses of `analyze`."""

    name: str
    summary: str
    details: str
    title: str
    metavar: str
    commands: Callable[[], Sequence[Command | CommandGroup]]


def command(
    name: str,
    summary: str,
    *,
    details: str = "",
    add_arguments: Callable[[argparse.ArgumentParser], None],
    options: Callable[..., Options],
    run: Callable[[Options], None],
) -> Command:
    """Creates a command."""
    return Command(name, summary, details, add_arguments, options, run)


def add_commands(parser: argparse.ArgumentParser, group: CommandGroup, words: Sequence[str]) -> None:
    """Adds a subparser per command, which sets the argument `command` to the chosen `Command`.

    `words` is the command line. A command whose name is not in `words` gets no arguments: adding
    all arguments of all commands takes 10 ms.
    """
    subparsers = parser.add_subparsers(title=group.title, required=True, metavar=group.metavar)
    for each in group.commands():
        summary = each.summary.replace("%", "%%")
        subparser = subparsers.add_parser(each.name, help=summary, description=f"{summary}. {each.details}".strip())
        if each.name not in words:
            continue
        if isinstance(each, CommandGroup):
            add_commands(subparser, each, words)
        else:
            each.add_arguments(subparser)
            subparser.set_defaults(command=each)


def options_from(kind: Callable[..., Options], arguments: argparse.Namespace) -> Options:
    """Converts parsed arguments to a NamedTuple: each field gets the argument of its name.

    A field whose type is another NamedTuple is converted from the same arguments. Raises
    AttributeError if an argument is missing.
    """
    values = {
        name: options_from(hint, arguments) if hasattr(hint, "_fields") else getattr(arguments, name)
        for name, hint in get_type_hints(kind).items()
    }
    return kind(**values)


def flag(name: str) -> str:
    """Returns the flag of a Python parameter: `--max-bytes` for `max_bytes`."""
    return f"--{name.replace('_', '-')}"


def count(text: str) -> int:
    """Parses an integer from 0 to 2**63 - 1. Raises ArgumentTypeError for other texts."""
    return _integer_from(text, "a count", 0)


def integer(text: str) -> int:
    """Parses a signed 64-bit integer. Raises ArgumentTypeError for other texts."""
    return _integer_from(text, "an integer", -_MAX_COUNT)


def number(text: str) -> float:
    """Parses a finite number from 0. Raises ArgumentTypeError for other texts."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise _unexpected("a number from 0", text)
    return value


def _integer_from(text: str, expected: str, minimum: int) -> int:
    try:
        value = int(text)
    except ValueError:
        value = _MAX_COUNT
    if not minimum <= value < _MAX_COUNT:
        raise _unexpected(expected, text)
    return value


def _unexpected(expected: str, found: str) -> argparse.ArgumentTypeError:
    return argparse.ArgumentTypeError(f"expected {expected}, found {found}")
