"""Dumps of the flight recorder of several ranks: lagging ranks, differing ranks, events in traces."""

from __future__ import annotations

import json
import pickle
import random
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope._cli.main import main
from support.flight_dumps import Dump, dumps_of, recorders, write_dumps
from support.mutation import mutated, written


def read(dumps: dict[int, Dump], folder: Path) -> ks.FlightRecorderSet:
    return opened(write_dumps(folder, dumps))


def opened(source: Path | list[Path]) -> ks.FlightRecorderSet:
    found = ks.read(source)
    assert isinstance(found, ks.FlightRecorderSet)
    return found


def rows(table: ks.Table, *columns: str) -> list[tuple[Any, ...]]:
    """Rows of a table, with lists of ranks as Python lists."""
    names = columns or tuple(table.columns)
    lists = [name == "ranks" or name.endswith("_ranks") for name in names]
    return [
        tuple(json.loads(value) if is_list and value else value for value, is_list in zip(row, lists, strict=True))
        for row in table.select(*names).rows()
    ]


def messages(found: ks.FlightRecorderSet) -> list[str]:
    return [message for (message,) in found.findings.select("message").rows()]


def alike(num_ranks: int = 3) -> dict[int, Dump]:
    ranks = recorders(num_ranks)
    for rank in ranks:
        rank.call("all_reduce").call("broadcast").call("all_reduce")
    return dumps_of(ranks)


def test_ranks_agree(tmp_path: Path) -> None:
    found = read(alike(), tmp_path)
    assert (found.verdict.state, len(found.findings), found.ranks, len(found)) == ("agree", 0, [0, 1, 2], 3)
    assert rows(found.collectives, "collective_seq", "collective", "enqueued_ranks", "completed_ranks", "problem") == [
        (1, "all_reduce", [0, 1, 2], [0, 1, 2], None),
        (2, "broadcast", [0, 1, 2], [0, 1, 2], None),
        (3, "all_reduce", [0, 1, 2], [0, 1, 2], None),
    ]
    assert rows(found.groups, "group_name", "group_desc", "ranks", "first_seq", "last_seq", "problem") == [
        ("0", "default_pg", [0, 1, 2], 1, 3, None)
    ]
    assert repr(found).splitlines()[0] == "flight recorders of 3 ranks: agree"
    assert found[1].rank == 1
    assert 1 in found
    assert [recorder.rank for recorder in found] == [0, 1, 2]


def test_a_rank_never_enqueued_a_collective(tmp_path: Path) -> None:
    ranks = recorders(4)
    for rank in ranks:
        rank.call("all_reduce")
        if rank.rank != 3:
            rank.call("all_gather", output_sizes=[[16]], state="started")
    found = read(dumps_of(ranks), tmp_path)
    assert found.verdict.state == "differ"
    assert messages(found) == ["group 0 (default_pg), collective 2: rank 3 never enqueued all_gather"]
    assert rows(found.findings, "problem", "collective_seq", "ranks") == [("missing", 2, [3])]
    assert rows(found.groups, "lagging_ranks", "problem", "problem_ranks") == [([3], "missing", [3])]
    missing = ("enqueued_ranks", "missing_ranks", "started_ranks", "not_recorded_ranks")
    assert rows(found.collectives, *missing)[1] == ([0, 1, 2], [3], [0, 1, 2], [])
    assert rows(found.calls, "rank", "status", "entry_id", "state")[4:] == [
        (0, "enqueued", 1, "started"),
        (1, "enqueued", 1, "started"),
        (2, "enqueued", 1, "started"),
        (3, "missing", None, None),
    ]
    assert "rank 3 never enqueued all_gather" in str(found.verdict)


def test_the_message_names_both_operations(tmp_path: Path) -> None:
    ranks = recorders(3)
    for rank in ranks:
        rank.call("all_reduce" if rank.rank == 2 else "all_gather", output_sizes=[[12]], state="scheduled")
    found = read(dumps_of(ranks), tmp_path)
    message = "rank 2 has all_reduce where ranks 0 and 1 have all_gather"
    assert rows(found.collectives, "problem", "problem_ranks", "message") == [("type", [2], message)]


HALF = {"input_dtypes": ["Half"], "output_dtypes": ["Half"]}


