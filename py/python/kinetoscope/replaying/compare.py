"""Compares the calls of all ranks, for files that need every rank to take part in every call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kinetoscope.replaying.agree import DisagreementError
from kinetoscope.replaying.options import Options
from kinetoscope.replaying.plan import Plan, plan_of
from kinetoscope.replaying.settle import settle
from kinetoscope.trace_set import TraceSet, ranks_and_windows

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

_SHOWN = 4
_OPTIONS = Options(dry_run=True, shrink=True, max_msg_bytes=1 << 62)


class RankComparison(NamedTuple):
    """Result of a comparison; empty texts for ranks that agree."""

    mismatch: str = ""
    """Names ranks and calls that do not match."""
    note: str = ""
    """Says why ranks were not compared, or that their groups were inferred."""


def compare_ranks(job: TraceSet) -> RankComparison:
    """Compares the communications of all ranks, as a dry run of `replay_comms`.

    Windows are compared by their index.
    """
    windows: dict[int, dict[int, Trace]] = {}
    for member, (rank, window) in zip(job.members, ranks_and_windows(job.members), strict=True):
        if rank is not None:
            windows.setdefault(window, {})[rank] = member.trace
    if not windows and len(job) > 1:
        return RankComparison(note="the ranks were not compared: expected traces of known ranks, found none")
    found = [_compared(traces) for traces in windows.values() if len(traces) > 1]
    return next(
        (each for each in found if each.mismatch), next((each for each in found if each.note), RankComparison())
    )


def _compared(traces: Mapping[int, Trace]) -> RankComparison:
    try:
        note = _compare(traces)
    except DisagreementError as error:
        return RankComparison(mismatch=str(error))
    except ValueError as error:
        return RankComparison(note=f"the ranks were not compared: {error}")
    return RankComparison(note=note)


def _compare(traces: Mapping[int, Trace]) -> str:
    """Compares ranks. Returns how their groups were found, if no file names them."""
    ranks = sorted(traces)
    plans = {rank: plan_of(traces[rank], _OPTIONS, ranks[-1] + 1) for rank in ranks}
    if ranks == list(range(len(ranks))):
        return settle(plans, _OPTIONS).inferred
    _expect_same_calls(plans)
    return ""


def _expect_same_calls(plans: Mapping[int, Plan]) -> None:
    """Compares the collectives of each named group, among the ranks that are present."""
    calls: dict[tuple[str, tuple[int, ...]], dict[int, list[str]]] = {}
    for rank, plan in plans.items():
        for group in plan.groups:
            calls.setdefault((group.name, group.members), {}).setdefault(rank, [])
        for step in plan.steps:
            message = step.message
            if message is not None and message.group is not None and not message.is_p2p:
                key = (message.group.name, message.group.members)
                calls.setdefault(key, {}).setdefault(rank, []).append(message.collective)
    for (name, members), of_rank in calls.items():
        present = {rank: of_rank.get(rank, []) for rank in plans if rank in members}
        if problem := _difference(present):
            raise DisagreementError(f"ranks disagree about group {name or '(no name)'}: {problem}")


def _difference(calls: Mapping[int, Sequence[str]]) -> str:
    longest = max(calls.values(), key=len, default=[])
    for number, collective in enumerate(longest):
        others = {rank: own[number] if number < len(own) else "no call" for rank, own in calls.items()}
        lacking = [f"rank {rank} has {found}" for rank, found in others.items() if found != collective]
        if lacking:
            ranks = ", ".join(str(rank) for rank, found in others.items() if found == collective)
            return f"call {number} is {collective} on rank {ranks}; {'; '.join(lacking[:_SHOWN])}"
    return ""
