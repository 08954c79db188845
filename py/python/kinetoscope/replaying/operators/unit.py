"""Recorded operators in the order of a replay, and those that cannot run with their reasons."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from kinetoscope.replaying.operators.allowed import refusal
from kinetoscope.replaying.operators.call import COLUMNS, Argument, OperatorCall, node_call
from kinetoscope.replaying.operators.composite import is_composite
from kinetoscope.replaying.operators.node_tree import above_themselves
from kinetoscope.replaying.operators.schema import Signature, qualified, signature
from kinetoscope.replaying.operators.value import (
    RefusedValueError,
    TensorValue,
    Value,
    node_values,
    tensors,
)

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

_COLUMNS = (
    *("parent_id", "kind", "thread", "event_id", "dur_ns", "device_ns", "device_self_ns"),
    *("kernel_backend", "kernel_file", "attrs"),
    *COLUMNS,
)
_MAX_COMPOSITES = 32
"""Maximum depth of composite operators: torch nests a few."""
_COMMUNICATION = ("c10d::", "_c10d_functional::", "c10d_functional::", "record_param_comms")


NOT_ALLOWED = "running stored sources is not allowed (kernel_sources)"
"""Why generated kernels do not run by default."""


class UnitKind:
    """Kinds of units."""

    OPERATOR = "operator"
    KERNEL = "kernel"
    COMMUNICATION = "communication"


class Unit(NamedTuple):
    """An operator that runs as a whole; operators below it run inside of it."""

    node_id: int
    name: str
    kind: str
    thread: int | None
    call: OperatorCall | None
    """None if its arguments cannot be made again."""
    reason: str
    """Why it does not run; empty if it does."""
    results: tuple[Value, ...]
    temporaries: tuple[TensorValue, ...]
    """Results of the operators below it."""
    event_id: int | None
    dur_ns: int | None
    device_ns: int | None
    kernel_file: str | None = None
    recorded_ranges: Mapping[int, int] | None = None
    """Largest values of tensors of whole numbers, by place among the tensors, if recorded."""
    skipped_inside: frozenset[str] = frozenset()
    """Names to leave out that operators inside of a left out one have."""

    @property
    def names(self) -> frozenset[str]:
        """Names that leave it or its parts out."""
        return self.skipped_inside | {self.name}

    @property
    def can_run(self) -> bool:
        """Whether nothing is known that keeps it from running."""
        return not self.reason

    @property
    def outputs(self) -> list[TensorValue]:
        """Tensors among the results."""
        return list(tensors(self.results))

    @property
    def inputs(self) -> list[TensorValue]:
        """Tensors among the arguments; none if they are not readable."""
        return [] if self.call is None else self.call.inputs


class UnitChoice(NamedTuple):
    """Selection of the operators of a replay."""

    mode: str = "full"
    subgraph: str | None = None
    node_id: int | None = None
    skip: tuple[str, ...] = ()
    namespaces: frozenset[str] = frozenset()
    runs_kernels: bool = False


class _Tree:
    """Nodes of an Execution Trace by parent, in the order in which they started."""

    def __init__(self, trace: Trace) -> None:
        rows = trace.nodes.select(*_COLUMNS).rows()
        self.rows: dict[int, dict[str, Any]] = {}
        for row in rows:
            node = dict(zip(_COLUMNS, row, strict=True))
            self.rows[node["node_id"]] = node
        self.children: dict[int | None, list[int]] = {}
        self._results: dict[int, list[TensorValue]] = {}
        circles = above_themselves({node_id: node["parent_id"] for node_id, node in self.rows.items()})
        for node_id in sorted(self.rows):
            parent = self.rows[node_id]["parent_id"]
            known = parent in self.rows and parent != node_id and node_id not in circles
            self.children.setdefault(parent if known else None, []).append(node_id)

    def results(self, node: dict[str, Any]) -> list[TensorValue]:
        """Returns the tensors among the results of a node."""
        node_id = node["node_id"]
        if node_id not in self._results:
            self._results[node_id] = list(tensors(_values(node, "output")))
        return self._results[node_id]

    def below(self, node_id: int) -> Iterator[dict[str, Any]]:
        """Yields the nodes below a node, in order. A node that is its own ancestor comes once."""
        seen = {node_id}
        open_ids = list(reversed(self.children.get(node_id, [])))
        while open_ids:
            found = open_ids.pop()
            if found in seen:
                continue
            seen.add(found)
            yield self.rows[found]
            open_ids.extend(reversed(self.children.get(found, [])))


def is_communication(name: str) -> bool:
    """Whether an operator communicates with other ranks."""
    return name.startswith(_COMMUNICATION)


def units(trace: Trace, choice: UnitChoice) -> list[Unit]:
    """Returns the operators of a trace that run as a whole, in the order in which they started.

    Operators that torch composes of others are replaced by those. Raises ValueError if the trace
    has no Execution Trace, or lacks the chosen part.
    """
    tree = _Tree(trace)
    if not tree.rows:
        raise ValueError("expected an Execution Trace, found none: record with execution_trace, or name it with et=")
    found: list[Unit] = []
    seen: set[int] = set()
    open_ids = [(node_id, 0) for node_id in reversed(_roots(tree, choice))]
    while open_ids:
        node_id, depth = open_ids.pop()
        if node_id in seen:
            continue
        seen.add(node_id)
        node = tree.rows[node_id]
        unit = _unit(tree, node, choice, depth)
        if unit is None:
            depth += bool(node["schema"])
            open_ids.extend((child, depth) for child in reversed(tree.children.get(node_id, [])))
        else:
            found.append(unit)
    return sorted(found, key=lambda unit: unit.node_id)


def _roots(tree: _Tree, choice: UnitChoice) -> list[int]:
    if choice.node_id is not None:
        if choice.node_id not in tree.rows:
            raise ValueError(f"expected the id of a node, found {choice.node_id}")
        return [choice.node_id]
    if choice.subgraph is not None:
        named = [node_id for node_id in sorted(tree.rows) if tree.rows[node_id]["name"] == choice.subgraph]
        if not named:
            raise ValueError(f"expected the name of a recorded annotation, found {choice.subgraph}")
        return named
    return tree.children.get(None, [])


def _unit(tree: _Tree, node: dict[str, Any], choice: UnitChoice, depth: int) -> Unit | None:
    """Returns the unit that a node is; None if the nodes below it are looked at instead.

    `depth` is the number of composite operators around it.
    """
    name = node["name"] or ""
    if is_communication(name):
        return _made(tree, node, UnitKind.COMMUNICATION, _recorded_call(node), _communication_reason(choice))
    if node["kernel_backend"] == "triton":
        reason = "" if choice.runs_kernels else NOT_ALLOWED
        return _kernel(tree, node, _skipped(name, choice) or reason)
    if not node["schema"] or qualified(name) is None:
        return None
    try:
        known = signature(node["schema"])
    except RefusedValueError as error:
        return _made(tree, node, UnitKind.OPERATOR, None, str(error))
    is_split = name not in choice.skip and depth < _MAX_COMPOSITES and is_composite(known)
    if is_split and _is_explained(tree, node):
        return None
    return _operator(tree, node, known, choice)


def _operator(tree: _Tree, node: dict[str, Any], known: Signature, choice: UnitChoice) -> Unit:
    try:
        call = node_call([node[column] for column in COLUMNS])
    except RefusedValueError as error:
        return _made(tree, node, UnitKind.OPERATOR, None, str(error))
    reason = _skipped(node["name"], choice) or refusal(call.name, known, choice.namespaces) or ""
    if choice.mode == "comms":
        reason = "only communications run"
    unit = _made(tree, node, UnitKind.OPERATOR, call, reason)
    if node["name"] not in choice.skip:
        return unit
    inside = {each["name"] for each in tree.below(node["node_id"])}
    return unit._replace(skipped_inside=frozenset(inside.intersection(choice.skip)))


def _kernel(tree: _Tree, node: dict[str, Any], reason: str) -> Unit:
    """Returns a generated kernel, with all of its recorded arguments."""
    call = _recorded_call(node)
    reason = reason if call.inputs else "the launch of the kernel is not recorded"
    return _made(tree, node, UnitKind.KERNEL, call, reason)


def _recorded_call(node: dict[str, Any]) -> OperatorCall:
    """Returns a call with all recorded arguments, and without a signature."""
    values = _values(node, "input")
    return OperatorCall(node["name"], None, tuple(Argument(value, None) for value in values), (), node["node_id"])


def _communication_reason(choice: UnitChoice) -> str:
    return "communications are left out (mode)" if choice.mode == "compute" else ""


def _skipped(name: str, choice: UnitChoice) -> str:
    return "left out (skip)" if name in choice.skip else ""


def _is_explained(tree: _Tree, node: dict[str, Any]) -> bool:
    """Whether the operators below a composite one are recorded, and make all of its results.

    They do not do its work if it launches some itself, as `aten::_fused_rms_norm` does.
    """
    if node["device_self_ns"]:
        return False
    operators = [each for each in tree.below(node["node_id"]) if each["schema"] or each["kernel_backend"]]
    if not operators:
        return False
    made = {found.tensor_id for each in operators for found in tree.results(each)}
    given = {found.tensor_id for found in tensors(_values(node, "input"))}
    return all(found.tensor_id in made or found.tensor_id in given for found in tree.results(node))


def _made(tree: _Tree, node: dict[str, Any], kind: str, call: OperatorCall | None, reason: str) -> Unit:
    temporaries = [found for each in tree.below(node["node_id"]) for found in tree.results(each)]
    return Unit(
        node["node_id"],
        node["name"] or "",
        kind,
        node["thread"],
        call,
        reason,
        tuple(_values(node, "output")),
        tuple(temporaries),
        node["event_id"],
        node["dur_ns"],
        node["device_ns"],
        node["kernel_file"],
        _ranges(node["attrs"]),
    )


def _ranges(attrs: str | None) -> dict[int, int] | None:
    """Parses `tensor_range`: the smallest and the largest value by the place of a tensor."""
    try:
        found = json.loads(json.loads(attrs or "{}").get("tensor_range") or "{}")
        return {int(place): int(high) for place, (low, high) in found.items() if 0 <= int(low) <= int(high)} or None
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None


def _values(node: dict[str, Any], role: str) -> Sequence[Value]:
    """Returns the values of a node that are readable."""
    try:
        return node_values(
            *(node[column] or "" for column in (f"{role}s", f"{role}_types", f"{role}_shapes", f"{role}_strides"))
        )
    except RefusedValueError:
        return []
