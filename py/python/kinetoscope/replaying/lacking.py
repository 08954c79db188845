"""Names calls that ranks lack, by sequence numbers, which a group counts alike on all ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kinetoscope.replaying.message import Group, Message
from kinetoscope.replaying.plan import Step

_Numbered = dict[int, Message]


def lacking(steps: Mapping[int, Sequence[Step]]) -> list[str]:
    """Describes calls of a group that only some of its ranks have.

    Nothing if a group repeats a number, or if numbers do not compare: then ranks agree on none.
    """
    groups: dict[Group, dict[int, _Numbered]] = {}
    untold: set[Group] = set()
    for rank, own in steps.items():
        for step in own:
            message = step.message
            if message is None or message.group is None or message.is_p2p:
                continue
            known = groups.setdefault(message.group, {}).setdefault(rank, {})
            if step.seq is None or step.seq in known:
                untold.add(message.group)
            else:
                known[step.seq] = message
    return [line for group, known in groups.items() if group not in untold for line in _lines(group, known)]


def _lines(group: Group, known: Mapping[int, _Numbered]) -> list[str]:
    of_ranks = [known.get(rank, {}) for rank in group.members]
    if not of_ranks:
        return []
    shared = set[int].intersection(*(set(own) for own in of_ranks))
    if not shared or any(len({own[seq].collective for own in of_ranks}) > 1 for seq in shared):
        return []
    lines: list[str] = []
    for seq in sorted(set[int].union(*(set(own) for own in of_ranks)) - shared):
        message = next(own[seq] for own in of_ranks if seq in own)
        ranks = [rank for rank, own in zip(group.members, of_ranks, strict=True) if seq not in own]
        named = f"of group {group.name or '(no name)'}"
        lines += [f"rank {rank} lacks {message} (seq {seq} {named})" for rank in ranks]
    return lines
