"""Machines of ranks, and exchanges of experts, in jobs of files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope._cli.main import main
from support.large_job import rank_trace

ROUTING = [[10, 30, 12, 8], [8, 30, 10, 12], [12, 30, 8, 10], [10, 30, 10, 10]]
"""Rows that each of four ranks sends to each: rank 1 receives half of all."""

SLEEPER = "facebookresearch__torchrec/examples/golden_training/trace/sst_sleep_pl_dense_after_backward_2"


def call(rank: int, start: int, dur: int, **args: Any) -> list[dict[str, Any]]:
    """A communication: its record, its launch and its kernel on device `rank % 2`."""
    host = {"ph": "X", "pid": 100, "tid": 1}
    record = {"dtype": "Float", "Seq": start, "Group size": len(args["Process Group Ranks"]), **args}
    record["Process Group Ranks"] = str(record["Process Group Ranks"])
    on_device = {"correlation": start, "device": rank % 2, "stream": 9}
    return [
        {**host, "cat": "cpu_op", "name": "record_param_comms", "ts": start - 5, "dur": 3, "args": record},
        {**host, "cat": "cuda_runtime", "name": "launch", "ts": start - 4, "dur": 1, "args": {"correlation": start}},
        {
            "ph": "X",
            "cat": "kernel",
            "name": "ncclDevKernel_Generic()",
            "pid": rank % 2,
            "tid": 9,
            "ts": start,
            "dur": dur,
            "args": on_device,
        },
    ]


def reduction(rank: int, start: int, dur: int, name: str, ranks: list[int]) -> list[dict[str, Any]]:
    sizes = {"In msg nelems": 1000, "Out msg nelems": 1000}
    return call(rank, start, dur, **{"Collective name": "allreduce", **group(name, ranks), **sizes})


def exchange(rank: int, start: int, rows: tuple[list[int], list[int]]) -> list[dict[str, Any]]:
    sizes = {"In msg nelems": 8 * sum(rows[0]), "Out msg nelems": 8 * sum(rows[1])}
    splits = {"In split size": str(rows[0]), "Out split size": str(rows[1])}
    return call(
        rank, start, 10, **{"Collective name": "all_to_allv", **group("experts", [0, 1, 2, 3]), **sizes, **splits}
    )


def group(name: str, ranks: list[int]) -> dict[str, Any]:
    return {"Process Group Name": name, "Process Group Ranks": ranks}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two machines with two ranks each; reductions inside and between; a dispatch and its combine."""
    for rank in range(4):
        near, far = rank // 2 * 2, rank % 2
        sent, received = ROUTING[rank], [row[rank] for row in ROUTING]
        events = [
            *reduction(rank, 100, 10, f"near{near}", [near, near + 1]),
            *reduction(rank, 200, 40, f"far{far}", [far, far + 2]),
            *exchange(rank, 300, (sent, received)),
            *exchange(rank, 400, (received, sent)),
        ]
        trace = {
            "distributedInfo": {"rank": rank, "world_size": 4},
            "traceName": f"log/host{rank // 2}_100.1698954910154219890.pt.trace.json",
            "traceEvents": events,
        }
        (tmp_path / f"rank{rank}.json").write_text(json.dumps(trace))
    return tmp_path


