"""Allows one recording at a time."""

from __future__ import annotations

import os
import threading


class Guard:
    """Locks the recording of a process: torch has one profiler and one observer per process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holder: tuple[int, object] | None = None

    def claim(self, owner: object) -> None:
        """Takes the lock. Raises RuntimeError if another recording holds it."""
        with self._lock:
            if self._holder and self._holder[0] == os.getpid():
                raise RuntimeError(
                    f"ks.profile: expected no other recording in this process, found {self._holder[1]!r}: stop it first"
                )
            self._holder = (os.getpid(), owner)

    def is_held_by(self, owner: object) -> bool:
        """Whether `owner` holds the lock in this process. False in a forked child."""
        return self._holder == (os.getpid(), owner)

    def release(self, owner: object) -> None:
        """Releases the lock if `owner` holds it."""
        with self._lock:
            if self.is_held_by(owner):
                self._holder = None


RUNNING = Guard()
"""The lock of this process."""