@pytest.mark.parametrize(
    ("name", "others", "own", "expected"),
    [
        ("all_reduce", {}, {"input_sizes": [[8]]}, ("size", [1], "rank 1 has inputs of [[8]] where ranks 0 and 2")),
        ("broadcast", {}, {"output_sizes": [[8]]}, ("size", [1], "rank 1 has outputs of [[8]]")),
        ("all_reduce", {"output_sizes": [[5]]}, {"output_sizes": [[5]]}, ("size", [0, 1, 2], "ranks 0-2: inputs of")),
        ("all_gather", {"output_sizes": [[12]]}, {"output_sizes": [[12]]}, None),
        ("all_gather", {"output_sizes": [[4]] * 3}, {"output_sizes": [[4]] * 3}, None),
        ("_all_gather_base", {}, {}, ("size", [0, 1, 2], "do not fit in _all_gather_base of 3 ranks")),
        ("reduce_scatter", {"input_sizes": [[12]]}, {"input_sizes": [[12]]}, None),
        ("all_to_all", {}, {"input_sizes": [[2]], "output_sizes": [[2]]}, None),
        ("all_to_all", {}, {"input_sizes": [[2]]}, ("size", [], "all ranks send 10 elements and receive 12")),
        ("gather", {"output_sizes": []}, {"output_sizes": [[4]] * 3}, None),
        ("scatter", {"input_sizes": []}, {"input_sizes": [[4]] * 3}, None),
        ("barrier", {"input_sizes": [], "output_sizes": []}, {"input_sizes": [], "output_sizes": []}, None),
        ("all_reduce", {}, HALF, ("dtype", [1], "rank 1 has inputs of type Half where ranks 0 and 2 have inputs of")),
        ("all_reduce", {}, {"output_dtypes": ["Half"]}, ("dtype", [1], "rank 1 has outputs of type Half")),
        ("all_reduce", HALF, {**HALF, "output_dtypes": ["Float"]}, ("dtype", [1], "rank 1 has outputs of type Float")),
        (
            "all_reduce",
            {},
            {"state": "started"},
            ("state", [1], "all_reduce is completed on ranks 0 and 2, started on"),
        ),
    ],
)
def test_sizes_types_and_states_are_compared(
    name: str, others: Dump, own: Dump, expected: tuple[str, list[int], str] | None, tmp_path: Path
) -> None:
    all_ranks = recorders(3)
    for rank in all_ranks:
        rank.call(name, **(own if rank.rank == 1 else others))
    found = read(dumps_of(all_ranks), tmp_path)
    ((problem, ranks, message),) = rows(found.collectives, "problem", "problem_ranks", "message")
    if expected is None:
        assert (problem, ranks, message) == (None, None, None)
    else:
        assert (problem, ranks) == expected[:2]
        assert expected[2] in message


def test_the_earliest_difference_comes_first(tmp_path: Path) -> None:
    ranks = recorders(3, {"1": ("pair", [0, 1])})
    for rank in ranks:
        rank.call("all_reduce", time_created_ns=5)
    ranks[0].call("all_reduce", "1", time_created_ns=7)
    for rank in ranks[:2]:
        rank.call("all_reduce", time_created_ns=9)
    found = read(dumps_of(ranks), tmp_path)
    assert rows(found.findings, "group_id", "created_ns", "ranks") == [(1, 7, [1]), (0, 9, [2])]


def test_nobody_completed_what_all_enqueued(tmp_path: Path) -> None:
    ranks = recorders(2)
    for rank in ranks:
        rank.call("all_reduce").call("all_reduce", state="started")
    found = read(dumps_of(ranks), tmp_path)
    assert found.verdict.state == "pending"
    assert messages(found) == [
        "group 0 (default_pg), collective 2: ranks 0 and 1 enqueued all_reduce, and none completed it"
    ]


def test_dropped_entries_are_not_recorded(tmp_path: Path) -> None:
    ranks = recorders(3)
    for rank in ranks:
        for _ in range(5):
            rank.call("all_reduce")
    dumps = dumps_of(ranks)
    dumps[1] = ranks[1].dump(first=3)
    found = read(dumps, tmp_path)
    assert found.verdict.state == "agree"
    assert rows(found.collectives, "missing_ranks", "not_recorded_ranks") == [([], [1])] * 3 + [([], [])] * 2
    assert rows(found.dumps, "rank", "num_entries", "num_dropped") == [(0, 5, 0), (1, 2, 3), (2, 5, 0)]
    # A dump of active entries alone has gaps: what it lacks may be completed.
    dumps[1]["entries"] = [ranks[1].entries[0], ranks[1].entries[2]]
    assert [row[0] for row in rows(read(dumps, tmp_path).collectives, "missing_ranks")] == [[]] * 5


