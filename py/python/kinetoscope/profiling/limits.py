"""Limits of a recording, and estimates of its size while it runs."""

from __future__ import annotations

from typing import NamedTuple, final

from kinetoscope._base import text

_HUGE_BYTES = 500_000_000
_EVENT_BYTES = 360
"""Typical size of an event in a Kineto trace, measured on training and serving runs."""
_GROWTH = {"operators": 0.35, "with_stack": 0.9, "profile_memory": 0.2, "record_shapes": 0.1, "device": 1.0}
"""Estimated bytes of the Kineto trace per byte of the Execution Trace, for the first window."""
_ADVICE = {
    "with_stack": "with_stack=True at least doubles a trace: omit it if you need no Python lines",
    "profile_memory": "profile_memory=True adds an event per allocation",
}


class Limits(NamedTuple):
    """Limits for all windows of a recording together; None for no limit."""

    max_bytes: int | None = None
    """Total size of the Kineto traces, uncompressed."""
    max_events: int | None = None
    max_iterations: int | None = None

    def expect_positive(self) -> None:
        """Raises ValueError for a limit below 1."""
        for name, value in self._asdict().items():
            if value is not None and value < 1:
                raise ValueError(f"ks.profile: expected {name}= of at least 1, found {value}")


@final
class Size:
    """Estimated size of a running recording.

    Torch writes the Kineto trace only at the end of a window, but the Execution Trace continuously.
    The estimate is the size of the Execution Trace times a ratio: `_GROWTH` in the first window,
    the measured ratio of the previous window later. Iterations after the observed one count as much
    as it does.
    """

    def __init__(self, limits: Limits, options: dict[str, bool], active: int | None) -> None:
        """Raises ValueError for a limit below 1."""
        limits.expect_positive()
        self._limits = limits
        self._options = options
        self._active = active
        self._growth = sum(growth for name, growth in _GROWTH.items() if options.get(name, name == "operators"))
        self._written_bytes = 0
        self._iterations = 0
        self._in_window = 0
        self._execution_bytes = 0
        self._num_observed = 0
        self._has_warned = False

    @property
    def is_limited(self) -> bool:
        """Whether an iteration may reach a limit, which ends its window."""
        return any(limit is not None for limit in self._limits)

    @property
    def is_first_iteration(self) -> bool:
        """Whether no iteration of the open window has ended."""
        return not self._in_window

    def window_written(self, kineto_bytes: int, execution_bytes: int) -> None:
        """Records the uncompressed sizes of a finished window, in bytes."""
        self._written_bytes += kineto_bytes
        if execution_bytes:
            observed = self._num_observed / max(1, self._in_window)
            self._growth = kineto_bytes * observed / execution_bytes if observed else kineto_bytes / execution_bytes
        self._in_window = self._num_observed = self._execution_bytes = 0

    def iteration_recorded(self, execution_bytes: int | None, *, is_counted: bool) -> str | None:
        """Adds a recorded iteration. Returns a message if a limit is reached, else None.

        `execution_bytes` is the size of the window's Execution Trace so far, if the iteration was
        observed. `max_iterations` counts it if `is_counted`.
        """
        self._iterations += is_counted
        self._in_window += 1
        if execution_bytes is not None:
            self._num_observed += 1
            self._execution_bytes = execution_bytes
        size = self._written_bytes + self._expected_bytes(self._in_window)
        sizes = {"max_bytes": size, "max_events": size / _EVENT_BYTES, "max_iterations": self._iterations}
        for name, limit in self._limits._asdict().items():
            if limit is not None and sizes[name] >= limit:
                return f"reached {name}={limit:,} in recorded iteration {self._iterations:,}"
        return None

    def _expected_bytes(self, num_iterations: int) -> float:
        return self._execution_bytes * self._growth * num_iterations / max(1, self._num_observed)

    def advice(self) -> str | None:
        """Returns advice, once per recording, if the window is expected to exceed 500 MB."""
        expected = self._expected_bytes(max(self._in_window, self._active or 0))
        if self._has_warned or expected < _HUGE_BYTES:
            return None
        self._has_warned = True
        switched_on = [words for name, words in _ADVICE.items() if self._options.get(name)]
        fewer = ["record fewer iterations (active=)", "or set max_bytes="]
        return f"the trace will need about {text.size(round(expected))}: {'; '.join([*switched_on, *fewer])}"
