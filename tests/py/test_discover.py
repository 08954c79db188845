"""Which files belong together, and which rank they are of."""

from __future__ import annotations

from pathlib import Path

import pytest
from kinetoscope.discover import execution_beside, find, is_execution, rank_of

pytestmark = pytest.mark.unit


def touched(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).touch()
    return folder


def found(folder: Path) -> list[tuple[str | None, str | None, str]]:
    names = ((pair.kineto, pair.execution, pair.how) for pair in find(folder).pairs)
    return [(kineto and kineto.name, execution and execution.name, how) for kineto, execution, how in names]


@pytest.mark.parametrize(
    ("kineto", "execution"),
    [
        ("kineto_trace_0.json.gz", "torch_et_0.json.gz"),
        ("kineto_trace_12.3.json", "torch_et_12.3.json.gz"),
        ("rank-3.json.gz", "rank-3.et.json.gz"),
        ("rank_3.json", "rank_3_et.json"),
        ("benchmark_simple_add_trace.json.gz", "benchmark_simple_add_et.json.gz"),
        ("linear_kineto.json.gz", "linear_et.json.gz"),
        ("worker0.pt.trace.json", "worker0.et.json"),
        ("trace.json", "et.json"),
        ("kineto_trace_0.json", "execution_trace_0.json"),
    ],
)
def test_the_two_files_of_a_recording(tmp_path: Path, kineto: str, execution: str) -> None:
    touched(tmp_path, kineto, execution, "other_et.json", "rank-77.et.json", ".kineto_trace_0.json.part")
    assert execution_beside(tmp_path / kineto) == tmp_path / execution
    assert (kineto, execution, "name") in found(tmp_path)
    assert is_execution(Path(execution))
    assert not is_execution(Path(kineto))


def test_no_execution_trace_beside(tmp_path: Path) -> None:
    touched(tmp_path, "kineto_trace_1.json.gz", "torch_et_2.json.gz", "torch_et_1.txt")
    assert execution_beside(tmp_path / "kineto_trace_1.json.gz") is None
    assert execution_beside(tmp_path / "torch_et_2.json.gz") is None


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("kineto_trace_7.json.gz", 7),
        ("torch_et_7.2.json", 7),
        ("rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz", 34),
        ("rank3.et.json", 3),
        ("nccl_rank_11.json", 11),
        ("host_4711.1752215573993169006.pt.trace.json", None),
        ("crank3.json", None),
        ("worker0.pt.trace.json", None),
    ],
)
def test_the_rank_in_a_name(name: str, rank: int | None) -> None:
    assert rank_of(Path(name)) == rank


def test_what_is_left_of_a_rank_is_joined(tmp_path: Path) -> None:
    touched(tmp_path, "rank-34.Jul_15.1074.pt.trace.json.gz", "rank-34.et.json.gz", "rank-35.a.json", "rank-35.b.json")
    touched(tmp_path, "rank-35.et.json")
    assert found(tmp_path) == [
        ("rank-34.Jul_15.1074.pt.trace.json.gz", "rank-34.et.json.gz", "rank"),
        (None, "rank-35.et.json", "alone"),
        ("rank-35.a.json", None, "alone"),
        ("rank-35.b.json", None, "alone"),
    ]


def test_no_file_is_lost(tmp_path: Path) -> None:
    names = ["rank-0.json", "rank-0.pt.trace.json", "rank-0.et.json", "rank-0_torch_et.json", "x.json", "y.json.gz"]
    touched(tmp_path, *names)
    seen = [name for kineto, execution, _ in found(tmp_path) for name in (kineto, execution) if name]
    assert sorted(seen) == sorted(names)


def test_a_plain_copy_of_a_compressed_file_is_passed_over(tmp_path: Path) -> None:
    touched(tmp_path, "kineto_trace_0.json", "kineto_trace_0.json.gz", "torch_et_0.json.gz")
    assert found(tmp_path) == [("kineto_trace_0.json.gz", "torch_et_0.json.gz", "name")]
    assert find(tmp_path).copies == [tmp_path / "kineto_trace_0.json"]


def test_ranks_in_order_unknown_last(tmp_path: Path) -> None:
    touched(tmp_path, "kineto_trace_10.json", "kineto_trace_9.json", "a.json", "kineto_trace_9.1.json", "notes.txt")
    order = [kineto for kineto, _, _ in found(tmp_path)]
    assert order == ["kineto_trace_9.json", "kineto_trace_9.1.json", "kineto_trace_10.json", "a.json"]


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        find(tmp_path / "none")
