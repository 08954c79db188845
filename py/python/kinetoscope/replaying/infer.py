"""Infers process groups that traces do not name, as with gloo, from simultaneous calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kinetoscope import _native
from kinetoscope.replaying.agree import DisagreementError, Place, Steps
from kinetoscope.replaying.message import Group, Message, call
from kinetoscope.replaying.pairs import Pairs

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
    queues = {rank: [at for at, message in own.items() if not message.is_p2p] for rank, own in messages.items()}
    left = _match(messages, queues, candidates, inferred)
    if left and not is_cut:
        raise DisagreementError(_unmatched(messages, left))
    return inferred


def _match(
    messages: Mapping[int, Mapping[int, Message]],
    queues: Mapping[int, Sequence[int]],
    candidates: Sequence[Group],
    inferred: InferredGroups,
) -> dict[int, int]:
    """Infers the groups of collectives. Returns the next step of each unfinished rank."""
    ranks = sorted(queues)
    places = {rank: place for place, rank in enumerate(ranks)}
    of_ranks = [",".join(call(_placed(messages[rank][at], places)) for at in queues[rank]) for rank in ranks]
    groups = [(group.size, [places[rank] for rank in group.members if rank in places]) for group in candidates]
    of_call, left = _native.infer_groups(f"[{','.join(f'[{calls}]' for calls in of_ranks)}]", groups)
    for rank, numbers in zip(ranks, of_call, strict=True):
        for at, number in zip(queues[rank], numbers, strict=True):
            if number is not None and messages[rank][at].group is None:
                inferred[rank, at] = candidates[number]
    return {rank: queues[rank][at] for rank, at in zip(ranks, left, strict=True) if at is not None}


def _placed(message: Message, places: Mapping[int, int]) -> Message:
    """Returns the message with its group's members as places among the ranks."""
    if message.group is None:
        return message
    members = tuple(places[rank] for rank in message.group.members if rank in places)
    return message._replace(group=message.group._replace(members=members))


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


def _unmatched(messages: Mapping[int, Mapping[int, Message]], left: Mapping[int, int]) -> str:
    calls = [f"rank {rank} does {messages[rank][at]}, its step {at}" for rank, at in sorted(left.items())]
    ended = [f"rank {rank} has ended" for rank in sorted(messages) if rank not in left]
    ranks = "; ".join([*calls[:_SHOWN], *ended[:_SHOWN]])
    return f"ranks disagree: expected a group whose ranks make the same call next, found none: {ranks}"
