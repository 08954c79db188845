"""The command `replay-comms`, which runs in every process of a job."""

from __future__ import annotations

import argparse
from collections.abc import Generator
from contextlib import contextmanager, nullcontext
from typing import NamedTuple

from kinetoscope._base.tell import tell_problem
from kinetoscope._cli.arguments import command, flag, names
from kinetoscope._cli.output_format import WritingOptions, format_of, print_or_write
from kinetoscope.replaying.options import BACKENDS, DEVICES, REBALANCE, Options, validated
from kinetoscope.replaying.param_options import ALIASES, ParamOptions, add_param_options, with_param
from kinetoscope.replaying.run_arguments import add_number, add_output, add_timeout

_FLAGS = {
    "dry_run": "run nothing: compare the ranks and print the plan",
    "use_timestamp": "start each communication at its recorded time after the first",
    "blocking": "wait for each collective at once, even if the recording did not",
    "shrink": "use fewer processes than recorded ranks",
    "check": "verify the results of each communication",
    "init_only": "create the process groups, but replay nothing",
    "use_one_trace": "replay the first trace on every rank",
}
_NUMBERS = {
    "warmup_iter": "passes without measuring",
    "num_replays": "measured passes",
    "max_msg_cnt": "replay only the first N communications of each rank; 0: all",
    "max_msg_bytes": "refuse messages of more bytes",
    "profiler_num_replays": "record N of the measured passes (default: all)",
    "profiler_num_replays_start": "measured passes before the recorded ones",
}


class ReplayOptions(NamedTuple):
    """Options of `replay-comms`."""

    trace_path: str
    trace_type: str
    replay: Options
    param: ParamOptions
    writing: WritingOptions


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    defaults = Options()
    source = parser.add_argument_group("Input")
    source.add_argument(
        "--trace-path", required=True, metavar="DIR", help="folder with the traces of all ranks; several by commas"
    )
    source.add_argument(
        "--trace-type", choices=["et"], default="et", help="Execution Traces, as ks.profile records them"
    )
    replay = parser.add_argument_group("Replay")
    replay.add_argument("--backend", choices=BACKENDS, help="(default: gloo; nccl with --device cuda)")
    replay.add_argument("--device", choices=DEVICES, help="memory of the messages (default: cuda for nccl, else cpu)")
    replay.add_argument(
        "--rebalance", *ALIASES["rebalance"], choices=REBALANCE, help="make the parts of uneven exchanges equal"
    )
    replay.add_argument(
        "--allow-ops",
        *ALIASES["allow_ops"],
        metavar="NAMES",
        type=names,
        help="replay only these operations, such as all_reduce,barrier",
    )
    for name, summary in _FLAGS.items():
        replay.add_argument(flag(name), *ALIASES.get(name, ()), action="store_true", help=summary)
    for name, summary in _NUMBERS.items():
        add_number(replay, name, summary, getattr(defaults, name))
    add_timeout(replay, "timeout", defaults.timeout)
    replay.add_argument("--init-method", metavar="URL", help="address for torch.distributed, such as tcp://host:29500")
    add_param_options(parser)
    add_output(parser)


def _replay(options: ReplayOptions) -> None:
    from kinetoscope.replaying.replay import replay_comms

    extension = format_of(options.writing)
    given = with_param(options.replay, options.param)
    paths = names(options.trace_path)
    if len(paths) > 1 and (options.writing.output is not None or given.profile is not None):
        raise ValueError(f"expected one --trace-path with -o or --profile, found {len(paths)}")
    with _one_connection(given) if len(paths) > 1 and not given.dry_run else nullcontext():
        for path in paths:
            result = replay_comms(path, **given._asdict())
            if result.rank:
                continue
            for line in result.notes if len(result) else result.lines:
                tell_problem(line)
            print_or_write(result, options.writing, extension)


@contextmanager
def _one_connection(options: Options) -> Generator[None]:
    """Connects the ranks for several replays: torch cannot connect them twice at one address."""
    from kinetoscope.replaying.backend import Backend
    from kinetoscope.replaying.world import world

    backend = Backend(world(), validated(options))
    try:
        yield
    finally:
        backend.end()


REPLAY = command(
    "replay-comms",
    "Replay the recorded communications of a job and measure them",
    details="Start it with torchrun or mpirun: torchrun --nproc-per-node 2 -m kinetoscope replay-comms …",
    add_arguments=_add_arguments,
    options=ReplayOptions,
    run=_replay,
)
