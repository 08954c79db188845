"""Calls of the server for assistants, by the official client in one process."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import anyio
from kinetoscope._mcp.folders import AllowedFolders
from kinetoscope._mcp.server import build_server
from kinetoscope._mcp.store import DEFAULT_MEMORY, TraceStore
from kinetoscope._mcp.toolbox import Toolbox


def with_client(folders: Sequence[Path], use: Callable[[Any], Awaitable[Any]], memory: int = DEFAULT_MEMORY) -> Any:
    """Connects the SDK's client to a server over these folders, and awaits `use` of it."""
    import mcp

    server = build_server(Toolbox(TraceStore(AllowedFolders(folders), memory)))

    async def run() -> Any:
        async with mcp.Client(server, mode="legacy") as client:
            return await use(client)

    return anyio.run(run)


class Caller:
    """Calls tools one by one, and keeps what was called."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def __call__(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Returns the structured result. Raises AssertionError for an error."""
        self.calls.append((tool, arguments))

        async def call(client: Any) -> Any:
            return await client.call_tool(tool, arguments)

        result = with_client([self._folder], call)
        assert not result.is_error, result.content[0].text
        content: dict[str, Any] = result.structured_content
        return content
