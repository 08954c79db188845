"""Two traces compared: what Python and the command give of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope._cli.main import main

pytestmark = pytest.mark.unit


def recorded(folder: Path, name: str, ns: list[int], rank: int | None = None) -> Path:
    """Iterations of 1 ms, each with a kernel of so many nanoseconds."""
    events: list[dict[str, Any]] = []
    for step, dur in enumerate(ns):
        step_args = {"name": f"ProfilerStep#{step}", "cat": "user_annotation", "pid": 1, "tid": 1}
        events.append({"ph": "X", "ts": step * 1000, "dur": 1000, **step_args})
        kernel = {"name": "gemm", "cat": "kernel", "pid": 0, "tid": 7, "args": {"device": 0, "stream": 7}}
        events.append({"ph": "X", "ts": step * 1000 + 10, "dur": dur / 1000, **kernel})
    header = {} if rank is None else {"distributedInfo": {"rank": rank}}
    path = folder / name
    path.write_text(json.dumps({"traceEvents": events, **header}))
    return path


@pytest.fixture
def both(tmp_path: Path) -> tuple[Path, Path]:
    before = recorded(tmp_path, "before.json", [50_000, 51_000, 49_000])
    return before, recorded(tmp_path, "after.json", [60_000, 61_000, 59_000])


def test_the_step_is_the_sum_of_its_parts(both: tuple[Path, Path]) -> None:
    frame = ks.diff(*map(ks.read, both)).to_pandas().set_index("part")
    assert frame.loc["compute", "change_ns"] == 10_000
    assert frame.loc["compute", "is_significant"]
    assert frame.loc["idle", "change_ns"] == -10_000
    assert frame.change_ns.drop("step").sum() == frame.change_ns["step"] == 0


def test_other_tables_stand_beside_it(both: tuple[Path, Path]) -> None:
    answer = ks.diff(*map(ks.read, both))
    kernels = answer.tables["diff_kernels"].to_pandas()
    assert kernels.change_ns.tolist() == [10_000]
    assert len(answer.tables["diff_iterations"]) == 3
    assert len(answer.tables["diff_structure"]) == 0


def test_a_part_is_looked_at_in_both(both: tuple[Path, Path]) -> None:
    kernels = ks.diff(*map(ks.read, both), iteration=1).tables["diff_kernels"].to_pandas()
    assert (kernels.before_ns.item(), kernels.after_ns.item()) == (51_000, 61_000)


def test_jobs_are_compared_rank_by_rank(tmp_path: Path) -> None:
    for name, ns in (("a", 50_000), ("b", 70_000)):
        (tmp_path / name).mkdir()
        for rank in range(2):
            recorded(tmp_path / name, f"rank_{rank}.json", [ns + rank * 1000] * 2, rank)
    before, after = ks.read_dir(tmp_path / "a"), ks.read_dir(tmp_path / "b")
    frame = ks.diff(before, after).tables["diff_kernels"].to_pandas()
    assert frame[["rank", "before_ns", "after_ns"]].to_numpy().tolist() == [[0, 50_000, 70_000], [1, 51_000, 71_000]]
    assert set(ks.diff(before, after, rank=1).to_pandas()["rank"]) == {1}
    with pytest.raises(TypeError, match="found a TraceSet and a Trace"):
        ks.diff(before, after[0])


def test_the_command_prints_the_table(both: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", *map(str, both), "--json", "--table", "diff_kernels"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["change_ns"] == 10_000
    assert main(["diff", *map(str, both)]) == 0
    assert "compute" in capsys.readouterr().out


@pytest.mark.parametrize("convert", [str, Path])
def test_paths_are_compared_as_traces_are(both: tuple[Path, Path], convert: type[str | Path]) -> None:
    before, after = map(convert, both)
    expected = ks.diff(*map(ks.read, both)).rows()
    assert ks.diff(before, after).rows() == expected
    assert ks.diff(ks.read(before), after).rows() == expected


def test_folders_are_compared_as_jobs(tmp_path: Path) -> None:
    for name, ns in (("a", 50_000), ("b", 70_000)):
        (tmp_path / name).mkdir()
        for rank in range(2):
            recorded(tmp_path / name, f"rank_{rank}.json", [ns] * 2, rank)
    frame = ks.diff(tmp_path / "a", str(tmp_path / "b"), rank=1).tables["diff_kernels"].to_pandas()
    assert frame[["rank", "change_ns"]].to_numpy().tolist() == [[1, 20_000]]
    with pytest.raises(TypeError, match="found a TraceSet and a Trace"):
        ks.diff(tmp_path / "a", tmp_path / "a" / "rank_0.json")


def test_a_side_that_is_no_trace_is_an_error_with_its_name(both: tuple[Path, Path], tmp_path: Path) -> None:
    before, _ = both
    for source, found in ((None, "a NoneType"), (3, "an int"), (b"{}", "a bytes"), ([before], "a list")):
        with pytest.raises(
            TypeError, match=f"expected a Trace, a TraceSet, a MemorySnapshot or a path as after, found {found}"
        ):
            ks.diff(before, source)  # pyright: ignore[reportCallIssue, reportArgumentType] - the test is about other types
    with pytest.raises(FileNotFoundError, match="missing"):
        ks.diff(tmp_path / "missing.json", before)
    with pytest.raises(ValueError, match="empty"):
        ks.diff("", before)
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(ks.TraceError):
        ks.diff(before, tmp_path / "other.json")


def test_device_time_of_one_side_is_not_recorded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    device = recorded(tmp_path, "device.json", [50_000] * 2)
    events = [event for event in json.loads(device.read_text())["traceEvents"] if event["cat"] != "kernel"]
    host = tmp_path / "host.json"
    host.write_text(json.dumps({"traceEvents": events}))
    differences = ks.diff(device, host)
    frame = differences.to_pandas().set_index("part")
    assert frame.loc["step", ["before_ns", "after_ns"]].tolist() == [1_000_000, 1_000_000]
    assert frame.loc["device work", "note"] == "not recorded after"
    assert frame.loc["device work", ["before_ns", "after_ns", "change_ns"]].isna().all()
    assert len(differences.tables["diff_kernels"]) == 0
    differences.report(tmp_path / "page.html")
    assert "not recorded after" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert main(["diff", str(device), str(host)]) == 0
    assert "not recorded after" in capsys.readouterr().out


def test_a_kernel_s_tail_counts_for_its_step(tmp_path: Path) -> None:
    names = ("short.json", "long.json")
    for name, dur in zip(names, (1200, 1500), strict=True):
        step = {"ph": "X", "name": "ProfilerStep#1", "cat": "user_annotation", "pid": 1, "tid": 1, "ts": 0, "dur": 1000}
        launch = {"ph": "X", "name": "cudaLaunchKernel", "cat": "cuda_runtime", "pid": 1, "tid": 1, "ts": 5, "dur": 2}
        kernel = {"ph": "X", "name": "gemm", "cat": "kernel", "pid": 0, "tid": 7, "ts": 10, "dur": dur}
        events = [step, launch | {"args": {"correlation": 1}}, kernel | {"args": {"correlation": 1, "stream": 7}}]
        (tmp_path / name).write_text(json.dumps({"traceEvents": events}))
    differences = ks.diff(*(tmp_path / name for name in names))
    frame = differences.to_pandas().set_index("part")
    assert frame.change_ns.drop("step").sum() == frame.change_ns["step"] == 0
    assert frame.change_ns["compute"] == 300_000
    assert differences.tables["diff_kernels"].to_pandas().change_ns.tolist() == [300_000]
    assert frame.after_ns["ran_outside"] == -510_000
    assert "ran outside of its host time" in frame.note["ran_outside"]
