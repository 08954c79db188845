"""Plan of a rank: its recorded communications, read by the core."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from kinetoscope import _native
from kinetoscope._base import text
from kinetoscope.replaying.message import SUPPORTED, Group, Message, canonical
from kinetoscope.table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kinetoscope.replaying.options import Options
    from kinetoscope.trace import Trace

_ELEMENT_BYTES = 1
_MOST_PARTS = 1 << 20
_COLUMNS = (
    *("node_id", "collective", "wait_of", "batch", "group_name", "ranks", "group_size", "root_place", "peer_place"),
    *("tag", "dtype", "elem_bytes", "in_elems", "out_elems", "in_split", "out_split", "reduction", "is_async"),
    *("seq", "start_ns", "dur_ns"),
)


class Step(NamedTuple):
    """A communication, or a wait for the communication at index `wait_of`."""

    message: Message | None
    wait_of: int | None = None
    batch: int | None = None
    is_async: bool | None = None
    start_ns: int | None = None
    dur_ns: int | None = None
    seq: int | None = None
    """Sequence number in its group, if recorded."""
    node_id: int | None = None
    """Node of the Execution Trace."""
    recorded: Message | None = None
    """The recorded message, if the replay changes its sizes."""


class Plan(NamedTuple):
    """Steps of a rank, in order."""

    steps: list[Step]
    groups: list[Group]
    size: int
    """Number of recorded ranks that this trace mentions."""
    is_cut: bool
    """Whether `max_msg_cnt` cut the plan."""
    notes: list[str]


def plan_of(trace: Trace, options: Options, num_ranks: int) -> Plan:
    """Returns the plan of a trace for a replay by ranks below `num_ranks`.

    Raises ValueError for a message with invalid sizes or above `max_msg_bytes`.
    """
    table, num_left_out = _native.replay_plan(trace._native)  # noqa: SLF001 - the core reads it
    groups = _groups(trace, num_ranks)
    steps, is_cut, dropped = _steps(Table(table).select(*_COLUMNS), groups, options, num_ranks)
    notes = [f"{text.plural(num_left_out, 'communication')} without a name not replayed"] if num_left_out else []
    notes += [f"{number} × {name} not replayed: {why}" for (name, why), number in sorted(dropped.items())]
    return Plan(steps, list(groups.values()), max((group.size for group in groups.values()), default=1), is_cut, notes)


def _groups(trace: Trace, num_ranks: int) -> dict[str, Group]:
    """Returns the groups of a trace by name; prefers rows with known ranks."""
    found: dict[str, Group] = {}
    rows = trace.process_groups.select("group_name", "ranks", "group_size").rows()
    for name, ranks, size in sorted(rows, key=lambda row: row[1] in {None, "", "[]"}):
        group = _group(name or "", ranks, size, num_ranks)
        if group is not None:
            found.setdefault(group.name, group)
    return found


def _group(name: str, ranks: str | None, size: int | None, num_ranks: int) -> Group | None:
    """Creates a group without ranks that do not replay: a file may claim any number of ranks."""
    listed = json.loads(ranks) if ranks else []
    if listed and all(isinstance(rank, int) for rank in listed):
        members = sorted({rank for rank in listed if 0 <= rank < num_ranks})
        return Group(name, len(listed), tuple(members))
    return Group(name, size, tuple(range(min(size, num_ranks)))) if size and size > 0 else None


def _steps(
    table: Table, groups: Mapping[str, Group], options: Options, num_ranks: int
) -> tuple[list[Step], bool, dict[tuple[str, str], int]]:
    """Returns steps, whether `max_msg_cnt` cut them, and skipped steps by name and reason."""
    steps: list[Step] = []
    places: dict[int, int] = {}
    seen: dict[Message, Message] = {}
    dropped: Counter[tuple[str, str]] = Counter()
    num_messages = 0
    for at, values in enumerate(table.rows()):
        row = dict(zip(_COLUMNS, values, strict=True))
        name = canonical(row["collective"])
        if name == "wait":
            if row["wait_of"] in places:
                steps.append(Step(None, places[row["wait_of"]], node_id=row["node_id"]))
            continue
        if row["collective"] not in SUPPORTED:
            dropped[name, "not supported"] += 1
            continue
        if options.allow_ops is not None and not {name, row["collective"]} & set(options.allow_ops):
            continue
        if num_messages == options.max_msg_cnt:
            return steps, True, dropped
        message = _message(row, groups, options, num_ranks)
        if not message.is_whole:
            dropped[name, "its tensors are not recorded, as for a failed call"] += 1
            continue
        num_messages += 1
        places[at] = len(steps)
        _expect_size(message, row["node_id"], options.max_msg_bytes)
        message = seen.setdefault(message, message)
        times = (row["start_ns"], row["dur_ns"])
        steps.append(Step(message, None, row["batch"], row["is_async"], *times, row["seq"], row["node_id"]))
    return steps, False, dropped


def _tag(row: Mapping[str, Any], options: Options) -> int | None:
    """Returns the tag, or None for NCCL, which ignores tags and whose traces name groups."""
    return None if row["group_name"] or options.backend_name == "nccl" else row["tag"]


def _message(row: Mapping[str, Any], groups: Mapping[str, Group], options: Options, num_ranks: int) -> Message:
    own = None if row["group_name"] is None else _group(row["group_name"], row["ranks"], row["group_size"], num_ranks)
    group = groups.get(row["group_name"] or "") if row["group_name"] else None
    sizes = (_numbers(row[column]) for column in ("in_elems", "out_elems", "in_split", "out_split"))
    in_elems, out_elems, in_split, out_split = sizes
    return Message(
        canonical(row["collective"]),
        group or own,
        row["root_place"],
        row["peer_place"],
        row["dtype"] or "float",
        row["elem_bytes"] or _ELEMENT_BYTES,
        in_elems,
        out_elems,
        in_split,
        out_split,
        row["reduction"],
        _tag(row, options),
    )


def _numbers(listed: str | None) -> tuple[int, ...]:
    return tuple(json.loads(listed)) if listed else ()


def _expect_size(message: Message, node: int | None, max_bytes: int) -> None:
    where = f"{message.collective} (node {node})"
    numbers = [*message.in_elems, *message.out_elems, *message.in_split, *message.out_split, message.elem_bytes]
    if min(numbers) < 0 or len(numbers) > _MOST_PARTS:
        raise ValueError(f"expected valid sizes of a message, found negative or too many ones in {where}")
    if max(message.in_bytes, message.out_bytes) > max_bytes:
        size = max(message.in_bytes, message.out_bytes)
        raise ValueError(
            f"expected messages of {max_bytes:,} bytes at most, found {size:,} in {where}: "
            "raise max_msg_bytes (--max-msg-bytes)"
        )
