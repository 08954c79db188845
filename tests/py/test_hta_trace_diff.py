"""Two traces compared as HTA compares them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from kinetoscope.hta import TraceAnalysis
from kinetoscope.hta.common.trace import Trace
from kinetoscope.hta.trace_diff import DeviceType, LabeledTrace, TraceDiff

HTA = "facebookresearch__HolisticTraceAnalysis/tests/data"
GEMM = "void gemm<float>(int)"


def event(category: str, name: str, ts: float, dur: float, **args: Any) -> dict[str, Any]:
    process = 0 if category == "kernel" else 1
    return {"ph": "X", "cat": category, "name": name, "pid": process, "tid": 7, "ts": ts, "dur": dur, "args": args}


def step(number: int, ts: float, *names: str) -> list[dict[str, Any]]:
    """A step with operators, and a kernel that its launch is in."""
    operators = [event("cpu_op", name, ts + 1 + at, 1) for at, name in enumerate(names)]
    launch = event("cuda_runtime", "cudaLaunchKernel", ts + 20, 2, correlation=number)
    kernel = event("kernel", GEMM, ts + 30, 10 * number, correlation=number, stream=7)
    return [event("user_annotation", f"ProfilerStep#{number}", ts, 50), *operators, launch, kernel]


def write(folder: Path, *events: dict[str, Any], rank: int = 0) -> str:
    folder.mkdir(exist_ok=True)
    content = {"distributedInfo": {"rank": rank}, "traceEvents": events}
    (folder / f"rank{rank}.json").write_text(json.dumps(content))
    return str(folder)


@pytest.fixture
def control(tmp_path: Path) -> str:
    return write(tmp_path / "control", *step(1, 0, "add", "mul", "mul"), *step(2, 100, "add"))


@pytest.fixture
def test(tmp_path: Path) -> str:
    return write(tmp_path / "test", *step(1, 0, "mul", "mul", "mul", "div", "sub", "sub"), *step(2, 100, "add", "sub"))


@pytest.mark.unit
def test_counts_and_durations_of_the_first_step(control: str, test: str) -> None:
    found = TraceDiff.compare_traces(control, LabeledTrace("new", trace_dir=test), device_type=DeviceType.CPU)
    assert found.columns.tolist() == [
        *("Control_counts", "Control_total_duration", "new_counts", "new_total_duration"),
        *("diff_counts", "diff_duration", "counts_change_categories"),
    ]
    assert found.index.name == "name"
    assert {name: row for name, *row in found.itertuples()} == {
        "ProfilerStep#1": [1, 50, 1, 50, 0, 0, "="],
        "add": [1, 1, 0, 0, -1, -1, "-"],
        "cudaLaunchKernel": [1, 2, 1, 2, 0, 0, "="],
        "div": [0, 0, 1, 1, 1, 1, "+"],
        "mul": [2, 2, 3, 3, 1, 1, "+"],
        "sub": [0, 0, 2, 2, 2, 2, "+"],
    }


@pytest.mark.unit
def test_which_names_changed(control: str, test: str) -> None:
    assert TraceDiff.ops_diff(control, test) == {
        "added": ["div", "sub"],
        "deleted": ["add"],
        "increased": ["mul"],
        "decreased": [],
        "unchanged": ["ProfilerStep#1", "cudaLaunchKernel", GEMM],
    }
    assert TraceDiff.ops_diff(test, control)["decreased"] == ["mul"]


@pytest.mark.unit
def test_steps_may_be_chosen_and_names_be_short(control: str) -> None:
    trace = LabeledTrace("steps", trace_dir=control)
    found = TraceDiff.compare_traces(
        trace,
        trace,
        control_iteration=1,
        test_iteration=[1, 2],
        device_type=DeviceType.GPU,
        use_short_name=True,
    )
    assert found.columns[2] == "steps_control_test_counts"
    assert found.loc["gemm"].tolist() == [1, 10, 2, 30, 1, 20, "+"]


@pytest.mark.unit
def test_ranks_may_be_chosen(tmp_path: Path, control: str) -> None:
    write(Path(control), *step(1, 0, "add"), rank=3)
    trace = LabeledTrace(trace_dir=control)
    assert (trace.ranks(), trace.iterations()) == ([0, 3], [1, 2])
    counts = {
        asked: (trace.get_ops_summary(trace.extract_ops(rank=asked)).set_index("name")["counts"].get("add", 0))
        for asked in (None, 0, 3)
    }
    assert counts == {None: 1, 0: 1, 3: 1}
    assert len(trace.extract_ops([0, 3], [1])) == 6 + 4
    assert [len(trace.extract_ops(3, device_type=device)) for device in DeviceType] == [3, 1, 4]
    with pytest.raises(ValueError, match=r"expected one of the ranks \[0, 3\], found 1"):
        trace.extract_ops(1)
    with pytest.raises(ValueError, match=r"expected one of the iterations \[1, 2\], found 5"):
        trace.extract_ops(0, [1, 5])


@pytest.mark.unit
def test_a_summary_of_names(control: str) -> None:
    trace = LabeledTrace(trace_dir=control)
    summary = trace.get_ops_summary(trace.extract_ops())
    assert summary.columns.tolist() == ["cat", "name", "short_name", "counts", "total_duration", "cat_id", "name_id"]
    symbols = trace.t.symbol_table.get_sym_table()
    assert [symbols[number] for number in summary["name_id"]] == summary["name"].tolist()
    assert summary.loc[summary["name"] == GEMM, ["cat", "short_name", "counts"]].to_numpy().tolist() == [
        ["kernel", "gemm", 1]
    ]


@pytest.mark.unit
def test_traces_come_as_they_are_given(control: str) -> None:
    whole, cut = Trace(trace_dir=control), TraceAnalysis(trace_dir=control).t
    assert [len(LabeledTrace("a", t=trace).extract_ops(iteration=2)) for trace in (whole, cut)] == [4, 0]
    assert whole.get_trace(0)["ts"].max() == 131 - 1
    assert TraceDiff.compare_traces(whole, cut)["diff_counts"].sum() == 0
    with pytest.raises(ValueError, match="expected a Trace or a folder of traces, found None"):
        LabeledTrace("a")


@pytest.mark.unit
def test_without_steps_all_of_it_is_compared(tmp_path: Path) -> None:
    folder = write(tmp_path / "run", event("cpu_op", "add", 0, 1), event("cpu_op", "add", 5, 1))
    assert TraceDiff.compare_traces(folder, folder)["Test_counts"].tolist() == [2]


@pytest.mark.unit
def test_nothing_is_drawn(control: str, tmp_path: Path) -> None:
    found = TraceDiff.compare_traces(control, control)
    TraceDiff.visualize_counts_diff(found)
    TraceDiff.visualize_duration_diff(found, show_image=False)
    with pytest.warns(RuntimeWarning, match="was not written: nothing is drawn"):
        TraceDiff.visualize_counts_diff(found, export_image_path=str(tmp_path / "a.png"))


@pytest.mark.shared
def test_hta_finds_the_same(shared: Path) -> None:
    base, test = (LabeledTrace(name, trace_dir=str(shared / HTA / "trace_compare" / name)) for name in ("base", "test"))
    steps = [1009, 1010]
    assert base.iterations() == test.iterations() == steps
    changes = TraceDiff.ops_diff(base, test, control_iteration=steps, test_iteration=steps)
    assert (changes["added"], changes["deleted"], changes["increased"]) == (
        ["AddmmBackward0", "All2All_Pooled_Req", "CatBackward0"],
        [],
        [],
    )
    assert changes["decreased"][0] == "nccl:all_reduce"
    assert len(changes["decreased"]) == 2
    control = LabeledTrace("a", trace_dir=str(shared / HTA / "trace_diff/control"))
    found = TraceDiff.compare_traces(
        control, LabeledTrace("b", t=control.t), control_iteration=1009, test_iteration=1010, use_short_name=True
    )
    assert (len(found), found["counts_change_categories"].value_counts().to_dict()) == (285, {"=": 282, "+": 2, "-": 1})
    assert found.iloc[:, :6].sum().tolist() == [12101, 411779, 12216, 436795, 115, 25016]
