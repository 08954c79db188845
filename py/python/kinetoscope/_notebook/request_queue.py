"""Answers requests of the front-end on a thread, so that the kernel can run cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from threading import Condition, Event
from typing import Any

from kinetoscope._base.system import HAS_THREADS, run_in_background
from kinetoscope._notebook.batching import MessageBatch, Send

Request = dict[str, Any]
"""A request with its `id`, which the response repeats."""

_IDLE_S = 5.0 if HAS_THREADS else 0


class RequestQueue:
    """Answers requests in order, many per message.

    The thread ends after some idle seconds, or on `close`.
    """

    def __init__(self, answer: Callable[[Request], bytes], send: Send, *, reserved_bytes: int = 0) -> None:
        self._answer = answer
        self._send = send
        self._reserved_bytes = reserved_bytes
        self._waiting: dict[str, Request] = {}
        self._changed = Condition()
        self._has_thread = False
        self._is_closed = Event()

    def put(self, requests: Iterable[Request]) -> None:
        """Adds requests to the queue; ignores them after `close`."""
        with self._changed:
            if self._is_closed.is_set():
                return
            self._waiting.update((str(request["id"]), request) for request in requests)
            if not self._has_thread:
                self._has_thread = True
                run_in_background(self._work, "timeline")
            self._changed.notify()

    def close(self) -> None:
        """Drops all requests, and the unsent part of a response."""
        with self._changed:
            self._is_closed.set()
            self._waiting.clear()
            self._changed.notify()

    def _work(self) -> None:
        batch = MessageBatch(self._send, self._reserved_bytes, self._is_closed)
        try:
            while (request := self._next(batch)) is not None:
                self._respond(request, batch)
        except BaseException:
            with self._changed:
                self._has_thread = False  # the next request starts a new thread
            raise

    def _respond(self, request: Request, batch: MessageBatch) -> None:
        name = str(request["id"])
        try:
            batch.add(name, self._answer(request))
        except Exception as error:  # noqa: BLE001 - the front-end shows the error
            batch.fail(name, str(error) or type(error).__name__)

    def _next(self, batch: MessageBatch) -> Request | None:
        """Returns the next request, or None after some idle seconds.

        Sends the collected responses before it waits.
        """
        with self._changed:
            if self._waiting:
                return self._waiting.pop(next(iter(self._waiting)))
        batch.send()
        with self._changed:
            if not (self._waiting or self._is_closed.is_set()):
                self._changed.wait(_IDLE_S)
            if self._waiting:
                return self._waiting.pop(next(iter(self._waiting)))
            self._has_thread = False
            return None
