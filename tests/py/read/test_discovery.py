"""Which files belong together, and which rank they are of."""

from __future__ import annotations

import pytest
from kinetoscope._io.discovery import pair_up
from kinetoscope._io.header import Head
from kinetoscope._io.paths import distinct_names, execution_beside, is_execution

pytestmark = pytest.mark.unit


def found(*names: str) -> list[tuple[str | None, str | None, str]]:
    return [(pair.kineto, pair.execution, pair.how) for pair in pair_up(names, {}).pairs]


@pytest.mark.parametrize(
    ("kineto", "execution"),
    [
        ("kineto_trace_0.json.gz", "torch_et_0.json.gz"),
        ("kineto_trace_12.3.json", "torch_et_12.3.json.gz"),
        ("rank-3.json.gz", "rank-3.et.json.gz"),
        ("rank_3.json.xz", "rank_3_et.json.zst"),
        ("benchmark_simple_add_trace.json.gz", "benchmark_simple_add_et.json.gz"),
        ("linear_kineto.json.gz", "linear_et.json.gz"),
        ("dlrm_kineto.json", "dlrm_eg.json"),
        ("worker0.pt.trace.json", "worker0.et.json"),
        ("trace.json", "et.json"),
        ("kineto_trace_0.json", "execution_trace_0.json"),
    ],
)
def test_the_two_files_of_a_recording(kineto: str, execution: str) -> None:
    names = (kineto, execution, "other_et.json", "rank-77.et.json")
    assert execution_beside(kineto, names) == execution
    assert (kineto, execution, "name") in found(*names)
    assert is_execution(execution)
    assert not is_execution(kineto)


def test_archives_beside_each_other() -> None:
    names = ["dlrm_pytorch_et.tar.gz", "dlrm_pytorch_et.json", "other_et.tgz"]
    assert execution_beside("dlrm_kineto.tar.gz", names) == "dlrm_pytorch_et.tar.gz"
    assert execution_beside("dlrm_kineto.zip", names) == "dlrm_pytorch_et.tar.gz"
    assert execution_beside("dlrm_kineto.json", names) == "dlrm_pytorch_et.json"
    assert execution_beside("other_kineto.json", names) is None


def test_no_execution_trace_beside() -> None:
    names = ["kineto_trace_1.json.gz", "torch_et_2.json.gz", "torch_et_1.txt"]
    assert execution_beside("kineto_trace_1.json.gz", names) is None
    assert execution_beside("torch_et_2.json.gz", names) is None


def test_a_compressed_one_comes_first() -> None:
    names = ["torch_et_0.json", "torch_et_0.json.gz"]
    assert execution_beside("kineto_trace_0.json", names) == "torch_et_0.json.gz"


def test_heads_say_more_than_names() -> None:
    names = ("a.json", "b.json", "kineto_trace_5.json")
    heads = {"a.json": Head(False, 1), "b.json": Head(True, 1), "kineto_trace_5.json": Head(True, None)}
    assert [tuple(pair) for pair in pair_up(names, heads).pairs] == [
        ("a.json", "b.json", "rank"),
        (None, "kineto_trace_5.json", "alone"),
    ]


def test_no_file_is_lost() -> None:
    names = ["rank-0.json", "rank-0.pt.trace.json", "rank-0.et.json", "rank-0_torch_et.json", "x.json", "y.json.gz"]
    seen = [name for kineto, execution, _ in found(*names) for name in (kineto, execution) if name]
    assert sorted(seen) == sorted(names)


def test_names_that_are_no_unicode_are_kept() -> None:
    names = ["a\udcff_kineto.json", "a\udcff_et.json", "b\udcfe_kineto.json"]
    assert found(*names) == [(names[0], names[1], "name"), (names[2], None, "alone")]
    assert execution_beside(names[0], names) == names[1]


def test_copies_are_passed_over() -> None:
    names = ["kineto_trace_0.json", "kineto_trace_0.json.gz", "torch_et_0.json.gz", "kineto_trace_0.kscope", "b.kscope"]
    recordings = pair_up(names, {})
    assert [pair[:2] for pair in recordings.pairs] == [
        ("b.kscope", None),
        ("kineto_trace_0.json.gz", "torch_et_0.json.gz"),
    ]
    assert recordings.copies.keys() == {"kineto_trace_0.json", "kineto_trace_0.kscope"}


def test_names_in_the_order_that_people_count() -> None:
    names = ["kineto_trace_10.json", "kineto_trace_9.json", "a.json", "kineto_trace_9.10.json", "kineto_trace_9.2.json"]
    assert [kineto for kineto, _, _ in found(*names)] == [
        "a.json",
        "kineto_trace_9.json",
        "kineto_trace_9.2.json",
        "kineto_trace_9.10.json",
        "kineto_trace_10.json",
    ]


@pytest.mark.parametrize(
    ("sources", "names"),
    [
        (["/runs/a.json", "/runs/b.json"], ["a.json", "b.json"]),
        (["/runs/h100/step/t.json", "/runs/v100/step/t.json"], ["h100/step/t.json", "v100/step/t.json"]),
        (["t.json", "old/t.json"], ["t.json", "old/t.json"]),
        (["/runs/t.json", "/runs/t.json"], ["t.json", "t.json"]),
        (["C:\\new\\t.json", "C:\\old\\t.json"], ["new/t.json", "old/t.json"]),
        (["", "t.json"], ["", "t.json"]),
        ([], []),
    ],
)
def test_files_of_one_name_are_told_apart_by_their_folders(sources: list[str], names: list[str]) -> None:
    assert distinct_names(sources) == names