def test_a_rank_without_a_dump_is_unknown(tmp_path: Path) -> None:
    dumps = alike(4)
    del dumps[2]
    found = read(dumps, tmp_path)
    assert found.verdict.state == "agree"
    assert messages(found) == ["no dump of rank 2: its calls are unknown"]
    assert rows(found.collectives, "missing_ranks", "not_recorded_ranks") == [([], [])] * 3
    only = read({0: dumps[0]}, tmp_path / "one")
    assert only.verdict.state == "unknown"


def test_groups_of_one_name_are_told_apart_by_their_ranks(tmp_path: Path) -> None:
    dumps = {}
    for number, members in enumerate(([0, 1], [2, 3])):
        for rank in recorders(4, {"1": ("tensor", members)}):
            if rank.rank in members:
                rank.call("all_reduce")
                rank.call("all_reduce", "1", input_sizes=[[number]], output_sizes=[[number]])
                dumps[rank.rank] = rank.dump()
    found = read(dumps, tmp_path)
    assert found.verdict.state == "agree"
    assert sorted(rows(found.groups, "group_name", "ranks")) == [("0", [0, 1, 2, 3]), ("1", [0, 1]), ("1", [2, 3])]


def test_a_coalesced_collective_has_several_entries(tmp_path: Path) -> None:
    ranks = recorders(2)
    for rank in ranks:
        rank.call("all_gather", output_sizes=[[8]])
        if rank.rank == 0:
            rank.call("all_gather", output_sizes=[[8]], again=True)
        rank.call("ALLGATHER_coalesced", again=True, output_sizes=[[8]])
    found = read(dumps_of(ranks), tmp_path)
    message = (
        "rank 1 has all_gather + ALLGATHER_coalesced where rank 0 has all_gather + all_gather + ALLGATHER_coalesced"
    )
    cut = rows(found.collectives, "problem", "message")[0]
    assert cut[0] == "type"
    assert cut[1][:60] == message[:60]
    assert rows(found.calls, "rank", "num_entries") == [(0, 3), (1, 2)]


def test_sends_meet_their_receives(tmp_path: Path) -> None:
    ranks = recorders(3, {"1": ("pair", [0, 2])})
    ranks[0].call("send 0->1").call("send 0->1", input_sizes=[[8]]).call("send 0->1", "1")
    ranks[1].call("recv 1<-0").call("recv 1<-0").call("send 1->2")
    ranks[2].call("recv 1<-0", "1", output_dtypes=["Half"]).call("recv 2<-?", state="started")
    found = read(dumps_of(ranks), tmp_path)
    columns = ("src_rank", "dst_rank", "send_entry_id", "recv_entry_id", "problem")
    assert sorted(rows(found.transfers, *columns), key=str) == [
        (0, 1, 0, 0, None),
        (0, 1, 1, 1, "size"),
        (0, 2, 2, 0, "dtype"),
        (1, 2, 2, None, "missing"),
        (None, 2, None, 1, None),
    ]
    assert messages(found) == [
        'group 1 (pair): rank 0 sends ["Float"] where rank 2 receives ["Half"]',
        "group 0 (default_pg): rank 0 sends [[8]] where rank 1 receives [[4]]",
    ]


def test_sends_of_dumps_that_lack_entries_are_unknown(tmp_path: Path) -> None:
    ranks = recorders(2)
    ranks[0].call("send 0->1").call("send 0->1")
    ranks[1].call("recv 1<-0").call("recv 1<-0")
    found = read({0: ranks[0].dump(), 1: ranks[1].dump(first=1)}, tmp_path)
    assert [row[0] for row in rows(found.transfers, "problem")] == [None] * 3
    assert found.verdict.state == "unknown"


def test_recorded_dumps_of_gloo(data: Path) -> None:
    """Gloo does not tell the ranks of a group, and watches no call."""
    found = opened(data / "flight_ranks/gloo")
    assert messages(found) == ["group 0 (default_pg), collective 3: rank 2 never enqueued all_reduce"]
    columns = ("group_desc", "collective_seq", "collective", "enqueued_ranks", "missing_ranks", "completed_ranks")
    assert rows(found.collectives, *columns) == [
        ("default_pg", 1, "all_reduce", [0, 1, 2], [], []),
        ("default_pg", 2, "all_reduce", [0, 1, 2], [], []),
        ("default_pg", 3, "all_reduce", [0, 1], [2], []),
        ("pair", 1, "all_gather", [0, 1], [], []),
        ("pair", 2, "broadcast", [0, 1], [], []),
    ]


