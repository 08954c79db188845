"""How much may be recorded, and how much it is going to be: told before a disk or a viewer has to find out."""

from __future__ import annotations

from typing import NamedTuple, final

from kinetoscope._base import text

_HUGE_BYTES = 500_000_000
_EVENT_BYTES = 360
"""An event in a Kineto trace, about: measured on training and serving runs."""
_GROWTH = {"operators": 0.35, "with_stack": 0.9, "profile_memory": 0.2, "record_shapes": 0.1, "device": 1.0}
"""Bytes of a Kineto trace for each byte of the Execution Trace, before a window has told its own."""
_ADVICE = {
    "with_stack": "with_stack=True doubles a trace or worse: leave it out where you need no lines of Python",
    "profile_memory": "profile_memory=True adds an event for each allocation",
}


class Limits(NamedTuple):
    """What all windows of a recording together may come to; None for as much as there is."""

    max_bytes: int | None = None
    """Of Kineto traces, before they are compressed."""
    max_events: int | None = None
    max_iterations: int | None = None

    def expect_positive(self) -> None:
        """ValueError for what is no limit."""
        wrong = {name: value for name, value in self._asdict().items() if value is not None and value < 1}
        if wrong:
            raise ValueError(f"ks.profile: expected limits of at least 1, found {wrong}")


@final
class Size:
    """How large a recording is, as its loop goes on.

    Torch does not tell until a window is written. Until then it is estimated from the Execution Trace, which torch
    writes as it goes: after the first window with the ratio that this one had.
    """

    def __init__(self, limits: Limits, options: dict[str, bool], active: int | None) -> None:
        """ValueError for limits that are none."""
        limits.expect_positive()
        self._limits = limits
        self._options = options
        self._active = active
        self._growth = sum(growth for name, growth in _GROWTH.items() if options.get(name, name == "operators"))
        self._written_bytes = 0
        self._iterations = 0
        self._in_window = 0
        self._has_warned = False

    def window_written(self, kineto_bytes: int, execution_bytes: int) -> None:
        """A window's files have these sizes, before they are compressed."""
        self._written_bytes += kineto_bytes
        self._in_window = 0
        if execution_bytes:
            self._growth = kineto_bytes / execution_bytes

    def iteration_recorded(self, execution_bytes: int) -> str | None:
        """An iteration has ended with the open window's Execution Trace at this size. Says which limit is reached."""
        self._iterations += 1
        self._in_window += 1
        size = self._written_bytes + execution_bytes * self._growth
        found = {"max_bytes": size, "max_events": size / _EVENT_BYTES, "max_iterations": self._iterations}
        for name, limit in self._limits._asdict().items():
            if limit is not None and found[name] >= limit:
                return f"{name}={limit:,} was reached in recorded iteration {self._iterations:,}"
        return None

    def advice(self, execution_bytes: int) -> str | None:
        """What to switch off, once, when the open window is going to be huge."""
        expected = execution_bytes * self._growth * max(1, (self._active or 0) / max(1, self._in_window))
        if self._has_warned or expected < _HUGE_BYTES:
            return None
        self._has_warned = True
        switched_on = [words for name, words in _ADVICE.items() if self._options.get(name)]
        fewer = ["record fewer iterations (active=)", "or set max_bytes="]
        return f"the trace is going to take about {text.size(round(expected))}: {'; '.join([*switched_on, *fewer])}"
