"""Twenty questions with planted answers, answered by fixed rules from digest and tools alone.

A rule never reads the trace: it follows names, ids and commands that the digest or a tool gave.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the SDK is not installed")

from support import planted
from support.mcp_calls import Caller

pytestmark = pytest.mark.unit

US = 1_000
RANK = "slow/rank0.json.gz"


class Agent:
    """Answers questions by rules over the digest of the job, that of rank 0, and tools."""

    def __init__(self, call: Caller) -> None:
        self.call = call
        self.job = self._digest("slow")
        self.rank = self._digest(RANK)

    def _digest(self, trace: str) -> dict[str, list[dict[str, Any]]]:
        """Items of a digest by the caption of their block."""
        digest = json.loads(self.call("digest", trace=trace, max_chars=40_000, form="json")["text"])
        return {block["caption"]: block["items"] for section in digest["sections"] for block in section["blocks"]}

    def rows(self, tool: str, **arguments: Any) -> list[dict[str, Any]]:
        page = self.call(tool, **arguments)
        names = [column["name"] for column in page["columns"]]
        return [dict(zip(names, row, strict=True)) for row in page["rows"]]

    def finding(self, name: str, subject: str = "") -> dict[str, Any]:
        found = self.rank["Findings, the costliest first"]
        return next(each for each in found if each.get("finding") == name and subject in each["subject"])

    def late(self) -> dict[str, Any]:
        return self.job["Ranks that others wait for"][0]

    def longest_gap_of_step(self) -> dict[str, Any]:
        """The gap before computation that most modules have: the longest with a module after it."""
        gaps = self.rows("analyze", trace=RANK, analysis="idle", table="gaps", limit=100)
        explained = [self.call("explain_gap", trace=RANK, after_id=gap["after_id"]) for gap in gaps]
        totals: dict[str, int] = {}
        for gap in explained:
            if gap["after_module"]:
                totals[gap["after_module"]] = totals.get(gap["after_module"], 0) + gap["dur_ns"]
        module = max(totals, key=lambda name: totals[name])
        return {"module": module, **next(gap for gap in explained if gap["after_module"] == module)}

    def kernel(self) -> dict[str, Any]:
        """The kernel with the most computation, with its chain."""
        kernels = self.rank["Kernels, copies and fills by time"]
        top = next(each for each in kernels if each["class"] == "computation")
        return self.call("event", trace=RANK, event_id=top["longest_id"])

    def changed(self) -> dict[str, Any]:
        return self.rows("diff", before=RANK, after="slower/rank0.json.gz", table="diff_kernels")[0]


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Agent:
    folder = tmp_path_factory.mktemp("served")
    planted.write_planted(folder / "slow")
    planted.write_planted(folder / "slower", 2 * planted.GEMM_US)
    planted.write_planted(folder / "lost", lost=2)
    return Agent(Caller(folder))


def recordings(agent: Agent) -> list[str]:
    return [each["name"] for each in agent.call("list_traces")["recordings"] if each["kind"] == "job"]


QUESTIONS: list[tuple[str, Callable[[Agent], Any], Any]] = [
    ("which jobs are there?", recordings, ["lost", "slow", "slower"]),
    ("is the recording complete?", lambda agent: agent.job["Verdict"][0]["state"], "complete"),
    ("which rank is late?", lambda agent: agent.late()["rank"], planted.LATE_RANK),
    (
        "how long do the others wait for it?",
        lambda agent: agent.late()["caused_wait_ns"],
        planted.NUM_STEPS * (planted.NUM_RANKS - 1) * planted.LATE_US * US,
    ),
    (
        "by how much is it late?",
        lambda agent: agent.job["Costliest late arrivals"][0]["lateness_ns"],
        planted.LATE_US * US,
    ),
    ("why is it late?", lambda agent: agent.late()["cause"], "host"),
    ("what does it do longer?", lambda agent: agent.job["Costliest late arrivals"][0]["name"], planted.LOADER),
    (
        "which iteration is the slowest?",
        lambda agent: agent.rank["Slowest iterations"][0]["iteration"],
        planted.SLOW_STEP,
    ),
    (
        "how long is an iteration?",
        lambda agent: agent.rank["Host time"][0]["iteration_mean_ns"],
        (24_000 + planted.SLOW_US // planted.NUM_STEPS) * US,
    ),
    (
        "how long does a device of rank 0 compute?",
        lambda agent: agent.rank["Device time by device"][0]["compute_ns"],
        planted.NUM_STEPS * (planted.GEMM_US + planted.SOFTMAX_US) * US,
    ),
    ("which kernel computes most?", lambda agent: agent.kernel()["event"]["name"], planted.GEMM),
    ("which operator launched it?", lambda agent: agent.kernel()["operator"]["name"], "aten::mm"),
    ("which module is it of?", lambda agent: agent.kernel()["modules"][0]["name"], "nn.Module: Linear_0"),
    (
        "which module has the most idle time before it?",
        lambda agent: agent.longest_gap_of_step()["module"],
        "nn.Module: Attention_0",
    ),
    ("how long is that gap?", lambda agent: agent.longest_gap_of_step()["dur_ns"], planted.GAP_US * US),
    ("what is its cause?", lambda agent: agent.longest_gap_of_step()["category"], "host_wait"),
    (
        "what did the host do meanwhile?",
        lambda agent: agent.longest_gap_of_step()["host"][0]["event"]["name"],
        planted.TOKENIZE,
    ),
    (
        "which copies are from pageable memory, and what do they cost?",
        lambda agent: agent.finding("pageable_copy")["cost_ns"],
        planted.NUM_STEPS * planted.COPY_US * US,
    ),
    (
        "what became slower, and by how much in an iteration?",
        lambda agent: (agent.changed()["name"], agent.changed()["change_ns"]),
        (planted.GEMM, planted.GEMM_US * US),
    ),
    (
        "can I trust the numbers of the other job?",
        lambda agent: agent.rows("analyze", trace="lost", analysis="problems", rank=0)[0]["state"],
        "incomplete",
    ),
]


def test_there_are_twenty() -> None:
    assert len(QUESTIONS) == 20


@pytest.mark.parametrize(("question", "rule", "expected"), QUESTIONS, ids=[question for question, *_ in QUESTIONS])
def test_question(agent: Agent, question: str, rule: Callable[[Agent], Any], expected: Any) -> None:
    assert rule(agent) == expected, question
