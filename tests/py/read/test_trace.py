"""What a trace says of itself."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import kinetoscope as ks
import pytest

pytestmark = pytest.mark.unit


def test_tables_have_rows(cuda: ks.Trace) -> None:
    sizes = {
        name: len(getattr(cuda, name)) for name in ("instants", "flows", "nodes", "tensors", "links", "iterations")
    }
    assert all(sizes.values()), sizes
    assert sizes["iterations"] == 3
    assert cuda.num_events == len(cuda.events)


def test_launches_are_linked(cuda: ks.Trace) -> None:
    rows = cuda.events.select("id", "name", "kind", "launch_id", "operator_id", "correlation_id").rows()
    name_of = {row[0]: row[1] for row in rows}
    kernels = [row for row in rows if row[2] in ("kernel", "copy", "fill")]
    orphans = [row for row in kernels if row[3] is None]
    assert [row[5] for row in orphans] == [7]  # launched before the window
    assert all(name_of[launch].startswith("cuda") for _, _, _, launch, _, _ in kernels if launch is not None)
    gemms = {name_of[operator] for _, name, _, _, operator, _ in kernels if "gemm" in name}
    assert gemms == {"aten::addmm", "aten::mm"}


def test_nodes_are_linked(cuda: ks.Trace, transformer: ks.Trace) -> None:
    for trace in (cuda, transformer):
        names = dict(trace.events.select("id", "name").rows())
        rows = trace.nodes.select("name", "event_id", "record_id").rows()
        linked = [(name, names[event]) for name, event, record in rows if record]
        assert len(linked) > 100
        assert all(node == event for node, event in linked)


def test_coverage(cuda: ks.Trace, transformer: ks.Trace) -> None:
    device = cuda.coverage["device_events"]
    assert device["unlinked"] == {"launched_before": 1}
    assert device["linked"] == {"correlation": device["count"] - 1}
    assert cuda.coverage["reasons"]["launched_before"] == "launched before the recording began"
    owners = cuda.coverage["device_owners"]
    assert owners["linked"] == {"enclosure": owners["count"] - 1}
    assert owners["unlinked"] == {"launched_before": 1}
    nodes = transformer.coverage["nodes"]
    assert nodes["linked"] == {"record_id": nodes["count"]}


def test_metadata(transformer: ks.Trace) -> None:
    text = json.dumps(transformer.metadata)
    assert "1.1.1-chakra.0.0.4" in text
    assert "with_stack" in text
    assert "recorder" not in text  # the host and its user stay private


def test_rank(data: Path, transformer: ks.Trace) -> None:
    assert ks.read(data / "mlp_gloo/kineto_trace_1.json.gz").rank == 1
    assert transformer.rank is None


def test_summary(cuda: ks.Trace) -> None:
    data = cuda.summary().data
    assert data["num_events"] == cuda.num_events
    assert {row["kind"] for row in data["time_by_kind"]} >= {
        "operator",
        "launch",
        "kernel",
        "copy",
        "fill",
        "annotation",
    }
    assert sum(row["count"] for row in data["time_by_kind"]) == cuda.num_events
    assert len(data["iterations"]) == 3


def test_summary_of_a_range(cuda: ks.Trace) -> None:
    start, dur = cuda.iterations.select("start_ns", "dur_ns").rows(1, 2)[0]
    part = cuda.summary(start, start + dur).data
    assert part["duration_ns"] == dur
    assert 0 < part["num_events"] < cuda.num_events


def test_repr(cuda: ks.Trace) -> None:
    text = repr(cuda)
    lines = text.splitlines()
    assert lines[0].startswith("kineto_trace_0.json.gz: recording complete · span ")
    assert f"events {cuda.num_events}" in lines[0]
    for title in ("Time by event kind", "Iterations", "Top operators", "Top kernels, copies and fills"):
        assert title in lines
    assert "aten::addmm" in text
    assert "ncclDevKernel_AllReduce" in text


def test_html_has_no_scripts_and_is_escaped(hostile: ks.Trace) -> None:
    html = hostile._repr_html_()
    (image,) = re.findall(r"<img [^>]*>", html)
    picture = unquote(re.findall(r'src="data:image/svg\+xml,([^"]*)"', image)[0])
    assert ElementTree.fromstring(picture).tag == "{http://www.w3.org/2000/svg}svg"
    assert "<script" not in f"{html}{picture}".lower()
    assert "onerror=" not in html.replace("onerror=&quot;", "")
    assert "&lt;img src=x" in html
    assert "onerror" not in image


def test_text_cannot_steer_a_terminal(hostile: ks.Trace) -> None:
    for text in (repr(hostile), repr(hostile.events), repr(hostile.health)):
        assert "\x1b" not in text
        assert "\u202e" not in text


def test_query(cuda: ks.Trace) -> None:
    overview = cuda.query({"type": "overview"})
    assert overview.data["num_events"] == cuda.num_events
    tracks = [track["track"] for track in overview.data["tracks"]]
    answer = cuda.query(
        {"type": "tiles", "tracks": tracks, "start": 0, "end": overview.data["duration"], "pixels": 4000}
    )
    assert {"track", "lane", "start", "dur", "kind", "id", "count", "name"} == set(answer.columns)
    assert sum(answer.columns["count"]) == cuda.num_events
    found = cuda.query({"type": "search", "text": "ADDMM", "limit": 5})
    assert len(found.columns["id"]) == 5
    assert found.data["count"] > 5


@pytest.mark.parametrize("request_", [{}, {"type": "nonsense"}, {"type": "event", "id": 10**9}, {"type": "tiles"}])
def test_a_request_that_is_none(cuda: ks.Trace, request_: dict[str, object]) -> None:
    with pytest.raises(ks.TraceError, match=r"expected .*, found "):
        cuda.query(request_)


def test_snapshot(cuda: ks.Trace) -> None:
    again = ks.Trace.from_snapshot(cuda.snapshot())
    assert again.events.rows() == cuda.events.rows()
    assert again.nodes.rows() == cuda.nodes.rows()
    with pytest.raises(ks.TraceError, match="snapshot"):
        ks.Trace.from_snapshot(b"nonsense")


def test_picture(cuda: ks.Trace, hostile: ks.Trace) -> None:
    from xml.etree import ElementTree

    for trace in (cuda, hostile):
        root = ElementTree.fromstring(trace.picture(600))
        assert root.tag.endswith("svg")
        tags = {element.tag.split("}")[-1] for element in root.iter()}
        assert not tags & {"script", "foreignObject", "image", "a"}


@pytest.mark.parametrize("name", ["copy.json", "copy.json.gz"])
def test_chromes_json_reads_back_equal(data: Path, tmp_path: Path, name: str) -> None:
    trace = ks.read(data / "synthetic_cuda/kineto_trace_0.json.gz", et=False)
    again = ks.read(trace.to_chrome(tmp_path / name), et=False)
    for table in ("events", "instants", "flows", "links"):
        assert again.table(table).to_arrow().equals(trace.table(table).to_arrow()), table
    assert again.metadata == trace.metadata
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_trace_that_cannot_be_written_leaves_nothing(cuda: ks.Trace, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        cuda.to_chrome(tmp_path / "missing" / "copy.json")
