"""The command `replay`, which runs the operators of a trace again."""

from __future__ import annotations

import argparse
from typing import NamedTuple

from kinetoscope._base.tell import tell, tell_problem
from kinetoscope._cli.arguments import command, names
from kinetoscope._cli.output_format import WritingOptions, format_of, print_or_write
from kinetoscope.replaying.operators.options import MODES, OperatorOptions
from kinetoscope.replaying.options import BACKENDS
from kinetoscope.replaying.run_arguments import add_number, add_output, add_timeout

_NUMBERS = {
    "warmup_iter": "passes without measuring",
    "num_replays": "measured passes",
    "max_memory_bytes": "refuse a replay that needs more memory (default: the free memory)",
    "node_id": "replay only the operators inside of a node",
}


class ReplayCommandOptions(NamedTuple):
    """Options of `replay`."""

    trace: str
    mode: str
    dry_run: bool
    device: str | None
    subgraph: str | None
    node_id: int | None
    skip: list[str]
    namespaces: list[str]
    kernel_sources: bool
    max_memory_bytes: int | None
    warmup_iter: int
    num_replays: int
    backend: str | None
    timeout: float
    profile: str | None
    writing: WritingOptions


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    defaults = OperatorOptions()
    parser.add_argument("trace", metavar="TRACE", help="Execution Trace, or the folder of a job")
    part = parser.add_argument_group("Selection")
    part.add_argument("--mode", choices=MODES, default=defaults.mode, help=f"(default: {defaults.mode})")
    part.add_argument("--subgraph", metavar="NAME", help="replay only the operators inside of an annotation")
    part.add_argument("--skip", type=names, default=[], metavar="NAMES", help="leave out these operators")
    run = parser.add_argument_group("Replay")
    run.add_argument("--dry-run", action="store_true", help="run nothing: print coverage and memory")
    run.add_argument("--device", metavar="NAME", help="replace the recorded device, such as cpu or cuda:1")
    run.add_argument(
        "--namespaces", type=names, default=[], metavar="NAMES", help="allow further libraries, which you trust"
    )
    run.add_argument(
        "--kernel-sources", action="store_true", help="run the sources of kernels beside a trace that you trust"
    )
    run.add_argument("--backend", choices=BACKENDS, help="for communications (default: gloo)")
    for name, summary in _NUMBERS.items():
        add_number(part if name == "node_id" else run, name, summary, getattr(defaults, name))
    add_timeout(run, "timeout of a communication", defaults.timeout)
    add_output(parser)


def _replay(options: ReplayCommandOptions) -> None:
    from kinetoscope.replaying.operators.result import OperatorReplay
    from kinetoscope.replaying.operators.run import replay

    extension = format_of(options.writing)
    values = {name: value for name, value in options._asdict().items() if name not in {"trace", "mode", "writing"}}
    result = replay(options.trace, options.mode, **values)
    if result.rank:
        return
    if isinstance(result, OperatorReplay):
        for line in result.lines:
            tell_problem(line) if extension else tell(line)
    else:
        for line in result.notes if len(result) else result.lines:
            tell_problem(line)
    print_or_write(result, options.writing, extension)


REPLAY_OPERATORS = command(
    "replay",
    "Run the operators of an Execution Trace again and measure them",
    details="With communications, start it with torchrun: torchrun --nproc-per-node 2 -m kinetoscope replay …",
    add_arguments=_add_arguments,
    options=ReplayCommandOptions,
    run=_replay,
)
