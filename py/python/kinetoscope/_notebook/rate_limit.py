"""How fast a kernel may send: a Jupyter server drops what comes faster, for all widgets of the kernel together."""

from __future__ import annotations

import time
from threading import Lock

# A server lets a million bytes a second through, which it counts over three seconds.
_BYTES_PER_S = 900_000
_BURST_BYTES = 2_400_000


class Pace:
    """Makes those wait who would send too much."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._room_bytes = float(_BURST_BYTES)
        self._filled = time.monotonic()

    def wait(self, num_bytes: int, left_bytes: int = 0) -> None:
        """Returns when so much may be sent and `left_bytes` more: what is in no hurry leaves room for what is."""
        wanted = min(num_bytes + left_bytes, _BURST_BYTES)
        while lacking := self._taken(num_bytes, wanted):
            time.sleep(lacking / _BYTES_PER_S)

    def _taken(self, num_bytes: int, wanted: int) -> float:
        """Takes them where there is room; else how many bytes of it are lacking."""
        with self._lock:
            now = time.monotonic()
            room = min(_BURST_BYTES, self._room_bytes + (now - self._filled) * _BYTES_PER_S)
            is_there = room >= wanted
            self._room_bytes, self._filled = room - num_bytes if is_there else room, now
            return 0.0 if is_there else wanted - room


PACE = Pace()
"""That of this process, which is one kernel."""
