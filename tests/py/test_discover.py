"""Which files belong together, and which rank they are of."""

from __future__ import annotations

import pytest
from kinetoscope.discover import pair_up, rank_of
from kinetoscope.head import Head
from kinetoscope.names import execution_beside, is_execution, is_trace

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


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("kineto_trace_7.json.gz", 7),
        ("torch_et_7.2.json", 7),
        ("run/rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz", 34),
        ("rank3.et.json", 3),
        ("nccl_rank_11.json", 11),
        ("host_4711.1752215573993169006.pt.trace.json", None),
        ("crank3.json", None),
        ("rank-1/trace.json", None),
        ("worker0.pt.trace.json", None),
    ],
)
def test_the_rank_in_a_name(name: str, rank: int | None) -> None:
    assert rank_of(name) == rank


def test_names_of_traces() -> None:
    assert all(map(is_trace, ["a.json", "a.JSON.gz", "a.json.xz", "a.json.zst", "a.kscope"]))
    assert not any(map(is_trace, ["a.gz", "a.json.tar.gz", "a.jsonl", "json", "a.txt"]))


def test_what_is_left_of_a_rank_is_joined() -> None:
    names = ["rank-34.Jul_15.1074.pt.trace.json.gz", "rank-34.et.json.gz", "rank-35.a.json", "rank-35.b.json"]
    assert found(*names, "rank-35.et.json") == [
        ("rank-34.Jul_15.1074.pt.trace.json.gz", "rank-34.et.json.gz", "rank"),
        ("rank-35.a.json", None, "alone"),
        ("rank-35.b.json", None, "alone"),
        (None, "rank-35.et.json", "alone"),
    ]


def test_heads_say_more_than_names() -> None:
    names = ("a.json", "b.json", "kineto_trace_5.json")
    heads = {"a.json": Head(False, 1), "b.json": Head(True, 1), "kineto_trace_5.json": Head(True, None)}
    assert [tuple(pair) for pair in pair_up(names, heads).pairs] == [
        ("a.json", "b.json", "rank"),
        (None, "kineto_trace_5.json", "alone"),
    ]


def test_a_series_is_joined_with_the_ranks_it_counts() -> None:
    kinetos = [f"worker_{number}.pt.trace.json" for number in (10, 11, 12)]
    heads = {name: Head(False, rank) for rank, name in enumerate(kinetos)}
    series = [f"dlrm_eg_{number}.json" for number in range(3)]
    joined = [(name, series[rank], "number") for rank, name in enumerate(kinetos)]
    assert [tuple(pair) for pair in pair_up([*kinetos, *series], heads).pairs] == joined
    for other in (series[:2], [*series, "dlrm_eg_3.json"], [*series[:2], "dlrm_eg_7.json"], ["x_eg_0.json", *series]):
        assert {pair.how for pair in pair_up([*kinetos, *other], heads).pairs} == {"alone"}
    assert {pair.how for pair in pair_up([*kinetos, *series], {}).pairs} == {"alone"}


def test_folders_of_an_archive() -> None:
    assert found("a/kineto_trace_0.json", "a/torch_et_0.json", "b/kineto_trace_0.json", "b/torch_et_0.json") == [
        ("a/kineto_trace_0.json", "a/torch_et_0.json", "name"),
        ("b/kineto_trace_0.json", "b/torch_et_0.json", "name"),
    ]
    assert found("et/x_et.json", "kineto/x_kineto.json") == [("kineto/x_kineto.json", "et/x_et.json", "name")]


def test_no_file_is_lost() -> None:
    names = ["rank-0.json", "rank-0.pt.trace.json", "rank-0.et.json", "rank-0_torch_et.json", "x.json", "y.json.gz"]
    seen = [name for kineto, execution, _ in found(*names) for name in (kineto, execution) if name]
    assert sorted(seen) == sorted(names)


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
