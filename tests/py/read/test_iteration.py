"""Iterations that a user asks for: to link, to cut out; and what is said of those that were chosen."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope._analysis.doctor import diagnosis
from kinetoscope._cli.main import main
from support.documents import document

PARAM = "facebookresearch__param/et_replay/tests/inputs"

pytestmark = pytest.mark.unit


@pytest.fixture
def kineto(data: Path, tmp_path: Path) -> Path:
    """A recording of the iterations 2, 3 and 4, beside the Execution Trace of the iteration 3 alone."""
    path = Path(shutil.copy(data / "mlp_gloo/kineto_trace_0.json.gz", tmp_path))
    whole = ks.read(data / "mlp_gloo/kineto_trace_0.json.gz")
    whole.edit(iteration=3).to_execution_trace(tmp_path / "torch_et_0.json.gz")
    return path


def relink(trace: ks.Trace) -> list[int]:
    assert set(trace.coverage["nodes"]["linked"]) == {"window"}
    iterations = dict(trace.events.select("id", "iteration").rows())
    events = [event for (event,) in trace.nodes.select("event_id").rows() if event is not None]
    assert {iterations[event] for event in events} == {
        window["iteration"] for window in trace.coverage["windows"] if window["is_linked"]
    }
    return sorted({iterations[event] for event in events})


def test_read_links_to_it(kineto: Path, tmp_path: Path) -> None:
    execution = tmp_path / "torch_et_0.json.gz"
    assert relink(ks.read(kineto, iteration=4)) == [4]
    assert relink(ks.read(kineto, execution, iteration=2)) == [2]
    for _ in range(2):
        assert relink(ks.read(kineto, cache=tmp_path / "cache", iteration=4)) == [4]
    assert set(ks.read(kineto, cache=tmp_path / "cache").coverage["nodes"]["linked"]) == {"record_id"}
    with pytest.raises(ks.TraceError, match="expected an iteration that matches the other recording, found 7"):
        ks.read(kineto, iteration=7)
    with pytest.raises(ks.TraceError, match="expected an Execution Trace, found a trace without an Execution Trace"):
        ks.read(kineto, et=False, iteration=3)
    chakra = ks.read(kineto).to_chakra(tmp_path / "rank.et").source
    with pytest.raises(ks.UnsupportedTraceError, match=r"expected a trace to link, found a Chakra trace .*rank\.et"):
        ks.read(Path(str(chakra)), iteration=3)


def test_read_dir_links_to_it(kineto: Path, data: Path) -> None:
    alone = Path(shutil.copy(data / "mlp_gloo/kineto_trace_1.json.gz", kineto.parent))
    job = ks.read_dir(kineto.parent, iteration=4)
    assert relink(job[0]) == [4]
    assert len(job[1].nodes) == 0
    lazy = ks.read_dir(kineto.parent, iteration=4, eager=False)
    assert relink(lazy[0]) == [4]
    archive = shutil.make_archive(str(kineto.parent / "packed"), "gztar", kineto.parent)
    assert relink(ks.read_dir(archive, iteration=2)[0]) == [2]
    job = ks.read(archive, iteration=2)
    assert isinstance(job, ks.TraceSet)
    assert relink(job[0]) == [2]
    alone.unlink()
    with pytest.raises(ks.TraceError, match="expected an iteration that matches the other recording, found 7"):
        ks.read_dir(kineto.parent, iteration=7)


def test_an_iteration_that_does_not_fit(kineto: Path, data: Path) -> None:
    def error(trace: ks.Trace, iteration: int | None) -> str:
        with pytest.raises(ks.TraceError) as raised:
            trace.relink(iteration=iteration)
        return str(raised.value).removeprefix("expected an iteration that matches the other recording, found ")

    trace = ks.read(kineto)
    assert error(trace, 7) == "7; matching iterations: 3 (100 %), 2 (99 %), 4 (99 %)"
    other = ks.read(kineto, data / "transformer_cpu/torch_et_0.json.gz")
    assert error(other, 7) == "7; no iteration matches"
    assert error(other, None).endswith(" %; no iteration matches")
    alone = ks.read(kineto.with_name("torch_et_0.json.gz"))
    assert error(alone, 3) == "expected a Kineto trace to link with, found only an Execution Trace"
    assert (
        error(ks.read(kineto, et=False), 3) == "expected an Execution Trace, found a trace without an Execution Trace"
    )


@pytest.mark.parametrize("command", [["link", "--kineto"], ["chakra"]])
def test_commands_link_to_it_and_say_so(kineto: Path, command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    target = str(kineto.with_name("written.et" if command == ["chakra"] else "written.json"))
    assert main([*command, str(kineto), "-o", target]) == 0
    assert "linked to" not in capsys.readouterr().out  # by record ids: nothing was chosen
    words = (
        "  linked to iteration 4 of the Kineto trace; the Execution Trace fits it to 99.5 %; "
        "2 others fit equally well: 2–3\n"
    )
    assert main([*command, str(kineto), "--iteration", "4", "-o", target]) == 0
    assert words in capsys.readouterr().out
    assert main([*command, str(kineto), "--iteration", "3", "-o", target]) == 0
    assert "fits it to 100 %; others fit nearly as well: 2 (99.5 %), 4 (99.5 %)\n" in capsys.readouterr().out
    assert main([*command, str(kineto), "--iteration", "7", "-o", target]) == 2
    assert "found 7; matching iterations: 3 (100 %), 2 (99 %), 4 (99 %)" in capsys.readouterr().err


def test_doctor_says_it(kineto: Path, data: Path) -> None:
    (note,) = [finding for finding in diagnosis(ks.read(kineto, iteration=3)) if "linked to" in finding.message]
    assert note.message.endswith("fits it to 100 %; others fit nearly as well: 2 (99.5 %), 4 (99.5 %)")
    assert "--iteration" in note.advice
    execution = document(kineto.with_name("torch_et_0.json.gz"))
    stranger = json.dumps(execution | {"pid": 1}).encode()
    (note,) = [finding for finding in diagnosis(ks.read(kineto, stranger)) if "by names" in finding.message]
    assert "linked to iteration 3 of the Kineto trace" in note.message
    text = str(diagnosis(ks.read(kineto, data / "transformer_cpu/torch_et_0.json.gz")))
    assert "linked to iteration" not in text


def test_files_that_are_not_linked_are_said(kineto: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stranger = kineto.with_name("stranger.json")
    stranger.write_text(json.dumps(document(kineto.with_name("torch_et_0.json.gz")) | {"pid": 1}))
    command = ["chakra", str(kineto), "--et", str(stranger), "-o", str(kineto.with_name("rank.et"))]
    assert main(command) == 0
    assert "\n  the two files have no links: run kinetoscope doctor for details\n" in capsys.readouterr().out
    linked = kineto.with_name("linked.json")
    assert main(["link", "--kineto", str(kineto), "--et", str(stranger), "-o", str(linked)]) == 2
    assert "expected two files of one run, found no link of" in capsys.readouterr().err
    assert not linked.exists()


def without_steps(execution: dict[str, Any]) -> dict[str, Any]:
    """The same as a profiler that does not mark steps there would write it."""
    steps = {node["id"]: node["ctrl_deps"] for node in execution["nodes"] if node["name"].startswith("ProfilerStep#")}
    nodes = [node | {"ctrl_deps": steps.get(node["ctrl_deps"], node["ctrl_deps"])} for node in execution["nodes"]]
    return execution | {"nodes": [node for node in nodes if node["id"] not in steps]}


def test_a_cut_by_the_steps_of_the_kineto_trace(data: Path, tmp_path: Path) -> None:
    kineto = data / "transformer_cuda/kineto_trace_0.json.gz"
    execution = document(data / "transformer_cuda/torch_et_0.json.gz")
    marked = ks.read(kineto).edit(iteration=3)
    trace = ks.read(kineto, json.dumps(without_steps(execution)).encode())
    with pytest.raises(ks.TraceError, match=r"expected an iteration of the Execution Trace \(3, 4\), found 9"):
        trace.edit(iteration=9)
    cut = trace.edit(iteration=3)

    def ids(trace: ks.Trace) -> set[int]:
        rows = trace.nodes.select("node_id", "name").rows()
        return {node_id for node_id, name in rows if not name.startswith("ProfilerStep#")}

    assert ids(cut) == ids(marked)
    written = document(cut.to_execution_trace(tmp_path / "cut.json"))
    assert all(node["ctrl_deps"] in ids(cut) for node in written["nodes"])
    alone = ks.read(json.dumps(without_steps(execution)).encode())
    with pytest.raises(
        ks.TraceError, match=r"expected ProfilerStep#3 in the Execution Trace .* found no ProfilerStep in either"
    ):
        alone.edit(iteration=3)


def test_what_a_cut_node_is_inside_of_stays() -> None:
    """A range that was entered before the iteration, around all of it."""

    def event(name: str, record: int, start: int, dur: int) -> dict[str, Any]:
        args = {"Record function id": record}
        return {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": start, "dur": dur, "args": args}

    steps = [event("ProfilerStep#1", 0, 0, 10), event("ProfilerStep#2", 0, 10, 10)]
    calls = [event("around", 5, 1, 19), event("aten::first", 6, 2, 2), event("aten::second", 7, 12, 2)]
    nodes = [
        {"id": 1, "name": "[pytorch|profiler|execution_trace|process]", "ctrl_deps": 1, "rf_id": 0},
        {"id": 2, "name": "around", "ctrl_deps": 1, "rf_id": 5},
        {"id": 3, "name": "aten::first", "ctrl_deps": 2, "rf_id": 6},
        {"id": 4, "name": "aten::second", "ctrl_deps": 2, "rf_id": 7},
    ]
    trace = ks.read(json.dumps([*steps, *calls]).encode(), json.dumps({"schema": "1.1.0", "nodes": nodes}).encode())
    assert trace.edit(iteration=2).nodes.select("node_id", "parent_id").rows() == [(1, 1), (2, 1), (4, 2)]


@pytest.mark.shared
def test_dlrm_and_linear(shared: Path) -> None:
    archives = [shared / PARAM / f"dlrm_{sort}.tar.gz" for sort in ("kineto", "pytorch_et")]
    job = ks.read(*archives)
    assert isinstance(job, ks.TraceSet)
    dlrm = job[0]
    assert len(dlrm.edit(iteration=10).nodes) == len(dlrm.nodes)
    with pytest.raises(ks.TraceError, match=r"an iteration of the Execution Trace \(10\), found 11"):
        dlrm.edit(iteration=11)
    linear = ks.read(shared / PARAM / "linear_kineto.json.gz")
    note = next(finding.message for finding in diagnosis(linear) if "linked to" in finding.message)
    assert "iteration 0 of the Kineto trace (counted from 0: no ProfilerStep)" in note
    assert note.endswith("38 others fit equally well: 1–38")
    with pytest.raises(ks.TraceError, match="no ProfilerStep in either"):
        linear.edit(iteration=3)
