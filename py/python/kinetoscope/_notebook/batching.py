"""Batches responses for the front-end: many in a message, large ones in chunks."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from threading import Event
from typing import Any

from kinetoscope._notebook.rate_limit import RATE_LIMIT

Send = Callable[[dict[str, Any], list[bytes]], object]

MESSAGE_BYTES = 400_000
"""Maximum size of a message: several of them fit into the window of the rate limit."""
_MIN_COMPRESSED_BYTES = 2_000


class MessageBatch:
    """Collects responses and sends them when a message is full; drops them once `is_closed`."""

    def __init__(self, send: Send, reserved_bytes: int, is_closed: Event) -> None:
        self._send = send
        self._reserved_bytes = reserved_bytes
        self._is_closed = is_closed
        self._parts: list[dict[str, Any]] = []
        self._buffers: list[bytes] = []

    def add(self, name: str, content: bytes) -> None:
        """Adds a response: compressed if it is large, in chunks if it exceeds a message."""
        is_packed = len(content) > _MIN_COMPRESSED_BYTES
        content = zlib.compress(content, 1) if is_packed else content
        num_chunks = max(1, -(-len(content) // MESSAGE_BYTES))
        for chunk in range(num_chunks):
            if self._is_closed.is_set():
                return
            piece = content[chunk * MESSAGE_BYTES : (chunk + 1) * MESSAGE_BYTES]
            if self._buffers and sum(map(len, self._buffers)) + len(piece) > MESSAGE_BYTES:
                self.send()
            self._parts.append({"id": name, "chunk": chunk, "num_chunks": num_chunks, "packed": is_packed})
            self._buffers.append(piece)

    def fail(self, name: str, message: str) -> None:
        """Sends an error in place of a response."""
        if not self._is_closed.is_set():
            self._send({"type": "failed", "id": name, "message": message}, [])

    def send(self) -> None:
        """Sends the collected responses."""
        parts, buffers = self._parts, self._buffers
        self._parts, self._buffers = [], []
        if parts and not self._is_closed.is_set():
            RATE_LIMIT.wait(sum(map(len, buffers)), self._reserved_bytes)
            self._send({"type": "answers", "parts": parts}, buffers)
