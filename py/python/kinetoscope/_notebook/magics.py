"""The magics `%kinetoscope` and `%%kinetoscope`, which record an expression or a cell."""

from __future__ import annotations

import argparse
import ast
import shutil
import tempfile
import weakref
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from inspect import CO_COROUTINE
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from kinetoscope._base.system import split_words
from kinetoscope._base.tell import tell
from kinetoscope._cli.arguments import Parser, options_from
from kinetoscope.profiling.options import RecordingOptions, add_recording, create_profile

if TYPE_CHECKING:
    from collections.abc import Coroutine, Generator

    from kinetoscope.profiling.profiler import profile
    from kinetoscope.trace import Trace

_DESCRIPTION = (
    "Record an expression (%kinetoscope [options] f(x)) or a cell (%%kinetoscope [options]), and show its trace. "
    "The code may call prof.step() to end an iteration, and may use await. "
    "After an exception or Ctrl-C, the variable NAME or prof holds the recording so far. "
    "Of several windows, the last is shown, and prof.traces lists all."
)
_MAGIC = "kinetoscope"


def register(shell: Any) -> None:
    """Registers the magics in an IPython shell."""

    def kinetoscope(line: str, cell: str | None = None) -> Trace | Coroutine[Any, Any, Trace | None] | None:
        return _Magic(shell).run(line, cell)

    kinetoscope.__doc__ = _parser().format_help()
    shell.register_magic_function(kinetoscope, magic_kind="line_cell", magic_name=_MAGIC)
    transforms = shell.input_transformers_post
    if not any(isinstance(each, _AwaitMagics) for each in transforms):  # %reload_ext
        transforms.append(_AwaitMagics(shell))


class _HelpShown(Exception):  # noqa: N818 - not an error
    """Raised after the help is shown."""


class _Parser(Parser):
    """A parser that never exits, because a notebook must not."""

    def error(self, message: str) -> NoReturn:
        from IPython.core.error import UsageError

        raise UsageError(f"%kinetoscope: {message} (%kinetoscope --help)")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:  # noqa: ARG002 - the signature of argparse
        raise _HelpShown


def _parser(*, has_help: bool = True) -> _Parser:
    parser = _Parser(prog="%kinetoscope", description=_DESCRIPTION, allow_abbrev=False, add_help=has_help)
    add_recording(parser)
    parser.add_argument("-r", "--result", metavar="NAME", help="store the trace in this variable")
    parser.add_argument("code", nargs=argparse.REMAINDER, help="expression to record; line magic only")
    return parser


class _MagicOptions(NamedTuple):
    """Options of a magic."""

    recording: RecordingOptions
    result: str | None
    code: list[str]


class _AwaitMagics:
    """Rewrites a cell so that it awaits the magics whose code awaits.

    IPython runs a cell in the event loop if its text has an `await` at the top level.
    """

    def __init__(self, shell: Any) -> None:
        self._shell = shell

    def __call__(self, lines: list[str]) -> list[str]:
        """Returns the lines of the cell, which IPython has transformed."""
        text = "".join(lines)
        if f"'{_MAGIC}'" not in text or "await" not in text:
            return lines
        try:
            flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
            tree = compile(text, "<cell>", "exec", flags, dont_inherit=True)
        except SyntaxError:
            return lines
        rewritten = [line.encode() for line in text.splitlines(keepends=True)]  # offsets of `ast` count bytes
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and self._awaits(node)]
        for call in sorted(calls, key=lambda call: (call.lineno, call.col_offset), reverse=True):
            line, at = rewritten[call.lineno - 1], call.col_offset
            rewritten[call.lineno - 1] = line[:at] + b"await " + line[at:]
        return [line.decode() for line in rewritten]

    def _awaits(self, call: ast.Call) -> bool:
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        words = [word.value for word in call.args if isinstance(word, ast.Constant) and isinstance(word.value, str)]
        if name not in {"run_line_magic", "run_cell_magic"} or words[:1] != [_MAGIC]:
            return False
        try:
            return self._is_async(*words[1:])
        except Exception:  # noqa: BLE001 - the magic raises it again, where the user sees it
            return False

    def _is_async(self, line: str, cell: str | None = None) -> bool:
        if cell is None:
            cell = _expression(line, _parser(has_help=False).parse_args(line.split()).code)
        plain, flags = self._shell.transform_cell(cell), ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        return bool(compile(plain, "<cell>", "exec", flags, dont_inherit=True).co_flags & CO_COROUTINE)


def _expression(line: str, code: list[str]) -> str:
    """Returns the expression of a line magic unchanged; `code` has its words."""
    num_options = len(line.split()) - len(code)
    return "".join(line.split(None, num_options)[num_options:])


