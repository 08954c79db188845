"""Results of a replay."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kinetoscope import _native
from kinetoscope._base import text
from kinetoscope.replaying.recorded_sizes import Sample, message_sizes
from kinetoscope.table import Table

if TYPE_CHECKING:
    from kinetoscope.replaying.message import Message
    from kinetoscope.replaying.plan import Step

_NO_GROUP = 1


def samples(rank: int, steps: Sequence[Step], passes: Sequence[Mapping[int, int]]) -> list[Sample]:
    """Groups equal communications of a rank, with durations in ns from all passes."""
    found: dict[tuple[Message, Message | None], Sample] = {}
    for at, step in enumerate(steps):
        if step.message is None:
            continue
        key = (step.message, step.recorded)
        sample = found.get(key) or _empty(*key, rank)
        found[key] = sample._replace(num_calls=sample.num_calls + 1)
        sample.recorded_ns.extend([] if step.dur_ns is None else [step.dur_ns])
        sample.replayed_ns.extend(took[at] for took in passes if at in took)
    return list(found.values())


def _empty(message: Message, recorded: Message | None, rank: int) -> Sample:
    group = message.group
    size = len(group.members) if group else 0
    sizes = message_sizes(message, group, rank, size or _NO_GROUP)
    before = recorded or message
    recorded_sizes = message_sizes(before, group, rank, group.size if group and size else sizes.group_size)
    name = group.name if group else ""
    others = None if recorded_sizes == sizes else recorded_sizes
    return Sample(message.collective, name, message.dtype, sizes, others, 0, [], [])


class Replay(Table):
    """Durations of replayed communications, beside the recorded ones.

    Has one row per name, group, type and size, over all ranks:

    * `num_calls`: number of calls in the traces
    * `num_replayed`: number of measurements
    * `p50_ns` and other percentiles of the durations
    * algorithm and bus bandwidth at the median, as NCCL's tests define them; the recorded ones
      with the recorded sizes, also after `shrink` and `rebalance`

    Values without a measurement or a recorded time are null. Rank 0 has the measurements of all
    ranks, and each other rank has its own.
    """

    def __init__(
        self, found: Iterable[Sample], rank: int, num_ranks: int, notes: Sequence[str], *, is_run: bool = True
    ) -> None:
        super().__init__(_native.replayed(list(found)))
        self.is_run = is_run
        """Whether communications ran: not in a dry run, nor with `init_only`."""
        self.rank = rank
        """Rank of this process."""
        self.num_ranks = num_ranks
        """Number of ranks of the replay."""
        self.notes = list(notes)
        """Differences from the recording, and unknown values."""
        self.profile: list[Path] = []
        """Trace files of the replay on this rank; empty without the option `profile`."""

    def export(self, path: str | os.PathLike[str]) -> Path:
        """Writes the table as Parquet, Arrow IPC, CSV, JSON lines or JSON, by extension."""
        from kinetoscope._export.tables import Part, export

        return export([Part(self, {})], path)

    @property
    def lines(self) -> list[str]:
        """The outcome and the notes, as sentences."""
        ranks = text.plural(self.num_ranks, "rank")
        state = f"{ranks} replayed" if self.is_run else f"{ranks} planned, nothing replayed"
        if not len(self):
            state = f"{ranks}: the selection has no communications, nothing replayed"
        return [state, *self.notes]

    def __repr__(self) -> str:
        return "\n".join([*self.lines, super().__repr__()])

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{text.escaped(line)}</p>" for line in self.lines)
        return f"{notes}{super()._repr_html_()}"
