"""Graphs of a job for simulators: ranks that lack a call, unequal parts, and groups."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope._cli.main import main
from kinetoscope.replaying.agree import DisagreementError

TENSOR = "GenericList[Tensor(float)]"


def node(number: int, name: str, inputs: list[Any], types: list[str], attributes: dict[str, Any]) -> dict[str, Any]:
    attrs = [{"name": "rf_id", "value": number}, *({"name": key, "value": each} for key, each in attributes.items())]
    return {
        "id": number,
        "name": name,
        "ctrl_deps": 1,
        "attrs": attrs,
        "inputs": {"values": inputs, "shapes": [[] for _ in inputs], "types": types},
        "outputs": {"values": inputs[:1], "shapes": [[]], "types": types[:1]},
    }


def record(number: int, name: str, split: list[int], group: str = "0", *, size: int, **others: int) -> dict[str, Any]:
    """A call of `elems` elements, by default the sum of the parts, on the rank at `place`."""
    elems, rank = others.get("elems", sum(split)), others.get("place", 0)
    inputs = [[[5, 6, 0, elems, 4, "cuda:0"]], number, [group, "pg"], rank, name, split, split, 0, 1, size]
    types = [
        TENSOR,
        "Int",
        "Tuple[String,String]",
        "Int",
        "String",
        "GenericList[Int]",
        "GenericList[Int]",
        *3 * ["Int"],
    ]
    attributes = {
        "collective_name": name,
        "dtype": "Float",
        "in_msg_nelems": elems,
        "out_msg_nelems": elems,
        "in_split_size": json.dumps(split),
        "out_split_size": json.dumps(split),
        "pg_name": group,
        "pg_size": size,
    }
    return node(number, "record_param_comms", inputs, types, attributes)


def write(folder: Path, rank: int, nodes: list[dict[str, Any]], world: int) -> None:
    root = node(1, "[pytorch|profiler|execution_trace|process]", [], [], {})
    (folder / f"torch_et_{rank}.json").write_text(json.dumps({"schema": "1.1.1-chakra.0.0.4", "nodes": [root, *nodes]}))
    events = [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 1, "args": {}}]
    head = {"distributedInfo": {"rank": rank, "world_size": world}, "traceEvents": events}
    (folder / f"kineto_trace_{rank}.json").write_text(json.dumps(head))


def communications(path: Path) -> list[dict[str, Any]]:
    chakra = ks.read(path)
    rows = chakra.nodes.select("node_type", "attrs").rows()
    listed = [json.loads(attrs) for sort, attrs in rows if sort.startswith("COMM")]
    return [{each["name"]: each["value"] for each in attrs} for attrs in listed]


@pytest.fixture
def lacking(tmp_path: Path) -> Path:
    """Four ranks; rank 1 lacks the second all-reduce."""
    folder = tmp_path / "job"
    folder.mkdir()
    for rank in range(4):
        calls = [record(10, "allreduce", [], size=4, elems=64), record(11, "allreduce", [], size=4, elems=128)]
        write(folder, rank, calls[: 1 if rank == 1 else 2], 4)
    return folder


def test_ranks_that_lack_a_call_are_named_and_nothing_is_written(
    lacking: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "out"
    output.mkdir()
    assert main(["chakra", str(lacking), "-o", str(output / "rank.et")]) == 2
    error = capsys.readouterr().err
    assert "ranks disagree: rank 1 lacks all_reduce of 128 float (seq 11 of group 0)" in error
    assert "--allow-mismatches" in error
    assert list(output.iterdir()) == []
    with pytest.raises(DisagreementError, match="rank 1 lacks all_reduce"):
        ks.read_dir(lacking).to_chakra(output / "rank.et")
    assert list(output.iterdir()) == []


def test_who_asks_for_it_gets_graphs_that_mismatch(
    lacking: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["chakra", str(lacking), "-o", str(tmp_path / "rank.et"), "--allow-mismatches"]) == 0
    assert "rank 1 lacks all_reduce" in capsys.readouterr().err
    assert [len(communications(tmp_path / f"rank.{rank}.et")) for rank in range(4)] == [2, 1, 2, 2]
    with pytest.warns(RuntimeWarning, match="rank 1 lacks all_reduce"):
        assert len(ks.read_dir(lacking).to_chakra(tmp_path / "again.et", allow_mismatches=True)) == 4


def test_some_ranks_of_a_job_are_compared_too(lacking: Path, tmp_path: Path) -> None:
    for name in ("kineto_trace_0.json", "torch_et_0.json"):
        (lacking / name).unlink()
    with pytest.raises(DisagreementError, match="group 0: call 1 is all_reduce on rank 2, 3; rank 1 has no call"):
        ks.read_dir(lacking).to_chakra(tmp_path / "rank.et")


def test_ranks_that_agree_are_written(tmp_path: Path) -> None:
    for rank in range(2):
        write(tmp_path, rank, [record(10, "allreduce", [], size=2, elems=64)], 2)
    assert len(ks.read_dir(tmp_path).to_chakra(tmp_path / "out.et")) == 2
    assert {path.name for path in tmp_path.glob("*.et")} == {"out.0.et", "out.1.et"}
    assert json.loads((tmp_path / "comm_group.json").read_text()) == {"0": [0, 1]}


@pytest.mark.parametrize("kept", [0, 4000, 40000])
def test_what_stays_on_a_rank_moves_nothing(kept: int, tmp_path: Path) -> None:
    for rank in range(4):
        parts = [kept if other == rank else 1000 for other in range(4)]
        write(tmp_path, rank, [record(10, "all_to_allv", parts, size=4, place=rank)], 4)
    graphs = ks.read_dir(tmp_path).to_chakra(tmp_path / "rank.et")
    for rank, graph in enumerate(graphs):
        (found,) = communications(tmp_path / f"rank.{rank}.et")
        assert int(found["comm_size"]) == 3 * 1000 * 4
        assert json.loads(found["in_split_size"]) == [kept if other == rank else 1000 for other in range(4)]
        assert int(found["in_bytes"]) == (3000 + kept) * 4
        kinds = dict(graph.health.select("kind", "count").rows())
        assert kinds["uneven_collective"] == 1


def test_equal_parts_are_as_before(tmp_path: Path) -> None:
    for rank in range(2):
        write(tmp_path, rank, [record(10, "all_to_allv", [1000, 1000], size=2, place=rank)], 2)
    graph, _ = ks.read_dir(tmp_path).to_chakra(tmp_path / "rank.et")
    (found,) = communications(tmp_path / "rank.0.et")
    assert int(found["comm_size"]) == 8000
    assert "in_split_size" not in found
    assert "uneven_collective" not in dict(graph.health.select("kind", "count").rows())


def test_what_is_simplified_is_counted(tmp_path: Path) -> None:
    calls = [record(10, "allreduce", [], size=2, elems=64), record(11, "allreduce", [], "own", size=1, elems=64)]
    write(tmp_path, 0, calls, 2)
    graph = ks.read(tmp_path / "kineto_trace_0.json").to_chakra(tmp_path / "rank.et")
    kinds = dict(graph.health.select("kind", "count").rows())
    assert kinds["local_collective"] == 1
    assert [found["pg_name"] for found in communications(tmp_path / "rank.et")] == ["0"]


def test_traces_alone_that_are_all_of_a_job_name_their_groups(tmp_path: Path) -> None:
    """Nothing lists the ranks of the group, but it is as large as the job."""
    for rank in range(2):
        nodes = [record(10, "allreduce", [], size=2, elems=64)]
        for each in nodes:
            each["inputs"]["values"] = each["inputs"]["values"][:7]
            each["inputs"]["types"] = each["inputs"]["types"][:7]
        root = node(1, "[pytorch|profiler|execution_trace|process]", [], [], {})
        document = {"schema": "1.0.4", "nodes": [root, *nodes]}
        (tmp_path / f"torch_et_{rank}.json").write_text(json.dumps(document))
    assert main(["chakra", str(tmp_path), "-o", str(tmp_path / "rank.et")]) == 0
    assert json.loads((tmp_path / "comm_group.json").read_text()) == {"0": [0, 1]}
