"""Options of a recording, for the command `run` and the magics."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kinetoscope._cli.arguments import count, flag, number
from kinetoscope._cli.output import expect_extension

if TYPE_CHECKING:
    from kinetoscope.profiling.profiler import profile

_COUNTS = {
    "wait": "iterations to skip before each warm-up",
    "warmup": "iterations to warm up, without recording",
    "active": "iterations to record (default: all)",
    "repeat": "number of windows (default: 1; 0: until the end)",
    "skip_first": "iterations to skip once, at the start",
}
_LIMITS = {
    "max_bytes": "stop at N bytes of traces, uncompressed",
    "max_events": "stop at about N events",
    "max_iterations": "stop at N recorded iterations",
}
_SWITCHES = {
    "--shapes": ("record_shapes", True, "record input shapes (the default)"),
    "--no-shapes": ("record_shapes", False, "do not record input shapes"),
    "--stack": ("with_stack", True, "record Python source lines"),
    "--memory": ("profile_memory", True, "record allocations"),
    "--flops": ("with_flops", True, "record FLOPs of matrix products and convolutions"),
    "--modules": ("with_modules", True, "record TorchScript modules"),
    "--metrics": ("metrics", True, "sample metrics of devices and of the host"),
    "--nsys": ("nsys", True, "only mark windows and iterations, for Nsight Systems"),
    "--no-et": ("execution_trace", False, "do not record the Execution Trace"),
    "--no-check": ("check", False, "do not check the written files"),
}


class ProfileOptions(NamedTuple):
    """Parameters of `ks.profile`; None for its default."""

    wait: int | None
    warmup: int | None
    active: int | None
    repeat: int | None
    skip_first: int | None
    max_bytes: int | None
    max_events: int | None
    max_iterations: int | None
    record_shapes: bool | None
    with_stack: bool | None
    profile_memory: bool | None
    with_flops: bool | None
    with_modules: bool | None
    metrics: bool | None
    nsys: bool | None
    execution_trace: bool | None
    check: bool | None
    ranks: list[int] | None


class RecordingOptions(NamedTuple):
    """Options of a recording and of the files it writes."""

    profile: ProfileOptions
    slow_step: float | None
    at: list[int] | None
    dir: str | None
    output: str | None


def add_recording(parser: argparse.ArgumentParser, folder: str = "a temporary folder") -> None:
    """Adds the arguments of `RecordingOptions`; `folder` is the default folder for the help."""
    selection = parser.add_argument_group("Selection")
    for name, summary in (_COUNTS | _LIMITS).items():
        selection.add_argument(flag(name), type=count, metavar="N", help=summary)
    selection.add_argument("--ranks", type=_counts, metavar="N,…", help="record only these ranks")
    selection.add_argument("--at", type=_counts, metavar="N,…", help="start a window at each of these iterations")
    selection.add_argument(
        "--slow-step", type=number, metavar="K", help="start a window after a step of K times the median duration"
    )
    content = parser.add_argument_group("Content")
    for name, (parameter, value, summary) in _SWITCHES.items():
        content.add_argument(name, dest=parameter, action="store_const", const=value, help=summary)
    output = parser.add_argument_group("Output")
    output.add_argument("-d", "--dir", metavar="DIR", help=f"folder for traces (default: {folder})")
    output.add_argument("-o", "--output", metavar="FILE", help="also write an HTML report")


def _counts(text: str) -> list[int]:
    return [count(part) for part in text.split(",")]


def create_profile(options: RecordingOptions, folder: str) -> profile:
    """Creates the recording; `folder` is for its traces.

    Raises ValueError for options that contradict or need each other, and for a report that has
    the extension of another format or no folder.
    """
    _expect_partners(options)
    if options.output:
        _expect_report(Path(options.output))
    from kinetoscope.profiling.profiler import profile

    parameters = {name: value for name, value in options.profile._asdict().items() if value is not None}
    if options.slow_step is None and options.at is None:
        return profile(folder, **parameters)
    return profile.on_demand(folder, slow_step=options.slow_step, at=options.at or (), **parameters)


def _expect_report(path: Path) -> None:
    """Raises ValueError before the program runs: after it, the report would be lost."""
    expect_extension(path, ".html")
    if not path.absolute().parent.is_dir():
        raise ValueError(f"no such folder: {path.parent}, for the report {path.name}")


def _expect_partners(options: RecordingOptions) -> None:
    """Raises ValueError, in words of the command line."""
    counts = {name: getattr(options.profile, name) for name in _COUNTS}
    given = [name for name, value in counts.items() if value is not None]
    requests = [flag(name) for name in ("at", "slow_step") if getattr(options, name) is not None]
    limits = {name: getattr(options.profile, name) for name in ("active", *_LIMITS)}
    if given and counts["active"] is None and not requests:
        raise ValueError(f"{flag(given[0])} needs --active, the number of iterations to record")
    if requests and (refused := [flag(name) for name in given if name in {"wait", "skip_first"}]):
        raise ValueError(f"expected {refused[0]} or {requests[0]}, found both")
    if options.slow_step is not None and options.slow_step <= 1:
        raise ValueError(f"expected --slow-step above 1, found {options.slow_step:g}")
    for name, value in limits.items():
        if value == 0:
            raise ValueError(f"expected {flag(name)} of at least 1, found 0")
    if options.output and options.profile.nsys:
        raise ValueError("expected --output or --nsys, which records no trace to report, found both")
