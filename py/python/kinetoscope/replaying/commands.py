"""The command `replay-comms`, which runs in every process of a job."""

from __future__ import annotations

import argparse
from typing import NamedTuple

from kinetoscope._base.tell import tell_problem
from kinetoscope._cli.arguments import command, count, flag, number
from kinetoscope._cli.output_format import WritingOptions, add_writing, format_of, print_or_write
from kinetoscope.replaying.options import BACKENDS, DEVICES, REBALANCE, Options

_FLAGS = {
    "dry_run": "run nothing: compare the ranks and print the plan",
    "use_timestamp": "start each communication at its recorded time after the first",
    "blocking": "wait for each collective at once, even if the recording did not",
    "shrink": "use fewer processes than recorded ranks",
    "check": "verify the results of each communication",
}
_NUMBERS = {
    "warmup_iter": "passes without measuring",
    "num_replays": "measured passes",
    "max_msg_cnt": "replay only the first N communications of each rank",
    "max_msg_bytes": "refuse messages of more bytes",
}


class ReplayOptions(NamedTuple):
    """Options of `replay-comms`."""

    trace_path: str
    trace_type: str
    replay: Options
    writing: WritingOptions


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    defaults = Options()
    source = parser.add_argument_group("Input")
    source.add_argument("--trace-path", required=True, metavar="DIR", help="folder with the traces of all ranks")
    source.add_argument(
        "--trace-type", choices=["et"], default="et", help="Execution Traces, as ks.profile records them"
    )
    replay = parser.add_argument_group("Replay")
    replay.add_argument("--backend", choices=BACKENDS, help="(default: gloo; nccl with --device cuda)")
    replay.add_argument("--device", choices=DEVICES, help="memory of the messages (default: cuda for nccl, else cpu)")
    replay.add_argument("--rebalance", choices=REBALANCE, help="make the parts of uneven exchanges equal")
    replay.add_argument(
        "--allow-ops", metavar="NAMES", type=_names, help="replay only these operations, such as all_reduce,barrier"
    )
    for name, summary in _FLAGS.items():
        replay.add_argument(flag(name), action="store_true", help=summary)
    for name, summary in _NUMBERS.items():
        default = getattr(defaults, name)
        suffix = "" if default is None else f" (default: {default})"
        replay.add_argument(flag(name), type=count, metavar="N", default=default, help=f"{summary}{suffix}")
    replay.add_argument(
        "--timeout",
        type=number,
        metavar="S",
        default=defaults.timeout,
        help=f"timeout in seconds (default: {defaults.timeout:g})",
    )
    output = parser.add_argument_group("Output")
    output.add_argument("--profile", metavar="DIR", help="record the replay into DIR")
    add_writing(output)


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


def _replay(options: ReplayOptions) -> None:
    from kinetoscope.replaying.replay import replay_comms

    extension = format_of(options.writing)
    result = replay_comms(options.trace_path, **options.replay._asdict())
    if result.rank:
        return
    for note in result.notes:
        tell_problem(f"{note}")
    print_or_write(result, options.writing, extension)


REPLAY = command(
    "replay-comms",
    "Replay the recorded communications of a job and measure them",
    details="Start it with torchrun or mpirun: torchrun --nproc-per-node 2 -m kinetoscope replay-comms …",
    add_arguments=_add_arguments,
    options=ReplayOptions,
    run=_replay,
)
