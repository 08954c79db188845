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
    with pytest.raises(TypeError, match="found one of each"):
        ks.diff(before, after[0])


def test_the_command_prints_the_table(both: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", *map(str, both), "--json", "--table", "diff_kernels"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["change_ns"] == 10_000
    assert main(["diff", *map(str, both)]) == 0
    assert "compute" in capsys.readouterr().out
