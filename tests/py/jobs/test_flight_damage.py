"""Dumps of the flight recorder that are empty or damaged: what they do not tell is unknown."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from support.flight_dumps import Dump, Recorder, dumps_of, recorders, write_dumps

Read = Callable[[dict[int, Dump]], ks.FlightRecorderSet]

ODD_VALUE = "the dump of rank 0: a value has an unexpected type: treated as absent"
ODD_ENTRY = "the dump of rank 0: an entry has an unexpected form: skipped"
EMPTY = "the dump of rank 1 has no entries: it enqueued nothing or did not record"


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def reader(dumps: dict[int, Dump]) -> ks.FlightRecorderSet:
        found = ks.read(write_dumps(tmp_path, dumps))
        assert isinstance(found, ks.FlightRecorderSet)
        return found

    return reader


def rows(table: ks.Table, *columns: str) -> list[tuple[Any, ...]]:
    return table.select(*columns).rows()


def findings(found: ks.FlightRecorderSet) -> list[tuple[str, str]]:
    return rows(found.findings, "problem", "message")


def ranks_with(status: str, found: ks.FlightRecorderSet) -> dict[tuple[str, int], list[int]]:
    """Ranks by group and number of the collective."""
    collectives = rows(found.collectives, "group_name", "collective_seq", f"{status}_ranks")
    return {(group, seq): json.loads(ranks) for group, seq, ranks in collectives if ranks != "[]"}


def damaged(ranks: list[Recorder], values: Any, entry: int = -1) -> dict[int, Dump]:
    """Dumps in which rank 0 has other values in an entry, or another entry."""
    dumps = dumps_of(ranks)
    entries = dumps[0]["entries"]
    entries[entry] = entries[entry] | values if isinstance(values, dict) else values
    return dumps


# --- empty dumps ---------------------------------------------------------------------------------


def test_a_rank_with_an_empty_dump_enqueued_nothing_or_did_not_record(read: Read) -> None:
    ranks = recorders(3)
    for rank in ranks:
        rank.call("all_reduce").call("broadcast")
    dumps = dumps_of(ranks)
    dumps[1] = {"version": "2.10", "pg_config": {}, "entries": []}
    found = read(dumps)
    missing = ("missing", "group 0 (default_pg), collective 1: rank 1 never enqueued all_reduce")
    assert (found.verdict.state, findings(found)) == ("differ", [missing, ("empty_dump", EMPTY)])
    assert (ranks_with("missing", found), ranks_with("not_recorded", found)) == ({("0", 1): [1], ("0", 2): [1]}, {})
    # Its counter proves that it enqueued some, so the dump was emptied.
    dumps[1]["pg_status"] = {"0": {"last_enqueued_collective": 5}}
    found = read(dumps)
    assert (found.verdict.state, findings(found)) == ("agree", [("empty_dump", EMPTY)])
    assert (ranks_with("missing", found), ranks_with("not_recorded", found)) == ({}, {("0", 1): [1], ("0", 2): [1]})


@pytest.mark.parametrize("name", ["all_reduce", "send 0->1"])
def test_sends_and_collectives_are_alike_beside_an_empty_dump(read: Read, name: str) -> None:
    ranks = recorders(2)
    ranks[0].call(name)
    found = read(dumps_of(ranks))
    assert found.verdict.state == "differ"
    assert [problem for problem, _ in findings(found)] == ["missing", "empty_dump"]


# --- damaged entries -----------------------------------------------------------------------------

OF_GROUP = [{"collective_seq_id": "2"}, {"profiling_name": ["all_reduce"], "is_p2p": "no"}]
OF_ANY_GROUP = [7, {"process_group": {"0": 1}}, {"process_group": None, "pg_id": [0]}]


@pytest.mark.parametrize("values", [*OF_GROUP, *OF_ANY_GROUP], ids=str)
def test_a_damaged_entry_may_be_the_next_collective(read: Read, values: Any) -> None:
    ranks = recorders(2, {"1": ("pair", [0, 1])})
    for rank in ranks:
        rank.call("all_reduce", "1").call("all_reduce").call("all_reduce")
    ranks[1].call("all_reduce").call("all_reduce", "1")
    found = read(damaged(ranks, values))
    # One entry is one call: collective 3 is missing for certain.
    certain, unknown = {("0", 3): [0]}, {("0", 2): [0]}
    (unknown if values in OF_ANY_GROUP else certain)["1", 2] = [0]
    assert (ranks_with("missing", found), ranks_with("not_recorded", found)) == (certain, unknown)
    assert findings(found)[-1] == ("unreadable", ODD_VALUE if isinstance(values, dict) else ODD_ENTRY)


@pytest.mark.parametrize("values", [{"collective_seq_id": "3"}, 7], ids=str)
def test_no_rank_is_blamed_for_its_damaged_entry(read: Read, values: Any) -> None:
    ranks = recorders(2)
    for rank in ranks:
        rank.call("all_reduce").call("all_reduce").call("all_reduce")
    found = read(damaged(ranks, values))
    assert found.verdict.state == "agree"
    assert str(found.verdict).splitlines()[1:] == [ODD_VALUE if isinstance(values, dict) else ODD_ENTRY]
    # Entries behind the damaged one prove the number of the last.
    ranks[1].call("all_reduce")
    first, *_ = findings(read(damaged(ranks, values, entry=1)))
    assert first == ("missing", "group 0 (default_pg), collective 4: rank 0 never enqueued all_reduce")


@pytest.mark.parametrize(
    "values",
    [
        {"input_sizes": "zz"},
        {"output_sizes": [4]},
        {"input_sizes": [["4"]]},
        {"input_dtypes": "Half"},
        {"output_dtypes": [1]},
        {"state": 5},
        {"profiling_name": 5},
    ],
    ids=str,
)
def test_unreadable_values_are_not_compared(read: Read, values: Any) -> None:
    ranks = recorders(3)
    for rank in ranks:
        rank.call("all_reduce")
    found = read(damaged(ranks, values))
    assert (found.verdict.state, findings(found)) == ("agree", [("unreadable", ODD_VALUE)])
    assert ranks_with("enqueued", found) == {("0", 1): [0, 1, 2]}
    # Others are still compared.
    ranks[2].entries[0].update(state="started", output_sizes=[[8]], output_dtypes=["Half"])
    assert [problem for problem, _ in findings(read(damaged(ranks, values)))] == ["size", "unreadable"]


def test_nothing_is_pending_where_a_state_is_unreadable(read: Read) -> None:
    ranks = recorders(2)
    for rank in ranks:
        rank.call("all_reduce", state="started")
    assert read(damaged(ranks, {})).verdict.state == "pending"
    assert read(damaged(ranks, {"state": 5})).verdict.state == "agree"


def test_a_damaged_entry_may_be_part_of_a_coalesced_collective(read: Read) -> None:
    ranks = recorders(2)
    for rank in ranks:
        rank.call("all_gather", output_sizes=[[8]]).call("ALLGATHER_coalesced", again=True, output_sizes=[[8]])
    assert findings(read(damaged(ranks, 7))) == [("unreadable", ODD_ENTRY)]


@pytest.mark.parametrize(
    "values", [7, {"profiling_name": 5}, {"profiling_name": "nccl:recv"}, {"process_group": 0.5}], ids=str
)
def test_a_damaged_entry_may_be_the_other_side_of_a_send(read: Read, values: Any) -> None:
    ranks = recorders(2)
    for rank in ranks:
        rank.call("all_reduce")
    ranks[1].call("send 1->0")
    ranks[0].call("recv 0<-1")
    found = read(damaged(ranks, values))
    assert found.verdict.state == "agree"
    assert {problem for (problem,) in rows(found.transfers, "problem")} == {None}


def test_an_unreadable_number_leaves_dropped_entries_known(read: Read) -> None:
    ranks = recorders(2)
    for rank in ranks:
        rank.call("all_reduce").call("all_reduce").call("all_reduce")
    dumps = damaged(ranks, {"record_id": "0"}, entry=0)
    dumps[1]["entries"] = ranks[1].entries[1:]
    found = read(dumps)
    assert rows(found.dumps, "rank", "num_entries", "num_dropped") == [(0, 3, 0), (1, 2, 1)]
    # A gap that no entry can fill is one all the same.
    dumps[0]["entries"][2]["record_id"] = 9
    dumps[1]["entries"] = [*ranks[1].entries, ranks[1].entries[2] | {"record_id": 3, "collective_seq_id": 4}]
    assert ranks_with("missing", read(dumps)) == {}
