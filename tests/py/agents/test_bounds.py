"""Answers of the server are bounded, and its errors tell the next call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the SDK is not installed")

from support.mcp_calls import with_client

pytestmark = pytest.mark.unit

TRACE = "transformer_cuda/kineto_trace_0.json.gz"


def ask(data: Path, tool: str, **arguments: Any) -> Any:
    async def call(client: Any) -> Any:
        return await client.call_tool(tool, arguments)

    return with_client([data], call)


def test_lists_are_cut(data: Path) -> None:
    result = ask(data, "sql", trace=TRACE, query="select list(range), max(range) from range(200000)")
    assert not result.is_error, result.content[0].text
    assert len(result.content[0].text) < 10_000
    (cells,) = result.structured_content["rows"]
    assert cells == [[*range(100), "… 199,900 more"], 199_999]


def test_the_text_of_a_page_is_bounded(data: Path) -> None:
    result = ask(data, "sql", trace=TRACE, query="select * from events", limit=500)
    assert len(result.content[0].text) < 50_000
    page = result.structured_content
    assert page["next_offset"] == len(page["rows"]) > 10


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"trace": TRACE}, "expected query: a value, found none. Next call: sql with another query"),
        ({"trace": TRACE, "query": 5}, "expected query: Input should be a valid string, found 5"),
    ],
)
def test_arguments_of_other_types_tell_the_next_call(data: Path, arguments: dict[str, Any], expected: str) -> None:
    result = ask(data, "sql", **arguments)
    assert result.is_error
    words = result.content[0].text
    assert expected in words
    assert "http" not in words
