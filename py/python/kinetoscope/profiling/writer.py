"""Files are finished on a thread, so that the loop goes on meanwhile."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
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


_LOOK_S = 0.1

Work = Callable[[], list[Trouble] | None]


@final
class _Task:
    """A piece of work, done once, on a thread of its own or where it is begun.

    That it is done says an event: `Thread.join`, cut off by Ctrl-C, takes the thread for one that has ended.
    """

    def __init__(self, work: Callable[[], None], before: _Task | None) -> None:
        self._work = work
        self._before = before
        self._is_begun = threading.Lock()
        self._is_done = threading.Event()
        self._process = os.getpid()
        self._thread = threading.Thread(target=self._run_aside, name="kinetoscope-writer")

    def begin(self) -> None:
        try:
            self._thread.start()
        except RuntimeError:  # the interpreter is ending, or has no thread left
            self.run()

    @property
    def is_open(self) -> bool:
        """A forked child has none of the threads."""
        return not self._is_done.is_set() and self._process == os.getpid()

    def wait(self) -> None:
        if self._thread is threading.current_thread():
            return
        # Ctrl-C does not cut off every wait without an end: some libraries let system calls go on after it
        while self.is_open and not self._is_done.wait(_LOOK_S):
            pass
        if self._thread.is_alive():
            self._thread.join()

    def _run_aside(self) -> None:
        _yield_to_others()
        self.run()

    def run(self) -> None:
        if not self._is_begun.acquire(blocking=False):
            return
        try:
            if self._before is not None:
                self._before.wait()
                self._before = None
            self._work()
        finally:
            self._is_done.set()


@final
class Writer:
    """Does one piece of work after the other, each on a thread of its own: the program's end waits for those.

    A thread that waits for work would keep the program from ending, or be cut off by its end.
    """

    def __init__(self) -> None:
        self._tasks: list[_Task] = []
        self._troubles: deque[Trouble] = deque()

    def begin(self, work: Work, failed: str) -> None:
        """Work to do when all before it is done; an error in it is told with these words. Waits when much is open."""
        self._tasks = [task for task in self._tasks if task.is_open]
        if len(self._tasks) >= _MAX_WAITING:
            self._tasks[0].wait()
        task = _Task(partial(self._do, work, failed), self._tasks[-1] if self._tasks else None)
        try:
            self._tasks.append(task)
            task.begin()
        except BaseException:  # Ctrl-C, perhaps before it has begun
            task.run()
            raise

    def wait(self) -> None:
        """Until all is done."""
        for task in self._tasks:
            task.wait()

    def take(self) -> list[Trouble]:
        """What went wrong since it was last asked for."""
        return [self._troubles.popleft() for _ in range(len(self._troubles))]

    def _do(self, work: Work, failed: str) -> None:
        try:
            found = work() or []
        except Exception as error:  # noqa: BLE001 - whatever it is, the training goes on
            found = [Trouble(failed, error)]
        self._troubles.extend(found)


def _yield_to_others() -> None:
    """The loop needs the processors more. Only Linux gives threads their own niceness."""
    with suppress(AttributeError, OSError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
