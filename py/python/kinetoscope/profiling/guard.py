"""One recording at a time."""

from __future__ import annotations

import os
import threading


class Guard:
    """Torch has one profiler and one observer in a process. A forked child is a process of its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holder: tuple[int, object] | None = None

    def claim(self, asking: object) -> None:
        """RuntimeError while another one holds it."""
        with self._lock:
            if self._holder and self._holder[0] == os.getpid():
                raise RuntimeError(
                    "ks.profile: expected no other recording in this process, "
                    f"found {self._holder[1]!r}; stop that one first"
                )
            self._holder = (os.getpid(), asking)

    def is_held_by(self, asking: object) -> bool:
        """Whether this process let it start, and it has not ended."""
        return self._holder == (os.getpid(), asking)

    def release(self, asking: object) -> None:
        """Lets the next one start. Harmless when it is another one's."""
        with self._lock:
            if self.is_held_by(asking):
                self._holder = None


RUNNING = Guard()
"""That of this process."""
