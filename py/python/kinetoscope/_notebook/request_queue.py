"""What a front-end asks, answered on a thread: the kernel runs cells meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from threading import Condition, Event, Thread
from typing import Any

from kinetoscope._notebook.batching import Message, Send

Ask = dict[str, Any]
"""What is asked, with the `id` that the answer goes by."""

_IDLE_S = 5.0


class Desk:
    """Takes questions, and answers them in their order, many in a message.

    Its thread ends when nothing was asked for a while, or nothing will be any more.
    """

    def __init__(self, answer: Callable[[Ask], bytes], send: Send, *, left_bytes: int = 0) -> None:
        self._answer = answer
        self._send = send
        self._left_bytes = left_bytes
        self._waiting: dict[str, Ask] = {}
        self._changed = Condition()
        self._is_manned = False
        self._is_closed = Event()

    def take(self, asks: Iterable[Ask]) -> None:
        """Puts questions into the queue. Nothing is answered after `close`."""
        with self._changed:
            if self._is_closed.is_set():
                return
            self._waiting.update((str(ask["id"]), ask) for ask in asks)
            if not self._is_manned:
                self._is_manned = True
                Thread(target=self._work, name="timeline", daemon=True).start()
            self._changed.notify()

    def close(self) -> None:
        """Forgets all of them, and what of an answer is not sent yet."""
        with self._changed:
            self._is_closed.set()
            self._waiting.clear()
            self._changed.notify()

    def _work(self) -> None:
        message = Message(self._send, self._left_bytes, self._is_closed)
        try:
            while (ask := self._next(message)) is not None:
                self._put(ask, message)
        except BaseException:
            with self._changed:
                self._is_manned = False  # who asks next has a new thread
            raise

    def _put(self, ask: Ask, message: Message) -> None:
        name = str(ask["id"])
        try:
            message.add(name, self._answer(ask))
        except Exception as error:  # noqa: BLE001 - whoever asked is told
            message.fail(name, str(error) or type(error).__name__)

    def _next(self, message: Message) -> Ask | None:
        """The next question; None when there was none for a while. What is answered is sent before it waits."""
        with self._changed:
            if self._waiting:
                return self._waiting.pop(next(iter(self._waiting)))
        message.send()
        with self._changed:
            if not (self._waiting or self._is_closed.is_set()):
                self._changed.wait(_IDLE_S)
            if self._waiting:
                return self._waiting.pop(next(iter(self._waiting)))
            self._is_manned = False
            return None
