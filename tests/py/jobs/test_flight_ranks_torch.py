"""Verdicts on dumps of several ranks, compared with PyTorch's own tool on the same files.

Compares the first problem of each group. PyTorch's tool pairs nothing after it.
"""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from support.flight_dumps import Dump, Recorder, dumps_of, recorders, write_dumps

builder = pytest.importorskip("torch.distributed.flight_recorder.components.builder")
config = pytest.importorskip("torch.distributed.flight_recorder.components.config_manager")

Problem = tuple[str, int, str]
"""Group, sequence number and kind of a problem."""

KINDS = {
    "COLLECTIVE_TYPE_MISMATCH": "type",
    "SIZE_OR_SYNTAX_MISMATCH": "size",
    "COLLECTIVE_DTYPE_MISMATCH": "dtype",
    "COLLECTIVE_STATE_MISMATCH": "state",
}


def of_torch(dumps: dict[int, Dump]) -> set[Problem]:
    """The first problem of each group, as PyTorch's tool finds it."""
    details = {str(rank): {"rank": rank, "host_name": "", **copy.deepcopy(dump)} for rank, dump in dumps.items()}
    args = config.JobConfig().parse_args(["folder", "--allow-incomplete-ranks"])
    database = builder.build_db(details, args, "2.10")
    first: dict[str, Problem] = {}
    for found in database.collectives:
        mismatches = found.mismatch_collectives or {}
        kind = "missing" if found.missing_ranks else None
        for other in mismatches.values():
            kind = kind or KINDS[other.type_of_mismatch.state.name]
        if kind is None and found.input_numel is not None:
            kind = "size"
        if kind is not None:
            first.setdefault(found.pg_desc, (found.group_id, found.collective_seq_id, kind))
    return set(first.values())


def of_kinetoscope(dumps: dict[int, Dump], folder: Path) -> set[Problem]:
    found: Any = ks.read(write_dumps(folder, dumps))
    groups = found.groups.select("group_name", "collective_seq", "problem").rows()
    return {row for row in groups if row[1] is not None and row[2] != "pending"}


def every(ranks: list[Recorder], name: str, group: str = "0", **values: Any) -> None:
    for rank in ranks:
        if rank.rank in rank.groups[group][1]:
            rank.call(name, group, **values)


def start(num_ranks: int = 3) -> list[Recorder]:
    """Ranks that have called two collectives alike."""
    ranks = recorders(num_ranks, {"1": ("pair", [0, 2])})
    every(ranks, "all_reduce")
    every(ranks, "broadcast")
    return ranks


def with_odd_rank(name: str, own: dict[str, Any], others: dict[str, Any] | None = None) -> dict[int, Dump]:
    """A third collective, in which rank 1 has other values."""
    ranks = start()
    for rank in ranks:
        values = own if rank.rank == 1 else others or {}
        rank.call(values.get("name", name), **{key: value for key, value in values.items() if key != "name"})
    return dumps_of(ranks)


def missing(odd: int) -> dict[int, Dump]:
    ranks = start()
    for rank in ranks:
        if rank.rank != odd:
            rank.call("all_reduce", state="started")
            rank.call("all_reduce", state="scheduled")
    return dumps_of(ranks)


def several_groups() -> dict[int, Dump]:
    ranks = start()
    every(ranks, "all_gather", "1", output_sizes=[[8]])
    ranks[0].call("all_reduce", "1")
    every(ranks, "all_reduce")
    return dumps_of(ranks)


def dropped() -> dict[int, Dump]:
    ranks = start()
    every(ranks, "all_reduce")
    return {rank.rank: rank.dump(first=rank.rank) for rank in ranks}


def coalesced(*, lacks_end: bool) -> dict[int, Dump]:
    ranks = start()
    every(ranks, "all_gather", output_sizes=[[12]])
    every(ranks, "all_gather", output_sizes=[[12]], again=True)
    every(ranks, "ALLGATHER_coalesced", output_sizes=[[12]], again=True)
    if lacks_end:
        for _ in range(3):
            ranks[2].entries.pop()
    return dumps_of(ranks)


