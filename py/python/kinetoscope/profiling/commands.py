"""The commands `run` and `nsys`: programs that are recorded as they are."""

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
from typing import TYPE_CHECKING

from kinetoscope.profiling.options import add_options, make
from kinetoscope.profiling.rank import current_rank

if TYPE_CHECKING:
    from kinetoscope.profiling.profiler import profile

_FOLDER = "traces"


def add_run(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """`kinetoscope run [options] script.py args…`."""
    about = "runs a script and records it; in it, `prof` is the recording, whose `step()` ends an iteration"
    described = f"{about[0].upper()}{about[1:]}."
    # what the script's own options begin with is not for this parser to complete
    command = commands.add_parser("run", help="record a script", description=described, allow_abbrev=False)
    add_options(command)
    command.add_argument("script", help="a program in Python")
    command.add_argument("arguments", nargs=argparse.REMAINDER, help="its arguments")
    command.set_defaults(run=_run)


def add_nsys(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """`kinetoscope nsys -- python train.py`."""
    about = "runs a program under Nsight Systems, which records the windows of its ks.profile"
    command = commands.add_parser("nsys", help=about, description=f"{about[0].upper()}{about[1:]}.")
    command.add_argument("-o", "--output", metavar="NAME", help="(default: nsys_RANK)")
    command.add_argument("program", nargs=argparse.REMAINDER, metavar="-- PROGRAM", help="with its arguments")
    command.set_defaults(run=_nsys)


def _run(options: argparse.Namespace) -> None:
    if not Path(options.script).is_file():
        raise FileNotFoundError(f"expected a script, found none: {options.script}")
    prof = make(options, options.dir or _FOLDER)
    before = sys.argv, sys.path[:]
    sys.argv = [options.script, *options.arguments]
    sys.path[0] = str(Path(options.script).resolve().parent)
    try:
        with prof, _warnings_as_python_shows_them():
            _run_script(options.script, prof)
    finally:
        sys.argv, sys.path[:] = before
        _tell(prof, options.output)


def _run_script(script: str, prof: profile) -> None:
    """Its errors are shown as Python shows them: they are not those of a command."""
    import runpy
    import traceback

    try:
        runpy.run_path(script, {"prof": prof}, "__main__")
    except Exception as error:  # noqa: BLE001 - whatever the script raises
        error.__traceback__ = _within(script, error.__traceback__)
        traceback.print_exception(error)
        raise SystemExit(1) from None


@contextmanager
def _warnings_as_python_shows_them() -> Generator[None]:
    """Once for a line, and with it: commands show their own each time, in a line of theirs."""
    with warnings.catch_warnings():
        warnings.simplefilter("default", RuntimeWarning)
        shown = warnings.showwarning
        warnings.showwarning = partial(_show, shown)
        yield


def _show(
    own: Callable[..., object], message: Warning | str, category: type[Warning], filename: str, lineno: int, *_: object
) -> None:
    if str(message).startswith("ks.profile"):
        own(message, category, filename, lineno)
    else:
        sys.stderr.write(warnings.formatwarning(message, category, filename, lineno))


def _within(script: str, trace: TracebackType | None) -> TracebackType | None:
    """From the script on, or all of it where it does not begin in one that could be read."""
    inner = trace
    while inner is not None and inner.tb_frame.f_code.co_filename != script:
        inner = inner.tb_next
    return inner or trace


def _tell(prof: profile, report: str | None) -> None:
    """Also when the script failed: what was recorded until then is there."""
    for path in prof.files:
        print(path)
    if report and prof.recordings:
        print(prof.trace.report(report))


def _nsys(options: argparse.Namespace) -> None:
    import shutil
    import subprocess

    program = options.program[1:] if options.program[:1] == ["--"] else options.program
    if not program:
        raise ValueError("expected a program to run, as in: kinetoscope nsys -- python train.py; found none")
    nsys = shutil.which("nsys")
    if nsys is None:
        raise FileNotFoundError("expected Nsight Systems, found no nsys on the path")
    output = options.output or f"nsys_{current_rank()}"
    # it ends the program at the end of the range, unless told otherwise
    captured = ["--capture-range=cudaProfilerApi", "--capture-range-end=stop", "--force-overwrite=true"]
    command = [nsys, "profile", *captured, "-o", output, *program]
    from kinetoscope.profiling.marks import NSYS

    done = subprocess.run(command, check=False, env={**os.environ, NSYS: "1"})  # noqa: S603 - what the user asked for
    if done.returncode:
        raise SystemExit(done.returncode)
