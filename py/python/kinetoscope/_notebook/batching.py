"""Answers on their way to the front-end: many in a message, in pieces where one is large."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from threading import Event
from typing import Any

from kinetoscope._notebook.rate_limit import PACE

Send = Callable[[dict[str, Any], list[bytes]], object]

MESSAGE_BYTES = 900_000
"""Servers close the socket on large messages."""
_WORTH_PACKING_BYTES = 2_000


class Message:
    """Answers that are sent when there are enough of them, and no more once `is_closed`."""

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
        if not self._is_closed.is_set():
            self._send({"type": "failed", "id": name, "message": message}, [])

    def send(self) -> None:
        """Sends what there is."""
        parts, buffers = self._parts, self._buffers
        self._parts, self._buffers = [], []
        if parts and not self._is_closed.is_set():
            PACE.wait(sum(map(len, buffers)), self._left_bytes)
            self._send({"type": "answers", "parts": parts}, buffers)