CASES = {
    "alike": lambda: dumps_of(start()),
    "rank 2 is missing": lambda: missing(2),
    "rank 0 is missing": lambda: missing(0),
    "other type": lambda: with_odd_rank("all_reduce", {"name": "all_gather", "output_sizes": [[12]]}),
    "other input size": lambda: with_odd_rank("all_reduce", {"input_sizes": [[8]], "output_sizes": [[8]]}),
    "other output size": lambda: with_odd_rank("broadcast", {"output_sizes": [[8]]}),
    "gathered": lambda: with_odd_rank("all_gather", {"output_sizes": [[12]]}, {"output_sizes": [[12]]}),
    "gathered as a list": lambda: with_odd_rank("all_gather", {"output_sizes": [[4]] * 3}, {"output_sizes": [[4]] * 3}),
    "gathered too little": lambda: with_odd_rank("_all_gather_base", {"output_sizes": [[8]]}, {"output_sizes": [[8]]}),
    "scattered": lambda: with_odd_rank("reduce_scatter", {"input_sizes": [[12]]}, {"input_sizes": [[12]]}),
    "scattered too little": lambda: with_odd_rank("reduce_scatter", {"input_sizes": [[9]]}, {"input_sizes": [[9]]}),
    "reduced in another size": lambda: with_odd_rank("all_reduce", {"output_sizes": [[5]]}, {"output_sizes": [[5]]}),
    "gather to a root": lambda: with_odd_rank("gather", {"output_sizes": [[4]] * 3}, {"output_sizes": []}),
    "scatter from a root": lambda: with_odd_rank("scatter", {"input_sizes": [[4]] * 3}, {"input_sizes": []}),
    "barrier": lambda: with_odd_rank(
        "barrier", {"input_sizes": [], "output_sizes": []}, {"input_sizes": [], "output_sizes": []}
    ),
    "uneven exchange": lambda: with_odd_rank("all_to_all", {"input_sizes": [[2]], "output_sizes": [[2]]}),
    "exchange that loses elements": lambda: with_odd_rank("all_to_all", {"input_sizes": [[2]]}),
    "other type of elements": lambda: with_odd_rank(
        "all_reduce", {"input_dtypes": ["Half"], "output_dtypes": ["Half"]}
    ),
    "other type of outputs": lambda: with_odd_rank("all_reduce", {"output_dtypes": ["Half"]}),
    "not equally far": lambda: with_odd_rank("all_reduce", {"state": "started"}),
    "several groups": several_groups,
    "dropped entries": dropped,
    "coalesced": lambda: coalesced(lacks_end=False),
    "coalesced, rank 2 is missing": lambda: coalesced(lacks_end=True),
}


@pytest.mark.parametrize("case", CASES)
def test_verdicts_are_those_of_torch(case: str, tmp_path: Path) -> None:
    dumps = CASES[case]()
    assert of_kinetoscope(dumps, tmp_path) == of_torch(dumps)


def test_recorded_dumps_have_the_verdict_of_torch(data: Path) -> None:
    folder = data / "flight_ranks/hook"
    dumps = {rank: pickle.loads((folder / f"trace_rank_{rank}").read_bytes()) for rank in range(4)}  # noqa: S301 - our fixture
    for dump in dumps.values():  # PyTorch's tool takes each send for a call of the whole group
        dump["entries"] = [entry for entry in dump["entries"] if not entry["is_p2p"]]
    recorders: Any = ks.read(folder)
    found = recorders.groups.select("group_name", "collective_seq", "problem").rows()
    assert {row for row in found if row[2]} == of_torch(dumps) == {("0", 2, "type")}


# --- differences, each with its reason -----------------------------------------------------------


def test_sends_in_a_large_group(tmp_path: Path) -> None:
    """PyTorch's tool expects all ranks of the group at a send; only two take part in it."""
    ranks = start()
    ranks[0].call("send 0->1")
    ranks[1].call("recv 1<-0")
    dumps = dumps_of(ranks)
    assert of_torch(dumps) != set()
    assert of_kinetoscope(dumps, tmp_path) == set()


def test_uneven_gathers(tmp_path: Path) -> None:
    """PyTorch's tool compares the inputs of `all_gather_v`, which differ by purpose."""
    dumps = with_odd_rank("all_gather_v", {"input_sizes": [[2]], "output_sizes": [[10]]}, {"output_sizes": [[10]]})
    assert {problem for _, _, problem in of_torch(dumps)} == {"size"}
    assert of_kinetoscope(dumps, tmp_path) == set()


def test_entries_dropped_by_one_rank(tmp_path: Path) -> None:
    """PyTorch's tool cuts all dumps at one `record_id`, but ranks in more groups count faster."""
    ranks = start()
    every(ranks, "all_reduce", "1")
    every(ranks, "all_reduce")
    dumps = {rank.rank: rank.dump(first=3 if rank.rank == 0 else 0) for rank in ranks}
    assert of_torch(dumps) != set()
    assert of_kinetoscope(dumps, tmp_path) == set()


def test_an_empty_dump(tmp_path: Path) -> None:
    dumps = dumps_of(start())
    dumps[1]["entries"] = []
    assert of_torch(dumps) == of_kinetoscope(dumps, tmp_path) == {("0", 1, "missing")}


def test_groups_without_ranks(data: Path) -> None:
    """Gloo describes no group by its name, at which PyTorch's tool fails."""
    folder = data / "flight_ranks/gloo"
    dumps = {rank: pickle.loads((folder / f"trace_rank_{rank}").read_bytes()) for rank in range(3)}  # noqa: S301 - our fixture
    with pytest.raises(KeyError):
        of_torch(dumps)
    found: Any = ks.read(folder)
    assert found.verdict.state == "differ"
