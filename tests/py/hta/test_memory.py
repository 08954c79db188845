"""`kinetoscope.hta` draws a memory timeline."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from kinetoscope.hta.drawing import output
from kinetoscope.hta.memory_analysis import Category, MemoryAnalysis, colorscheme

pytestmark = pytest.mark.unit


@pytest.fixture
def analysis(data: Path) -> MemoryAnalysis:
    return MemoryAnalysis(str(data / "memory_cpu/memory_timeline.raw.json.gz"))


@pytest.fixture
def no_plotly(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ["plotly", *(name for name in sys.modules if name.startswith("plotly."))]:
        monkeypatch.setitem(sys.modules, name, None)


def test_a_notebook_shows_a_memory_timeline(
    analysis: MemoryAnalysis, no_plotly: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages: list[str] = []
    monkeypatch.setattr(output, "_notebook", lambda: lambda bundle, **_: pages.append(bundle["text/html"]))
    monkeypatch.chdir(tmp_path)
    analysis.plot_memory_timeline()
    (page,) = pages
    for name in ("Parameter", "Optimizer state", "Input", "Temporary", "Activation", "Gradient", "Autograd", "Unknown"):
        assert f"{name}: at most" in page
    assert not list(tmp_path.iterdir())


def test_plotly_shows_a_memory_timeline(analysis: MemoryAnalysis, monkeypatch: pytest.MonkeyPatch) -> None:
    graph_objects, plotly_io = pytest.importorskip("plotly.graph_objects"), pytest.importorskip("plotly.io")
    figures = []
    monkeypatch.setattr(plotly_io.renderers, "default", "browser")
    monkeypatch.setattr(graph_objects.Figure, "show", lambda figure, **_: figures.append(figure))
    analysis.plot_memory_timeline()
    (figure,) = figures
    assert [layer.name for layer in figure.data][:2] == ["Parameter", "Optimizer state"]
    assert {layer.stackgroup for layer in figure.data} == {"all"}
    assert [layer.fillcolor for layer in figure.data] == colorscheme[:8]
    assert min(figure.data[0].x) == 0


def test_a_memory_timeline_is_saved(
    analysis: MemoryAnalysis, no_plotly: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.warns(RuntimeWarning, match=r"wrote .*memory_plot\.svg in place of .*memory_plot\.png"):
        analysis.plot_memory_timeline(save_graph=True)
    assert "Memory timeline" in (tmp_path / "images/memory_plot.svg").read_text(encoding="utf-8")


def test_what_is_no_memory_timeline_is_refused(data: Path) -> None:
    with pytest.raises(TypeError, match="expected a memory timeline, found a Trace"):
        MemoryAnalysis(data / "minimal_cpu/kineto_trace_0.json.gz").plot_memory_timeline()


def test_categories_have_numbers() -> None:
    assert [category.value for category in Category] == [1, 2, 3, 4, 5, 6, 7]
