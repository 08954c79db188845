"""The command `replay-comms`, which every process of a job runs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from kinetoscope._cli.arguments import count, number
from kinetoscope._cli.output_format import add_form, form_of, hand_out
from kinetoscope._cli.terminal import print_section
from kinetoscope._report.table_text import section
from kinetoscope.replay.options import BACKENDS, DEVICES, REBALANCE, Options

if TYPE_CHECKING:
    from kinetoscope.replay.result import Replay

_FLAGS = {
    "dry_run": "run nothing: hold the ranks against each other, and say what would be done",
    "use_timestamp": "begin each communication when it was, from the first on",
    "blocking": "wait for every collective at once, also where it was not",
    "shrink": "do with fewer processes than ranks were recorded",
    "check": "look at what comes out of each communication, too",
}
_NUMBERS = {
    "warmup_iter": "passes that are not measured",
    "num_replays": "passes that are",
    "max_msg_cnt": "end each rank's plan after so many communications",
    "max_msg_bytes": "refuse messages of more bytes",
}


def add_replay(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """`torchrun --nproc-per-node 2 -m kinetoscope replay-comms --trace-path traces`."""
    about = "communications of recorded ranks, made again: what they take here"
    command = commands.add_parser(
        "replay-comms", help=about, description=f"{about[:1].upper()}{about[1:]}. To be started by torchrun or mpirun."
    )
    command.add_argument("--trace-path", required=True, metavar="DIR", help="the traces of all ranks")
    command.add_argument(
        "--trace-type", choices=["et"], default="et", help="Execution Traces, as ks.profile records them"
    )
    defaults = Options()
    command.add_argument("--backend", choices=BACKENDS, help="(default: gloo, or nccl with --device cuda)")
    command.add_argument("--device", choices=DEVICES, help="where messages are (default: as the backend has them)")
    command.add_argument("--rebalance", choices=REBALANCE, help="make parts of uneven exchanges equal")
    command.add_argument(
        "--allow-ops", metavar="NAMES", type=_names, help="replay these alone, with commas between: all_reduce,barrier"
    )
    for name, about in _FLAGS.items():
        command.add_argument(_flag(name), action="store_true", help=about)
    for name, about in _NUMBERS.items():
        default = getattr(defaults, name)
        known = "" if default is None else f" (default: {default})"
        command.add_argument(_flag(name), type=count, metavar="N", default=default, help=f"{about}{known}")
    command.add_argument(
        "--timeout",
        type=number,
        metavar="S",
        default=defaults.timeout,
        help="seconds until nobody comes (default: 300)",
    )
    command.add_argument("--profile", metavar="DIR", help="record the replay here")
    add_form(command.add_argument_group("in what form"))
    command.set_defaults(run=_replay)


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


def _replay(options: argparse.Namespace) -> None:
    from kinetoscope.replay.replay import replay_comms

    form = form_of(options)
    asked = {name: getattr(options, name) for name in Options._fields}
    result = replay_comms(options.trace_path, **asked)
    if result.rank == 0:
        _show(result, form, options.output, options.limit)


def _show(result: Replay, form: str | None, output: Path | None, limit: int) -> None:
    for note in result.notes:
        print(f"kinetoscope: {note}", file=sys.stderr)
    if form:
        hand_out(result, form, output)
    else:
        print_section(section(result, limit))
