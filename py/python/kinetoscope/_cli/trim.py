"""The command `trim`, and the flags `--redact` and `--redact=strict`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from kinetoscope._base.tell import tell
from kinetoscope._cli.analyze import add_named_part
from kinetoscope._cli.arguments import Group, command, integer
from kinetoscope._cli.output import expect_extension, outputs
from kinetoscope._cli.reading import ReadingOptions, add_reading, add_trace, read_trace, report_defects_of
from kinetoscope._cli.terminal import busy
from kinetoscope._load.redaction import redacted

if TYPE_CHECKING:
    from kinetoscope._analysis.selection import NamedPart
    from kinetoscope.trace import Trace

_SNAPSHOT = ".kscope"


class TrimOptions(NamedTuple):
    """Options of `trim`."""

    trace: str
    output: Path
    iteration: int | None
    phase: str | None
    state: str | None
    annotation: str | None
    module: str | None
    start_ns: int | None
    end_ns: int | None
    redact: str | None
    reading: ReadingOptions

    @property
    def keeps_all(self) -> bool:
        """Whether the trace is only redacted, not cut."""
        return self.redact is not None and self.start_ns is self.end_ns is None and not self.named_part()

    def named_part(self) -> NamedPart:
        """Returns the part that is selected by name."""
        names = ("iteration", "phase", "state", "annotation", "module")
        return cast("NamedPart", {name: value for name in names if (value := getattr(self, name)) is not None})


def add_redact(group: Group) -> None:
    """Adds the argument `redact`: the level of the redaction, or None."""
    # An optional value would take the next argument, so the strict level is a flag of its own.
    group.add_argument(
        "--redact",
        action="store_const",
        const="names",
        help="replace paths, stacks, users and other private texts with pseudonyms",
    )
    group.add_argument(
        "--redact=strict",
        dest="redact",
        action="store_const",
        const="strict",
        help="also replace kernels and types that no known library has",
    )


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_trace(parser)
    selection = parser.add_argument_group("Selection")
    add_named_part(selection)
    selection.add_argument("--start-ns", type=integer, metavar="N", help="start of the time range, as in the tables")
    selection.add_argument("--end-ns", type=integer, metavar="N", help="end of the time range")
    output = parser.add_argument_group("Output")
    output.add_argument(
        "-o",
        "--output",
        type=Path,
        required=True,
        metavar="FILE",
        help=".json or .json.gz, with an Execution Trace beside it if there is one; or .kscope, a snapshot",
    )
    add_redact(output)
    add_reading(parser)


def _trim(options: TrimOptions) -> None:
    if not options.output.name.endswith(_SNAPSHOT):
        expect_extension(options.output, ".json", may_be_gzip=True)
    found = read_trace(options.trace, options.reading, options.output)
    files = outputs(found, options.output, beside=_execution_path)
    parts = [file.trace if options.keeps_all else _cut(file.trace, options) for file in files]
    if options.redact:
        parts = redacted(parts, level=options.redact)
    for (rank, trace, path), part in zip(files, parts, strict=True):
        report_defects_of(trace, rank)
        _write(part, trace, path)


def _cut(trace: Trace, options: TrimOptions) -> Trace:
    return trace.trim(options.start_ns, options.end_ns, **options.named_part())


def _write(part: Trace, trace: Trace, path: Path) -> None:
    with busy(f"writing {path}"):
        if path.name.endswith(_SNAPSHOT):
            part.save(path)
        else:
            part.to_chrome(path)
    tell(f"{path}: {part.num_events:,} of {trace.num_events:,} events")
    if path.name.endswith(_SNAPSHOT) or not len(part.nodes):
        return
    execution = part.to_execution_trace(_execution_path(path))
    tell(f"{execution}: {len(part.nodes):,} of {len(trace.nodes):,} nodes")


def _execution_path(path: Path) -> Path:
    """Returns `cut_et.json.gz` for `cut.json.gz`, where `read` finds it."""
    plain = path.name.removesuffix(".gz")
    stem, dot, extension = plain.rpartition(".")
    return path.with_name(f"{stem}_et{dot}{extension}{path.name[len(plain) :]}")


TRIM = command(
    "trim",
    "Cut a part out of a trace, with linked events",
    details="The part is a time range, or the range from the first time of a named part to its last. "
    "Writes one file per rank of a job.",
    add_arguments=_add_arguments,
    options=TrimOptions,
    run=_trim,
)
