"""Text about the iteration to which the shorter recording was linked."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count, groupby
from typing import TYPE_CHECKING, Any

from kinetoscope._base import text

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

_NEAR = 0.05
"""Maximum difference in fit to the linked iteration, as a share of calls."""
_SHOWN = 10


def window(trace: Trace) -> str:
    """Describes the linked iteration and its alternatives; empty if links needed no choice."""
    coverage = trace.coverage
    windows = coverage["windows"] if coverage["nodes"]["num_linked"] else []
    linked = next((window for window in windows if window["is_linked"]), None)
    if linked is None:
        return ""
    others = [other for other in windows if other["iteration"] != linked["iteration"]]
    equal = {other["iteration"] for other in others if other["fit"] >= linked["fit"]}
    nearly_equal = [other for other in others if 0 < linked["fit"] - other["fit"] <= _NEAR]
    return f"{_chosen(linked, trace)}{_equal(equal)}{_nearly_equal(nearly_equal)}"


def _chosen(linked: dict[str, Any], trace: Trace) -> str:
    names = ["Kineto trace", "Execution Trace"]
    longer, shorter = names if linked["start_ns"] is not None else reversed(names)
    has_steps = len(trace.iterations) or linked["start_ns"] is None
    counted = "" if has_steps else " (counted from 0: no ProfilerStep)"
    iteration = f"iteration {linked['iteration']} of the {longer}{counted}"
    return f"linked to {iteration}; the {shorter} fits it to {_percent(linked)}"


def _equal(numbers: set[int]) -> str:
    if not numbers:
        return ""
    others = "another fits" if len(numbers) == 1 else f"{text.count(len(numbers))} others fit"
    return f"; {others} equally well: {_runs(numbers)}"


def _nearly_equal(windows: list[dict[str, Any]]) -> str:
    best = sorted(windows, key=lambda window: (-window["fit"], window["iteration"]))
    if not best:
        return ""
    shown = ", ".join(f"{window['iteration']} ({_percent(window)})" for window in best[:_SHOWN])
    more = f" and {text.count(len(best) - _SHOWN)} more" if len(best) > _SHOWN else ""
    return f"; others fit nearly as well: {shown}{more}"


def _runs(numbers: Iterable[int]) -> str:
    """Joins consecutive numbers: `1–3, 7`."""
    place = count()
    runs = [list(run) for _, run in groupby(sorted(numbers), lambda number: number - next(place))]
    shown = [str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs]
    more = [f"{text.count(sum(map(len, runs[_SHOWN:])))} more"] if len(runs) > _SHOWN else []
    return ", ".join([*shown[:_SHOWN], *more])


def _percent(window: dict[str, Any]) -> str:
    return f"{int(1000 * window['fit']) / 10:g} %"  # rounded down: only an exact fit is 100 %
