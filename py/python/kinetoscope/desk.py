"""What a front-end asks, answered on a thread: the kernel runs cells meanwhile."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from threading import Condition, Event, Thread
from typing import Any

from kinetoscope.pace import PACE

Ask = dict[str, Any]
"""What is asked, with the `id` that the answer goes by."""
Send = Callable[[dict[str, Any], list[bytes]], object]

MESSAGE_BYTES = 900_000
"""Servers close the socket on large messages."""
_WORTH_PACKING_BYTES = 2_000
_IDLE_S = 5.0


class Desk:
    """Takes questions, and answers them in their order, many in a message.

    Its thread ends when nothing was asked for a while.
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

    def drop(self, ids: Iterable[str]) -> None:
        """Forgets questions that nobody waits for any more."""
        with self._changed:
            for name in ids:
                self._waiting.pop(name, None)

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


class Message:
    """Answers on their way, sent when there are enough of them."""

    def __init__(self, send: Send, left_bytes: int, is_closed: Event) -> None:
        self._send = send
        self._left_bytes = left_bytes
        self._is_closed = is_closed
        self._parts: list[dict[str, Any]] = []
        self._buffers: list[bytes] = []

    def add(self, name: str, content: bytes) -> None:
        """An answer, packed where that pays, in pieces where it is large."""
        is_packed = len(content) > _WORTH_PACKING_BYTES
        whole = zlib.compress(content, 1) if is_packed else content
        num_chunks = max(1, -(-len(whole) // MESSAGE_BYTES))
        for chunk in range(num_chunks):
            if self._is_closed.is_set():
                return
            piece = whole[chunk * MESSAGE_BYTES : (chunk + 1) * MESSAGE_BYTES]
            if self._buffers and sum(map(len, self._buffers)) + len(piece) > MESSAGE_BYTES:
                self.send()
            self._parts.append({"id": name, "chunk": chunk, "num_chunks": num_chunks, "packed": is_packed})
            self._buffers.append(piece)

    def fail(self, name: str, message: str) -> None:
        """In place of an answer, why there is none."""
        self._send({"type": "failed", "id": name, "message": message}, [])

    def send(self) -> None:
        """Sends what there is."""
        parts, buffers = self._parts, self._buffers
        self._parts, self._buffers = [], []
        if parts and not self._is_closed.is_set():
            PACE.wait(sum(map(len, buffers)), self._left_bytes)
            self._send({"type": "answers", "parts": parts}, buffers)
