"""Links between nodes and operators on real recordings, and those that a user asks for."""

from __future__ import annotations

import gzip
import json
import tarfile
from collections.abc import Iterator
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest

ET_REPLAY = "facebookresearch__param/et_replay/tests/inputs"
HTA = "facebookresearch__HolisticTraceAnalysis/tests/data"

shared = pytest.mark.shared


def archived(path: Path) -> dict[str, bytes]:
    """The traces in an archive, by the number in their names."""
    with tarfile.open(path) as archive:
        members = {member.name: archive.extractfile(member) for member in archive if member.name.endswith(".json")}
        return {name: file.read() for name, file in sorted(members.items()) if file}


@pytest.fixture(scope="module")
def dlrm(shared: Path) -> list[tuple[bytes, bytes]]:
    """Kineto trace and Execution Trace of each rank."""
    folder = shared / ET_REPLAY
    kineto, execution = (archived(folder / f"dlrm_{sort}.tar.gz").values() for sort in ("kineto", "pytorch_et"))
    return list(zip(kineto, execution, strict=True))


def linked_rows(trace: ks.Trace) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each linked node and its event."""
    events = {row[0]: row for row in trace.events.select("id", "name", "thread", "start_ns", "external_id").rows()}
    for *node, event in trace.nodes.select("node_id", "name", "thread", "record_id", "event_id").rows():
        if event is not None:
            keys = ("id", "name", "thread", "order")
            yield (
                dict(zip(keys, node, strict=True)),
                dict(zip(("event", *keys[1:], "external"), events[event], strict=True)),
            )


def assert_plausible(trace: ks.Trace) -> None:
    """Linked calls have one name, each thread is one thread, and both files have them in one order."""
    rows = sorted(linked_rows(trace), key=lambda pair: pair[0]["order"])
    assert all(node["name"] == event["name"] for node, event in rows)
    assert len({event["event"] for _, event in rows}) == len(rows)
    threads = {(node["thread"], event["thread"]) for node, event in rows}
    assert len({node for node, _ in threads}) == len({event for _, event in threads}) == len(threads)
    for thread, _ in threads:
        events = [event["external"] for node, event in rows if node["thread"] == thread]
        assert all(first < second for first, second in pairwise(events))


@shared
@pytest.mark.parametrize("rank", range(8))
def test_every_operator_of_every_rank(dlrm: list[tuple[bytes, bytes]], rank: int) -> None:
    trace = ks.read(*dlrm[rank])
    assert trace.rank == rank
    assert trace.coverage["nodes"]["linked"] == {"sequence": 1672}
    assert trace.coverage["operators"]["linked"] == {"sequence": 1672}
    assert trace.coverage["operators"]["unlinked"] == {"one_sided": 1}
    assert trace.coverage["confidence"] == 1
    assert_plausible(trace)
    threads = [node["thread"] for node, _ in linked_rows(trace)]
    assert (threads.count(1), threads.count(2)) == (988, 684)
    assert trace.links.select("method", "confidence").rows()[-1] == ("sequence", 1.0)


@shared
@pytest.mark.parametrize("lacking", ["nodes", "traceEvents"])
def test_a_seventh_of_the_calls_is_missing(dlrm: list[tuple[bytes, bytes]], lacking: str) -> None:
    def starts(trace: ks.Trace) -> dict[int, int]:
        events = dict(trace.events.select("id", "start_ns").rows())
        rows = trace.nodes.select("node_id", "event_id").rows()
        return {node: events[event] for node, event in rows if event is not None}

    def without(text: bytes) -> bytes:
        document = json.loads(text)
        if lacking not in document:
            return text
        rows = enumerate(document[lacking])
        kept = [row for at, row in rows if at % 7 != 3 or row.get("cat", "cpu_op") != "cpu_op"]
        return json.dumps(document | {lacking: kept}).encode()

    before = starts(ks.read(*dlrm[0]))
    trace = ks.read(*map(without, dlrm[0]))
    assert set(trace.coverage["nodes"]["linked"]) == {"sequence"}
    assert 0.8 <= trace.coverage["confidence"] < 0.9
    after = starts(trace)
    assert after.items() <= before.items()
    assert len(after) > 0.6 * len(before)


@shared
def test_what_is_missing_makes_no_choice_surer(shared: Path) -> None:
    folder = shared / ET_REPLAY
    document = json.loads(gzip.decompress((folder / "linear_et.json.gz").read_bytes()))
    document["nodes"] = [node for at, node in enumerate(document["nodes"]) if at % 20 != 7]
    trace = ks.read(folder / "linear_kineto.json.gz", json.dumps(document).encode())
    assert set(trace.coverage["nodes"]["linked"]) == {"window"}
    assert 0.4 < trace.coverage["confidence"] < 0.6
    assert_plausible(trace)


@shared
def test_one_iteration_among_many(shared: Path) -> None:
    trace = ks.read(shared / ET_REPLAY / "linear_kineto.json.gz", shared / ET_REPLAY / "linear_et.json.gz")
    windows = trace.coverage["windows"]
    # The first of the forty iterations is another: no gradients are there yet to be set to zero.
    fitting = [window["iteration"] for window in windows if window["fit"] == 1]
    assert len(fitting) == 39
    assert trace.coverage["nodes"]["linked"] == {"window": 928}
    assert_whole_iteration(trace)
    assert chosen(trace) == fitting[:1]
    assert (trace.coverage["confidence"], trace.relink(iteration=fitting[0]).coverage["confidence"]) == (0.5, 1)
    later = trace.relink(iteration=fitting[7])
    assert later.coverage["nodes"]["linked"] == {"window": 928}
    assert chosen(later) == fitting[7:8]
    assert_whole_iteration(later)
    with pytest.raises(ks.TraceError, match="an iteration that matches the other recording"):
        trace.relink(iteration=99)


def chosen(trace: ks.Trace) -> list[int]:
    """The iterations that are linked."""
    return [window["iteration"] for window in trace.coverage["windows"] if window["is_linked"]]


def assert_whole_iteration(trace: ks.Trace) -> None:
    """On each thread the linked operators follow one another without a gap; backward lies between forward and step."""
    assert_plausible(trace)
    forward, backward = (
        [event["order"] for node, event in linked_rows(trace) if node["thread"] == at] for at in (1, 2)
    )
    assert min(forward) < min(backward) < max(backward) < max(forward)
    linked = {event["event"] for _, event in linked_rows(trace)}
    columns = ("id", "thread", "start_ns", "external_id", "kind")
    calls = [row for row in trace.events.select(*columns).rows() if row[4] in {"operator", "annotation"}]
    for thread in {row[1] for row in calls}:
        order = [row[0] in linked for row in sorted(calls, key=lambda row: row[2:4]) if row[1] == thread]
        first = order.index(True)
        assert all(order[first : first + sum(order)])


@shared
def test_old_external_ids(shared: Path) -> None:
    folder = shared / HTA / "execution_trace"
    trace = ks.read(folder / "benchmark_simple_add_trace.json.gz", folder / "benchmark_simple_add_et.json.gz")
    assert trace.coverage["nodes"]["linked"] == {"external_id": 36}
    assert all(node["order"] == event["external"] for node, event in linked_rows(trace))
    assert_plausible(trace)


STRANGERS = [
    f"{HTA}/nccl_parser_config/nccl_data.json.gz",
    f"{HTA}/ns_resolution_trace/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz",
    f"{HTA}/trace_diff/control/control.json.gz",
    f"{HTA}/mtia_inference_trace/mtia_inference_rank_0.json.gz",
    f"{HTA}/critical_path/alexnet/benchmark_result_2869224_1695835535_trace.json.gz",
    f"{HTA}/execution_trace/benchmark_simple_add_trace.json.gz",
    f"{ET_REPLAY}/linear_kineto.json.gz",
    "AMD-AGI__TraceLens/tests/traces/inference/sglang_decode/sglang_Qwen3-8B_decode.json.gz",
    "AMD-AGI__TraceLens/tests/traces/mi300/resnet_act_checkpoint.json.gz",
    "HazyResearch__zoology/trace.json",
]


SAME_PROGRAM = {("resnet_2gpu", "rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz"), ("dlrm", "dlrm of rank 1")}
"""Of another process or another job, but without any difference in names or shapes that tells so."""


@pytest.fixture(scope="module")
def execution(shared: Path, dlrm: list[tuple[bytes, bytes]]) -> dict[str, bytes]:
    """Execution Traces of six programs."""
    folder = shared / ET_REPLAY
    packed = {
        "linear": folder / "linear_et.json.gz",
        "resnet": folder / "va883ec1__resnet_et.json.gz",
        "resnet_2gpu": folder / "1.1.0-chakra.0.0.4/resnet_2gpu_et.json.gz",
        "simple": shared / HTA / "execution_trace/benchmark_simple_add_et.json.gz",
    }
    compiled = next(iter(archived(folder / "pt2_et.json.tar.gz").values()))
    plain = {name: gzip.decompress(path.read_bytes()) for name, path in packed.items()}
    return plain | {"dlrm": dlrm[0][1], "compiled": compiled}


@shared
@pytest.mark.parametrize("is_process_known", [True, False])
def test_what_was_not_recorded_together(
    shared: Path, dlrm: list[tuple[bytes, bytes]], execution: dict[str, bytes], *, is_process_known: bool
) -> None:
    kineto = {Path(name).name: (shared / name).read_bytes() for name in STRANGERS} | {"dlrm of rank 1": dlrm[1][0]}
    together = {("linear", "linear_kineto.json.gz"), ("simple", "benchmark_simple_add_trace.json.gz")}
    for pair in set(product(execution, kineto)) - together - (set() if is_process_known else SAME_PROGRAM):
        nodes = execution[pair[0]] if is_process_known else execution[pair[0]].replace(b'"pid"', b'"pod"')
        trace = ks.read(kineto[pair[1]], nodes)
        share = trace.coverage["nodes"]
        assert share["unlinked"] == {"other_run": share["count"]}, pair
        assert trace.coverage["confidence"] < 0.8, pair
        assert chosen(trace) == [], pair
        kinds = {kind for (kind,) in trace.health.select("kind").rows()}
        assert kinds & {"other_process", "unlike_execution_trace", "foreign_execution_trace"}, pair
