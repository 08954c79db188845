"""Files are finished on a thread, so that the loop goes on meanwhile."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, final

_MAX_WAITING = 2
"""Windows that may wait for the thread; more would fill the disk with unfinished files."""
_NICENESS = 10


class Trouble(NamedTuple):
    """What went wrong, and is to be told where the loop is."""

    message: str
    error: BaseException | None = None

    def __str__(self) -> str:
        return f"{self.message}: {type(self.error).__name__}: {self.error}" if self.error else self.message


Work = Callable[[], list[Trouble] | None]


@final
class Writer:
    """Does one piece of work after the other, each on a thread of its own: the program's end waits for those.

    A thread that waits for work would keep the program from ending, or be cut off by its end.
    """

    def __init__(self) -> None:
        self._threads: list[threading.Thread] = []
        self._troubles: deque[Trouble] = deque()

    def begin(self, work: Work, failed: str) -> None:
        """Work to do when all before it is done; an error in it is told with these words. Waits when much is open."""
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        if len(self._threads) >= _MAX_WAITING:
            self._threads[0].join()
        before = self._threads[-1] if self._threads else None
        thread = threading.Thread(target=self._run_aside, args=(before, work, failed), name="kinetoscope-writer")
        try:
            thread.start()
        except RuntimeError:  # the interpreter is ending, or has no thread left
            self._run(before, work, failed)
        else:
            self._threads.append(thread)

    def wait(self) -> None:
        """Until all is done."""
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join()

    def take(self) -> list[Trouble]:
        """What went wrong since it was last asked for."""
        return [self._troubles.popleft() for _ in range(len(self._troubles))]

    def _run_aside(self, before: threading.Thread | None, work: Work, failed: str) -> None:
        _yield_to_others()
        self._run(before, work, failed)

    def _run(self, before: threading.Thread | None, work: Work, failed: str) -> None:
        if before is not None:
            before.join()
        try:
            found = work() or []
        except Exception as error:  # noqa: BLE001 - whatever it is, the training goes on
            found = [Trouble(failed, error)]
        self._troubles.extend(found)


def _yield_to_others() -> None:
    """The loop needs the processors more. Only Linux gives threads their own niceness."""
    with suppress(AttributeError, OSError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