def _words(line: str) -> list[str]:
    """Splits options as a shell does."""
    try:
        return split_words(line)
    except ValueError as error:
        _parser().error(f"{str(error).lower()} in {line}")


class _Magic:
    """One use of a magic."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell

    def run(self, line: str, cell: str | None) -> Trace | Coroutine[Any, Any, Trace | None] | None:
        """Returns the trace, or None without one. Code that awaits returns a coroutine instead.

        Raises the code's errors.
        """
        # `shlex` would remove quotes and blanks of an expression
        words = line.split() if cell is None else _words(line)
        with suppress(_HelpShown):
            options = options_from(_MagicOptions, _parser().parse_args(words))
            if options.result and not options.result.isidentifier():
                _parser().error(f"expected the name of a variable, found {options.result}")
            program = _Program(self._shell, _expression(line, options.code) if cell is None else cell)
            return self._recorded_async(program, options) if program.is_async else self._recorded(program, options)
        return None

    def _recorded(self, program: _Program, options: _MagicOptions) -> Trace | None:
        with self._recording(program, options) as recording:
            recording.value = program.run()
        return recording.trace

    async def _recorded_async(self, program: _Program, options: _MagicOptions) -> Trace | None:
        with self._recording(program, options) as recording:
            recording.value = await program.run_async()
        return recording.trace

    @contextmanager
    def _recording(self, program: _Program, options: _MagicOptions) -> Generator[_Recording]:
        """Records the block. Afterwards, reads and binds the trace, even if the block raises."""
        recording, names = _Recording(), self._shell.user_ns
        report = options.recording.output and str(Path(options.recording.output).absolute())
        prof = _created(options.recording)
        try:
            with _bound(names, prof), prof:
                yield recording
        except BaseException:
            with suppress(Exception):  # the error of the cell takes precedence
                self._keep(prof, options.result, report)
            raise
        if not program.is_quiet:
            self._show(recording.value)
        recording.trace = prof.trace if prof.recordings else None
        if options.result:
            names[options.result] = recording.trace
        if (number := len(prof.recordings)) > 1:
            names["prof"] = prof
            tell(f"recorded {number} windows, the last of which follows; prof.traces lists all")
        if recording.trace is not None and report:
            tell(recording.trace.report(report))

    def _keep(self, prof: profile, result: str | None, report: str | None) -> None:
        """Binds the recording of code that raised, and shows its summary and the variable."""
        trace, names = prof.trace if prof.recordings else None, self._shell.user_ns
        if result:
            names[result] = trace  # without a window not that of an earlier cell
        if trace is None:
            return
        if not result or len(prof.recordings) > 1:
            names["prof"] = prof
        self._show(trace)
        tell(f"recorded until the exception: {result or 'prof.trace'}")
        if report:
            tell(trace.report(report))

    def _show(self, value: object) -> None:
        """Shows the value of the last expression, as the cell would without the magic."""
        if value is not None:
            from IPython.display import display

            display(value)


def _created(options: RecordingOptions) -> profile:
    """Creates the recording. A temporary folder lasts as long as it, as it may read more windows.

    Raises UsageError for contradictory options.
    """
    folder = options.dir or tempfile.mkdtemp()
    try:
        prof = create_profile(options, folder)
    except ValueError as error:
        if not options.dir:
            shutil.rmtree(folder)
        _parser().error(str(error))
    if not options.dir:
        weakref.finalize(prof, shutil.rmtree, folder, ignore_errors=True)
    return prof


@dataclass
class _Recording:
    """The results of a magic."""

    value: object = None
    """The value of the code's last expression."""
    trace: Trace | None = None


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
        make = partial(compile, filename=name, dont_inherit=True)
        flags = shell.compile.flags | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        tree = shell.transform_ast(make(plain, mode="exec", flags=flags | ast.PyCF_ONLY_AST))
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        self._names = shell.user_ns
        self._body = make(tree, mode="exec", flags=flags)
        self._last = make(ast.Expression(last.value), mode="eval", flags=flags) if last else None
        self.is_quiet = plain.rstrip().endswith(";")
        """Whether a final semicolon suppresses the value, as in any cell."""
        self.is_async = any(code and code.co_flags & CO_COROUTINE for code in (self._body, self._last))
        """Whether the code awaits at the top level, and only `run_async` can run it."""

    def run(self) -> object:
        """Runs the code. Returns the value of the last statement if it is an expression."""
        exec(self._body, self._names)  # noqa: S102 - the user's own code
        return eval(self._last, self._names) if self._last else None  # noqa: S307 - as above

    async def run_async(self) -> object:
        """Runs the code as `run`, in the running event loop."""
        value: Any = None
        for code in (self._body, self._last):
            value = eval(code, self._names) if code else None  # noqa: S307 - as above
            if code and code.co_flags & CO_COROUTINE:
                value = await value
        return value
