"""`%kinetoscope` and `%%kinetoscope`: an expression or a cell that is recorded."""

from __future__ import annotations

import argparse
import ast
import shlex
import tempfile
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any, NoReturn

from kinetoscope.profiling.options import add_options, make

if TYPE_CHECKING:
    from collections.abc import Generator

    from kinetoscope.trace import Trace

_ABOUT = (
    "Records an expression (%kinetoscope [options] f(x)) or a cell (%%kinetoscope [options]) and shows its trace. "
    "In it, `prof` is the recording: prof.step() ends an iteration."
)


def register(shell: Any) -> None:
    """Makes the magics known to a shell of IPython."""

    def kinetoscope(line: str, cell: str | None = None) -> Trace | None:
        return _Magic(shell).run(line, cell)

    kinetoscope.__doc__ = _parser().format_help()
    shell.register_magic_function(kinetoscope, magic_kind="line_cell", magic_name="kinetoscope")


class _Helped(Exception):  # noqa: N818 - nothing went wrong
    """The help was shown."""


class _Parser(argparse.ArgumentParser):
    """In a notebook nothing exits."""

    def error(self, message: str) -> NoReturn:
        from IPython.core.error import UsageError

        raise UsageError(f"%kinetoscope: {message} (%kinetoscope --help)")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:  # noqa: ARG002 - as it is called
        raise _Helped


def _parser() -> _Parser:
    formatter = argparse.RawDescriptionHelpFormatter
    parser = _Parser(prog="%kinetoscope", description=_ABOUT, formatter_class=formatter, allow_abbrev=False)
    add_options(parser)
    parser.add_argument("-r", "--result", metavar="NAME", help="a variable for the trace")
    parser.add_argument("code", nargs=argparse.REMAINDER, help="an expression, in a line")
    return parser


class _Magic:
    """One use of a magic."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell

    def run(self, line: str, cell: str | None) -> Trace | None:
        """The trace, which the shell shows; None where there is none. Raises what the code does."""
        # an expression keeps its quotes and its blanks
        words = line.split() if cell is None else shlex.split(line)
        with suppress(_Helped):
            options = _parser().parse_args(words)
            num_options = len(words) - len(options.code)
            code = "".join(line.split(None, num_options)[num_options:]) if cell is None else cell
            return self._recorded(code, options)
        return None

    def _recorded(self, code: str, options: argparse.Namespace) -> Trace | None:
        if options.result and not options.result.isidentifier():
            _parser().error(f"expected the name of a variable, found {options.result}")
        program = _Program(self._shell, code)
        with nullcontext(options.dir) if options.dir else tempfile.TemporaryDirectory() as folder:
            prof = make(options, folder)
            with _bound(self._shell.user_ns, prof), prof:
                value = program.run()
            if not program.is_quiet:
                self._show(value)
            trace = prof.trace if prof.recordings else None
        if trace is not None and options.output:
            print(trace.report(options.output))
        if options.result:
            self._shell.user_ns[options.result] = trace
        return trace

    def _show(self, value: object) -> None:
        """What the last expression gave, as it would be shown without the magic."""
        if value is not None:
            from IPython.display import display

            display(value)


@contextmanager
def _bound(names: dict[str, Any], prof: object) -> Generator[None]:
    """The recording as `prof` among the user's variables, and afterwards what was there."""
    before = {"prof": names["prof"]} if "prof" in names else {}
    names["prof"] = prof
    try:
        yield
    finally:
        if names.get("prof") is prof:
            names.pop("prof")
            names |= before


class _Program:
    """Code as a cell has it, magics and all, compiled before the recording begins."""

    def __init__(self, shell: Any, code: str) -> None:
        """SyntaxError for what is none."""
        plain = shell.transform_cell(code)
        name = shell.compile.cache(plain)
        tree = shell.transform_ast(shell.compile.ast_parse(plain, filename=name))
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        self._names = shell.user_ns
        self._body = compile(tree, name, "exec")
        self._last = compile(ast.Expression(last.value), name, "eval") if last else None
        self.is_quiet = plain.rstrip().endswith(";")
        """Whether what stands last is not to be shown, as in any cell."""

    def run(self) -> object:
        """The value of what stands last, if that is an expression."""
        exec(self._body, self._names)  # noqa: S102 - the user's code, where the user wrote it
        return eval(self._last, self._names) if self._last else None  # noqa: S307 - as above
