"""Synthetic dumps of the flight recorder, as PyTorch 2.15 writes them."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

Entry = dict[str, Any]
Dump = dict[str, Any]

FIRST_NS = 1_700_000_000_000_000_000


class Recorder:
    """Writes the entries of one rank."""

    def __init__(self, rank: int, groups: Mapping[str, tuple[str, list[int]]]) -> None:
        self.rank = rank
        self.groups = groups
        self.entries: list[Entry] = []
        self.counts: dict[tuple[str, bool], int] = {}

    def call(self, name: str, group: str = "0", **values: Any) -> Recorder:
        """Adds a call; sends and receives have a number of their own."""
        is_p2p = name.startswith(("send", "recv"))
        key = group, is_p2p
        if not values.pop("again", False):
            self.counts[key] = self.counts.get(key, 0) + 1
        entry = {
            "record_id": len(self.entries),
            "pg_id": int(group),
            "process_group": (group, self.groups[group][0]),
            "collective_seq_id": self.counts.get((group, False), 0),
            "p2p_seq_id": self.counts.get((group, True), 0),
            "op_id": len(self.entries),
            "profiling_name": f"nccl:{name}",
            "time_created_ns": FIRST_NS + len(self.entries),
            "input_sizes": [[4]],
            "input_dtypes": ["Float"],
            "output_sizes": [[4]],
            "output_dtypes": ["Float"],
            "state": "completed",
            "time_discovered_started_ns": None,
            "time_discovered_completed_ns": None,
            "retired": values.get("state", "completed") == "completed",
            "timeout_ms": 600_000,
            "is_p2p": is_p2p,
            "frames": [{"name": "step", "filename": "train.py", "line": 12}],
        }
        self.entries.append(entry | values)
        return self

    def dump(self, first: int = 0) -> Dump:
        """Returns the dump of a ring buffer that dropped the entries before `first`."""
        own = {name: group for name, group in self.groups.items() if self.rank in group[1]}
        config = {name: {"name": name, "desc": desc, "ranks": str(ranks)} for name, (desc, ranks) in own.items()}
        return {"version": "2.10", "pg_config": config, "pg_status": {}, "entries": self.entries[first:]}


def recorders(num_ranks: int, groups: Mapping[str, tuple[str, list[int]]] | None = None) -> list[Recorder]:
    """Returns a recorder for each rank; group 0 has all ranks."""
    known = {"0": ("default_pg", list(range(num_ranks))), **(groups or {})}
    return [Recorder(rank, known) for rank in range(num_ranks)]


def write_dumps(folder: Path, dumps: Mapping[int, Dump]) -> Path:
    """Writes one pickle per rank, by PyTorch's names."""
    folder.mkdir(parents=True, exist_ok=True)
    for rank, dump in dumps.items():
        (folder / f"nccl_trace_rank_{rank}").write_bytes(pickle.dumps(dump, 2))
    return folder


def dumps_of(ranks: Iterable[Recorder]) -> dict[int, Dump]:
    """Returns the whole dump of each rank."""
    return {recorder.rank: recorder.dump() for recorder in ranks}
