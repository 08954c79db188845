"""The magics `%kinetoscope` and `%%kinetoscope`, which record an expression or a cell."""

from __future__ import annotations

import argparse
import ast
import shlex
import tempfile
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from kinetoscope._base.tell import tell
from kinetoscope._cli.arguments import options_from
from kinetoscope.profiling.options import RecordingOptions, add_recording, create_profile

if TYPE_CHECKING:
    from collections.abc import Generator

    from kinetoscope.trace import Trace

_DESCRIPTION = (
    "Record an expression (%kinetoscope [options] f(x)) or a cell (%%kinetoscope [options]), and show its trace. "
    "The code may call prof.step() to end an iteration."
)


def register(shell: Any) -> None:
    """Registers the magics in an IPython shell."""

    def kinetoscope(line: str, cell: str | None = None) -> Trace | None:
        return _Magic(shell).run(line, cell)

    kinetoscope.__doc__ = _parser().format_help()
    shell.register_magic_function(kinetoscope, magic_kind="line_cell", magic_name="kinetoscope")


class _HelpShown(Exception):  # noqa: N818 - not an error
    """Raised after the help is shown."""


class _Parser(argparse.ArgumentParser):
    """A parser that never exits, because a notebook must not."""

    def error(self, message: str) -> NoReturn:
        from IPython.core.error import UsageError

        raise UsageError(f"%kinetoscope: {message} (%kinetoscope --help)")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:  # noqa: ARG002 - the signature of argparse
        raise _HelpShown


def _parser() -> _Parser:
    formatter = argparse.RawDescriptionHelpFormatter
    parser = _Parser(prog="%kinetoscope", description=_DESCRIPTION, formatter_class=formatter, allow_abbrev=False)
    add_recording(parser)
    parser.add_argument("-r", "--result", metavar="NAME", help="store the trace in this variable")
    parser.add_argument("code", nargs=argparse.REMAINDER, help="expression to record; line magic only")
    return parser


class _MagicOptions(NamedTuple):
    """Options of a magic."""

    recording: RecordingOptions
    result: str | None
    code: list[str]


class _Magic:
    """One use of a magic."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell

    def run(self, line: str, cell: str | None) -> Trace | None:
        """Returns the trace, or None without one. Raises the code's errors."""
        # `shlex` would remove quotes and blanks of an expression
        words = line.split() if cell is None else shlex.split(line)
        with suppress(_HelpShown):
            options = options_from(_MagicOptions, _parser().parse_args(words))
            num_options = len(words) - len(options.code)
            code = "".join(line.split(None, num_options)[num_options:]) if cell is None else cell
            return self._recorded(code, options)
        return None

    def _recorded(self, code: str, options: _MagicOptions) -> Trace | None:
        if options.result and not options.result.isidentifier():
            _parser().error(f"expected the name of a variable, found {options.result}")
        program = _Program(self._shell, code)
        recording = options.recording
        with nullcontext(recording.dir) if recording.dir else tempfile.TemporaryDirectory() as folder:
            prof = create_profile(recording, folder)
            with _bound(self._shell.user_ns, prof), prof:
                value = program.run()
            if not program.is_quiet:
                self._show(value)
            trace = prof.trace if prof.recordings else None
        if trace is not None and recording.output:
            tell(trace.report(recording.output))
        if options.result:
            self._shell.user_ns[options.result] = trace
        return trace

    def _show(self, value: object) -> None:
        """Shows the value of the last expression, as the cell would without the magic."""
        if value is not None:
            from IPython.display import display

            display(value)


@contextmanager
def _bound(names: dict[str, Any], prof: object) -> Generator[None]:
    """Binds `prof` in the user's variables, and restores its previous value."""
    before = {"prof": names["prof"]} if "prof" in names else {}
    names["prof"] = prof
    try:
        yield
    finally:
        if names.get("prof") is prof:
            names.pop("prof")
            names |= before


class _Program:
    """The code of a cell, including magics, compiled before the recording starts."""

    def __init__(self, shell: Any, code: str) -> None:
        """Raises SyntaxError for invalid code."""
        plain = shell.transform_cell(code)
        name = shell.compile.cache(plain)
        tree = shell.transform_ast(shell.compile.ast_parse(plain, filename=name))
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        self._names = shell.user_ns
        self._body = compile(tree, name, "exec")
        self._last = compile(ast.Expression(last.value), name, "eval") if last else None
        self.is_quiet = plain.rstrip().endswith(";")
        """Whether a final semicolon suppresses the value, as in any cell."""

    def run(self) -> object:
        """Runs the code. Returns the value of the last statement if it is an expression."""
        exec(self._body, self._names)  # noqa: S102 - the user's own code
        return eval(self._last, self._names) if self._last else None  # noqa: S307 - as above
