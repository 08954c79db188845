"""The dialogues in docs/agents.md are what the tools answer."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("mcp", reason="the SDK is not installed")

from support.dialogues import EXCHANGE, PAGE, answered

pytestmark = pytest.mark.unit


def test_the_answers_are_those_of_the_tools() -> None:
    page = PAGE.read_text()
    assert answered(page) == page, "python -m support.dialogues writes the answers anew"


def test_there_are_three_dialogues() -> None:
    page = PAGE.read_text()
    dialogues = page.partition("## Three dialogues")[2].split("\n### ")[1:]
    assert len(dialogues) == 3
    for dialogue in dialogues:
        calls = list(EXCHANGE.finditer(dialogue))
        assert len(calls) == 2
        assert all(json.loads(call["arguments"])["trace"] for call in calls)
