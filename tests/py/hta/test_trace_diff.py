"""Two traces compared as HTA compares them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pandas
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
    several = trace.extract_ops([0, 3], [1])
    assert several["rank"].tolist() == [0] * 6 + [3] * 4
    assert several["idx"].tolist() == several["index"].tolist()
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
def test_a_trace_that_is_cut_is_compared_whole_and_stays_cut(control: str) -> None:
    cut = TraceAnalysis(trace_dir=control).t
    compared = LabeledTrace("a", t=cut)
    assert len(compared.extract_ops(iteration=2)) == 4
    assert compared.t.get_trace(0)["ts"].tolist()[:2] == [0, 1]
    assert cut.get_iterations() == [1]
    assert cut.is_cut(0)
    unread = Trace(trace_dir=control)
    assert TraceDiff.compare_traces(unread, cut)["diff_counts"].sum() == 0
    assert unread.is_parsed


@pytest.mark.unit
def test_frames_that_were_set_by_hand_are_compared() -> None:
    traces = Trace(trace_files={})
    traces.symbol_table.add_symbols(["cpu_op", "add", "ProfilerStep#3"])
    rows = {"cat": [0, 0, 0], "name": [2, 1, 1], "dur": [9, 1, 2], "stream": [-1, -1, -1], "iteration": [3, 3, -1]}
    traces.traces[0] = pandas.DataFrame(rows)
    trace = LabeledTrace("mine", t=traces)
    assert trace.iteration_df.to_dict("list") == {"symbol": ["ProfilerStep#3"], "id": [2], "iteration": [3]}
    assert trace.get_ops_summary(trace.extract_ops())["total_duration"].tolist() == [1, 9]


@pytest.mark.unit
def test_equal_labels_are_made_different(control: str, test: str) -> None:
    first, second = LabeledTrace("same", trace_dir=control), LabeledTrace("same", trace_dir=test)
    found = TraceDiff.compare_traces(first, second)
    assert second.label == "same_control_test"
    assert found.columns[2] == f"{second.label}_counts"


@pytest.mark.unit
def test_names_of_the_control_come_first(control: str, test: str) -> None:
    names = TraceDiff.compare_traces(control, test, device_type=DeviceType.CPU).index.tolist()
    assert set(names[-2:]) == {"div", "sub"}


@pytest.mark.unit
@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"rank": "0"}, "expected an integer or a list for rank, found '0'"),
        ({"iteration": (1,)}, r"expected an integer or a list for iteration, found \(1,\)"),
    ],
)
def test_numbers_are_integers_or_lists(control: str, asked: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LabeledTrace("a", trace_dir=control).extract_ops(**asked)


@pytest.mark.unit
def test_what_cannot_be_compared(tmp_path: Path, control: str) -> None:
    with pytest.raises(ValueError, match="expected a Trace or an existing folder of traces, found None"):
        LabeledTrace("a")
    with pytest.raises(ValueError, match="expected a LabeledTrace, a Trace or a folder, found int"):
        TraceDiff.ops_diff(control, cast("Any", 3))
    without_steps = write(tmp_path / "run", event("cpu_op", "add", 0, 1))
    with pytest.raises(ValueError, match="expected at least one iteration in Test, found none"):
        TraceDiff.compare_traces(control, without_steps)


@pytest.mark.unit
def test_pictures_are_written(control: str, tmp_path: Path) -> None:
    found = TraceDiff.compare_traces(control, control)
    for number, draw in enumerate((TraceDiff.visualize_counts_diff, TraceDiff.visualize_duration_diff)):
        draw(found, show_image=False)
        path = tmp_path / f"{number}.html"
        draw(found, show_image=False, export_image_path=str(path))
        assert "gemm" in path.read_text()


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
    rows = base.extract_ops(1, 1010)
    assert rows["stream"].ne(-1).sum() == 1
    on_device = TraceDiff.compare_traces(base, test, 1, 1, 1010, 1010, DeviceType.GPU)
    assert on_device["counts_change_categories"].tolist() == ["-"]
    control = LabeledTrace("a", trace_dir=str(shared / HTA / "trace_diff/control"))
    found = TraceDiff.compare_traces(
        control, LabeledTrace("b", t=control.t), control_iteration=1009, test_iteration=1010, use_short_name=True
    )
    assert (len(found), found["counts_change_categories"].value_counts().to_dict()) == (285, {"=": 282, "+": 2, "-": 1})
    assert found.iloc[:, :6].sum().tolist() == [12101, 411779, 12216, 436795, 115, 25016]