@pytest.mark.unit
def test_machines_are_those_of_the_hosts(folder: Path) -> None:
    found = ks.read_dir(folder).machines()
    reduced = found.select("collective", "reach", "count", "median_bus_gbps").rows()
    assert [row for row in reduced if row[0] == "all_reduce"] == [
        ("all_reduce", "between", 2, pytest.approx(0.1)),
        ("all_reduce", "inside", 2, pytest.approx(0.4)),
    ]
    ranks = found.tables["machine_ranks"].select("rank", "machine", "host", "source").rows()
    assert ranks == [(rank, rank // 2, f"host{rank // 2}", "file_name") for rank in range(4)]
    given = ks.read_dir(folder).machines(ranks_per_machine=4)
    assert {row[0] for row in given.select("reach").rows()} == {"inside"}
    with pytest.raises(ks.TraceError, match="a whole number from 0 as ranks_per_machine"):
        ks.read_dir(folder).machines(ranks_per_machine=-1)


@pytest.mark.unit
def test_ranks_without_a_host_name_are_on_the_machine_of_their_devices(tmp_path: Path) -> None:
    """`traceName` of ranks 4 and 5 alone names a host; four devices divide eight ranks."""
    for rank in range(8):
        trace = rank_trace(rank, 8, 0)
        if rank in {4, 5}:
            trace["traceName"] = "log/node01_100.1698954910154219890.pt.trace.json"
        (tmp_path / f"rank{rank}.json").write_text(json.dumps(trace))
    job = ks.read_dir(tmp_path)
    machines = job.machines().tables["machine_ranks"].select("machine").rows()
    places = job.topology().tables["rank_places"].select("division", "number", "name").rows()
    names = {0: "machine 0", 1: "machine 1 (node01)"}
    assert [row for row in places if row[0] == "machine"] == [("machine", at, names[at]) for (at,) in machines]
    cells = set(job.grouped_heatmap().select("number", "name", "num_traces").rows())
    assert cells == {(0, names[0], 4), (1, names[1], 4)}


@pytest.mark.unit
def test_a_given_number_of_ranks_divides_the_map(folder: Path) -> None:
    job = ks.read_dir(folder)

    def of(**options: Any) -> set[Any]:
        return set(job.grouped_heatmap(**options).select("name", "num_traces").rows())

    assert of() == {("machine 0 (host0)", 2), ("machine 1 (host1)", 2)}
    assert of(ranks_per_machine=4) == {("machine 0", 4)}


@pytest.mark.unit
def test_groups_divide_the_map_where_machines_are_unknown(tmp_path: Path) -> None:
    """Groups of tensor parallelism come from collectives, those of the pipeline from messages alone."""
    for rank in range(4):
        near, far = rank // 2 * 2, rank % 2
        reduced = {"Collective name": "allreduce", "Process Group Description": "tensor"}
        sent = {"Collective name": "send" if rank < 2 else "recv", "Process Group Description": "pipeline"}
        sizes = {"In msg nelems": 10, "Out msg nelems": 10}
        ends = {"Src Rank": far, "Dst Rank": far + 2}
        events = [
            *call(rank, 100, 10, **reduced, **sizes, **group("t", [near, near + 1])),
            *call(rank, 200, 10, **sent, **sizes, **ends, **group("p", [far, far + 2])),
        ]
        trace = {"distributedInfo": {"rank": rank, "world_size": 4}, "traceEvents": events}
        (tmp_path / f"rank{rank}.json").write_text(json.dumps(trace))
    job = ks.read_dir(tmp_path)
    pipeline = {("pipeline", "ranks 0, 2", 2), ("pipeline", "ranks 1, 3", 2)}
    columns = ("division", "name", "num_traces")
    assert set(job.grouped_heatmap(group="pipeline").select(*columns).rows()) == pipeline
    tensor = {("tensor", "ranks 0, 1", 2), ("tensor", "ranks 2, 3", 2)}
    assert set(job.grouped_heatmap().select(*columns).rows()) == pipeline | tensor
    places = job.topology().tables["rank_places"].select("rank", "division", "name").rows()
    assert [row for row in places if row[1] == "pipeline"] == [
        (rank, "pipeline", f"ranks {rank % 2}, {rank % 2 + 2}") for rank in range(4)
    ]
    page = job.report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.index("By pipeline") < page.index("By tensor")
    with pytest.raises(ks.TraceError, match="ranks_per_machine"):
        job.grouped_heatmap(ranks_per_machine=-1)
    assert "machines of the ranks are unknown" in str(job.grouped_heatmap(group="machine").reason)


@pytest.mark.unit
def test_the_busiest_expert_has_twice_the_mean(folder: Path) -> None:
    found = ks.read_dir(folder).experts()
    rows = found.select(
        "position", "direction", "received_rows", "max_rows", "imbalance", "busiest_rank", "bytes"
    ).rows()
    assert rows == [
        (0, "dispatch", 240, 120, pytest.approx(2), 1, 240 * 32),
        (1, "combine", 240, 60, pytest.approx(1), None, 240 * 32),
    ]
    ranks = found.tables["expert_ranks"].select("direction", "rank", "sent_rows", "received_rows").rows()
    received = [sum(row[rank] for row in ROUTING) for rank in range(4)]
    assert ranks[:4] == [("dispatch", rank, 60, received[rank]) for rank in range(4)]
    assert ranks[4:] == [("combine", rank, received[rank], 60) for rank in range(4)]


@pytest.mark.unit
def test_the_command_line_asks_both(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze", "machines", str(folder), "--ranks-per-machine", "1", "--json"]) == 0
    assert {row["reach"] for row in json.loads(capsys.readouterr().out)} == {"between"}
    assert main(["analyze", "experts", str(folder), "--json"]) == 0
    assert [row["direction"] for row in json.loads(capsys.readouterr().out)] == ["dispatch", "combine"]


@pytest.mark.shared
def test_a_job_of_the_handler_is_on_one_host(shared: Path) -> None:
    """No file tells the groups, which may have further ranks."""
    found = ks.read_dir(shared / SLEEPER).machines()
    ranks = found.tables["machine_ranks"].select("machine", "source").rows()
    assert ranks == [(0, "file_name")] * 4
    reasons = found.select("reach", "reason").rows()
    assert set(reasons) == {(None, "not all ranks that take part are known")}
