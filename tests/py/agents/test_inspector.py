"""The server for assistants, asked by the protocol's inspector, which is a program of Node."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the SDK is not installed")

pytestmark = pytest.mark.nightly

INSPECTOR = ("npx", "--yes", "@modelcontextprotocol/inspector@0.15.0", "--cli")
SERVER = (sys.executable, "-m", "kinetoscope", "mcp")
TRACE = "kineto_trace_0.json.gz"


@pytest.fixture
def served(data: Path) -> Path:
    if shutil.which("npx") is None:
        pytest.skip("npx is not installed")
    return data / "transformer_cuda"


def inspected(folder: Path, method: str, *arguments: str) -> Any:
    command = [*INSPECTOR, *SERVER, str(folder), "--method", method, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def called(folder: Path, tool: str, **arguments: str) -> Any:
    named = [word for name, value in arguments.items() for word in ("--tool-arg", f"{name}={value}")]
    return inspected(folder, "tools/call", "--tool-name", tool, *named)


def test_it_lists_tools_and_resources(served: Path) -> None:
    tools = {tool["name"]: tool for tool in inspected(served, "tools/list")["tools"]}
    assert {"list_traces", "digest", "analyze", "sql", "explain_gap"} <= set(tools)
    for tool in tools.values():
        assert tool["annotations"]["readOnlyHint"] is True
        assert tool["inputSchema"]["type"] == tool["outputSchema"]["type"] == "object"
        assert "\n    " not in tool["description"]
    addresses = {resource["uri"] for resource in inspected(served, "resources/list")["resources"]}
    assert addresses == {"kinetoscope://schema", "kinetoscope://glossary"}
    glossary = inspected(served, "resources/read", "--uri", "kinetoscope://glossary")
    assert "exposed" in glossary["contents"][0]["text"]


def test_it_calls_tools(served: Path) -> None:
    names = [each["name"] for each in called(served, "list_traces")["structuredContent"]["recordings"]]
    assert TRACE in names
    page = called(served, "analyze", trace=TRACE, analysis="kernels", limit="3")["structuredContent"]
    assert len(page["rows"]) == 3
    assert page["num_rows"] > 3
    wrong = called(served, "analyze", trace="none.json", analysis="kernels")
    assert wrong["isError"] is True
    assert "list_traces" in wrong["content"][0]["text"]
