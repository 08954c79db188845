"""Recorded times of ranks that do not replay, for the recorded columns of a shrunk replay."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kinetoscope.replaying.message import Group
from kinetoscope.replaying.options import Options
from kinetoscope.replaying.plan import Plan, Step, plan_of
from kinetoscope.replaying.recorded_sizes import Sample
from kinetoscope.replaying.result import samples
from kinetoscope.replaying.source import Reader


def absent_samples(sources: Sequence[Reader], ranks: Iterable[int], options: Options) -> list[Sample]:
    """Returns the recorded communications of ranks. A trace that is not readable has none."""
    found: list[Sample] = []
    for rank in ranks:
        try:
            plan = plan_of(sources[rank](), options, len(sources))
        except (ValueError, OSError):
            continue
        found += samples(rank, _with_group(plan, rank), [])
    return found


def _with_group(plan: Plan, rank: int) -> list[Step]:
    """Returns the steps of known groups.

    A communication without a group is of the only one that its rank has, else of an unknown one.
    """
    own = sorted(group for group in plan.groups if rank in group.members)
    only: Group | None = own[0] if len({group.members for group in own}) == 1 else None
    found: list[Step] = []
    for step in plan.steps:
        message = step.message
        if message is None or message.group is not None:
            found.append(step)
        elif only is not None:
            found.append(step._replace(message=message._replace(group=only)))
    return found
