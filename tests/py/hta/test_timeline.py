"""Timelines of `kinetoscope.hta`: which events they have, and where each is drawn."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, cast

import pandas
import pytest
from kinetoscope.hta.analyzers import timeline as kernels
from kinetoscope.hta.common import timeline
from kinetoscope.hta.common.timeline import EventType, PlotFormat, Timeline, TimelinePlotSetting
from kinetoscope.hta.common.trace_filter import IterationFilter
from kinetoscope.hta.common.trace_symbol_table import TraceSymbolTable
from kinetoscope.hta.drawing import output

pytestmark = pytest.mark.unit

SYMBOLS = [
    "aten::mm",
    "void gemm<float>(float const*, int)",
    "kernel",
    "cpu_op",
    "void (anonymous namespace)::copy(int)",
    "Memcpy HtoD (Pinned -> Device)",
    "autograd::engine::evaluate_function: MmBackward0",
]


@pytest.fixture
def symbols() -> TraceSymbolTable:
    table = TraceSymbolTable()
    table.add_symbols(SYMBOLS)
    return table


@pytest.fixture
def events() -> pandas.DataFrame:
    """A host event with its kernel, and one on another stream."""
    return pandas.DataFrame(
        {
            "index": [0, 1, 2],
            "name": [0, 1, 4],
            "cat": [3, 2, 2],
            "ts": [5000, 5010, 7000],
            "dur": [20, 4000, 30],
            "stream": [-1, 7, 20],
            "rank": [0, 0, 0],
            "tid": [1, 7, 20],
            "iteration": [1, 1, 2],
        }
    )


@pytest.fixture
def no_plotly(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ["plotly", *(name for name in sys.modules if name.startswith("plotly."))]:
        monkeypatch.setitem(sys.modules, name, None)


@pytest.fixture
def shown(no_plotly: None, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    pages: list[str] = []
    monkeypatch.setattr(output, "_notebook", lambda: lambda bundle, **_: pages.append(bundle["text/html"]))
    return pages


# --- settings -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("streams", "expected"),
    [([-1, 7], EventType.AllEvents), ([7, 20], EventType.GPUEvents), ([-1, -1], EventType.CPUEvents)],
)
def test_a_setting_detects_where_events_run(streams: list[int], expected: EventType) -> None:
    setting = TimelinePlotSetting()
    timeline.auto_detect_setting(pandas.DataFrame({"stream": streams, "rank": [0, 0], "trace": ["a", "b"]}), setting)
    assert setting.event_type is expected
    assert (setting.multi_ranks, setting.multi_traces) == (False, True)


def test_a_frame_without_streams_has_host_events() -> None:
    setting = TimelinePlotSetting()
    timeline.auto_detect_setting(pandas.DataFrame({"ts": [1]}), setting)
    assert (setting.event_type, setting.multi_streams) == (EventType.CPUEvents, False)


def test_a_setting_may_be_kept() -> None:
    setting = TimelinePlotSetting(auto_detect=False)
    timeline.auto_detect_setting(pandas.DataFrame({"stream": [-1, 7]}), setting)
    assert setting == TimelinePlotSetting(auto_detect=False)


# --- prepared events ------------------------------------------------------------------------------------------------


def test_events_get_times_names_and_rows(events: pandas.DataFrame, symbols: TraceSymbolTable) -> None:
    found = timeline.prepare_timeline_events(events, TimelinePlotSetting(), symbols)
    assert found["ts"].tolist() == [0, 10, 2000]
    assert found["calibrated_start_global"].tolist() == [0, 10, 2000]
    assert found["calibrated_end_global"].tolist() == [1000, 4010, 3000]
    assert found["name"].tolist() == ["aten::mm", "gemm<float>", "anon::copy"]
    assert found["cat"].tolist() == ["cpu_op", "kernel", "kernel"]
    assert found["task"].tolist() == ["cpu events", "gpu stream 007", "gpu stream 020"]
    assert "tid" not in found.columns
    assert events["ts"].tolist() == [5000, 5010, 7000]


def test_hover_columns_are_kept(events: pandas.DataFrame, symbols: TraceSymbolTable) -> None:
    found = timeline.prepare_timeline_events(events, TimelinePlotSetting(), symbols, ["tid"])
    assert "tid" in found.columns
    assert "index" not in found.columns


def test_short_events_may_keep_their_length_and_times_be_of_the_calendar(events: pandas.DataFrame) -> None:
    setting = TimelinePlotSetting(amplify_short_events=False, use_global_time=True)
    found = timeline.prepare_timeline_events(events, setting)
    lasting = found["calibrated_end_global"] - found["calibrated_start_global"]
    assert lasting.dt.total_seconds().tolist() == [20e-6, 4e-3, 30e-6]
    assert found["calibrated_start_global"].iloc[0] == pandas.Timestamp("1970-01-01 00:00:00.005")


@pytest.mark.parametrize(
    ("change", "setting", "expected"),
    [
        ({"depth": [2, -1, -1]}, {}, ["cpu level 002", "gpu stream 007", "gpu stream 020"]),
        ({"stream": [-1, 0, 20]}, {}, ["cpu events", "gpu annotate", "gpu stream 020"]),
        ({"stream": -1}, {}, ["cpu events"] * 3),
        ({"stream": -1, "depth": [0, 1, 2]}, {}, ["cpu level 000", "cpu level 001", "cpu level 002"]),
        (
            {"stream": -1, "depth": 1},
            {"compress_threads": False},
            ["tid 001 cpu level 001", "tid 007 cpu level 001", "tid 020 cpu level 001"],
        ),
        ({"stream": 7}, {}, ["gpu stream 007"] * 3),
        (
            {"stream": [7, 8, 7], "rank": [0, 0, 3]},
            {},
            ["rank 000 gpu stream 007", "rank 000 gpu stream 008", "rank 003 gpu stream 007"],
        ),
        (
            {"stream": [7, 8, 7], "trace": ["a", "a", "b"]},
            {},
            ["trace a     gpu stream 007", "trace a     gpu stream 008", "trace b     gpu stream 007"],
        ),
    ],
)
def test_rows_are_labelled(
    change: dict[str, Any], setting: dict[str, Any], expected: list[str], events: pandas.DataFrame
) -> None:
    hover = [*timeline.DefaultHoverColumns, "tid"]
    found = timeline.prepare_timeline_events(events.assign(**change), TimelinePlotSetting(**setting), None, hover)
    assert found["task"].tolist() == expected


@pytest.mark.parametrize("frame", [pandas.DataFrame(), pandas.DataFrame({"name": ["a"], "ts": [1]})])
def test_what_cannot_be_prepared_is_told(frame: pandas.DataFrame) -> None:
    with pytest.warns(RuntimeWarning, match="no timeline was prepared: expected events with"):
        assert timeline.prepare_timeline_events(frame).empty


# --- annotations over kernels ---------------------------------------------------------------------------------------


@pytest.fixture
def stacked(events: pandas.DataFrame) -> pandas.DataFrame:
    return events.assign(first_kernel_start=[5010, -1, -1], kernel_span=[4000, 0, 0], num_kernels=[1, 0, 0])


@pytest.mark.parametrize(("with_host", "streams"), [(False, [7, 20, 0]), (True, [-1, 7, 20, 0])])
def test_an_annotation_covers_the_kernels_of_a_host_event(
    *, with_host: bool, streams: list[int], stacked: pandas.DataFrame, symbols: TraceSymbolTable
) -> None:
    found = timeline.align_module_with_kernels(stacked, ["aten::m"], symbols, with_host)
    assert found["stream"].tolist() == streams
    assert found.iloc[-1][["ts", "dur", "name"]].tolist() == [5010, 4000, 0]
    assert found["ts"].dtype == stacked["ts"].dtype


@pytest.mark.parametrize("column", ["name", "s_name"])
def test_decoded_names_match_too(column: str, stacked: pandas.DataFrame, symbols: TraceSymbolTable) -> None:
    decoded = stacked.assign(**{column: [SYMBOLS[number] for number in stacked["name"]]})
    assert (timeline.align_module_with_kernels(decoded, ["aten"])["stream"] == 0).sum() == 1
    assert (timeline.align_module_with_kernels(decoded, ["mm"])["stream"] == 0).sum() == 0


def test_names_that_are_numbers_need_symbols(stacked: pandas.DataFrame) -> None:
    with pytest.raises(ValueError, match="pass the table of symbols"):
        timeline.align_module_with_kernels(stacked, ["aten"])


def test_alignment_needs_kernels(events: pandas.DataFrame) -> None:
    with pytest.raises(ValueError, match=r"missing \['first_kernel_start', 'kernel_span', 'num_kernels'\]"):
        timeline.align_module_with_kernels(events, ["aten"])


# --- drawings -------------------------------------------------------------------------------------------------------


def test_a_timeline_is_shown(events: pandas.DataFrame, symbols: TraceSymbolTable, shown: list[str]) -> None:
    Timeline(events, symbols, setting=TimelinePlotSetting()).plot("All events")
    (page,) = shown
    assert "All events" in page
    assert "gemm&lt;float&gt;\nrank: 0\niteration: 1\nstream: 7\ncat: kernel\nindex: 1\n4 ms" in page


def test_a_timeline_is_filtered_and_has_its_own_hover(
    events: pandas.DataFrame, symbols: TraceSymbolTable, shown: list[str]
) -> None:
    found = Timeline(events, symbols, IterationFilter(1), TimelinePlotSetting(), ["tid"])
    assert len(found.timeline_events) == 2
    found.plot("Two")
    assert "gemm&lt;float&gt;\ntid: 7\n4 ms" in shown[0]


def test_prepared_events_are_not_prepared_again(events: pandas.DataFrame, symbols: TraceSymbolTable) -> None:
    setting = TimelinePlotSetting()
    prepared = timeline.prepare_timeline_events(events, setting, symbols)
    assert Timeline(prepared, symbols, setting=setting).timeline_events is prepared
    assert Timeline.is_timeline_events(prepared, setting)
    assert not Timeline.is_timeline_events(events, setting)


def test_a_timeline_is_written_and_not_shown(
    events: pandas.DataFrame, symbols: TraceSymbolTable, shown: list[str], tmp_path: Path
) -> None:
    setting = TimelinePlotSetting(plot_format=PlotFormat.File)
    Timeline(events, symbols, setting=setting).plot("All", str(tmp_path / "all.html"))
    assert (tmp_path / "all.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert shown == []


@pytest.mark.parametrize("with_plotly", [False, True])
def test_a_timeline_is_returned_as_a_page(
    *, with_plotly: bool, events: pandas.DataFrame, symbols: TraceSymbolTable, request: pytest.FixtureRequest
) -> None:
    if with_plotly:
        pytest.importorskip("plotly")
    else:
        request.getfixturevalue("no_plotly")
    setting = TimelinePlotSetting(plot_format=PlotFormat.HTML)
    prepared = timeline.prepare_timeline_events(events, setting, symbols)
    page = timeline.plot_events_timeline("All", prepared, setting)
    assert page is not None
    assert ("Plotly.newPlot" in page) is with_plotly
    assert ("<svg" in page) is not with_plotly


def test_plotly_draws_a_timeline(
    events: pandas.DataFrame, symbols: TraceSymbolTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph_objects, plotly_io = pytest.importorskip("plotly.graph_objects"), pytest.importorskip("plotly.io")
    figures: list[Any] = []
    monkeypatch.setattr(plotly_io.renderers, "default", "browser")
    monkeypatch.setattr(graph_objects.Figure, "show", lambda figure, **_: figures.append(figure))
    Timeline(events, symbols, setting=TimelinePlotSetting()).plot("All")
    (figure,) = figures
    assert {bars.name: list(bars.x) for bars in figure.data} == {
        "aten::mm": [1000],
        "gemm&lt;float&gt;": [4000],
        "anon::copy": [1000],
    }


@pytest.mark.parametrize("frame", [pandas.DataFrame(), pandas.DataFrame({"task": ["a"]})])
def test_what_cannot_be_drawn_is_told(frame: pandas.DataFrame, shown: list[str]) -> None:
    with pytest.warns(RuntimeWarning, match="no timeline was drawn"):
        assert timeline.plot_events_timeline("None", frame) is None
    assert shown == []


@pytest.mark.parametrize(("name", "title"), [("queue_length-by rank", "Queue Length By Rank"), ("", "Untitled Figure")])
def test_figures_have_titles(name: str, title: str) -> None:
    assert timeline.get_fig_title_from_fig_name(name) == title


@pytest.mark.parametrize(("title", "name"), [("Queue  Length", "queue_length"), ("", "untitled_figure")])
def test_figures_have_names(title: str, name: str) -> None:
    assert timeline.get_fig_name_from_fig_title(title) == name


# --- kernels of ranks -----------------------------------------------------------------------------------------------


def test_kernels_are_prepared(events: pandas.DataFrame, symbols: TraceSymbolTable) -> None:
    found = kernels.prepare_timeline_gpu_events(events, symbols, duration_threshold=50)
    assert found["s_name"].tolist() == ["gemm", ""]  # all between the first and the last parenthesis is cut
    assert found["label"].tolist() == found["s_name"].tolist()
    assert found["s_cat"].tolist() == ["kernel", "kernel"]
    assert found["task"].tolist() == ["rank 0 stream 7", "rank 0 stream 20"]
    lasting = found["calibrated_end_global"] - found["calibrated_start_global"]
    assert lasting.dt.total_seconds().tolist() == [4e-3, 50e-6]


@pytest.mark.parametrize(
    ("chosen", "count"),
    [({"ranks": [1]}, 0), ({"iterations": [2]}, 1), ({"streams": [7]}, 1), ({"streams": [-1]}, 1), ({}, 2)],
)
def test_kernels_are_chosen(
    chosen: dict[str, Any], count: int, events: pandas.DataFrame, symbols: TraceSymbolTable
) -> None:
    assert len(kernels.prepare_timeline_gpu_events(events, symbols, **chosen)) == count


def test_kernels_are_drawn(events: pandas.DataFrame, symbols: TraceSymbolTable, shown: list[str]) -> None:
    kernels.plot_timeline_gpu_kernels("Kernels", events, symbols)
    (page,) = shown
    assert "2 events" in page
    assert "<title>–\n" in page
    assert page.index(">rank 0 stream 7<") < page.index(">rank 0 stream 20<")


def test_kernels_of_a_job_are_drawn(events: pandas.DataFrame, symbols: TraceSymbolTable, shown: list[str]) -> None:
    class Job:
        symbol_table = symbols

        def get_all_traces(self) -> dict[int, pandas.DataFrame]:
            return dict.fromkeys((0, 1, 4), events.drop(columns="rank"))

        def get_trace(self, rank: int) -> pandas.DataFrame:
            return self.get_all_traces()[rank]

    kernels.plot_timeline_gpu_kernels_from_trace("Job", cast("Any", Job()), ranks=[1, 4, 9])
    assert "rank 1 stream 7" in shown[0]
    assert "rank 4 stream 20" in shown[0]
    assert "rank 0" not in shown[0]


def test_frames_without_the_columns_are_refused(symbols: TraceSymbolTable) -> None:
    with pytest.raises(ValueError, match=r"expected a frame with the columns \['iteration'"):
        kernels.prepare_timeline_gpu_events(pandas.DataFrame({"a": [1]}), symbols)
    with pytest.raises(ValueError, match=r"missing \['calibrated_start_global'"):
        kernels.plot_timeline("None", pandas.DataFrame({"a": [1]}))
