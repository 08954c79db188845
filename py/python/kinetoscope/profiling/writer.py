"""Completes files on other threads, so that the loop continues."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import NamedTuple, final

from kinetoscope._base.system import lower_thread_priority

_MAX_WAITING = 2
"""Maximum number of open tasks: more windows would fill the disk with temporary files."""
_NICENESS = 10


class Problem(NamedTuple):
    """A problem to report on the thread of the loop."""

    message: str
    error: BaseException | None = None

    def __str__(self) -> str:
        return f"{self.message}: {type(self.error).__name__}: {self.error}" if self.error else self.message


_POLL_S = 0.1

Work = Callable[[], list[Problem] | None]


@final
class _Task:
    """Work that runs once, on its own thread, or on the caller's if no thread can start.

    An event signals the end: a `Thread.join` interrupted by Ctrl-C reports the thread as ended.
    """

    def __init__(self, work: Callable[[], None], before: _Task | None) -> None:
        self._work = work
        self._before = before
        self._claim = threading.Lock()
        self._is_done = threading.Event()
        self._process = os.getpid()
        self._thread = threading.Thread(target=self._run_on_thread, name="kinetoscope-writer")

    def begin(self) -> None:
        try:
            self._thread.start()
        except RuntimeError:  # the interpreter shuts down, or the thread limit is reached
            self.run()

    @property
    def is_open(self) -> bool:
        """Whether the work is unfinished. False in a forked child, which has no threads."""
        return not self._is_done.is_set() and self._process == os.getpid()

    def wait(self) -> None:
        if self._thread is threading.current_thread():
            return
        # poll, because some libraries restart system calls, so that Ctrl-C cannot interrupt a wait
        while self.is_open and not self._is_done.wait(_POLL_S):
            pass
        if self._thread.is_alive():
            self._thread.join()

    def _run_on_thread(self) -> None:
        lower_thread_priority(_NICENESS)
        self.run()

    def run(self) -> None:
        if not self._claim.acquire(blocking=False):
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
    """Runs tasks in order, each on its own thread. The interpreter waits for these threads at exit.

    A single thread that waits for work would block the exit, or be killed by it as a daemon.
    """

    def __init__(self) -> None:
        self._tasks: list[_Task] = []
        self._problems: deque[Problem] = deque()

    def begin(self, work: Work, failed: str) -> None:
        """Queues work; `failed` is the message if it raises. Blocks while two tasks are open."""
        self._tasks = [task for task in self._tasks if task.is_open]
        if len(self._tasks) >= _MAX_WAITING:
            self._tasks[0].wait()
        task = _Task(partial(self._do, work, failed), self._tasks[-1] if self._tasks else None)
        try:
            self._tasks.append(task)
            task.begin()
        except BaseException:  # Ctrl-C, perhaps before the thread started
            task.run()
            raise

    def wait(self) -> None:
        """Waits until all tasks are finished."""
        for task in self._tasks:
            task.wait()

    def take(self) -> list[Problem]:
        """Removes and returns the problems so far."""
        return [self._problems.popleft() for _ in range(len(self._problems))]

    def _do(self, work: Work, failed: str) -> None:
        try:
            problems = work() or []
        except Exception as error:  # noqa: BLE001 - the training must continue
            problems = [Problem(failed, error)]
        self._problems.extend(problems)
