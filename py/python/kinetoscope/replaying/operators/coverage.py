"""Coverage of a replay: which operators run, their recorded time, and the memory they need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kinetoscope._base import text
from kinetoscope.replaying.operators.storage import StoragePlan
from kinetoscope.replaying.operators.unit import Unit

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

_ALWAYS = {"aten", "prims", "c10d", "_c10d_functional", "c10d_functional"}
"""Namespaces of operators that each torch has."""


class OperatorSample(NamedTuple):
    """Calls of one operator on a rank, as the core expects them."""

    name: str
    num_calls: int
    num_run: int
    recorded_ns: int | None
    recorded_run_ns: int | None
    replayed_ns: int | None
    reason: str
    is_operator: bool = True
    """Whether these are calls of an operator; otherwise launches outside of operators."""


class RankCoverage(NamedTuple):
    """Operators of a rank, and the memory that they need."""

    samples: list[OperatorSample]
    external_bytes: dict[str, int]
    peak_bytes: dict[str, int]


def operator_samples(
    units: Sequence[Unit],
    reasons: Mapping[int, str],
    times: Sequence[Mapping[int, int]] = (),
    launches: Sequence[OperatorSample] = (),
) -> list[OperatorSample]:
    """Groups the units of a rank by name, and adds launches outside of them.

    `reasons` says why units do not run, by their index. `times` has the durations of each pass.
    """
    has_device = bool(launches) or any(unit.device_ns for unit in units)
    by_name: dict[str, list[int]] = {}
    for at, unit in enumerate(units):
        by_name.setdefault(unit.name, []).append(at)
    found: list[OperatorSample] = []
    for name, places in by_name.items():
        recorded = {at: units[at].device_ns if has_device else units[at].dur_ns for at in places}
        run = [at for at in places if at not in reasons]
        why = Counter(reasons[at] for at in places if at in reasons)
        passes = [sum(took[at] for at in run if at in took) for took in times]
        found.append(
            OperatorSample(
                name,
                len(places),
                len(run),
                _sum(recorded.values()),
                _sum(recorded[at] for at in run),
                round(sum(passes) / len(passes)) if passes and run else None,
                "; ".join(f"{reason} ({count})" if len(why) > 1 else reason for reason, count in why.most_common(3)),
            )
        )
    return [*found, *launches]


def _sum(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def covered(samples: Sequence[OperatorSample]) -> tuple[float | None, float | None]:
    """Returns the shares of calls and of recorded time that run; None where there are none.

    Launches outside of operators count in the time alone.
    """
    calls = sum(each.num_calls for each in samples if each.is_operator)
    total = sum(each.recorded_ns or 0 for each in samples)
    run_calls = sum(each.num_run for each in samples)
    run_total = sum(each.recorded_run_ns or 0 for each in samples)
    return run_calls / calls if calls else None, run_total / total if total else None


def plan_notes(plan: StoragePlan, device_of: Callable[[str], str]) -> list[str]:
    """Describes the memory that storages need, by the device that stands for the recorded one."""
    recorded: dict[str, list[str]] = {}
    for name in sorted(name for name, peak in plan.peak_bytes.items() if peak):
        recorded.setdefault(device_of(name), []).append(name)
    return [_plan_note(plan, device, names) for device, names in recorded.items()]


def _plan_note(plan: StoragePlan, device: str, names: Sequence[str]) -> str:
    peak = sum(plan.peak_bytes[name] for name in names)
    first = sum(plan.external_bytes.get(name, 0) for name in names)
    where = device if names == [device] else f"{device} (recorded on {', '.join(names)})"
    return f"memory on {where}: {text.size(peak)} at the peak, {text.size(first)} of it before the first operator"


def recorded_memory(trace: Trace) -> list[str]:
    """Describes the recorded memory, and why it differs from the memory that storages need."""
    rows = trace.memory().select("device", "peak_allocated_bytes", "first_bytes").rows()
    return [
        f"recorded memory on {device}: {text.size(peak)} at the peak, {text.size(first)} of it at the begin. "
        + (_HOST_MEMORY if device == "cpu" else _DEVICE_MEMORY)
        for device, peak, first in rows
        if peak is not None
    ]


_HOST_MEMORY = (
    "Torch counts host memory that was allocated while the profiler ran: older parameters and optimizer states are "
    "missing"
)
_DEVICE_MEMORY = (
    "This is all that the allocator held, also what no operator here uses, such as older gradients and workspaces"
)


def library_counts(units: Sequence[Unit], reasons: Mapping[int, str]) -> Counter[str]:
    """Counts the calls that run by library, but for the operators that each torch has."""
    names = (unit.name.partition("::")[0] for at, unit in enumerate(units) if at not in reasons and "::" in unit.name)
    return Counter(name for name in names if name not in _ALWAYS)


def library_notes(counts: Mapping[str, int]) -> list[str]:
    """Names the libraries that a dry run presumes: another torch may lack their operators."""
    return [
        f"{text.plural(count, 'call')} {'needs' if count == 1 else 'need'} {name}: the dry run does not look for it"
        for name, count in sorted(counts.items())
    ]
