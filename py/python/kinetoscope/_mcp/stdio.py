"""Serves over standard input and output, with lines of bounded length."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from kinetoscope._base.optional import needed

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

_MAX_LINE = 1 << 20
"""Most bytes of a message."""
_TOO_LONG = "expected a message of at most 1 MiB, found a longer one"
_ID = re.compile(rb'"id"\s*:\s*(\d{1,18}|"[^"\\]{1,100}")')
_END = 200
"""Bytes at either end of a message in which its id is looked for."""


def serve(server: MCPServer) -> None:
    """Serves until the input ends. Only messages of the protocol reach standard output."""
    with needed("a server for assistants", "kinetoscope[mcp]"):
        import anyio

    anyio.run(_serve, server)


async def _serve(server: MCPServer) -> None:
    from mcp.server.stdio import stdio_server
    from mcp.shared.message import SessionMessage
    from mcp.types import INVALID_REQUEST, ErrorData, JSONRPCError

    # The input is taken first, because what reads standard input later must not take messages.
    wire = os.fdopen(os.dup(0), "rb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)

    async def refuse(message: LongMessage) -> None:
        if message.id is not None:  # else it may be a notification, which gets no answer
            error = ErrorData(code=INVALID_REQUEST, message=_TOO_LONG)
            await write_stream.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=message.id, error=error)))

    lines: Any = BoundedLines(wire, refuse)
    core = server._lowlevel_server  # noqa: SLF001 - `run` offers no bound for messages
    async with stdio_server(stdin=lines) as (read_stream, write_stream):
        await core.run(read_stream, write_stream, core.create_initialization_options())
    sys.stdout.flush()


class LongMessage(NamedTuple):
    """A message that is longer than one may be."""

    id: str | int | None
    """None if neither end of the message has it."""


class BoundedLines:
    """Lines of a stream, without those that are longer than a message may be."""

    def __init__(
        self, stream: BinaryIO, refuse: Callable[[LongMessage], Awaitable[None]], max_line: int = _MAX_LINE
    ) -> None:
        self._stream = stream
        self._refuse = refuse
        self._max_line = max_line

    async def __aiter__(self) -> AsyncIterator[str]:
        """Yields lines until the stream ends; hands longer ones to `refuse`."""
        from anyio import to_thread

        while line := await to_thread.run_sync(self.next_line, abandon_on_cancel=True):
            if isinstance(line, LongMessage):
                await self._refuse(line)
            else:
                yield line

    def next_line(self) -> str | LongMessage:
        """Returns the next line, empty at the end; never holds more than a message."""
        line = self._stream.readline(self._max_line)
        if len(line) < self._max_line or line.endswith(b"\n"):
            return line.decode("utf-8", "replace")
        found = _ID.search(line[:_END])
        while line and not line.endswith(b"\n"):
            line = self._stream.readline(self._max_line)
        found = found or next(iter([*_ID.finditer(line[-_END:])][-1:]), None)
        return LongMessage(_id(found[1].decode("utf-8", "replace")) if found else None)


def _id(written: str) -> str | int:
    """Returns an id as it stands in a message; `_ID` admits no escapes."""
    return written[1:-1] if written.startswith('"') else int(written)
