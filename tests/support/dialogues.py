"""Dialogues of docs/agents.md: calls with the answers that the tools give.

`PYTHONPATH=py/python:tests python -m support.dialogues` writes the answers anew.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from support.mcp_calls import Caller

REPOSITORY = Path(__file__).resolve().parents[2]
PAGE = REPOSITORY / "docs/agents.md"
EXCHANGE = re.compile(
    r"(\*\*Call\*\* `(?P<tool>\w+)`\n\n```json\n(?P<arguments>.*?)\n```\n\n\*\*Answer\*\*(?: \((?P<keys>[^)]*)\))?\n\n"
    r"```(?P<form>json|markdown)\n).*?(\n```)",
    re.DOTALL,
)


def answered(page: str) -> str:
    """Returns the page with the answers of its calls."""
    call = Caller(REPOSITORY / "tests/data")

    def exchange(match: re.Match[str]) -> str:
        answer = call(match["tool"], **json.loads(match["arguments"]))
        return f"{match[1]}{_shown(answer, match['keys'])}{match[match.lastindex or 0]}"

    return EXCHANGE.sub(exchange, page)


def _shown(answer: dict[str, Any], keys: str | None) -> str:
    if set(answer) == {"trace", "text"}:
        return str(answer["text"]).rstrip("\n")
    if "rows" in answer and not keys:
        names = [column["name"] for column in answer["columns"]]
        return "\n".join(json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False) for row in answer["rows"])
    wanted = [key.strip("` ") for key in keys.split(",")] if keys else list(answer)
    # Of a list, `host.0` shows the first.
    shown = {key.removesuffix(".0"): answer[key.removesuffix(".0")] for key in wanted}
    firsts = {key.removesuffix(".0") for key in wanted if key.endswith(".0")}
    values = {key: value[:1] if key in firsts else value for key, value in shown.items()}
    return json.dumps(values, indent=2, ensure_ascii=False)


if __name__ == "__main__":
    PAGE.write_text(answered(PAGE.read_text()))
