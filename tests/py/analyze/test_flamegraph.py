"""Flame graphs: frames of real recordings, and files for other tools."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import kinetoscope as ks
import pytest

if TYPE_CHECKING:
    from kinetoscope._analysis.flamegraph import FlameGraph

pytestmark = pytest.mark.unit

REPOSITORY = Path(__file__).resolve().parents[3]
SCHEMA = REPOSITORY / "wasm/node_modules/speedscope/dist/release/file-format-schema.json"


def folded(graph: FlameGraph, path: Path) -> dict[str, int]:
    lines = graph.to_folded(path).read_text(encoding="utf-8").splitlines()
    pairs = [line.rsplit(" ", 1) for line in lines]
    assert len({stack for stack, _ in pairs}) == len(pairs)
    return {stack: int(weight) for stack, weight in pairs}


def test_folded_stacks_are_those_of_the_analysis_of_stacks(tmp_path: Path, data: Path) -> None:
    trace = ks.read(data / "transformer_cpu/kineto_trace_0.json.gz")
    graph = trace.flamegraph(by="stack", weight="host_ns")
    found = folded(graph, tmp_path / "stacks.txt")
    [none] = [weight for stack, weight in found.items() if stack == "(no Python frame)"] or [0]
    known = {stack: self_ns for stack, self_ns in trace.stacks().select("stack", "self_ns").rows() if self_ns}
    assert sum(found.values()) - none == sum(known.values())
    deepest = max(known, key=lambda stack: stack.count(";"))
    assert found[deepest.replace("nn.Module: ", "")] == known[deepest]


def test_device_time_is_that_of_all_kernels(cuda: ks.Trace) -> None:
    for by in ("chain", "stack", "module", "operator"):
        graph = cuda.flamegraph(by=by, weight="device_ns")
        [(total, rest)] = graph.tables["flamegraph_coverage"].select("total_weight", "unattributed_weight").rows()
        assert total == sum(cuda.kernels()["total_ns"])
        outermost = graph.select("depth", "kind", "total_weight").rows()
        assert sum(weight for depth, _, weight in outermost if depth == 0) == total
        assert sum(weight for depth, kind, weight in outermost if depth == 0 and kind == "none") == rest


def test_speedscope_opens_the_file(tmp_path: Path, cuda: ks.Trace) -> None:
    import jsonschema

    path = cuda.flamegraph().to_speedscope(tmp_path / "trace.speedscope.json.gz")
    document = json.loads(gzip.decompress(path.read_bytes()))
    jsonschema.validate(document, json.loads(SCHEMA.read_text(encoding="utf-8")))
    [profile] = document["profiles"]
    assert (profile["unit"], profile["name"]) == ("nanoseconds", "device_ns")
    assert profile["endValue"] == sum(cuda.kernels()["total_ns"])
    balanced(profile["events"])


def test_each_rank_is_a_profile(tmp_path: Path, data: Path) -> None:
    job = ks.read_dir(data / "mlp_gloo")
    graph = job.flamegraph(by="operator", weight="calls")
    document = json.loads(graph.to_speedscope(tmp_path / "job.json").read_text(encoding="utf-8"))
    assert [profile["name"] for profile in document["profiles"]] == [
        f"calls rank {rank} window 0" for rank in range(len(job))
    ]
    for profile in document["profiles"]:
        balanced(profile["events"])
    assert all(stack.startswith("rank ") for stack in folded(graph, tmp_path / "job.txt"))


def balanced(events: list[dict[str, Any]]) -> None:
    """Frames close in the reverse order of opening, and time never goes back."""
    opened: list[int] = []
    at = 0
    for event in events:
        assert event["at"] >= at
        at = event["at"]
        if event["type"] == "O":
            opened.append(event["frame"])
        else:
            assert opened.pop() == event["frame"]
    assert not opened


def test_a_comparison_with_itself_has_no_change(cuda: ks.Trace, data: Path) -> None:
    rows = ks.diff(cuda, cuda).flamegraph(classes=True).select("before_weight", "change_weight").rows()
    assert rows
    assert all(change == 0 for _, change in rows)
    job = ks.read_dir(data / "mlp_gloo")
    changes = job.diff(rank=1, against=0).flamegraph(weight="calls")
    kinds = {kind for (kind,) in changes.select("kind").rows()}
    assert "operator" in kinds
    typical = job.diff(rank=1).flamegraph(weight="host_ns")
    assert len(typical) > 0
    of_jobs = ks.diff(job, job).flamegraph(weight="calls")
    assert {rank for (rank,) in of_jobs.select("rank").rows()} == set(job.ranks)


def test_a_notebook_shows_the_picture(cuda: ks.Trace) -> None:
    graph = cuda.flamegraph()
    assert "<svg" in graph._repr_html_()
    empty = cuda.flamegraph(focus="no such name")
    assert "no frame has this name" in empty._repr_html_()


def test_a_notebook_shows_the_picture_of_a_comparison(cuda: ks.Trace) -> None:
    changes = ks.diff(cuda, cuda).flamegraph()
    assert changes.plot().svg in changes._repr_html_()
    assert "<svg" in changes._repr_html_()


def test_folded_changes_have_the_weights_of_both_sides(tmp_path: Path, data: Path) -> None:
    before, after = (ks.read(data / "transformer_cuda/kineto_trace_0.json.gz") for _ in "ab")
    changes = ks.diff(before, after, iteration=3).flamegraph(weight="host_ns")
    one = folded(before.flamegraph(weight="host_ns", iteration=3), tmp_path / "one.folded")
    lines = changes.to_folded(tmp_path / "both.folded.gz").read_bytes()
    both = [line.rsplit(" ", 2) for line in gzip.decompress(lines).decode().splitlines()]
    assert {stack: (int(b), int(a)) for stack, b, a in both} == {stack: (own, own) for stack, own in one.items()}
    with pytest.raises(TypeError, match="expected one side for speedscope, found a comparison"):
        changes.to_speedscope(tmp_path / "x.json")
    assert not (tmp_path / "x.json").exists()


def test_folded_changes_show_frames_of_one_side(tmp_path: Path) -> None:
    def trace(name: str, *ops: tuple[str, int, int]) -> ks.Trace:
        events = [
            {"ph": "X", "cat": "cpu_op", "name": op, "pid": 1, "tid": 1, "ts": start, "dur": dur}
            for op, start, dur in ops
        ]
        path = tmp_path / name
        path.write_text(json.dumps(events))
        return ks.read(path)

    before = trace("a.json", ("outer", 0, 10), ("inner", 2, 4))
    after = trace("b.json", ("outer", 0, 10), ("new", 2, 1))
    lines = ks.diff(before, after).flamegraph(by="operator").to_folded(tmp_path / "x.folded").read_text().splitlines()
    assert sorted(lines) == ["outer 6000 9000", "outer;inner 4000 0", "outer;new 0 1000"]


def test_each_rank_of_a_comparison_has_its_own_stacks(tmp_path: Path, data: Path) -> None:
    job = ks.read_dir(data / "mlp_gloo")
    path = ks.diff(job, job).flamegraph(weight="calls").to_folded(tmp_path / "x.folded")
    for line in path.read_text(encoding="utf-8").splitlines():
        stack, before, after = line.rsplit(" ", 2)
        assert stack.startswith("rank ")
        assert before == after


def test_callers_need_a_focus(cuda: ks.Trace) -> None:
    with pytest.raises(ks.TraceError, match='expected focus with direction="callers", found none'):
        cuda.flamegraph(direction="callers")
    assert len(cuda.flamegraph(direction="callers", focus="aten::linear")) > 0


def test_readers_without_the_widget_see_the_graph(cuda: ks.Trace) -> None:
    pytest.importorskip("anywidget")
    graph = cuda.flamegraph(by="operator")
    saved = graph.timeline()._repr_mimebundle_()[0]
    assert "<img width='784'" in saved["text/html"]
    assert "<title>flamegraph: " in unquote(saved["text/html"])
    assert "Timeline of" not in saved["text/html"]
    assert saved["text/plain"] == repr(graph)
    assert cuda.timeline()._repr_mimebundle_()[0]["text/plain"] == repr(cuda.summary())


def test_the_widget_begins_with_the_graph(cuda: ks.Trace) -> None:
    pytest.importorskip("anywidget")
    start = cuda.origin_ns
    graph = cuda.flamegraph(by="stack", program_only=True, start_ns=start + 1_000, end_ns=start + 900_000)
    assert graph.timeline()._flame == {
        "about": {"start": 1_000, "end": 900_000},
        "options": {
            "by": "stack",
            "weight": "auto",
            "order": "merged",
            "direction": "callees",
            "classes": False,
            "program_only": True,
        },
    }


def test_names_cannot_break_a_line(tmp_path: Path) -> None:
    names = ["a;b", "two\nlines", " ", "x 5"]
    events = [
        {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": at * 10, "dur": 4}
        for at, name in enumerate(names)
    ]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(events))
    found = folded(ks.read(path).flamegraph(by="operator"), tmp_path / "stacks.txt")
    assert found == {"a:b": 4_000, "two lines": 4_000, "(no name)": 4_000, "x 5": 4_000}


def test_the_picture_tells_what_is_left_out(cuda: ks.Trace) -> None:
    svg = cuda.flamegraph().plot().svg
    assert svg.startswith("<svg ")
    assert "in all" in svg


def test_a_wrong_name_lists_the_known_ones(cuda: ks.Trace) -> None:
    with pytest.raises(ks.TraceError, match="idle_ns"):
        cuda.flamegraph(weight="energy")  # type: ignore[arg-type] - the wrong name
    assert cuda.flamegraph(focus="no such name").reason == "no frame has this name"
