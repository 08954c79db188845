"""Answers of the server are bounded, and its errors tell the next call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import kinetoscope as ks
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


def error(data: Path, tool: str, **arguments: Any) -> str:
    result = ask(data, tool, **arguments)
    assert result.is_error, result.structured_content
    return str(result.content[0].text)


def test_a_range_outside_of_the_trace_is_refused_with_its_range(data: Path) -> None:
    first, span = ks.read(data / TRACE).analyze("summary").select("start_ns", "span_ns").rows()[0]
    words = f"expected a range within {first} to {first + span} ns, found "
    for start, end in ((0, 10), (first - 5, first), (first + span, first + span + 5)):
        text = error(data, "timeline_image", trace=TRACE, start_ns=start, end_ns=end)
        assert f"{words}{start} to {end}. Next call: " in text
    for start, end in ((first - 5, first + 1), (first + span - 1, first + span + 5)):
        assert not ask(data, "timeline_image", trace=TRACE, start_ns=start, end_ns=end).is_error
    assert ask(data, "timeline_image", trace=TRACE).structured_content["end_ns"] == first + span


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("analyze", {"analysis": "kernels"}),
        ("sql", {"query": "select 1"}),
        ("event", {"event_id": 0}),
        ("search", {"text": "aten::mm"}),
        ("timeline_image", {}),
        ("memory", {}),
        ("explain_gap", {"after_id": 0}),
    ],
)
def test_a_rank_that_a_trace_lacks_is_refused(data: Path, tool: str, arguments: dict[str, Any]) -> None:
    text = error(data, tool, trace=TRACE, rank=3, **arguments)
    assert "expected no rank of a trace that records none, found 3. Next call: the same call without rank" in text
    member = "mlp_gloo/kineto_trace_1.json.gz"
    assert "expected rank 1, found 3" in error(data, tool, trace=member, rank=3, **arguments)
    assert "expected rank" not in ask(data, tool, trace=member, rank=1, **arguments).content[0].text


def test_a_snapshot_has_no_rank(data: Path) -> None:
    text = error(data, "memory", trace="memory_cuda/trained.pickle.gz", rank=3)
    assert "expected no rank of a memory snapshot, found 3" in text
