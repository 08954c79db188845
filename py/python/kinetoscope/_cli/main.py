"""The command `kinetoscope`. Its options are those of the Python methods."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from io import TextIOWrapper

from kinetoscope import _native
from kinetoscope._base.system import is_closed_pipe, is_missing_file
from kinetoscope._base.tell import tell_problem
from kinetoscope._cli.analyze import ANALYZE
from kinetoscope._cli.arguments import Command, CommandGroup, Parser, add_commands, options_from
from kinetoscope._cli.check import CHECK
from kinetoscope._cli.diff import DIFF
from kinetoscope._cli.digest import DIGEST
from kinetoscope._cli.execution_trace import CHAKRA, EDIT, LINK
from kinetoscope._cli.export import EXPORT
from kinetoscope._cli.mcp import MCP
from kinetoscope._cli.report import REPORT, VIEW
from kinetoscope._cli.sql import SQL
from kinetoscope._cli.summary import DOCTOR, SUMMARY
from kinetoscope._cli.trim import TRIM
from kinetoscope.profiling.commands import NSYS, RUN
from kinetoscope.replaying.bench_command import BENCH
from kinetoscope.replaying.commands import REPLAY
from kinetoscope.replaying.replay_command import REPLAY_OPERATORS

COMMANDS = CommandGroup(
    "kinetoscope",
    "Record, analyse and share PyTorch traces",
    "Run kinetoscope COMMAND --help for the options of a command.",
    title="commands",
    noun="command",
    metavar="COMMAND",
    commands=lambda: (
        *(SUMMARY, DIGEST, ANALYZE, DIFF, CHECK, SQL, REPORT, VIEW, EXPORT, CHAKRA, DOCTOR, LINK),
        *(EDIT, TRIM, MCP, RUN, NSYS, BENCH, REPLAY_OPERATORS, REPLAY),
    ),
)
"""The program, with its commands in the order of the help."""

_PASSED = 0
_FAILED = 2
_INTERRUPTED = 130
_PIPE_CLOSED = 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command and returns its exit code.

    0, or that of a decision; 2 after printing one line to stderr for invalid input.
    """
    words = sys.argv[1:] if arguments is None else arguments
    parsed = command_parser(words).parse_args(words)
    command: Command = parsed.command
    options = options_from(command.options, parsed)
    if isinstance(sys.stdout, TextIOWrapper):  # the terminal may not support all characters
        sys.stdout.reconfigure(errors="replace")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", RuntimeWarning)
            warnings.showwarning = _show_warning
            exit_code = command.run(options) or _PASSED
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _INTERRUPTED
    except (OSError, ValueError, KeyError, ImportError) as error:
        if isinstance(error, OSError) and is_closed_pipe(error):  # `| head`: discard the rest of the buffer
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return _PIPE_CLOSED
        tell_problem(f"{_line(error)}")
        return _FAILED
    return exit_code


def command_parser(words: Sequence[str]) -> Parser:
    """Returns the parser for a command line: only the commands that `words` name have arguments."""
    parser = Parser(prog=COMMANDS.name, description=f"{COMMANDS.summary}. {COMMANDS.details}")
    parser.add_argument("--version", action="version", version=f"kinetoscope {_native.__version__}")
    add_commands(parser, COMMANDS, words)
    return parser


def _show_warning(message: Warning | str, *_: object) -> None:
    tell_problem(f"{message}")


def _line(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename and is_missing_file(error):
        return f"no such file: {error.filename}"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    return " ".join(str(error.args[0] if isinstance(error, KeyError) else error).split())
