"""A narrow terminal: every column is printed, and no word is broken."""

from __future__ import annotations

from pathlib import Path

import kinetoscope as ks
import pytest
from support.terminal import printed

pytest.importorskip("rich")
pytestmark = pytest.mark.unit

WIDTHS = [60, 80, 120]
COMMANDS = ["summary", "doctor", "analyze breakdown", "analyze findings", "analyze kernels", "analyze critical_path"]


@pytest.fixture
def trace(data: Path) -> str:
    return str(data / "synthetic_cuda/kineto_trace_0.json.gz")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("command", COMMANDS)
def test_lines_fit(trace: str, command: str, width: int) -> None:
    assert [line for line in printed(width, *command.split(), trace) if len(line) > width] == []


@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize("command", ["summary", "doctor"])
def test_members_of_a_job_fit(data: Path, command: str, width: int) -> None:
    lines = printed(width, command, str(data / "mlp_gloo"))
    assert [line for line in lines if len(line) > width] == []
    assert {"nodes", "606", "kineto_trace_1.json.gz"} <= set(" ".join(lines).split())


@pytest.mark.parametrize("width", WIDTHS)
def test_every_column_is_printed(trace: str, width: int) -> None:
    lines = printed(width, "analyze", "kernels", trace)
    words = {word for line in lines for word in line.split()}
    assert {"name", "count", "total", "longest_id", "occupancy", "waves"} <= words
    blocks = sum(line.startswith("kernels: 8 rows") for line in lines)
    assert sum(line.startswith(" Memset (Device)") for line in lines) == blocks  # a line for each row
    assert sum(line.startswith(" name ") for line in lines) == blocks


def test_a_wide_terminal_has_one_block(trace: str) -> None:
    lines = printed(400, "analyze", "kernels", trace)
    assert [line.strip() for line in lines if line.startswith("kernels: ")] == ["kernels: 8 rows"]


@pytest.mark.parametrize("width", WIDTHS)
def test_columns_that_answer_the_question(trace: str, width: int) -> None:
    breakdown = " ".join(printed(width, "analyze", "breakdown", trace)).split()
    assert {"compute", "idle", "communication", "exposed_communication"} <= {*breakdown}
    findings = " ".join(" ".join(printed(width, "analyze", "findings", trace)).split())
    assert "advice" in findings
    assert " non_blocking=True " in findings


@pytest.mark.parametrize("width", WIDTHS)
def test_sentences_wrap_between_words(trace: str, width: int) -> None:
    from kinetoscope._analysis.doctor import diagnosis

    words = " ".join(printed(width, "doctor", trace)).split()
    assert words[words.index("complete") :] == str(diagnosis(ks.read(trace))).split()
