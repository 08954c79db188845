"""Communications, held against what other people's files say, read by a plain JSON parser."""

from __future__ import annotations

import gzip
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope._cli.main import main

HTA = "facebookresearch__HolisticTraceAnalysis/tests/data"
PARAM = "facebookresearch__param/et_replay/tests/inputs"
TORCHREC = "facebookresearch__torchrec/examples/golden_training"
SLEEPER = f"{TORCHREC}/trace/sst_sleep_pl_dense_after_backward_2"
SIZES = {"Float": 4, "Long": 8, "BFloat16": 2}


def rows(table: ks.Table) -> list[dict[str, Any]]:
    return table.to_pandas().astype(object).where(lambda frame: frame.notna(), None).to_dict("records")


@pytest.mark.unit
def test_the_table_is_there_for_every_trace(cuda: ks.Trace) -> None:
    found = rows(cuda.collectives())
    assert Counter(row["collective"] for row in found) == {"all_reduce": 12}
    assert {row["sources"] for row in found} == {"node host device"}
    assert {row["is_p2p"] for row in found} == {False}
    assert len(ks.read(b'{"traceEvents": []}').collectives()) == 0


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "expected", "num_waits"),
    [
        (f"{HTA}/nccl_parser_config/nccl_data.json.gz", {"all_reduce": 15, "broadcast": 6}, 0),
        (
            f"{HTA}/ns_resolution_trace/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz",
            {"all_reduce": 25, "broadcast": 10},
            0,
        ),
        (f"{HTA}/trace_diff/control/control.json.gz", {"all_reduce": 18, "all_to_all": 42}, 0),
        (f"{HTA}/distributed_info_unavailable/distributed_info_not_found.json.gz", {"all_to_all": 6}, 0),
        (f"{HTA}/cpu_only/v05cd72f__rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz", {"all_reduce": 10}, 0),
        (f"{PARAM}/1.1.0-chakra.0.0.4/resnet_2gpu_et.json.gz", {"all_reduce": 15, "broadcast": 6}, 6),
        (f"{PARAM}/va883ec1__resnet_et.json.gz", {}, 0),
    ],
)
def test_each_communication_is_one_row(shared: Path, name: str, expected: dict[str, int], num_waits: int) -> None:
    found = rows(ks.read(shared / name, False).collectives())
    assert Counter(row["collective"] for row in found) == expected
    assert sum(row["wait_node_id"] is not None for row in found) == num_waits


@pytest.mark.shared
@pytest.mark.parametrize(
    "name",
    [
        f"{HTA}/nccl_parser_config/nccl_data.json.gz",
        "AMD-AGI__TraceLens/tests/traces/mi300/resnet_act_checkpoint.json.gz",
    ],
)
def test_bandwidths_are_those_of_the_formula(shared: Path, name: str) -> None:
    """PARAM's report: bytes over time, times 2(n-1)/n for an all-reduce and 1 for a broadcast."""
    content = json.loads(gzip.decompress((shared / name).read_bytes()))
    found = {row["device_event_id"]: row for row in rows(ks.read(shared / name, False).collectives())}
    checked = 0
    for position, event in enumerate(content["traceEvents"]):
        args = event.get("args") or {}
        if event.get("cat") != "kernel" or "Collective name" not in args:
            continue
        row = found[position]
        size = max(args["In msg nelems"], args["Out msg nelems"]) * SIZES[args["dtype"]]
        ranks = args["Group size"]
        factor = {"allreduce": 2 * (ranks - 1) / ranks, "broadcast": 1}[args["Collective name"]]
        assert row["algorithm_gbps"] == pytest.approx(size / event["dur"] / 1e3, rel=1e-9)
        assert row["bus_gbps"] == pytest.approx(size / event["dur"] / 1e3 * factor, rel=1e-9)
        checked += 1
    assert checked == sum(row["bus_gbps"] is not None for row in found.values()) > 10


