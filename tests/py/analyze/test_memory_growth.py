"""Two memory snapshots compared: what grew, by origin."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest

pytestmark = pytest.mark.unit

Block = tuple[int, int, str]
"""Address, size and function of an allocation."""


def snapshot(path: Path, blocks: list[Block], freed: list[Block]) -> Path:
    """Writes a snapshot with these blocks in use, and others that were freed before."""

    def frames(function: str) -> list[dict[str, Any]]:
        inner = {"name": "empty", "filename": "/x/torch/__init__.py", "line": 1}
        return [inner, {"name": function, "filename": "train.py", "line": len(function)}]

    def action(kind: str, at: int, block: Block) -> dict[str, Any]:
        address, size, function = block
        return {"action": kind, "addr": address, "size": size, "time_us": at, "frames": frames(function)}

    actions = [action("alloc", at, block) for at, block in enumerate([*freed, *blocks])]
    actions += [action("free_completed", 50 + at, block) for at, block in enumerate(freed)]
    if not freed:
        actions = actions[: len(blocks)]
    segment = {
        "device": 0,
        "address": 0,
        "total_size": 4_096,
        "blocks": [
            {"address": address, "size": size, "requested_size": size, "state": "active_allocated"}
            for address, size, _ in blocks
        ],
    }
    path.write_text(json.dumps({"segments": [segment], "device_traces": [actions]}))
    return path


def grown(result: ks.Table) -> dict[str, tuple[int, int, int]]:
    columns = ("site", "before_bytes", "after_bytes", "change_bytes")
    return {row[0]: row[1:] for row in result.select(*columns).rows()}


def test_what_grew_is_named_by_its_line(tmp_path: Path) -> None:
    before = snapshot(tmp_path / "before.json", [(0, 100, "model"), (200, 50, "cache")], [(600, 500, "loss")])
    after = snapshot(tmp_path / "after.json", [(0, 100, "model"), (200, 50, "cache"), (300, 400, "cache")], [])
    one, other = ks.read(before), ks.read(after)
    assert isinstance(one, ks.MemorySnapshot)
    assert isinstance(other, ks.MemorySnapshot)
    changes = ks.diff(one, other)
    assert grown(ks.diff(before, after)) == grown(changes)
    assert grown(changes) == {
        "all memory": (150, 550, 400),
        "cache (train.py:5)": (50, 450, 400),
        "model (train.py:5)": (100, 100, 0),
    }
    assert grown(changes.tables["memory_peak_growth"])["loss (train.py:4)"] == (500, 0, -500)
    assert "<svg" in changes.plot().svg


def test_paths_to_one_line_are_apart(tmp_path: Path) -> None:
    """Each stack of either file has a row, with its number in the frames of that file."""

    def stack(caller: str) -> list[dict[str, Any]]:
        lines = [("empty", "/x/torch/__init__.py"), ("pad", "train.py"), (caller, "train.py")]
        return [{"name": name, "filename": file, "line": 1} for name, file in lines]

    def read(name: str, sizes: dict[str, int]) -> ks.MemorySnapshot:
        blocks = [
            {"address": at, "size": size, "state": "active_allocated", "frames": stack(caller)}
            for at, (caller, size) in enumerate(sizes.items())
        ]
        path = tmp_path / name
        path.write_text(json.dumps({"segments": [{"device": 0, "blocks": blocks}], "device_traces": []}))
        snapshot = ks.read(path)
        assert isinstance(snapshot, ks.MemorySnapshot)
        return snapshot

    before = read("before.json", {"decode": 10, "encode": 20})
    after = read("after.json", {"encode": 500, "sample": 7})
    rows = ks.diff(before, after).select("site", "change_bytes", "before_stack_id", "after_stack_id").rows()
    assert {row[0] for row in rows} == {"all memory", "pad (train.py:1)"}
    assert [row[1:] for row in rows] == [(477, None, None), (480, 1, 0), (-10, 0, None), (7, None, 1)]


def test_changes_of_a_recording_add_up(data: Path) -> None:
    path = next((data / "memory_cuda").glob("*.pickle*"))
    one = ks.read(path)
    assert isinstance(one, ks.MemorySnapshot)
    changes = ks.diff(one, one)
    rows = changes.select("before_bytes", "after_bytes", "change_bytes", "before_blocks", "after_blocks").rows()
    assert len(rows) > 1
    assert all(before == after and change == 0 for before, after, change, _, _ in rows)
    for column in range(5):
        assert rows[0][column] == sum(row[column] for row in rows[1:])
    requested = sum(one.memory()["requested_bytes"])
    assert rows[0][0] == requested


def test_a_trace_is_no_snapshot(tmp_path: Path, cuda: ks.Trace) -> None:
    before = ks.read(snapshot(tmp_path / "before.json", [(0, 100, "model")], []))
    assert isinstance(before, ks.MemorySnapshot)
    with pytest.raises(TypeError, match="expected two traces, two jobs or two memory snapshots"):
        ks.diff(before, cuda)  # type: ignore[call-overload] - sides of two sorts
    with pytest.raises(TypeError, match="expected no selection"):
        ks.diff(before, before, iteration=1)  # type: ignore[call-overload] - snapshots have no iterations
