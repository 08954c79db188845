"""The command that replays one recorded communication, for which there is no script."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kinetoscope import _native
from kinetoscope.replaying.message import SUPPORTED, canonical, named
from kinetoscope.table import Table

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

_PREFIXES = ("c10d::", "_c10d_functional::", "c10d_functional::", "record_param_comms", "gloo:", "nccl:")
_MAX_DEPTH = 8
"""Nodes between an operator and its communication: c10d calls record_param_comms."""


class _Planned(NamedTuple):
    """A communication of the plan of `replay-comms`."""

    node_id: int | None
    collective: str
    group: str | None


def communicates(name: str) -> bool:
    """Whether an operator or an annotation is a communication."""
    return name.startswith(_PREFIXES)


def communication_reason(trace: Trace, name: str, node_id: int | None) -> str:
    """Returns why a communication has no script, with the command that replays it."""
    table, _ = _native.replay_plan(trace._native)  # noqa: SLF001 - the core reads it
    rows = Table(table).select("node_id", "collective", "group_name").rows()
    planned = [_Planned(node, canonical(each), group) for node, each, group in rows if each in SUPPORTED]
    at = _place(trace, planned, name, node_id)
    if at is None:
        return f"it communicates: replay all communications with {_command(trace, None, [])}"
    collective = planned[at].collective
    count = sum(each.collective == collective for each in planned[: at + 1])
    which = "it" if count == 1 else f"it as the last one of {count:,}"
    chosen = ["--allow-ops", collective, "--max-msg-cnt", str(count)]
    return f"it communicates: replay {which} with {_command(trace, planned[at].group, chosen)}"


def _command(trace: Trace, group: str | None, chosen: Sequence[str]) -> str:
    backend, size = _ranks(trace, group)
    folder = os.path.dirname(trace.execution_source or trace.source or "") or "."  # noqa: PTH120 - a path or a URL
    words = ["--trace-path", folder, *chosen, *(["--backend", "nccl"] if "nccl" in backend else [])]
    return f"torchrun --nproc-per-node {size} -m kinetoscope replay-comms {shlex.join(words)}"


def _place(trace: Trace, planned: Sequence[_Planned], name: str, node_id: int | None) -> int | None:
    """Returns the place of a communication in the plan: by its node, else by its name."""
    if node_id is not None:
        parents: dict[int, int | None] = dict(trace.nodes.select("node_id", "parent_id").rows())
        own = _lineage(parents, node_id)
        for at, each in enumerate(planned):
            if each.node_id is not None and (each.node_id in own or node_id in _lineage(parents, each.node_id)):
                return at
    try:
        wanted = named([name.rpartition(":")[2].strip("_")])[0]
    except ValueError:
        return None
    places = [at for at, each in enumerate(planned) if each.collective == wanted]
    before = [at for at in places if (planned[at].node_id or 0) < (node_id or 0)]  # gloo's threads follow their calls
    return next(iter([*before[-1:], *places]), None)


def _lineage(parents: Mapping[int, int | None], node_id: int) -> list[int]:
    """Returns a node and the nodes above it that may be parts of the same communication."""
    found = [node_id]
    while len(found) < _MAX_DEPTH and (parent := parents.get(found[-1])) is not None:
        found.append(parent)
    return found


def _ranks(trace: Trace, group: str | None) -> tuple[str, str]:
    """Returns the backend of a group, and the number of ranks that must run: those of all groups.

    The number is RANKS if the trace has no groups.
    """
    rows = trace.process_groups.select("group_name", "backend", "ranks", "group_size").rows()
    sizes = [max(size or 0, len(json.loads(ranks or "[]"))) for _, _, ranks, size in rows]
    backends = [backend for name, backend, _, _ in rows if backend and group in {None, name}]
    return next(iter(backends), ""), str(max(sizes, default=0) or "RANKS")