def param_comms(trace: ks.Trace, tmp_path: Path) -> list[dict[str, Any]]:
    return json.loads(trace.to_param_comms(tmp_path / "comms.json").read_text())


@pytest.mark.unit
def test_the_command_writes_a_file_for_each_rank(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["export", "--format", "param-comms", "-o", str(tmp_path / "rank.json")]
    assert main([*command, str(data / "mlp_gloo")]) == 0
    assert main([*command, str(data / "synthetic_cuda/kineto_trace_0.json.gz")]) == 0
    counts = {path.name: len(json.loads(path.read_text())) for path in tmp_path.iterdir()}
    assert counts == {"rank_0.json": 4, "rank_1.json": 4, "rank.json": 12}
    assert capsys.readouterr().out.count("bytes") == len(counts)


@pytest.mark.shared
def test_what_param_replays_of_an_execution_trace(shared: Path, tmp_path: Path) -> None:
    """PARAM's own parser makes 28 operations of it, but pairs no wait."""
    found = param_comms(ks.read(shared / PARAM / "1.1.0-chakra.0.0.4/resnet_2gpu_et.json.gz", False), tmp_path)
    assert Counter(row["comms"] for row in found) == {"all_reduce": 15, "broadcast": 6, "wait": 6, "init": 1}
    assert found[0] == {"comms": "init", "req": -1, "pg_id": 0, "world_size": 2, "global_ranks": [0, 1]}
    waited = {(row["pg_id"], row["req"]) for row in found if row["comms"] == "wait"}
    assert waited == {(row["pg_id"], row["req"]) for row in found if row["comms"] == "broadcast"}
    assert param_comms(ks.read(shared / PARAM / "va883ec1__resnet_et.json.gz", False), tmp_path) == []


@pytest.mark.shared
def test_what_is_left_out_is_said(shared: Path, tmp_path: Path) -> None:
    trace = ks.read(shared / "AMD-AGI__TraceLens/tests/traces/mi300/resnet_act_checkpoint.json.gz", False)
    with pytest.warns(RuntimeWarning, match="left 5 communications out of comms.json"):
        found = param_comms(trace, tmp_path)
    assert Counter(row["comms"] for row in found) == {"all_reduce": 6, "broadcast": 6, "wait": 6, "init": 1}
    starts = [row["startTime_ns"] for row in found if "startTime_ns" in row]
    assert starts[0] == 0
    assert starts == sorted(starts)


@pytest.mark.shared
def test_eight_ranks_share_what_they_communicate(shared: Path) -> None:
    """DLRM: eight communications on each of eight ranks of one machine, whose clock has whole microseconds."""
    job = ks.read(shared / PARAM / "dlrm_kineto.tar.gz", False)
    assert isinstance(job, ks.TraceSet)
    found = [row for row in rows(job.collectives()) if row["event_id"] is not None]
    assert Counter(row["rank"] for row in found) == dict.fromkeys(range(8), 8)
    assert Counter(row["collective_id"] for row in found) == dict.fromkeys(range(8), 8)
    assert {row["num_traces"] for row in found} == {8}
    late = {row["collective_id"] for row in found if row["skew_ns"] == 0}
    assert late == set(range(8))
    clocks = rows(job.clock_offsets)
    assert [row["rank"] for row in clocks] == list(range(8))
    assert all(abs(row["offset_ns"]) <= 2_000 and row["spread_ns"] <= 1_000 for row in clocks)


@pytest.mark.shared
def test_pairs_say_each_communication_once(shared: Path) -> None:
    """The nodes' numbers in sequence agree with the order of the events; three of five waits are for this window."""
    job = ks.read(shared / PARAM / "dlrm_kineto.tar.gz")
    assert isinstance(job, ks.TraceSet)
    found = rows(job.collectives())
    assert Counter((row["sources"], row["method"]) for row in found) == {("node host device", "seq"): 64}
    assert Counter(row["collective_id"] for row in found) == dict.fromkeys(range(8), 8)
    assert sum(row["wait_event_id"] is not None for row in found) == 3 * 8


@pytest.mark.shared
def test_execution_traces_alone_share_their_numbers(shared: Path) -> None:
    job = ks.read(shared / PARAM / "dlrm_pytorch_et.tar.gz")
    assert isinstance(job, ks.TraceSet)
    found = rows(job.collectives())
    assert Counter(row["method"] for row in found) == {"seq": 64}
    assert {len({row["seq"] for row in found if row["collective_id"] == number}) for number in range(8)} == {1}
    assert {row["offset_ns"] for row in rows(job.clock_offsets)} == {None}


@pytest.mark.shared
@pytest.mark.parametrize("folder", [f"{PARAM}/dlrm_kineto.tar.gz", SLEEPER, f"{TORCHREC}/log/resnet18"])
def test_waits_are_those_of_the_formulas(shared: Path, folder: str) -> None:
    """A rank waits from its start to that of the last; what is left is transfer: the shortest duration."""
    answer = ks.read_dir(shared / folder).collectives()
    parts: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for number, start, dur in answer.select("collective_id", "start_ns", "dur_ns").rows():
        if number is not None:
            parts[number].append((start, dur))
    skews = [row for row in rows(answer.tables["collective_skew"]) if row["collective_id"] is not None]
    assert len(skews) == len(parts)
    for row in skews:
        times = parts[row["collective_id"]]
        last = max(start for start, _ in times)
        waits = [min(last - start, dur) for start, dur in times]
        assert row["skew_ns"] == last - min(start for start, _ in times)
        assert (row["wait_ns"], row["max_wait_ns"]) == (sum(waits), max(waits))
        assert row["transfer_ns"] == min(dur for _, dur in times)
        assert row["total_ns"] - row["wait_ns"] == sum(dur for _, dur in times) - sum(waits)
    assert sum(row["count"] for row in rows(answer.tables["collective_summary"])) == len(
        answer.tables["collective_skew"]
    )


@pytest.mark.shared
def test_a_rank_that_sleeps_is_found_with_what_it_slept_in(shared: Path) -> None:
    """Four ranks, one of which sleeps for a second in each of three iterations."""
    answer = ks.read_dir(shared / SLEEPER).stragglers(longest=3)
    worst = rows(answer)[0]
    assert (worst["rank"], worst["num_last"], worst["cause"]) == (2, 9, "host")
    assert worst["caused_wait_ns"] > 9_000_000_000
    late = answer.tables["late_arrivals"].select("rank", "cause", "name").rows()
    assert late == [(2, "host", "# running sparse arch")] * 3
    sums = [sum(column) for column in zip(*answer.select("num_last", "wait_ns", "caused_wait_ns").rows(), strict=True)]
    assert sums[0] == 12
    assert sums[1] == sums[2]


@pytest.mark.unit
def test_ranks_are_compared_by_their_own_clocks_unless_asked(data: Path) -> None:
    job = ks.read_dir(data / "mlp_gloo")
    raw, aligned = rows(job.collectives()), rows(job.collectives(align_clocks=True))
    offset = rows(job.clock_offsets)[1]["offset_ns"]
    assert len(raw) == len(aligned) == 6
    assert [row["start_ns"] for row in raw] == [row["start_ns"] for row in aligned]
    assert [row["skew_ns"] for row in raw] != [row["skew_ns"] for row in aligned]
    starts = {(row["rank"], row["collective_id"]): row["start_ns"] for row in raw}
    for row in aligned:
        others = [starts[0, row["collective_id"]], starts[1, row["collective_id"]] - offset]
        assert row["skew_ns"] == others[row["rank"]] - max(others)


@pytest.mark.unit
def test_a_collective_without_a_known_run_has_no_time() -> None:
    job = ks.read_dir(Path(__file__).parents[3] / "tests/data/nccl_cuda")
    summary = job.collectives().tables["collective_summary"].select("collective", "total_ns", "transfer_ns").rows()
    assert ("coalesced", None, None) in summary
    assert all(total is None or total > 0 for _, total, _ in summary)
