"""Turns the plans of all ranks into the steps to replay. All ranks compute the same result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kinetoscope._base import text
from kinetoscope.replaying.agree import Agreement, Place, agree
from kinetoscope.replaying.infer import InferredGroups, infer
from kinetoscope.replaying.message import Group, Message
from kinetoscope.replaying.options import Options
from kinetoscope.replaying.plan import Plan, Step
from kinetoscope.replaying.rebalance import rebalanced
from kinetoscope.replaying.shrink import shrunk


class Settled(NamedTuple):
    """Steps, groups and notes of a replay."""

    steps: dict[int, list[Step]]
    """By rank."""
    groups: list[Group]
    """Required groups, in the same order on all ranks."""
    notes: list[str]
    """Differences from the recording."""
    inferred: str = ""
    """Note about inferred groups; empty if all are recorded."""


def settle(plans: Mapping[int, Plan], options: Options) -> Settled:
    """Infers groups, removes ranks that do not replay, and compares the ranks.

    Raises ValueError if ranks are missing without `shrink`, and DisagreementError on a mismatch.
    """
    size = max(plan.size for plan in plans.values())
    if size > len(plans) and not options.shrink:
        raise ValueError(
            f"expected {text.plural(size, 'rank')} as recorded, found {len(plans)}: "
            "use shrink (--shrink) to replay the communications among these"
        )
    is_cut = any(plan.is_cut for plan in plans.values())
    groups = sorted({group for plan in plans.values() for group in plan.groups})
    steps = {rank: list(plan.steps) for rank, plan in plans.items()}
    notes = sorted({note for plan in plans.values() for note in plan.notes})
    inferred = infer(steps, groups, is_cut=is_cut)
    how = ""
    if inferred and len({group.members for group in groups}) > 1:
        how = f"inferred the groups of {text.plural(len(inferred), 'communication')} from simultaneous calls"
        notes.append(how)
    steps, changes = _with_groups(steps, inferred)
    notes += _shrunk_notes(size, len(plans), changes)
    steps, agreement = _agreed(steps, is_cut=is_cut)
    if is_cut:
        notes.append(f"replayed the first {options.max_msg_cnt:,} communications of each rank that all members reach")
    if options.rebalance:
        even = rebalanced(agreement.meetings)
        notes.append(f"made {text.plural(len(even), 'message')} of exchanges equal in size")
        steps = {rank: _replaced(rank, own, even) for rank, own in steps.items()}
    used = {step.message.group for own in steps.values() for step in own if step.message and step.message.group}
    return Settled(steps, sorted(used), notes, how)


def _with_groups(
    steps: Mapping[int, list[Step]], inferred: InferredGroups
) -> tuple[dict[int, list[Step]], dict[str, int]]:
    """Adds inferred groups and removes absent ranks. Also returns counts of changes."""
    changes: dict[str, int] = {}
    new: dict[int, list[Step]] = {}
    same: dict[tuple[Message, Group, int], Message | None] = {}
    for rank, own in steps.items():
        kept: dict[int, Step | None] = {}
        for at, step in enumerate(own):
            kept[at] = step
            if step.message is None:
                continue
            group = step.message.group or inferred.get((rank, at))
            if group is None:
                kept[at] = None  # the cut is before all ranks of its group
                continue
            peer = inferred.peers.get((rank, at))
            key = (step.message if peer is None else step.message._replace(peer=peer), group, rank)
            if key not in same:
                same[key] = shrunk(*key)
            message = same[key]
            if message is not step.message:  # else keep the step, which repetitions share
                recorded = step.message if len(group.members) < group.size else None
                kept[at] = None if message is None else step._replace(message=message, recorded=recorded)
            if len(group.members) < group.size:
                name = f"{step.message.collective} {'dropped' if message is None else 'shrunk'}"
                changes[name] = changes.get(name, 0) + 1
        new[rank] = _without(own, kept)
    return new, changes


def _without(own: list[Step], kept: Mapping[int, Step | None]) -> list[Step]:
    """Returns the kept steps, and waits for kept communications."""
    places: dict[int, int] = {}
    new: list[Step] = []
    for at, _ in enumerate(own):
        step = kept[at]
        if step is None or (step.message is None and step.wait_of not in places):
            continue
        places[at] = len(new)
        new.append(step if step.wait_of is None else step._replace(wait_of=places[step.wait_of]))
    return new


def _agreed(steps: dict[int, list[Step]], *, is_cut: bool) -> tuple[dict[int, list[Step]], Agreement]:
    agreement = agree(steps, is_cut=is_cut)
    if not agreement.left:
        return steps, agreement
    left = agreement.left
    fitting = {
        rank: _without(own, {at: None if (rank, at) in left else step for at, step in enumerate(own)})
        for rank, own in steps.items()
    }
    return _agreed(fitting, is_cut=is_cut)


def _replaced(rank: int, own: list[Step], messages: Mapping[Place, Message]) -> list[Step]:
    return [
        step._replace(message=messages[rank, at], recorded=step.recorded or step.message)
        if (rank, at) in messages
        else step
        for at, step in enumerate(own)
    ]


def _shrunk_notes(recorded: int, present: int, changes: Mapping[str, int]) -> list[str]:
    if recorded <= present:
        return []
    kinds = ", ".join(f"{number} × {name}" for name, number in sorted(changes.items()))
    return [f"{recorded} ranks recorded, {present} replay: {kinds or 'no communication changed'}"]
