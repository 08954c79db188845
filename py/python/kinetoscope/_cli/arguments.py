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
    run: Callable[[Any], int | None]
    """Runs the command with its options; returns an exit code other than 0, if it decides.

    Raises ValueError or OSError for invalid input.
    """


class CommandGroup(NamedTuple):
    """Commands that share a parser: those of the program, or the analyses of `analyze`."""

    name: str
    summary: str
    details: str
    title: str
    noun: str
    """Kind of the commands, for errors."""
    metavar: str
    commands: Callable[[], Sequence[Command | CommandGroup]]


class Parser(argparse.ArgumentParser):
    """Suggests a name for a mistyped command or option."""

    group: CommandGroup | None = None
    """The subcommands."""

    def parse_known_args(self, *arguments: Any, **named: Any) -> tuple[Any, list[str]]:
        """Parses arguments. Exits at an unknown one, while the options of the command are known."""
        known, rest = super().parse_known_args(*arguments, **named)
        options = {name: name for name in self._option_string_actions}
        for word in rest:
            if word.startswith("-"):
                option = word.partition("=")[0]
                self.error(f"no such option: {option}{_suggestion(option, options)}")
        if rest:
            self.error(f"unexpected arguments: {' '.join(rest)}")
        return known, rest

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Raises ArgumentError for an unknown value of an argument with choices."""
        if action.choices is None or value in action.choices:
            return
        known = {str(choice): str(choice) for choice in action.choices}
        is_command = self.group is not None and action.nargs == argparse.PARSER
        more = _nested(self.group) if self.group and is_command else {}
        advice = _suggestion(str(value), more | known) or f": expected one of {', '.join(known)}"
        if self.group and is_command:
            raise argparse.ArgumentError(None, f"no such {self.group.noun}: {value}{advice}")
        raise argparse.ArgumentError(action, f"no such value: {value}{advice}")


def _nested(group: CommandGroup) -> dict[str, str]:
    """Returns the names of the commands in subgroups, with the words to type."""
    groups = (each for each in group.commands() if isinstance(each, CommandGroup))
    return {each.name: f"{inner.name} {each.name}" for inner in groups for each in inner.commands()}


def _suggestion(word: str, known: dict[str, str]) -> str:
    """Returns `: did you mean …?` with the value of the key that is most similar, or nothing."""
    from difflib import get_close_matches

    return "".join(f": did you mean {known[match]}?" for match in get_close_matches(word, known, n=1))


def command(
    name: str,
    summary: str,
    *,
    details: str = "",
    add_arguments: Callable[[argparse.ArgumentParser], None],
    options: Callable[..., Options],
    run: Callable[[Options], int | None],
) -> Command:
    """Creates a command."""
    return Command(name, summary, details, add_arguments, options, run)


def add_commands(parser: Parser, group: CommandGroup, words: Sequence[str]) -> None:
    """Adds a subparser per command, which sets the argument `command` to the chosen `Command`.

    `words` is the command line. A command whose name is not in `words` gets no arguments: adding
    all arguments of all commands takes 10 ms.
    """
    parser.group = group
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


def names(text: str) -> list[str]:
    """Splits names at commas."""
    return [name for name in text.split(",") if name]


def size(text: str) -> int:
    """Parses a number of bytes, such as `10MB`. Raises ArgumentTypeError for other texts."""
    from kinetoscope._report.size_limit import num_bytes

    try:
        return num_bytes(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


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
