"""Dumps of the flight recorder of torch.distributed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from kinetoscope import _native
from kinetoscope._analysis.result import AnalysisResult
from kinetoscope._base import lazy, text
from kinetoscope.table import Table
from kinetoscope.tables import Tables


class FlightRecorder(Tables):
    """The last communications of one rank: `TORCH_FR_BUFFER_SIZE`, `torch.distributed` timeouts.

    ::

        recorder = ks.read("nccl_trace_rank_0")     # a pickle or JSON; runs no code of the file
        entries = recorder.entries.to_polars()
        entries.filter(pl.col("state") != "completed")
        recorder.groups.to_polars()                 # last_enqueued_seq, last_completed_seq, …

    `FlightRecorderSet` compares the dumps of several ranks.
    """

    @property
    def rank(self) -> int | None:
        """Rank by the name of the file: `nccl_trace_rank_3`, or a number at its end.

        Else the key `rank` of the dump; None without one.
        """
        named = None if self.source is None else _native.rank_of_dump(self.source)
        own = self.metadata.get("rank")
        return named if named is not None else own if isinstance(own, int) else None

    @cached_property
    def entries(self) -> Table:
        """Communications in the order of the file; `stack_id` refers to `frames`.

        `state` is `scheduled`, `started` or `completed`. Times count from 1970; `started_ns` and
        `completed_ns` are when the watchdog noticed. `TORCH_NCCL_ENABLE_TIMING` adds `duration_ns`.
        `extra` is a JSON object with the keys that have no column.
        """
        return self.table("entries")

    @cached_property
    def groups(self) -> Table:
        """Process groups with their ranks, and their last collective by state."""
        return self.table("groups")

    @cached_property
    def frames(self) -> Table:
        """Frames of all stacks; `depth` 0 is the innermost."""
        return self.table("frames")


class FlightRecorderSet(Tables):
    """Dumps of several ranks, compared: ranks that lag, and ranks that differ.

    ::

        recorders = ks.read("dumps/")               # or ks.read([path, path, …])
        recorders.verdict                           # differ: rank 3 never enqueued all_reduce
        recorders.collectives.to_polars()           # one row per group and sequence number
        recorders.calls.to_polars().filter(pl.col("status") == "missing")
        recorders.events(ks.read_dir("traces"))     # the event of each entry in Kineto traces

    `recorders[3]` is the `FlightRecorder` of rank 3. A rank without a dump is unknown, never
    missing. So is a collective that a full ring buffer has dropped, or that may be a damaged entry:
    its status is `not_recorded`. A rank with an empty dump counts as one that enqueued nothing.

    Raises ValueError without any recorder.
    """

    def __init__(self, recorders: Mapping[int, FlightRecorder], source: str | None = None) -> None:
        if not recorders:
            raise ValueError("expected at least one flight recorder, found none")
        natives = [(rank, recorder._native) for rank, recorder in recorders.items()]  # noqa: SLF001 - an argument of the core
        super().__init__(_native.flight_job(natives), source)
        self._recorders = dict(recorders)

    @property
    def ranks(self) -> list[int]:
        """Ranks with a dump, ascending."""
        return sorted(self._recorders)

    @cached_property
    def verdict(self) -> FlightVerdict:
        """Whether the ranks agree; prints the first difference of each group."""
        return FlightVerdict(self.metadata["verdict"], self.findings)

    @cached_property
    def findings(self) -> Table:
        """First difference between the ranks of each group, then calls that no rank completed.

        The earliest comes first, because it may hold up other groups. Later differences of a group
        may follow from its first. `problem` is:

        * `missing`: a rank never enqueued the collective, or one side of a send
        * `type`: ranks enqueued different operations
        * `size`, `dtype`: sizes or types of tensors do not fit each other
        * `state`: some ranks have started or completed it, others not
        * `pending`: all ranks enqueued it alike, and none completed it
        * `no_dump`: ranks of a group without a dump
        * `empty_dump`: ranks whose dump has no entries; they may not have recorded
        * `unreadable`: ranks whose dump has defects; see `FlightRecorder.health`

        `ranks` is a JSON list of the ranks that lag, or that differ from most.
        """
        return self.table("findings")

    @cached_property
    def groups(self) -> Table:
        """Process groups with their ranks, the range of collectives, and their first problem.

        `lagging_ranks` never enqueued the last collective, `last_seq`.
        """
        return self.table("groups")

    @cached_property
    def collectives(self) -> Table:
        """Collectives by group and sequence number, each with its ranks by status and by state.

        `problem` is the gravest difference, `message` lists all.
        """
        return self.table("collectives")

    @cached_property
    def calls(self) -> Table:
        """The part of each rank in each collective; `entry_id` is the row in `entries` of the rank.

        `status` is `enqueued`, `missing` or `not_recorded`. Ranks without a dump have no row.
        """
        return self.table("calls")

    @cached_property
    def transfers(self) -> Table:
        """Sends with their receives.

        Both are paired in order, if the dumps of both ranks have all entries from the first. Else
        each call has a row of its own, without a problem.
        """
        return self.table("transfers")

    @cached_property
    def dumps(self) -> Table:
        """Dumps by rank, with the number of entries that the ring buffer has dropped."""
        return self.table("dumps")

    @cached_property
    def entries(self) -> Table:
        """`FlightRecorder.entries` of all ranks, with the columns `rank` and `window` (0)."""
        return self.table("entries")

    @cached_property
    def frames(self) -> Table:
        """`FlightRecorder.frames` of all ranks, with the columns `rank` and `window` (0)."""
        return self.table("frames")

    def events(self, traces: lazy.TraceSet | lazy.Trace) -> AnalysisResult:
        """Finds the event of each entry in Kineto traces of the same run, by rank.

        `method` tells how an event was found:

        * `sequence`: by process group and sequence number. As many calls must have that number,
          each of the same operation and within a second of its entry.
        * `time`: the only open call of the same operation when the entry was made. This is for
          sends and receives, and for backends such as gloo, whose traces have no numbers.

        Entries without a known event have no row.
        """
        from kinetoscope.trace import Trace

        chosen = [(traces.rank, traces._native)] if isinstance(traces, Trace) else traces.chosen(None)  # noqa: SLF001 - an argument of the core
        return AnalysisResult(*_native.events_of_flight(self._native, chosen))

    def __getitem__(self, rank: int) -> FlightRecorder:
        if rank not in self._recorders:
            raise KeyError(f"expected one of the ranks {self.ranks}, found {rank}")
        return self._recorders[rank]

    def __iter__(self) -> Iterator[FlightRecorder]:
        return iter(self._recorders[rank] for rank in self.ranks)

    def __len__(self) -> int:
        return len(self._recorders)

    def __contains__(self, rank: object) -> bool:
        return rank in self._recorders

    @property
    def _headline(self) -> str:
        return f"flight recorders of {text.plural(len(self), 'rank')}: {self.verdict!r}"

    def _repr_html_(self) -> str:
        return f"{self.verdict._repr_html_()}{self.groups._repr_html_()}"


class FlightVerdict(NamedTuple):
    """Whether the ranks of a job agree; prints its state and all findings."""

    state: str
    """`differ`, `pending` (alike, not completed), `agree`, or `unknown` (nothing to compare)."""
    findings: Table
    """One row per finding; see `FlightRecorderSet.findings`."""

    def __repr__(self) -> str:
        return "\n".join([self.state, *(text.printable(line) for (line,) in self.findings.select("message").rows())])

    __str__ = __repr__

    def _repr_html_(self) -> str:
        return f"<p>{self.state}</p>{self.findings._repr_html_() if len(self.findings) else ''}"