def test_recorded_dumps_of_a_hook(data: Path) -> None:
    found = opened(data / "flight_ranks/hook")
    assert messages(found) == [
        "group 0 (default_pg), collective 2: rank 2 has all_reduce where ranks 0, 1 and 3 have _all_gather_base",
        "group 0 (default_pg): rank 3 never enqueued the receive of send 2 of rank 1",
    ]
    assert rows(found.groups, "group_desc", "ranks", "last_seq") == [
        ("default_pg", [0, 1, 2, 3], 3),
        ("pair", [1, 3], 2),
    ]


def test_entries_have_their_events(data: Path) -> None:
    found, job = opened(data / "flight_ranks/gloo"), ks.read_dir(data / "flight_ranks/gloo")
    events = found.events(job)
    assert rows(events, "rank", "entry_id", "method") == [
        *((rank, entry, "time") for rank in (0, 1) for entry in range(5)),
        *((2, entry, "time") for entry in range(2)),
    ]
    names = {"all_reduce": "allreduce", "all_gather": "allgather", "broadcast": "broadcast"}
    recorded = {row[0]: row[1] for row in job[0].events.select("id", "name").rows()}
    for rank, entry, event, collective in rows(events, "rank", "entry_id", "event_id", "collective_id"):
        if rank == 0:
            name = found[0].entries.select("name").rows()[entry][0].partition(":")[2]
            assert names[name] in recorded[event]
            assert found.collectives.select("collective").rows()[collective] == (name,)
    assert rows(found.events(job[1]), "rank") == [(1,)] * 5


def numbered_trace(seqs: list[int], start_us: int) -> bytes:
    events = [
        {
            "ph": "X",
            "cat": "cpu_op",
            "name": "record_param_comms",
            "pid": 1,
            "tid": 1,
            "ts": start_us + 10 * at,
            "dur": 5,
            "args": {"Collective name": "allreduce", "Process Group Name": "0", "Seq": seq, "Rank": 0},
        }
        for at, seq in enumerate(seqs)
    ]
    base = 1_700_000_000_000_000_000
    info = {"rank": 0, "world_size": 2}
    return json.dumps({"traceEvents": events, "baseTimeNanoseconds": base, "distributedInfo": info}).encode()


def test_collectives_meet_events_of_their_number(tmp_path: Path) -> None:
    found = read(alike(2), tmp_path)
    events = found.events(ks.read(numbered_trace([1, 3], 1)))
    assert rows(events, "rank", "entry_id", "event_id", "collective_id", "method") == [
        (0, 0, 0, 0, "sequence"),
        (0, 2, 1, 2, "sequence"),
    ]
    # Number 2 is a broadcast in the dump.
    assert rows(found.events(ks.read(numbered_trace([2, 3], 1))), "entry_id", "event_id") == [(2, 1)]
    twice = found.events(ks.read(numbered_trace([3, 3], 1)))
    assert len(twice) == 0
    assert twice.reason == "no entry is known to have an event in these traces"
    of_another_run = found.events(ks.read(numbered_trace([1, 3], 10_000_000)))
    assert len(of_another_run) == 0


def test_a_list_of_dumps_is_read(tmp_path: Path) -> None:
    folder = write_dumps(tmp_path, alike())
    paths = [folder / f"nccl_trace_rank_{rank}" for rank in (2, 0)]
    found = opened(paths)
    assert found.ranks == [0, 2]
    assert ks.FlightRecorderSet({7: found[2]}).ranks == [7]
    with pytest.raises(ValueError, match="expected a rank in the name of a dump, such as nccl_trace_rank_0, found"):
        ks.read([paths[0].read_bytes()])
    with pytest.raises(ValueError, match="expected one dump of rank 0, found"):
        ks.read([paths[1], paths[1]])
    with pytest.raises(ValueError, match="expected at least one trace, found none"):
        ks.read([])
    with pytest.raises(ks.UnsupportedTraceError, match="expected a dump of a flight recorder, found a trace"):
        ks.read([paths[1], b'{"traceEvents": [{"ph": "X", "name": "a", "ts": 1, "dur": 1, "pid": 1, "tid": 1}]}'])
    with pytest.raises(KeyError, match="expected one of the ranks"):
        found[5]


