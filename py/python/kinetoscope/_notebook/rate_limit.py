"""Limits the rate at which a kernel sends to the front-end.

Jupyter servers drop messages above their limit, which all widgets of a kernel share.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from threading import Lock

# Jupyter servers drop what exceeds three million bytes in three seconds, headers included. They
# measure when a message arrives, so messages sent further apart may count together.
_WINDOW_S = 3.5
WINDOW_BYTES = 2_800_000
"""Maximum number of bytes in any 3.5 seconds."""


class RateLimit:
    """Blocks senders until their bytes fit into the window of the last seconds."""

    def __init__(
        self, now: Callable[[], float] = time.monotonic, sleep: Callable[[float], object] = time.sleep
    ) -> None:
        self._now, self._sleep = now, sleep
        self._lock = Lock()
        self._sent: deque[tuple[float, int]] = deque()
        self._num_bytes = 0

    def wait(self, num_bytes: int, reserved_bytes: int = 0) -> None:
        """Blocks until `num_bytes` may be sent and `reserved_bytes` would remain.

        The reserve of bulk transfers keeps room for urgent responses.
        """
        while seconds := self._take(num_bytes, WINDOW_BYTES - reserved_bytes):
            self._sleep(seconds)

    def _take(self, num_bytes: int, allowed_bytes: int) -> float:
        """Counts the bytes if they are allowed. Returns the seconds to wait, 0 if they are."""
        with self._lock:
            now = self._now()
            while self._sent and self._sent[0][0] <= now:
                self._num_bytes -= self._sent.popleft()[1]
            if self._sent and self._num_bytes + num_bytes > allowed_bytes:
                return self._sent[0][0] - now
            self._sent.append((now + _WINDOW_S, num_bytes))
            self._num_bytes += num_bytes
            return 0.0


RATE_LIMIT = RateLimit()
"""Limit of this process, which is one kernel."""
