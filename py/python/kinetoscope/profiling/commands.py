"""The commands `run` and `nsys`, which record unchanged programs."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple

from kinetoscope._base.system import quoted
from kinetoscope._base.tell import tell
from kinetoscope._cli.arguments import command
from kinetoscope.profiling.options import RecordingOptions, add_recording, create_profile

if TYPE_CHECKING:
    from kinetoscope.profiling.profiler import profile

_FOLDER = "traces"


class RunOptions(NamedTuple):
    """Options of `run`."""

    is_module: bool
    script: str
    arguments: list[str]
    recording: RecordingOptions


def _add_run_arguments(parser: argparse.ArgumentParser) -> None:
    parser.allow_abbrev = False  # an abbreviation may be an option of the script
    parser.add_argument("-m", dest="is_module", action="store_true", help="run SCRIPT as a module, as python -m does")
    parser.add_argument("script", metavar="SCRIPT", help="Python script, or with -m the name of a module")
    rest = parser.add_argument(
        "arguments", nargs=argparse.REMAINDER, metavar="ARGUMENTS", help="arguments of the script"
    )
    rest.required = False  # else an error about a missing script names them, too
    add_recording(parser, _FOLDER)


def _run(options: RunOptions) -> None:
    before, home = (sys.argv, sys.path[:]), Path.cwd()
    sys.argv = [options.script, *options.arguments]
    sys.path[0] = str(Path.cwd() if options.is_module else Path(options.script).resolve().parent)
    try:
        _expect_program(options)
        prof = create_profile(options.recording, options.recording.dir or _FOLDER)
        try:
            with prof, _python_warnings():
                _run_program(options, prof)
        finally:
            _print_files(prof, options.recording.output, home)
        if prof.has_missed:
            raise SystemExit(1)  # a warning has told why
    finally:
        sys.argv, sys.path[:] = before


def _expect_program(options: RunOptions) -> None:
    """Raises FileNotFoundError without such a script or module, before anything is recorded."""
    name = options.script
    if options.is_module and name.endswith(".py"):
        raise FileNotFoundError(f"no such module: {name}: omit -m for a script, or .py for a module")
    if options.is_module and not _is_module(name):
        raise FileNotFoundError(f"no such module: {name}")
    if not options.is_module and not Path(name).is_file():
        raise FileNotFoundError(f"no such script: {name}")


def _is_module(name: str) -> bool:
    """Whether `python -m` can run a module. True for a module whose package fails at import."""
    from importlib.machinery import PathFinder
    from importlib.util import find_spec

    try:
        spec = find_spec(name)
    except ModuleNotFoundError as error:
        return error.name is not None and not f"{name}.".startswith(f"{error.name}.")
    except Exception:  # noqa: BLE001 - an error of the package, which the run shows
        return True
    folders = spec and spec.submodule_search_locations
    return spec is not None and (folders is None or PathFinder.find_spec("__main__", folders) is not None)


def _run_program(options: RunOptions, prof: profile) -> None:
    """Runs the script or module.

    Prints its errors as Python does, because they are not errors of the command.
    """
    import runpy
    import traceback

    try:
        if options.is_module:
            runpy.run_module(options.script, {"prof": prof}, "__main__", alter_sys=True)
        else:
            runpy.run_path(options.script, {"prof": prof}, "__main__")
    except Exception as error:  # noqa: BLE001 - whatever the program raises
        error.__traceback__ = _within_program(error.__traceback__)
        traceback.print_exception(error)
        raise SystemExit(1) from None


@contextmanager
def _python_warnings() -> Generator[None]:
    """Shows warnings of the script as Python does: once per source line, with the line."""
    with warnings.catch_warnings():
        warnings.simplefilter("default", RuntimeWarning)
        warnings.showwarning = partial(_show_warning, warnings.showwarning)
        yield


def _show_warning(
    show_own: Callable[..., object],
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    *_: object,
) -> None:
    if str(message).startswith("ks.profile"):
        show_own(message, category, filename, lineno)
    else:
        sys.stderr.write(warnings.formatwarning(message, category, filename, lineno))


def _within_program(trace: TracebackType | None) -> TracebackType | None:
    """Removes frames before the program; keeps all frames if none is in the program."""
    inner = trace
    while inner is not None and inner.tb_frame.f_globals.get("__name__") in {__name__, "runpy"}:
        inner = inner.tb_next
    return inner or trace


def _print_files(prof: profile, report: str | None, home: Path) -> None:
    """Prints the written files and the next command, and writes the report.

    Does so even if the script failed. Paths are relative to `home`, where the command was typed;
    the script may have left it.
    """

    def shown(path: Path) -> str:
        return str(path.relative_to(home)) if path.is_relative_to(home) else str(path)

    for path in prof.files:
        tell(shown(path))
    if not prof.recordings:
        return
    if report:
        tell(shown(prof.trace.report(home / report)))
    tell(f"next: kinetoscope summary {quoted(shown(prof.dir))}")


RUN = command(
    "run",
    "Run a Python script or module and record it",
    details="The script may call prof.step() to end an iteration: `prof` is the ks.profile of the recording.",
    add_arguments=_add_run_arguments,
    options=RunOptions,
    run=_run,
)


class NsysOptions(NamedTuple):
    """Options of `nsys`."""

    output: str | None
    program: list[str]


def _add_nsys_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-o", "--output", metavar="NAME", help="name of the report (default: nsys_RANK)")
    parser.add_argument(
        "program", nargs=argparse.REMAINDER, metavar="-- PROGRAM", help="program to run, with its arguments"
    )


def _nsys(options: NsysOptions) -> None:
    import shutil
    import subprocess

    from kinetoscope.profiling.marks import NSYS as NSYS_VARIABLE
    from kinetoscope.profiling.rank import current_rank

    program = options.program[1:] if options.program[:1] == ["--"] else options.program
    if not program:
        raise ValueError("expected a program to run, found none: kinetoscope nsys -- python train.py")
    nsys = shutil.which("nsys")
    if nsys is None:
        raise FileNotFoundError("expected Nsight Systems, found no nsys on the PATH: install it, or extend the PATH")
    output = options.output or f"nsys_{current_rank()}"
    # by default, nsys stops the program at the end of the range
    captured = ["--capture-range=cudaProfilerApi", "--capture-range-end=stop", "--force-overwrite=true"]
    arguments = [nsys, "profile", *captured, "-o", output, *program]
    done = subprocess.run(arguments, check=False, env={**os.environ, NSYS_VARIABLE: "1"})  # noqa: S603 - the user's program
    if done.returncode:
        raise SystemExit(done.returncode)


NSYS = command(
    "nsys",
    "Run a program under Nsight Systems, which records the windows of its ks.profile",
    add_arguments=_add_nsys_arguments,
    options=NsysOptions,
    run=_nsys,
)
