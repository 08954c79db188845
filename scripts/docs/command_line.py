"""Writes the reference of the command line from its parsers."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator

from kinetoscope._cli.arguments import Command, CommandGroup, Parser
from kinetoscope._cli.main import COMMANDS, command_parser

_HEAD = """# Command line

`kinetoscope COMMAND --help` prints the same for one command. Errors go to the standard error stream
and end with exit code 2.
"""


def page() -> str:
    """Returns the page: all commands with their arguments."""
    return "\n\n".join([_HEAD, *_commands(COMMANDS, [])])


def _commands(group: CommandGroup, words: list[str]) -> Iterator[str]:
    for command in group.commands():
        path = [*words, command.name]
        title = f"{'#' * (len(path) + 1)} kinetoscope {' '.join(path)}"
        yield f"{title}\n\n{command.summary}. {command.details}".rstrip()
        parser = _parser(path)
        if isinstance(command, Command):
            yield f"```text\n{_usage(parser)}\n```"
            yield from _arguments(parser)
        else:
            yield from _commands(command, path)


def _parser(words: list[str]) -> Parser:
    """Returns the parser of the command that `words` name."""
    parser = command_parser(words)
    for word in words:
        (subparsers,) = (each for each in parser._actions if isinstance(each, argparse._SubParsersAction))  # noqa: SLF001 - argparse lists its parsers nowhere else
        parser = subparsers.choices[word]
    return parser


def _usage(parser: Parser) -> str:
    return parser.format_usage().removeprefix("usage: ").rstrip()


def _arguments(parser: Parser) -> Iterator[str]:
    """Yields one table, with a row above each group."""
    formatter = parser._get_formatter()  # noqa: SLF001 - fills in %(default)s
    rows = ["| argument | meaning |", "|---|---|"]
    for group in parser._action_groups:  # noqa: SLF001 - as in _parser
        actions = [each for each in group._group_actions if each.dest != "help"]  # noqa: SLF001 - as above
        actions = [each for each in actions if each.help is not argparse.SUPPRESS]
        if actions and group.title != "positional arguments":
            rows.append(f"| **{(group.title or 'options').capitalize()}** | |")
        rows += [f"| {_flags(each)} | {_cell(formatter._expand_help(each) if each.help else '')} |" for each in actions]  # noqa: SLF001 - as above
    yield "\n".join(rows)


def _flags(action: argparse.Action) -> str:
    if not action.option_strings:
        return f"`{action.metavar or action.dest}`"
    value = "" if action.nargs == 0 else f" {_value(action)}"
    return ", ".join(f"`{flag}{value}`" for flag in action.option_strings)


def _value(action: argparse.Action) -> str:
    if action.choices is not None and action.metavar is None:
        return "{" + ",".join(map(str, action.choices)) + "}"
    name = action.metavar or action.dest.upper()
    return " ".join(name) if isinstance(name, tuple) else name


def _cell(text: str) -> str:
    return re.sub(r"([|<])", r"\\\1", text)
