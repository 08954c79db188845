"""The command `trim`, and the flag `--redact`: traces made smaller or safer before they are shared."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from kinetoscope import _native
from kinetoscope._cli.arguments import add_reading, count, integer, one_or_all, tell_defects_of
from kinetoscope._cli.output import expect_ending, outputs
from kinetoscope._cli.terminal import busy
from kinetoscope._export.tables import Part
from kinetoscope.tables import Tables
from kinetoscope.trace import redacted
from kinetoscope.trace_set import TraceSet

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

_SNAPSHOT = ".kscope"


def add_trim(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The command `trim`."""
    about = "a part of a trace as a file of its own: an iteration or a range, with all that is linked with it"
    trim = commands.add_parser("trim", help=about, description=f"Writes {about}. Of several ranks, one each.")
    trim.add_argument("trace", metavar="TRACE", help="file, archive or folder of traces, or its address")
    trim.add_argument(
        "-o", "--output", type=Path, required=True, help=".json, .json.gz, or .kscope; beside JSON, the Execution Trace"
    )
    trim.add_argument("--iteration", type=count, metavar="N", help="keep ProfilerStep#N")
    trim.add_argument("--start-ns", type=integer, metavar="N", help="keep what is after this, as the tables count time")
    trim.add_argument("--end-ns", type=integer, metavar="N", help="keep what is before this")
    add_redact(trim)
    trim.add_argument("--no-et", action="store_true", help="read the Kineto trace alone")
    add_reading(trim)
    trim.set_defaults(run=_trim)


def add_redact(command: argparse.ArgumentParser) -> None:
    """The flag `--redact`."""
    command.add_argument(
        "--redact",
        action="store_true",
        help="pseudonyms for paths, stacks, users and all that may be private",
    )


def to_share(traces: list[Trace], options: argparse.Namespace) -> list[Trace]:
    """The traces, without private texts where that is asked for."""
    return redacted(traces) if options.redact else traces


def parts_to_share(found: Trace | TraceSet | Tables, table: str, options: argparse.Namespace) -> list[Part]:
    """A table of what was read, likewise. UnsupportedTraceError for what is no trace."""
    parts = found.parts(table)
    if not options.redact:
        return parts
    if isinstance(found, Tables):
        raise _native.UnsupportedTraceError(f"expected a trace to redact, found {found.sort}")
    traces = redacted(list(found) if isinstance(found, TraceSet) else [found])
    return [Part(trace.table(table), part.columns) for trace, part in zip(traces, parts, strict=True)]


def _trim(options: argparse.Namespace) -> None:
    if not options.output.name.endswith(_SNAPSHOT):
        expect_ending(options.output, ".json", may_be_packed=True)
    files = outputs(one_or_all(options), options.output)
    parts = [file.trace if _is_whole(options) else _cut(file.trace, options) for file in files]
    for (rank, whole, path), part in zip(files, to_share(parts, options), strict=True):
        tell_defects_of(whole, rank)
        _write(part, whole, path)


def _is_whole(options: argparse.Namespace) -> bool:
    """Whether all is to be kept, and only redacted."""
    return options.redact and options.iteration is options.start_ns is options.end_ns is None


def _cut(trace: Trace, options: argparse.Namespace) -> Trace:
    return trace.trim(options.start_ns, options.end_ns, iteration=options.iteration)


def _write(part: Trace, whole: Trace, path: Path) -> None:
    with busy(f"writing {path}"):
        if path.name.endswith(_SNAPSHOT):
            part.save(path)
        else:
            part.to_chrome(path)
    print(f"{path}: {part.num_events:,} of {whole.num_events:,} events")
    if path.name.endswith(_SNAPSHOT) or not len(part.nodes):
        return
    beside = part.to_execution_trace(_beside(path))
    print(f"{beside}: {len(part.nodes):,} of {len(whole.nodes):,} nodes")


def _beside(path: Path) -> Path:
    """Where the Execution Trace goes: `cut_et.json.gz` beside `cut.json.gz`, where `read` finds it."""
    plain = path.name.removesuffix(".gz")
    stem, dot, ending = plain.rpartition(".")
    return path.with_name(f"{stem}_et{dot}{ending}{path.name[len(plain) :]}")
