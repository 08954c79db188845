"""Limits the rate at which a kernel sends to the front-end.

Jupyter servers drop messages above their limit, which all widgets of a kernel share.
"""

from __future__ import annotations

import time
from threading import Lock

# Jupyter servers allow a million bytes a second, measured over three seconds.
_BYTES_PER_S = 900_000
_BURST_BYTES = 2_400_000


class RateLimit:
    """A token bucket that blocks senders until their bytes are allowed."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._available_bytes = float(_BURST_BYTES)
        self._updated = time.monotonic()

    def wait(self, num_bytes: int, reserved_bytes: int = 0) -> None:
        """Blocks until `num_bytes` may be sent and `reserved_bytes` would remain.

        The reserve of bulk transfers keeps room for urgent responses.
        """
        needed_bytes = min(num_bytes + reserved_bytes, _BURST_BYTES)
        while missing_bytes := self._take(num_bytes, needed_bytes):
            time.sleep(missing_bytes / _BYTES_PER_S)

    def _take(self, num_bytes: int, needed_bytes: int) -> float:
        """Takes the bytes if they are allowed. Returns the missing bytes, 0 if none are missing."""
        with self._lock:
            now = time.monotonic()
            available = min(_BURST_BYTES, self._available_bytes + (now - self._updated) * _BYTES_PER_S)
            is_allowed = available >= needed_bytes
            self._available_bytes, self._updated = available - num_bytes if is_allowed else available, now
            return 0.0 if is_allowed else needed_bytes - available


RATE_LIMIT = RateLimit()
"""Limit of this process, which is one kernel."""
