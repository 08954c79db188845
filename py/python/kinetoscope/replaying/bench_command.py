"""The command `bench`, which writes benchmarks of recorded operators."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kinetoscope._base.tell import tell, tell_problem
from kinetoscope._cli.arguments import command, count, integer, names
from kinetoscope._cli.reading import ReadingOptions, add_rank, add_reading, add_trace, read_trace
from kinetoscope._cli.terminal import busy
from kinetoscope._io.inputs import refuse_input
from kinetoscope.trace_set import TraceSet

if TYPE_CHECKING:
    from kinetoscope.replaying.operators.benchmark import Benchmark
    from kinetoscope.trace import Trace


class BenchOptions(NamedTuple):
    """Options of `bench`."""

    trace: str
    rank: int | None
    event: int | None
    operator: list[str] | None
    top: int | None
    namespaces: list[str]
    output: Path | None
    reading: ReadingOptions


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_trace(parser)
    selection = parser.add_argument_group("Selection")
    add_rank(selection)
    selection.add_argument("--event", type=integer, metavar="ID", help="the operator of this event (id in events)")
    selection.add_argument(
        "--operator", action="append", metavar="NAME", help="only this operator, such as aten::bmm; repeatable"
    )
    selection.add_argument(
        "--top",
        type=count,
        metavar="N",
        help="calls of equal shapes and types with the most time (default: 10 with -o, else 1)",
    )
    selection.add_argument(
        "--namespaces",
        type=names,
        default=[],
        metavar="NAMES",
        help="allow operators of further libraries, which you trust",
    )
    output = parser.add_argument_group("Output")
    output.add_argument(
        "-o", "--output", type=Path, metavar="FOLDER", help="write one script each (default: print one)"
    )
    add_reading(parser)


def _bench(options: BenchOptions) -> None:
    from kinetoscope.replaying.operators.benchmark import Benchmark

    if options.event is not None and (options.operator or options.top is not None):
        raise ValueError("expected --event without --operator and --top, found both")
    limit = options.top if options.top is not None else (10 if options.output and options.event is None else 1)
    if limit != 1 and options.output is None:
        raise ValueError(f"expected -o FOLDER for {limit} scripts, found none")
    trace = _one(read_trace(options.trace, options.reading), options.rank)
    with busy("writing benchmarks"):
        found = _found(trace, options, limit)
    for each in found:
        if not isinstance(each, Benchmark):
            tell_problem(each)
    scripts = [each for each in found if isinstance(each, Benchmark)]
    if not scripts:
        raise ValueError("expected operators with recorded shapes, found none to benchmark")
    if options.output is None:
        tell(scripts[0].text.rstrip("\n"))
    else:
        _write(scripts, options.output)


def _found(trace: Trace, options: BenchOptions, limit: int) -> list[Benchmark | str]:
    from kinetoscope.replaying.operators.benchmark import benchmark, most_time

    if options.event is not None:
        return [benchmark(trace, options.event, namespaces=options.namespaces)]
    return list(most_time(trace, options.operator or [], limit, options.namespaces))


def _write(scripts: list[Benchmark], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number, each in enumerate(scripts, 1):
        path = folder / f"{number:02}_{each.file_name}"
        refuse_input(path)
        tell(each.save(path))


def _one(found: Trace | TraceSet, rank: int | None) -> Trace:
    if not isinstance(found, TraceSet):
        return found
    for member in found.members:
        if rank in {None, member.rank}:
            return member.trace
    raise ValueError(f"expected one of the ranks {found.ranks}, found {rank}")


BENCH = command(
    "bench",
    "Write benchmarks of recorded operators, as standalone scripts",
    details="The scripts need torch only. Each prints the recorded, the measured and the roofline time.",
    add_arguments=_add_arguments,
    options=BenchOptions,
    run=_bench,
)
