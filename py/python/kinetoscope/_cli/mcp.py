"""The command `mcp`."""

from __future__ import annotations

import argparse
from typing import NamedTuple

from kinetoscope._cli.arguments import command, size


class McpOptions(NamedTuple):
    """Options of `mcp`."""

    folders: list[str]
    max_memory: int | None


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    help_text = "folder whose traces may be read, and nothing outside of it (default: .)"
    parser.add_argument("folders", nargs="*", default=["."], metavar="FOLDER", help=help_text)
    help_text = "free the oldest traces beyond this estimate, such as 4GB (default: 4.3GB)"
    parser.add_argument("--max-memory", type=size, default=None, metavar="SIZE", help=help_text)


def _mcp(options: McpOptions) -> None:
    from kinetoscope._mcp.folders import AllowedFolders
    from kinetoscope._mcp.server import build_server
    from kinetoscope._mcp.stdio import serve
    from kinetoscope._mcp.store import DEFAULT_MEMORY, TraceStore
    from kinetoscope._mcp.toolbox import Toolbox

    memory = DEFAULT_MEMORY if options.max_memory is None else options.max_memory
    serve(build_server(Toolbox(TraceStore(AllowedFolders(options.folders), memory))))


MCP = command(
    "mcp",
    "Serve the traces of folders to assistants, over the Model Context Protocol",
    details="Reads messages from standard input and answers on standard output. Needs kinetoscope[mcp].",
    add_arguments=_add_arguments,
    options=McpOptions,
    run=_mcp,
)
