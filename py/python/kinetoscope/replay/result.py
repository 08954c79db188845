"""What a replay found out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kinetoscope import _native
from kinetoscope._base import text
from kinetoscope.table import Table

if TYPE_CHECKING:
    from kinetoscope.replay.message import Message
    from kinetoscope.replay.plan import Step

_NO_GROUP = 1


class Sample(NamedTuple):
    """What one rank measured of communications that are alike, as the core takes it."""

    collective: str
    group_name: str
    group_size: int
    dtype: str
    in_bytes: int
    out_bytes: int
    kept_bytes: tuple[int | None, int | None]
    num_calls: int
    recorded_ns: list[int]
    replayed_ns: list[int]


def samples(rank: int, steps: Sequence[Step], passes: Sequence[Mapping[int, int]]) -> list[Sample]:
    """A rank's steps with what they took in each pass, those that are alike together."""
    found: dict[Message, Sample] = {}
    for at, step in enumerate(steps):
        if step.message is None:
            continue
        sample = found.setdefault(step.message, _empty(step.message, rank))
        found[step.message] = sample._replace(num_calls=sample.num_calls + 1)
        sample.recorded_ns.extend([] if step.dur_ns is None else [step.dur_ns])
        sample.replayed_ns.extend(took[at] for took in passes if at in took)
    return list(found.values())


def _empty(message: Message, rank: int) -> Sample:
    group = message.group
    members = group.members if group else ()
    kept = message.kept_bytes(members.index(rank)) if rank in members else (None, None)
    name = group.name if group else ""
    size = len(members) or _NO_GROUP
    sizes = (message.in_bytes, message.out_bytes)
    if message.collective == "barrier":
        sizes = (0, 0)
    return Sample(message.collective, name, size, message.dtype, *sizes, kept, 0, [], [])


class Replay(Table):
    """What communications took when they were replayed, beside what they took when they were recorded.

    One row for those of one name, group and size on all ranks: `num_calls` in the traces, `num_replayed` measurements,
    percentiles of their durations (`p50_ns`, …), and bandwidths at the median as NCCL's tests count them. Where nothing
    ran, or no trace has times, they are null. Rank 0 has what all ranks measured, the others what they did.
    """

    def __init__(self, found: Iterable[Sample], rank: int, num_ranks: int, notes: Sequence[str]) -> None:
        super().__init__(_native.replayed(list(found)))
        self.rank = rank
        """Of this process."""
        self.num_ranks = num_ranks
        """How many ranks replayed."""
        self.notes = list(notes)
        """What was other than it was recorded, and what could not be known."""
        self.profile: list[Path] = []
        """The files of the replay's own trace on this rank, where one was asked for."""

    def export(self, path: str | os.PathLike[str]) -> Path:
        """Writes the table to a file: Parquet, Arrow IPC, CSV, JSON lines or JSON, as the ending says."""
        from kinetoscope._export.tables import Part, export, export_json

        target, parts = Path(path), [Part(self, {})]
        return export_json(parts, target) if target.suffix == ".json" else export(parts, target)

    def __repr__(self) -> str:
        return "\n".join([f"{text.plural(self.num_ranks, 'rank')} replayed", *self.notes, super().__repr__()])

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{text.escaped(note)}</p>" for note in self.notes)
        return f"{notes}{super()._repr_html_()}"
