"""Operators of a replay beside those of PARAM's `et_replay`: the same ones, in the same order."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import et_replay_nodes
import kinetoscope as ks
import pytest
from kinetoscope.replaying.operators.unit import UnitChoice, units

GOLDEN: dict[str, list[int]] = json.loads(et_replay_nodes.GOLDEN.read_text(encoding="utf-8"))
OWN = [name for name in GOLDEN if not name.startswith("facebook")]
NO_OPERATORS = ("gloo:", "nccl:", "Pregraph bytecode", "AOTDispatcher")
"""Begins of names that et_replay takes for operators: annotations of torch without a schema."""


def path_to_root(node: int, parents: dict[int, int | None]) -> Iterator[int]:
    """The node, and those around it."""
    at: int | None = node
    seen: set[int] = set()
    while at is not None and at not in seen:
        yield at
        seen.add(at)
        at = parents.get(at)


def assert_same_operators(path: Path, theirs: list[int]) -> None:
    trace = ks.read(path)
    rows = trace.nodes.select("node_id", "parent_id", "name").rows()
    parents, names = {row[0]: row[1] for row in rows}, {row[0]: row[2] for row in rows}
    ours = [unit.node_id for unit in units(trace, UnitChoice())]
    own, operators = set(ours), [node for node in theirs if not names[node].startswith(NO_OPERATORS)]
    wanted = set(operators)
    # A composed operator is replayed by its parts; a part may be inside of an operator that runs as a whole.
    of_theirs = [next((at for at in path_to_root(unit, parents) if at in wanted), None) for unit in ours]
    of_ours = {node: next((at for at in path_to_root(node, parents) if at in own), None) for node in operators}
    reached = {node for node in of_theirs if node is not None}
    missing = [names[node] for node in operators if node not in reached and of_ours[node] is None]
    assert missing == []
    order = [node for node in of_theirs if node is not None]
    assert order == sorted(order), "et_replay sorts by id"


@pytest.mark.parametrize("name", OWN)
def test_recordings_of_here(data: Path, name: str) -> None:
    assert len(GOLDEN[name]) > 10
    assert_same_operators(data / name, GOLDEN[name])


@pytest.mark.shared
@pytest.mark.parametrize("name", [name for name in GOLDEN if name not in OWN])
def test_traces_of_param(shared: Path, name: str) -> None:
    assert_same_operators(shared / name, GOLDEN[name])
