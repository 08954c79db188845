"""Matches sends and receives that name no group, and receives from any rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, final

from kinetoscope.replaying.message import Group, Message

Place = tuple[int, int]


class Channel(NamedTuple):
    """Sends or receives of a rank with one peer and tag; None is a receive from any rank."""

    rank: int
    is_send: bool
    peer: int | None
    tag: int | None


@final
class Pairs:
    """Assigns each channel to the first group with a matching channel, else to that of all ranks.

    Receives from any rank get the remaining sends: the first of each rank, then the second, etc.
    """

    def __init__(self, messages: Mapping[int, Mapping[int, Message]], *, is_cut: bool) -> None:
        self._messages, self._is_cut = messages, is_cut
        self._channels: dict[Channel, list[int]] = {}
        for rank, own in messages.items():
            for at, message in own.items():
                if message.is_p2p and message.group is None:
                    channel = Channel(rank, message.collective == "send", message.peer, message.tag)
                    self._channels.setdefault(channel, []).append(at)
        self.groups: dict[Place, Group] = {}
        self.peers: dict[Place, int] = {}
        """Senders for receives from any rank."""

    def run(self, candidates: Sequence[Group], everyone: Group) -> None:
        """Assigns groups. The first candidate is the group of all ranks."""
        sends = {channel: None for channel in self._channels if channel.is_send}
        for group in candidates:
            for channel in list(sends):
                other = _other(channel, group)
                if other is not None and other in self._channels and self._is_same(channel, other):
                    del sends[channel]
                    self._put(channel, group)
                    self._put(other, group)
        for channel in self._channels:
            if not channel.is_send and channel.peer is None:
                senders = [one for one in sends if _other(one, everyone, is_named=False) == channel]
                self._take(channel, senders, everyone)
            self._put(channel, everyone)

    def _is_same(self, one: Channel, other: Channel) -> bool:
        sizes = [[self._size(channel, at) for at in self._channels[channel]] for channel in (one, other)]
        common = min(map(len, sizes)) if self._is_cut else None
        return sizes[0][:common] == sizes[1][:common]

    def _size(self, channel: Channel, at: int) -> tuple[str, int]:
        message = self._messages[channel.rank][at]
        return message.dtype, sum(message.in_elems)

    def _put(self, channel: Channel, group: Group) -> None:
        for at in self._channels[channel]:
            self.groups.setdefault((channel.rank, at), group)

    def _take(self, channel: Channel, sends: Sequence[Channel], everyone: Group) -> None:
        sent = [(number, one, at) for one in sends for number, at in enumerate(self._channels[one])]
        by_size: dict[tuple[str, int], list[int]] = {}
        for _, one, at in sorted(sent, key=lambda each: (each[0], each[1].rank)):
            by_size.setdefault(self._size(one, at), []).append(everyone.members.index(one.rank))
        left = {size: iter(ranks) for size, ranks in by_size.items()}
        for at in self._channels[channel]:
            sender = next(left.get(self._size(channel, at), iter(())), None)
            if sender is not None:
                self.peers[channel.rank, at] = sender


def _other(channel: Channel, group: Group, *, is_named: bool = True) -> Channel | None:
    """Returns the receiving channel of a send; without `is_named`, of a receive from any rank."""
    members, peer = group.members, channel.peer
    if peer is None or channel.rank not in members or not 0 <= peer < len(members):
        return None
    return Channel(members[peer], False, members.index(channel.rank) if is_named else None, channel.tag)
