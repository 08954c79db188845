"""Options of PARAM's `comm_replay` under its names: aliases, and those without an effect here."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from kinetoscope._base.tell import tell_problem
from kinetoscope._cli.arguments import count
from kinetoscope.replaying.options import Options

ALIASES = {
    "shrink": ("--auto-shrink",),
    "rebalance": ("--rebalance-policy",),
    "allow_ops": ("--allow-list",),
    "dry_run": (),
}
"""PARAM's names of our options."""

WITHOUT_EFFECT = {
    "--disable-parallel-read": "each rank reads only its own trace",
    "--reuse-tensors": "the allocator of torch reuses the memory of messages",
    "--output-ranks": "rank 0 has one table of all ranks; --profile records every rank",
    "--colls-per-batch": "batches are those of the recording",
    "--data-accuracy-mode": "--check compares every element",
    "--data-accuracy-threshold": "--check compares every element",
    "--dtype": "types are those of the recording",
    "--log": "there is no log",
    "--log-level": "there is no log",
    "--enable-local-report": "rank 0 has one table of all ranks",
    "--use-ext-dist": "process groups are those of torch.distributed",
    "--bitwidth": "messages are replayed with their recorded types, without quantization",
    "--quant-a2a-embedding-dim": "messages are replayed with their recorded types, without quantization",
    "--quant-threshold": "messages are replayed with their recorded types, without quantization",
}
"""Options of PARAM that do nothing here, with the reason."""


_FLAGS = {"--disable-parallel-read", "--reuse-tensors", "--enable-local-report", "--use-ext-dist"}


class ParamOptions(NamedTuple):
    """Values of PARAM's options that are no options of ours."""

    enable_profiler: bool
    output_path: str | None
    master_ip: str | None
    master_port: int | None
    nw_stack: str
    c: int | None
    z: int | None
    without_effect: list[str] | None


class _NoEffect(argparse.Action):
    """Notes an option that does nothing."""

    def __call__(self, _parser: Any, namespace: Any, _values: Any, option_string: str | None = None) -> None:
        known = getattr(namespace, self.dest) or []
        setattr(namespace, self.dest, [*known, option_string or ""])


def add_param_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `ParamOptions`."""
    group = parser.add_argument_group("PARAM's names")
    group.add_argument("--enable-profiler", action="store_true", help="as --profile, into --output-path")
    group.add_argument("--output-path", metavar="DIR", help="folder for --enable-profiler")
    group.add_argument("--master-ip", metavar="HOST", help="as MASTER_ADDR")
    group.add_argument("--master-port", type=count, metavar="N", help="as MASTER_PORT")
    group.add_argument("--nw-stack", choices=["pytorch-dist"], default="pytorch-dist", help=argparse.SUPPRESS)
    group.add_argument("--c", type=int, choices=[0, 1], help="1: as --check")
    group.add_argument("--z", type=int, choices=[0, 1], help="1: as --blocking")
    group.set_defaults(without_effect=None)
    for name in WITHOUT_EFFECT:
        nargs = 0 if name in _FLAGS else "?"
        group.add_argument(name, dest="without_effect", action=_NoEffect, nargs=nargs, help=argparse.SUPPRESS)


def with_param(options: Options, param: ParamOptions) -> Options:
    """Returns the options with those that PARAM names. Tells which have no effect.

    Raises ValueError for `--enable-profiler` without a folder.
    """
    tell_without_effect(param.without_effect or [])
    if param.enable_profiler and options.profile is None:
        if not param.output_path:
            raise ValueError("expected --output-path DIR with --enable-profiler, found none")
        options = options._replace(profile=str(Path(param.output_path)))
    if param.master_ip is not None or param.master_port is not None:
        from kinetoscope.replaying.world import meeting_place

        options = options._replace(init_method=meeting_place(param.master_ip, param.master_port))
    return options._replace(check=options.check or param.c == 1, blocking=options.blocking or param.z == 1)


def tell_without_effect(names: Sequence[str]) -> None:
    """Prints why options do nothing."""
    for name in dict.fromkeys(names):
        tell_problem(f"{name} has no effect: {WITHOUT_EFFECT[name]}")
