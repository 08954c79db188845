"""`kinetoscope.hta` draws a memory timeline."""

from __future__ import annotations

from pathlib import Path

import pytest
from kinetoscope.hta.memory_analysis import MemoryAnalysis

pytestmark = pytest.mark.unit


def test_a_memory_timeline_is_drawn(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    analysis = MemoryAnalysis(str(data / "memory_cpu/memory_timeline.raw.json.gz"))
    chart = analysis.plot_memory_timeline()
    assert "total" in chart.svg
    assert not (tmp_path / "images").exists()
    analysis.plot_memory_timeline(save_graph=True)
    assert (tmp_path / "images/memory_plot.svg").read_text(encoding="utf-8") == chart.svg


def test_what_is_no_memory_timeline_is_refused(data: Path) -> None:
    with pytest.raises(TypeError, match="expected a memory timeline, found a Trace"):
        MemoryAnalysis(data / "minimal_cpu/kineto_trace_0.json.gz").plot_memory_timeline()
