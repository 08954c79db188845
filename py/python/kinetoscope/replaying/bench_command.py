"""The command `bench`, which writes benchmarks of recorded operators."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kinetoscope._base import text
from kinetoscope._base.tell import tell, tell_problem
from kinetoscope._cli.arguments import command, count, integer, names
from kinetoscope._cli.reading import ReadingOptions, add_rank, add_reading, add_trace, read_trace
from kinetoscope._cli.terminal import busy
from kinetoscope._io.inputs import refuse_input
from kinetoscope.trace_set import TraceSet

if TYPE_CHECKING:
    from kinetoscope.replaying.operators.benchmark import Benchmark
    from kinetoscope.trace import Trace

_SHOWN = 5
_TRIED, _LEAST_TRIED = 10, 50
"""Operators to look at, for each script and in all: each takes a search of the trace."""


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

    if options.event is not None and (options.operator or options.top is not None):
        raise ValueError("expected --event without --operator and --top, found both")
    limit = options.top if options.top is not None else (10 if options.output and options.event is None else 1)
    if limit != 1 and options.output is None:
        raise ValueError(f"expected -o FOLDER for {limit} scripts, found none")
    trace = _one(read_trace(options.trace, options.reading), options.rank)
    with busy("writing benchmarks"):
        scripts, refused = _found(trace, options, limit)
    for line in _left_out(refused, options.operator or [], limit):
        tell_problem(line)
    if not scripts:
        raise ValueError("expected operators with recorded shapes, found none to benchmark")
    if options.output is None:
        tell(scripts[0].text.rstrip("\n"))
    else:
        _write(scripts, options.output)


class _Refused(NamedTuple):
    """An operator without a script."""

    name: str
    shapes: str
    reason: str


def _found(trace: Trace, options: BenchOptions, limit: int) -> tuple[list[Benchmark], list[_Refused]]:
    """Returns the scripts of the operators with the most time, and operators without a script."""
    from kinetoscope.replaying.operators.benchmark import benchmark, of_recorded
    from kinetoscope.replaying.operators.recorded import chosen, operators
    from kinetoscope.replaying.operators.value import RefusedValueError

    if options.event is not None:
        return [benchmark(trace, options.event, namespaces=options.namespaces)], []
    names = options.operator or []
    for name in names:
        chosen(trace, None, None, name, None)
    wanted = [each for each in operators(trace) if not names or each.name in names]
    scripts: list[Benchmark] = []
    refused: list[_Refused] = []
    for each in wanted[: max(_TRIED * limit, _LEAST_TRIED)]:
        try:
            scripts.append(of_recorded(trace, each, options.namespaces))
        except RefusedValueError as error:
            refused.append(_Refused(text.printable(each.name), text.printable(each.shapes), str(error)))
        if len(scripts) == limit:
            break
    return scripts, refused


def _left_out(refused: Sequence[_Refused], names: Sequence[str], limit: int) -> list[str]:
    """Describes operators without a script: named ones with their reasons, others in one line."""
    if names:
        return [f"no benchmark of {name} {shapes}: {reason}" for name, shapes, reason in refused[:limit]]
    if not refused:
        return []
    found = list(dict.fromkeys(each.name for each in refused))
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    calls = text.plural(len(refused), "kind of call", "kinds of calls")
    return [f"left out {calls} without a script: {', '.join(found[:_SHOWN])}{more} (--operator NAME tells why)"]


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
