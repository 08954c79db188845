"""Recorded sizes of communications that the replay changes, for their recorded bandwidths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from kinetoscope.replaying.message import Group, Message


class MessageSizes(NamedTuple):
    """Sizes of a message of one rank."""

    group_size: int
    in_bytes: int
    out_bytes: int
    kept_bytes: tuple[int | None, int | None]


class RowKey(NamedTuple):
    """The row that a sample belongs to."""

    collective: str
    group_name: str
    dtype: str
    group_size: int
    num_bytes: int


class Sample(NamedTuple):
    """Measurements of one rank for equal communications, as the core expects them."""

    collective: str
    group_name: str
    dtype: str
    sizes: MessageSizes
    recorded_sizes: MessageSizes | None
    """Recorded sizes; None if the replay has the same."""
    num_calls: int
    recorded_ns: list[int]
    replayed_ns: list[int]

    @property
    def key(self) -> RowKey:
        """The row of the sample."""
        return self._key(self.sizes)

    @property
    def recorded_key(self) -> RowKey:
        """The row that the sample has in a replay with the recorded sizes."""
        return self._key(self.recorded_sizes or self.sizes)

    def _key(self, sizes: MessageSizes) -> RowKey:
        num_bytes = max(sizes.in_bytes, sizes.out_bytes)
        return RowKey(self.collective, self.group_name, self.dtype, sizes.group_size, num_bytes)


def message_sizes(message: Message, group: Group | None, rank: int, group_size: int) -> MessageSizes:
    """Returns the sizes of a message of a rank in a group of so many ranks."""
    if message.collective == "barrier":
        return MessageSizes(group_size, 0, 0, (None, None))
    members = group.members if group else ()
    kept = message.kept_bytes(members.index(rank)) if rank in members else (None, None)
    return MessageSizes(group_size, message.in_bytes, message.out_bytes, kept)


def with_absent(found: Sequence[Sample], absent: Sequence[Sample]) -> list[Sample]:
    """Adds the recorded times of ranks that do not replay, to the rows of their communications.

    Those whose communication has no row, or several, are left out.
    """
    rows: dict[RowKey, dict[RowKey, Sample]] = {}
    for sample in found:
        rows.setdefault(sample.recorded_key, {}).setdefault(sample.key, sample)
    added: list[Sample] = []
    for sample in absent:
        places = list(rows.get(sample.recorded_key, {}).values())
        if len(places) == 1:
            recorded = sample.recorded_sizes or sample.sizes
            times = {"recorded_ns": sample.recorded_ns, "replayed_ns": []}
            added.append(places[0]._replace(num_calls=0, recorded_sizes=recorded, **times))
    return [*found, *added]
