"""From what each rank's trace says to what each rank does: the same computation on all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kinetoscope._base import text
from kinetoscope.replay.agree import Agreement, Place, agree
from kinetoscope.replay.infer import Found, infer
from kinetoscope.replay.message import Group, Message
from kinetoscope.replay.options import Options
from kinetoscope.replay.plan import Plan, Step
from kinetoscope.replay.rebalance import rebalanced
from kinetoscope.replay.shrink import shrunk


class Settled(NamedTuple):
    """What is replayed."""

    steps: dict[int, list[Step]]
    """By rank."""
    groups: list[Group]
    """Those that are needed, in an order that is one on all ranks."""
    notes: list[str]
    """What is other than it was recorded."""


def settle(plans: Mapping[int, Plan], options: Options) -> Settled:
    """Finds groups that are not recorded, leaves out ranks that do not replay, and holds the ranks against each other.

    ValueError when there are fewer ranks than were recorded and `shrink` is not asked for; DisagreementError.
    """
    size = max(plan.size for plan in plans.values())
    if size > len(plans) and not options.shrink:
        raise ValueError(
            f"expected {text.plural(size, 'rank')} as recorded, found {len(plans)}: "
            "shrink (--shrink) replays what is between those"
        )
    is_cut = any(plan.is_cut for plan in plans.values())
    groups = sorted({group for plan in plans.values() for group in plan.groups})
    steps = {rank: list(plan.steps) for rank, plan in plans.items()}
    notes = sorted({note for plan in plans.values() for note in plan.notes})
    found = infer(steps, groups, is_cut=is_cut)
    if found and len({group.members for group in groups}) > 1:
        notes.append(
            f"{text.plural(len(found), 'communication')} named no group: the ones that all of a group call are its"
        )
    steps, changes = _with_groups(steps, found)
    notes += _shrunk_notes(size, len(plans), changes)
    steps, agreement = _agreed(steps, is_cut=is_cut)
    if is_cut:
        notes.append(f"each rank's first {options.max_msg_cnt:,} communications, as far as all take part in them")
    if options.rebalance:
        even = rebalanced(agreement.meetings)
        notes.append(f"{text.plural(len(even), 'part')} of exchanges made as large as every other")
        steps = {rank: _replaced(rank, own, even) for rank, own in steps.items()}
    used = {step.message.group for own in steps.values() for step in own if step.message and step.message.group}
    return Settled(steps, sorted(used), notes)


def _with_groups(steps: Mapping[int, list[Step]], found: Found) -> tuple[dict[int, list[Step]], dict[str, int]]:
    """With the groups that were found, for the ranks that are there; how many of what were changed or dropped."""
    changes: dict[str, int] = {}
    new: dict[int, list[Step]] = {}
    same: dict[tuple[Message, Group, int], Message | None] = {}
    for rank, own in steps.items():
        kept: dict[int, Step | None] = {}
        for at, step in enumerate(own):
            kept[at] = step
            if step.message is None:
                continue
            group = step.message.group or found.get((rank, at))
            if group is None:
                kept[at] = None  # cut off before all of its group came to it
                continue
            peer = found.peers.get((rank, at))
            key = (step.message if peer is None else step.message._replace(peer=peer), group, rank)
            if key not in same:
                same[key] = shrunk(*key)
            message = same[key]
            if message is not step.message:  # else the step is one object for all of its repetitions
                kept[at] = None if message is None else step._replace(message=message)
            if len(group.members) < group.size:
                name = f"{step.message.collective} {'dropped' if message is None else 'shrunk'}"
                changes[name] = changes.get(name, 0) + 1
        new[rank] = _without(own, kept)
    return new, changes


def _without(own: list[Step], kept: Mapping[int, Step | None]) -> list[Step]:
    """The steps that are kept, and waits for those."""
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
    return [step._replace(message=messages.get((rank, at), step.message)) for at, step in enumerate(own)]


def _shrunk_notes(recorded: int, present: int, changes: Mapping[str, int]) -> list[str]:
    if recorded <= present:
        return []
    what = ", ".join(f"{number} × {name}" for name, number in sorted(changes.items()))
    return [f"{recorded} ranks recorded, {present} replay: {what or 'nothing was between the others'}"]
