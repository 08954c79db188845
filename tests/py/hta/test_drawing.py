"""The pictures that `kinetoscope.hta` draws: as SVG, and as figures of plotly."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy
import pandas
import pytest
from kinetoscope.hta import drawing
from kinetoscope.hta.drawing import output, units
from kinetoscope.hta.drawing.areas import Areas

pytestmark = pytest.mark.unit

HOSTILE = "<script>alert(1)</script>\"'&]]>\x1b[2J<b>"
TYPES = pandas.DataFrame({"kernel_type": ["COMPUTATION", "MEMORY"], "sum": [90, 10], "percentage": [90.0, 10.0]})
KERNELS = pandas.DataFrame(
    {
        "name": [HOSTILE, "others", HOSTILE, "copy"],
        "sum (us)": [60, 30, 55, 10],
        "max (us)": [40, 20, 30, 10],
        "min (us)": [5, 10, 25, 10],
        "stddev": [1.0, 1.0, 1.0, 0.0],
        "mean (us)": [20.0, 15.0, 27.5, 10.0],
        "kernel_type": ["COMPUTATION", "COMPUTATION", "COMPUTATION", "MEMORY"],
        "rank": [0, 0, 4, 4],
    }
)
SHARES = pandas.DataFrame(
    {
        "rank": [0, 1],
        "idle_time_pctg": [25.0, 5.0],
        "compute_time_pctg": [70.0, 90.0],
        "non_compute_time_pctg": [5.0, 5.0],
    }
)
OVERLAP = pandas.DataFrame({"rank": [0, 1], "comp_comm_overlap_pctg": [62.5, math.nan]})
IDLE = pandas.DataFrame(
    {
        "rank": [0, 0, 0, 1],
        "stream": [7, 7, 20, 7],
        "idle_category": ["host_wait", "kernel_wait", "other", "host_wait"],
        "idle_time": [600.0, 400.0, 1000.0, 50.0],
        "idle_time_ratio": [0.6, 0.4, 1.0, 1.0],
    }
)
LAUNCHES = pandas.DataFrame(
    {
        "correlation": [1, 2, 3, 4],
        "cpu_duration": [10, 60, 20, 70],
        "gpu_duration": [5, 80, 30, 10],
        "launch_delay": [1, 200, 3, 900],
    }
)
DELAYS = pandas.DataFrame(
    {
        "aten_op_name": ["aten::mm", HOSTILE],
        "kernel_sequence": ["gemm -> reduce", "copy"],
        "occurrence_count": [12, 3],
        "avg_aten_op_launch_delay": [4.5, 1.25],
        "avg_runtime_delay": [1500.5, 2.0],
    }
)
SEQUENCES = pandas.DataFrame({"pattern": [f"aten::mm|{HOSTILE}|reduce", "aten::mm|gemm"], "count": [9, 4]})
METRIC = pandas.DataFrame(
    {
        "rank": [0, 1, 0, 1],
        "iteration": [1, 1, 2, 2],
        "start": [0.25, 0.5, 0.5, 0.125],
        "is_straggler": [False, True, True, False],
    }
)
DIFFERENCES = pandas.DataFrame(
    {
        "a_counts": [1.0, 0.0],
        "a_total_duration": [10.0, 0.0],
        "b_counts": [3.0, 5.0],
        "b_total_duration": [4.0, 50.0],
        "diff_counts": [2.0, 5.0],
        "diff_duration": [-6.0, 50.0],
    },
    index=["aten::mm", HOSTILE],
)
EVENTS = pandas.DataFrame(
    {"start": [0, 40], "end": [30, 100], "row": ["b", "a"], "name": ["gemm", HOSTILE], "rank": [0, 1]}
)
INTERVALS = drawing.Intervals("Events", EVENTS, drawing.Columns("start", "end", "row", "name", ["rank"]))

PICTURES: dict[str, tuple[Callable[[], None], int]] = {
    "kernels": (lambda: drawing.draw_kernel_breakdown(TYPES, KERNELS), 5),
    "annotations": (lambda: drawing.draw_annotation_breakdown(KERNELS, None), 3),
    "temporal": (lambda: drawing.draw_temporal_breakdown(SHARES), 1),
    "overlap": (lambda: drawing.draw_overlap(OVERLAP), 1),
    "idle": (lambda: drawing.draw_idle_time(IDLE), 2),
    "idle µs": (lambda: drawing.draw_idle_time(IDLE, as_share=False), 2),
    "launches": (lambda: drawing.draw_launch_stats(3, LAUNCHES), 3),
    "no launches": (lambda: drawing.draw_launch_stats(3, LAUNCHES.head(0)), 3),
    "aten": (lambda: drawing.draw_aten_delays(0, DELAYS), 1),
    "sequences": (lambda: drawing.draw_kernel_sequences(0, SEQUENCES), 1),
    "stragglers": (lambda: drawing.draw_stragglers(METRIC, "start"), 2),
    "counts": (lambda: drawing.draw_counts_diff(DIFFERENCES), 1),
    "durations": (lambda: drawing.draw_duration_diff(DIFFERENCES), 1),
    "intervals": (lambda: drawing.draw_intervals(INTERVALS), 1),
}


@pytest.fixture
def no_plotly(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ["plotly", *(name for name in sys.modules if name.startswith("plotly."))]:
        monkeypatch.setitem(sys.modules, name, None)


@pytest.fixture
def notebook(no_plotly: None, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a notebook without plotly displays, as HTML."""
    pages: list[str] = []
    monkeypatch.setattr(output, "_notebook", lambda: lambda bundle, **_: pages.append(bundle["text/html"]))
    return pages


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The figures that plotly shows."""
    plotly_io, graph_objects = pytest.importorskip("plotly.io"), pytest.importorskip("plotly.graph_objects")
    shown: list[Any] = []
    monkeypatch.setattr(plotly_io.renderers, "default", "browser")
    monkeypatch.setattr(graph_objects.Figure, "show", lambda figure, renderer=None: shown.append((figure, renderer)))
    return shown


def drawn(page: str) -> list[ElementTree.Element]:
    """The pictures of a page, as XML."""
    return [ElementTree.fromstring(svg) for svg in re.findall(r"<svg.*?</svg>", page, re.DOTALL)]


def texts(picture: ElementTree.Element) -> str:
    return "\n".join(picture.itertext())


@pytest.mark.parametrize("name", PICTURES)
def test_without_plotly_a_notebook_shows_svg(name: str, notebook: list[str]) -> None:
    draw, count = PICTURES[name]
    draw()
    (page,) = notebook
    assert len(drawn(page)) == count
    assert "<script" not in page
    assert "\x1b" not in page
    assert not re.search(r"\b(nan|inf)\b", page)


def test_pages_and_warnings_have_no_control_characters(no_plotly: None) -> None:
    intervals = drawing.Intervals("a\x00b\x1b[31m", EVENTS, INTERVALS.columns)
    assert not re.search("[\x00\x1b]", output.page(intervals))
    with pytest.warns(RuntimeWarning, match="no way to show") as caught:
        output.show([intervals])
    assert "\x1b" not in str(caught[0].message)


@pytest.mark.parametrize("name", PICTURES)
def test_plotly_shows_as_many_figures(name: str, figures: list[Any]) -> None:
    draw, count = PICTURES[name]
    draw()
    assert len(figures) == count
    for figure, renderer in figures:
        assert renderer is None
        assert figure.layout.title.text
        assert "<script" not in figure.to_json()  # plotly takes tags in texts for markup
        assert "<b>" not in figure.to_json()


@pytest.mark.parametrize("name", PICTURES)
def test_in_a_plain_script_one_warning_says_how_to_see_pictures(name: str, no_plotly: None) -> None:
    with pytest.warns(RuntimeWarning, match="Install plotly, run in a notebook, or pass visualize=False") as caught:
        PICTURES[name][0]()
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_plotly_that_finds_no_browser_is_no_way_to_see_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pytest.importorskip("plotly.io").renderers, "default", "")
    with pytest.warns(RuntimeWarning, match='no way to show the picture "Device time by kernel type" and 4 more'):
        drawing.draw_kernel_breakdown(TYPES, KERNELS)


def test_a_renderer_is_passed_to_plotly(figures: list[Any]) -> None:
    drawing.draw_kernel_breakdown(TYPES, KERNELS, "notebook")
    assert {renderer for _, renderer in figures} == {"notebook"}


def test_an_unknown_renderer_is_refused() -> None:
    pytest.importorskip("plotly")
    with pytest.raises(ValueError, match="nonesuch"):
        drawing.draw_annotation_breakdown(KERNELS, "nonesuch")


def test_pictures_are_drawn_without_importing_plotly_first() -> None:
    code = "import sys, kinetoscope.hta.drawing as d; assert not {'plotly', 'IPython'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


# --- contents -------------------------------------------------------------------------------------------------------


def test_pies_say_shares_of_ranks_and_bars_their_means(notebook: list[str]) -> None:
    drawing.draw_kernel_breakdown(TYPES, KERNELS)
    kinds, by_rank, means, *_ = map(texts, drawn(notebook[0]))
    assert "COMPUTATION\n90 µs, 90.0 %" in kinds
    assert "Rank 0" in by_rank
    assert "Rank 4" in by_rank
    assert "others\n30 µs, 33.3 %" in by_rank
    assert "Rank 4\nmean duration, from shortest to longest: 27.5 µs\nfrom 25 µs to 30 µs" in means


def test_an_overlap_without_communication_is_no_bar(notebook: list[str]) -> None:
    drawing.draw_overlap(OVERLAP)
    words = texts(drawn(notebook[0])[0])
    assert "62.5 %" in words
    assert words.count("–") == 1


def test_idle_time_is_stacked_by_reason(notebook: list[str]) -> None:
    drawing.draw_idle_time(IDLE)
    words = texts(drawn(notebook[0])[0])
    assert "Stream 7\nhost_wait: 60 %" in words
    assert "Stream 20\nother: 100 %" in words


def test_launches_are_counted_by_the_cutoffs(notebook: list[str]) -> None:
    drawing.draw_launch_stats(3, LAUNCHES, runtime_cutoff=15, launch_delay_cutoff=500)
    short, long, delayed = map(texts, drawn(notebook[0]))
    assert "Rank 3: runtime calls that took longer than their kernels\n1 values" in short
    assert "Rank 3: runtime calls above 15 µs\n3 values" in long
    assert "Rank 3: launch delays above 500 µs\n1 values" in delayed


def test_the_first_sequences_are_named(notebook: list[str]) -> None:
    drawing.draw_kernel_sequences(2, SEQUENCES, top_k=1)
    words = texts(drawn(notebook[0])[0])
    assert "Rank 2: the 1 most frequent kernel sequences" in words
    assert "aten::mm\n" in words
    assert "count: 9" in words


def test_no_sequences_are_no_picture(notebook: list[str]) -> None:
    drawing.draw_kernel_sequences(2, pandas.DataFrame())
    assert notebook == []


def test_stragglers_have_a_colour_of_their_own(notebook: list[str]) -> None:
    drawing.draw_stragglers(METRIC, "start")
    first = drawn(notebook[0])[0]
    assert "Rank 1\npotential straggler: 0.5" in texts(first)
    assert "Rank 0\nother rank: 0.25" in texts(first)


@pytest.mark.parametrize("verdicts", [["No", "Yes"], [0, 2], [False, True]])
def test_stragglers_are_told_in_each_of_the_forms(verdicts: list[object], notebook: list[str]) -> None:
    metric = pandas.DataFrame({"rank": [0, 1], "start": [0.25, 0.5], "is_straggler": verdicts})
    drawing.draw_stragglers(metric, "start")
    words = texts(drawn(notebook[0])[0])
    assert "Rank 1\npotential straggler: 0.5" in words
    assert "Rank 0\npotential" not in words


def test_differences_may_be_negative(notebook: list[str]) -> None:
    drawing.draw_duration_diff(DIFFERENCES)
    words = texts(drawn(notebook[0])[0])
    assert "a: 10 µs" in words
    assert "b: 4 µs" in words
    assert "Difference: −6 µs" in words


@pytest.mark.parametrize("draw", [drawing.draw_counts_diff, drawing.draw_duration_diff])
def test_a_frame_of_one_trace_has_no_differences(draw: Callable[[Any], None]) -> None:
    with pytest.raises(AssertionError, match=r"expected the frame of TraceDiff.compare_traces.* found 1"):
        draw(DIFFERENCES[["a_counts", "a_total_duration"]])


def test_intervals_have_rows_names_and_tooltips(notebook: list[str]) -> None:
    drawing.draw_intervals(INTERVALS)
    words = texts(drawn(notebook[0])[0])
    assert "gemm\nrank: 0\n30 µs" in words
    assert words.index("\na\n") < words.index("\nb\n")


def test_intervals_may_be_of_datetimes(figures: list[Any]) -> None:
    dated = EVENTS.assign(
        start=pandas.to_datetime(EVENTS["start"], unit="us"), end=pandas.to_datetime(EVENTS["end"], unit="us")
    )
    intervals = drawing.Intervals("Events", dated, INTERVALS.columns)
    assert "Time since 1970-01-01 00:00:00" in intervals.svg()
    assert "gemm\nrank: 0\n30 µs" in intervals.svg()
    drawing.draw_intervals(intervals)
    figure = figures[0][0]
    assert figure.layout.xaxis.type == "date"
    assert list(figure.data[0].x) == [0.03]  # ms


def test_intervals_of_plotly_lie_where_the_svg_has_them(figures: list[Any]) -> None:
    drawing.draw_intervals(INTERVALS)
    figure = figures[0][0]
    assert [(list(bars.base), list(bars.x), list(bars.y)) for bars in figure.data] == [
        ([0], [30], ["b"]),
        ([40], [60], ["a"]),
    ]
    assert list(figure.layout.yaxis.categoryarray) == ["a", "b"]


def test_narrow_intervals_are_drawn_together_and_counted() -> None:
    starts = numpy.arange(100_000)
    frame = pandas.DataFrame({"start": starts, "end": starts + 0.5, "row": "stream 7", "name": "k"})
    frame.loc[len(frame)] = [100_000, 200_000, "stream 7", "long"]
    svg = drawing.Intervals("Many", frame, drawing.Columns("start", "end", "row", "name")).svg()
    assert len(svg) < 200_000
    assert "100,000 events are drawn together with others" in svg
    counts = [int(count.replace(",", "")) for count in re.findall(r"<title>([\d,]+) events, most", svg)]
    assert sum(counts) == 100_000


def test_long_times_of_memory_keep_their_peak() -> None:
    values = numpy.ones(50_000)
    values[31_234] = 7 * 1024**2
    areas = Areas("Memory", numpy.arange(50_000.0), {"a": values, "b": values}, {"a": "red", "b": "blue"}, "Memory")
    svg = areas.svg()
    assert "at most 14 MiB" in svg
    assert len(svg) < 300_000


# --- files ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["picture.svg", "picture.html"])
def test_a_file_is_written_without_plotly(name: str, tmp_path: Path, no_plotly: None) -> None:
    path = tmp_path / name
    drawing.draw_counts_diff(DIFFERENCES, show_image=False, export_image_path=str(path))
    content = path.read_text(encoding="utf-8")
    (picture,) = drawn(content)
    assert "Difference: 5" in texts(picture)
    assert content.startswith("<svg" if name.endswith("svg") else "<!doctype html>")
    assert "http" not in content.replace("http://www.w3.org/2000/svg", "")


def test_an_image_without_plotly_is_an_svg(tmp_path: Path, no_plotly: None) -> None:
    with pytest.warns(
        RuntimeWarning, match=r"wrote .*picture\.svg in place of .*picture\.png: .* need plotly and kaleido"
    ):
        drawing.draw_duration_diff(DIFFERENCES, show_image=False, export_image_path=str(tmp_path / "picture.png"))
    assert [path.name for path in tmp_path.iterdir()] == ["picture.svg"]


def test_an_image_without_kaleido_is_an_svg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph_objects = pytest.importorskip("plotly.graph_objects")

    def write_image(_: Any, path: str) -> None:
        raise ValueError(f"no kaleido for {path}")

    monkeypatch.setattr(graph_objects.Figure, "write_image", write_image)
    with pytest.warns(RuntimeWarning, match=r"wrote .*picture\.svg in place of"):
        drawing.draw_duration_diff(DIFFERENCES, show_image=False, export_image_path=str(tmp_path / "picture.pdf"))
    assert drawn((tmp_path / "picture.svg").read_text(encoding="utf-8"))


def test_plotly_writes_images_where_it_can(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph_objects = pytest.importorskip("plotly.graph_objects")
    monkeypatch.setattr(graph_objects.Figure, "write_image", lambda _, path: Path(path).write_bytes(b"image"))
    drawing.draw_duration_diff(DIFFERENCES, show_image=False, export_image_path=str(tmp_path / "picture.png"))
    assert (tmp_path / "picture.png").read_bytes() == b"image"


def test_a_page_of_plotly_opens_offline(tmp_path: Path) -> None:
    pytest.importorskip("plotly")
    path = tmp_path / "picture.html"
    drawing.draw_counts_diff(DIFFERENCES, show_image=False, export_image_path=str(path))
    page = path.read_text(encoding="utf-8")
    assert not re.search(r"<script[^>]*src=", page)
    assert "alert(1)</script>" not in page


def test_a_folder_that_is_missing_is_named(tmp_path: Path, no_plotly: None) -> None:
    with pytest.raises(FileNotFoundError, match="missing"):
        drawing.draw_counts_diff(DIFFERENCES, show_image=False, export_image_path=str(tmp_path / "missing/picture.svg"))


def test_a_timeline_as_a_page(no_plotly: None) -> None:
    page = drawing.intervals_html(INTERVALS)
    assert page.startswith("<!doctype html>")
    assert len(drawn(page)) == 1


def test_a_timeline_as_a_page_of_plotly() -> None:
    pytest.importorskip("plotly")
    page = drawing.intervals_html(INTERVALS)
    assert "Plotly.newPlot" in page
    assert len(page) < 100_000
    assert json.dumps("alert(1)</script>")[1:-1] not in page


# --- axes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("low", "high", "unit", "expected"),
    [
        (0, 1, units.SHARE, ["0 %", "20 %", "40 %", "60 %", "80 %", "100 %"]),
        (-5, 10, units.COUNT, ["−5", "0", "5", "10"]),
        (0, 2_500, units.MICROSECONDS, ["0", "500 µs", "1 ms", "1.5 ms", "2 ms", "2.5 ms"]),
        (0, 3 * 1024**3, units.BYTES, ["0", "512 MiB", "1 GiB", "1.5 GiB", "2 GiB", "2.5 GiB", "3 GiB"]),
        (0, 0, units.COUNT, []),
        (0, math.inf, units.COUNT, []),
    ],
)
def test_axes_have_round_numbers(low: float, high: float, unit: units.Unit, expected: list[str]) -> None:
    assert [unit.words(value) for value in units.ticks(low, high, unit)] == expected