@pytest.mark.parametrize(
    ("name", "rank"),
    [("nccl_trace_rank_3", 3), ("dump_12", 12), ("rank-2.pickle", 2), ("trace_4.json", 4), ("dump", None)],
)
def test_the_name_of_a_dump_tells_its_rank(name: str, rank: int | None, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(pickle.dumps(alike()[0], 2))
    assert ks.read(path).rank == rank
    path.write_bytes(json.dumps({**alike()[0], "rank": 9}).encode())
    assert ks.read(path).rank == (9 if rank is None else rank)


def test_a_folder_of_dumps_is_no_job(tmp_path: Path) -> None:
    folder = write_dumps(tmp_path, alike())
    with pytest.raises(ks.UnsupportedTraceError, match=r"found dumps of a flight recorder in .*; use ks\.read"):
        ks.read_dir(folder)


@pytest.mark.parametrize("as_json", [False, True])
def test_the_command_tells_the_verdict(*, as_json: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dumps = alike()
    dumps[2]["entries"].pop()
    if as_json:
        for rank, dump in dumps.items():
            (tmp_path / f"trace_rank_{rank}.json").write_text(json.dumps(dump))
    else:
        write_dumps(tmp_path, dumps)
    assert main(["summary", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert "flight recorders of 3 ranks: differ" in told
    assert "group 0 (default_pg), collective 3: rank 2 never enqueued all_reduce" in told
    assert main(["summary", str(tmp_path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["verdict"], told["ranks"], len(told["messages"])) == ("differ", [0, 1, 2], 1)
    output = tmp_path.parent / "collectives.csv"
    assert main(["export", str(tmp_path), "--table", "collectives", "-o", str(output)]) == 0
    assert len(output.read_text().splitlines()) == 4


# --- hostile input -------------------------------------------------------------------------------


def test_odd_values_are_survived(tmp_path: Path) -> None:
    dumps = alike()
    for entry in dumps[0]["entries"]:
        entry.update(collective_seq_id=(1 << 63) - 1, record_id=-(1 << 63), input_sizes=[[1 << 62, 8]], state=5)
    dumps[1]["entries"][0].update(process_group=None, pg_id=1 << 62, profiling_name=None, is_p2p="x", input_dtypes=3)
    dumps[2]["pg_config"] = {"0": {"name": "0", "desc": 3, "ranks": [1 << 63, -1, "x"]}}
    dumps[2]["entries"].append({"profiling_name": "nccl:send 9223372036854775807->0", "process_group": ("0", "")})
    found = read(dumps, tmp_path)
    for name in found.table_names:
        assert len(found.table(name).rows()) == len(found.table(name))


@pytest.mark.parametrize("seed", range(40))
def test_mutated_dumps_are_survived(seed: int, tmp_path: Path) -> None:
    dice = random.Random(seed)
    dumps = alike()
    for rank, dump in dumps.items():
        content = written(mutated(dice, json.loads(json.dumps(dump))))
        (tmp_path / f"trace_rank_{rank}.json").write_bytes(content)
    try:
        found = opened([tmp_path / f"trace_rank_{rank}.json" for rank in dumps])
    except ks.TraceError:
        return
    for name in found.table_names:
        assert len(found.table(name).rows()) == len(found.table(name))


def test_cut_pickles_are_refused(tmp_path: Path) -> None:
    folder = write_dumps(tmp_path, alike())
    path = folder / "nccl_trace_rank_1"
    content = path.read_bytes()
    for length in (len(content) // 2, len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(ks.TraceError, match="nccl_trace_rank_1"):
            ks.read(folder)


def test_thousands_of_groups_take_little_time(tmp_path: Path) -> None:
    groups = {str(number): (f"group {number}", [0, 1]) for number in range(1, 3000)}
    ranks = recorders(2, groups)
    for rank in ranks:
        for name in groups:
            rank.call("all_reduce", name)
    ranks[1].entries.pop()
    found = read(dumps_of(ranks), tmp_path)
    assert len(found.groups) == 3000
    assert messages(found) == ["group 2999 (group 2999), collective 1: rank 1 never enqueued all_reduce"]
    assert len(found.groups.rows()) == 3000
