"""Kernels of replayed graphs: what the trace of the capture knows of them."""

from __future__ import annotations

import json
from pathlib import Path

import kinetoscope as ks
import pytest

pytestmark = pytest.mark.unit

COLUMNS = ("name", "captured_operator", "module", "python_line", "captured_by", "capture_confidence", "input_shapes")


def replayed(trace: ks.Trace) -> list[tuple[object, ...]]:
    """The work of graphs."""
    names = dict(trace.events.select("id", "name").rows())
    rows = trace.events.select("launch_id", *COLUMNS).rows()
    return [row[1:] for row in rows if row[0] is not None and "GraphLaunch" in names[row[0]]]


@pytest.mark.parametrize(
    ("capture", "replay", "num_works"),
    [
        ("decode_cuda", "decode_cuda/serving", 6 * 47),
        ("inference_cuda/captured", "inference_cuda/replayed", 4 * 12),
    ],
)
def test_a_capture_in_another_file_tells_operators(data: Path, capture: str, replay: str, num_works: int) -> None:
    path = data / replay / "kineto_trace_0.json.gz"
    alone = ks.read(path)
    assert alone.coverage["graph_work"]["num_linked"] == 0
    (reason,) = alone.coverage["graph_work"]["unlinked"]
    assert "capture" in alone.coverage["reasons"][reason]
    trace = ks.read(path, capture=data / capture / "kineto_trace_0.json.gz")
    assert trace.coverage["graph_work"]["num_linked"] == num_works
    found = replayed(trace)
    assert len(found) == num_works
    assert all(operator for _, operator, *_ in found)
    for name, operator, *_ in found:
        if str(name).startswith("triton_"):
            assert str(name).startswith(str(operator)) or str(operator).startswith(str(name))
    operators = dict(trace.operators(observed=True).select("name", "device_self_ns").rows())
    assert all(operators[operator] for _, operator, *_ in found)


def test_a_capture_in_the_same_file_is_found(data: Path) -> None:
    for folder, num_works in (("decode_cuda", 3 * 47), ("inference_cuda/captured", 3 * 12)):
        trace = ks.read(data / folder / "kineto_trace_0.json.gz")
        assert trace.coverage["graph_work"] | {"linked": None} == {
            "count": num_works, "num_linked": num_works, "linked": None, "unlinked": {},
        }  # fmt: skip
        assert len(replayed(trace)) == num_works


def test_what_a_capture_tells_stays_with_the_trace(data: Path, tmp_path: Path) -> None:
    path, capture = (data / f"inference_cuda/{name}/kineto_trace_0.json.gz" for name in ("replayed", "captured"))
    trace = ks.read(path, capture=ks.read(capture))
    trace.save(tmp_path / "saved.kscope")
    trace.to_chrome(tmp_path / "trace.json")
    for copy in (ks.read(tmp_path / "saved.kscope"), ks.read(tmp_path / "trace.json")):
        assert replayed(copy) == replayed(trace)
    private = {str(line) for *_, line, _, _, _ in replayed(trace) if line}
    redacted = {str(line) for *_, line, _, _, _ in replayed(trace.redact()) if line}
    assert private
    assert not private & redacted


def test_nodes_of_graphs_are_summed_over_replays(data: Path) -> None:
    trace = ks.read(data / "decode_cuda/kineto_trace_0.json.gz")
    nodes = trace.kernels(observed=True).tables["graph_nodes"]
    works = replayed(trace)
    assert sum(nodes["count"]) == len(works)
    assert all(nodes["captured_operator"])
    graphs = set(nodes["graph"])
    for graph in graphs:
        rows = [row for row in nodes.select("graph", "node", "share").rows() if row[0] == graph]
        assert [node for _, node, _ in rows] == list(range(47))
        assert sum(share for *_, share in rows) == pytest.approx(1)


def test_a_job_takes_the_captures_of_a_folder(data: Path, tmp_path: Path) -> None:
    captures = tmp_path / "captures"
    captures.mkdir()
    source = data / "inference_cuda/captured/kineto_trace_0.json.gz"
    (captures / "capture_0.json.gz").write_bytes(source.read_bytes())
    job = ks.read_dir(data / "inference_cuda/replayed", capture=captures)
    trace = next(iter(job))
    assert trace.coverage["graph_work"]["num_linked"] == trace.coverage["graph_work"]["count"] > 0


def test_a_capture_of_another_type_is_refused(data: Path) -> None:
    with pytest.raises(TypeError, match="expected a Trace or a path as capture, found int"):
        ks.read(data / "inference_cuda/replayed/kineto_trace_0.json.gz", capture=json.loads("[3]"))
