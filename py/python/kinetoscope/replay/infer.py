"""Infers process groups that traces do not name, as with gloo, from simultaneous calls."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from math import inf
from typing import final

from kinetoscope.replay.agree import DisagreementError, Place, Steps
from kinetoscope.replay.message import Group, Message
from kinetoscope.replay.pairs import Pairs
from kinetoscope.replay.same import difference, fits, likeness

_SHOWN = 4


class InferredGroups(dict[Place, Group]):
    """Groups of steps whose traces name none."""

    def __init__(self) -> None:
        super().__init__()
        self.peers: dict[Place, int] = {}
        """Senders for receives from any rank, as places in their groups."""


def infer(steps: Steps, groups: Sequence[Group], *, is_cut: bool = False) -> InferredGroups:
    """Infers groups: the largest group whose ranks all make the same call next.

    A send or receive gets the first group with a matching partner. Raises DisagreementError if a
    communication matches no group, unless plans were cut.
    """
    inferred = InferredGroups()
    messages = {rank: {at: step.message for at, step in enumerate(own) if step.message} for rank, own in steps.items()}
    if all(message.group for own in messages.values() for message in own.values()):
        return inferred
    named = {message.group for own in messages.values() for message in own.values() if message.group}
    everyone = _everyone(steps, groups)
    candidates = _candidates([*groups, *named], everyone)
    pairs = Pairs(messages, is_cut=is_cut)
    pairs.run(candidates, everyone)
    inferred.update(pairs.groups)
    inferred.peers.update(pairs.peers)
    matching = _Matching(messages, candidates)
    matching.run(inferred)
    if matching.left and not is_cut:
        raise DisagreementError(_unmatched(messages, matching.left))
    return inferred


def _everyone(steps: Steps, groups: Sequence[Group]) -> Group:
    """Returns the recorded group of all ranks, or a new one."""
    members = tuple(sorted(steps))
    known = [group for group in groups if group.members == members]
    return max(known, key=lambda group: group.size, default=Group("", len(members), members))


def _candidates(groups: Sequence[Group], everyone: Group) -> list[Group]:
    """Returns one group per set of ranks, the largest first.

    Groups of equal ranks are equivalent.
    """
    by_members: dict[tuple[int, ...], Group] = {everyone.members: everyone}
    for group in sorted(groups):
        if group.members:
            by_members.setdefault(group.members, group)
    return sorted(by_members.values(), key=lambda group: (-len(group.members), group.members))


@final
class _Matching:
    """Matches the next calls of all ranks with groups."""

    def __init__(self, messages: Mapping[int, Mapping[int, Message]], candidates: Sequence[Group]) -> None:
        self._messages, self._candidates = messages, candidates
        self._queues = {
            rank: [at for at, message in own.items() if not message.is_p2p] for rank, own in messages.items()
        }
        self._next = dict.fromkeys(messages, 0)
        self._of_rank: dict[int, list[int]] = {rank: [] for rank in messages}
        for number, group in enumerate(candidates):
            for rank in group.members:
                self._of_rank.setdefault(rank, []).append(number)
        self._places: dict[int, dict[object, list[int]]] = {rank: {} for rank in messages}
        for rank, queue in self._queues.items():
            for place, at in enumerate(queue):
                self._places[rank].setdefault(likeness(messages[rank][at]), []).append(place)

    @property
    def left(self) -> dict[int, int]:
        """Next step of each unfinished rank."""
        return {rank: queue[self._next[rank]] for rank, queue in self._queues.items() if self._next[rank] < len(queue)}

    def run(self, inferred: InferredGroups) -> None:
        """Matches calls until no group has the same next call on all ranks."""
        to_check, ready = set(range(len(self._candidates))), set[int]()
        while to_check or ready:
            ready -= to_check
            ready |= {number for number in to_check if self._is_ready(self._candidates[number])}
            if not ready:
                return
            # a larger group may soon make the same call: match groups without that chance first
            number = (
                min(ready) if 0 in ready or len(ready) == 1 else max(ready, key=lambda one: (self._wait(one), -one))
            )
            to_check = self._match(self._candidates[number], inferred)

    def _match(self, group: Group, inferred: InferredGroups) -> set[int]:
        for rank in group.members:
            at = self._queues[rank][self._next[rank]]
            if self._messages[rank][at].group is None:
                inferred[rank, at] = group
            self._next[rank] += 1
        return {number for rank in group.members for number in self._of_rank[rank]}

    def _head(self, rank: int) -> Message | None:
        queue = self._queues.get(rank, [])
        place = self._next.get(rank, 0)
        return self._messages[rank][queue[place]] if place < len(queue) else None

    def _is_ready(self, group: Group) -> bool:
        first: Message | None = None
        for place, rank in enumerate(group.members):
            message = self._head(rank)
            if message is None or not _may_belong(message, group):
                return False
            if first is not None and difference(first, message, (0, place)):
                return False
            first = first or message
        return first is not None

    def _wait(self, number: int) -> float:
        """Calls until all ranks of a larger group may make the same call; infinite for never."""
        group = self._candidates[number]
        message = self._head(group.members[0])
        if message is None or message.group is not None:
            return inf
        larger = [self._candidates[other] for other in self._of_rank[group.members[0]] if other < number]
        larger = [other for other in larger if set(group.members) < set(other.members) and fits(message, other.size)]
        return min((self._distance(message, {*other.members} - {*group.members}) for other in larger), default=inf)

    def _distance(self, message: Message, ranks: set[int]) -> float:
        key = likeness(message)
        distances: list[float] = []
        for rank in ranks:
            places = self._places.get(rank, {}).get(key, [])
            at = bisect_right(places, self._next.get(rank, 0) - 1)
            distances.append(places[at] - self._next[rank] if at < len(places) else inf)
        return max(distances, default=inf)


def _may_belong(message: Message, group: Group) -> bool:
    """Whether a message names this group, or names none and has matching sizes."""
    return fits(message, group.size) if message.group is None else message.group.members == group.members


def _unmatched(messages: Mapping[int, Mapping[int, Message]], left: Mapping[int, int]) -> str:
    calls = [f"rank {rank} does {messages[rank][at]}, its step {at}" for rank, at in sorted(left.items())]
    ended = [f"rank {rank} has ended" for rank in sorted(messages) if rank not in left]
    ranks = "; ".join([*calls[:_SHOWN], *ended[:_SHOWN]])
    return f"ranks disagree: expected a group whose ranks make the same call next, found none: {ranks}"
