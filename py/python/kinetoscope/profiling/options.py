"""Options of a recording in words: those of the command `run` and of the magics."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinetoscope._cli.arguments import count, number
from kinetoscope._cli.output import expect_ending

if TYPE_CHECKING:
    from kinetoscope.profiling.profiler import profile

_COUNTS = {
    "wait": "iterations before those that warm up",
    "warmup": "iterations that warm up",
    "active": "iterations to record (default: all there are)",
    "repeat": "how many times (default: 1; 0: until the end)",
    "skip-first": "iterations before all of them",
}
_SWITCHES = {
    "stack": ("with_stack", "lines of Python"),
    "memory": ("profile_memory", "allocations"),
    "flops": ("with_flops", "operations of products and convolutions"),
    "modules": ("with_modules", "modules of TorchScript"),
    "metrics": ("metrics", "sample devices and the host"),
    "nsys": ("nsys", "let Nsight Systems record: mark windows and iterations alone"),
}
_OFF = {
    "no-shapes": ("record_shapes", "without shapes"),
    "no-et": ("execution_trace", "without the Execution Trace"),
    "no-check": ("check", "do not read what was recorded"),
}
_LIMITS = {
    "max-bytes": "of the traces, before they are compressed",
    "max-events": "about so many",
    "max-iterations": "of all windows",
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """What is recorded, and what becomes of it."""
    for name, about in _COUNTS.items():
        parser.add_argument(f"--{name}", type=count, metavar="N", help=about)
    # what is on already may be said
    parser.add_argument("--shapes", action="store_true", help="shapes of operators' inputs (on by default)")
    for name, (parameter, about) in _SWITCHES.items():
        parser.add_argument(f"--{name}", dest=parameter, action="store_true", default=None, help=about)
    for name, (parameter, about) in _OFF.items():
        parser.add_argument(f"--{name}", dest=parameter, action="store_false", default=None, help=about)
    for name, about in _LIMITS.items():
        parser.add_argument(f"--{name}", type=count, metavar="N", help=f"end the recording at this limit: {about}")
    parser.add_argument("--ranks", type=_ranks, metavar="N,…", help="record these ranks alone")
    parser.add_argument("--slow-step", type=number, metavar="K", help="record after a step of K times the median")
    parser.add_argument("--at", type=_ranks, metavar="N,…", help="record from these iterations on")
    parser.add_argument("-d", "--dir", metavar="DIR", help="the folder for traces")
    parser.add_argument("-o", "--output", metavar="REPORT", help="write a report, too (.html)")


def _ranks(text: str) -> list[int]:
    return [count(part) for part in text.split(",")]


def make(options: argparse.Namespace, folder: str) -> profile:
    """The recording that was asked for. ValueError for a report that would have another ending."""
    if options.output:
        expect_ending(Path(options.output), ".html")
    from kinetoscope.profiling.profiler import profile

    names = [name.replace("-", "_") for name in (*_COUNTS, *_LIMITS)]
    names += [parameter for parameter, _ in (*_SWITCHES.values(), *_OFF.values())]
    wanted: dict[str, Any] = {name: getattr(options, name) for name in [*names, "ranks"]}
    given = {name: value for name, value in wanted.items() if value is not None}
    if options.slow_step is None and options.at is None:
        return profile(folder, **given)
    return profile.on_demand(folder, slow_step=options.slow_step, at=options.at or (), **given)
