"""Benchmarks of recorded operators: `Trace.benchmark` and `kinetoscope bench`."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinetoscope.replaying.operators.allowed import refusal
from kinetoscope.replaying.operators.call import (
    COLUMNS,
    EVENT_COLUMNS,
    OperatorCall,
    event_call,
    node_call,
    unrecorded_places,
)
from kinetoscope.replaying.operators.communication_command import communicates, communication_reason
from kinetoscope.replaying.operators.index_rules import needs_place
from kinetoscope.replaying.operators.kernel import kernel_script
from kinetoscope.replaying.operators.recorded import RecordedOperator, chosen
from kinetoscope.replaying.operators.script import ScriptFacts, script
from kinetoscope.replaying.operators.value import RefusedValueError, TensorValue

if TYPE_CHECKING:
    from kinetoscope.trace import Trace


class Benchmark:
    """A script that measures one recorded operator. Returned by `Trace.benchmark`.

    The script needs torch only, and has at most 80 lines, beside the source of a generated kernel.
    It makes inputs with the recorded shapes, types, strides, offsets and shared storages. It
    prints the recorded, the measured and the roofline time. Its head lists the facts that no trace
    records, such as values.
    """

    def __init__(self, text: str, recorded: RecordedOperator) -> None:
        self.text = text
        """Python code."""
        self.name = recorded.name
        """Name of the operator, such as `aten::bmm`."""
        self.shapes = recorded.shapes
        """Shapes of the arguments, as JSON."""
        self.num_calls = recorded.num_calls
        """Number of recorded calls with these shapes and types, without observed iterations.

        Those count where no other iteration has such a call.
        """
        self.recorded_ns = recorded.mean_ns
        """Mean recorded time of these calls; None if the trace has no times."""
        self.roofline_ns = recorded.roofline_ns
        """Shortest possible time on the recorded device; None if unknown."""

    @property
    def file_name(self) -> str:
        """A file name for the script, such as `aten_bmm.py`."""
        return f"{re.sub(r'[^A-Za-z0-9]+', '_', self.name).strip('_')[:80] or 'operator'}.py"

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the script; returns its path. Raises OSError if the file cannot be written."""
        from kinetoscope._io.atomic import write_bytes

        return write_bytes(path, self.text.encode())

    def __repr__(self) -> str:
        return self.text


def benchmark(
    trace: Trace,
    event_id: int | None = None,
    *,
    node_id: int | None = None,
    name: str | None = None,
    shapes: Sequence[Any] | None = None,
    namespaces: Sequence[str] = (),
) -> Benchmark:
    """Implements `Trace.benchmark`."""
    return of_recorded(trace, chosen(trace, event_id, node_id, name, shapes), namespaces)


def of_recorded(trace: Trace, recorded: RecordedOperator, namespaces: Sequence[str] = ()) -> Benchmark:
    """Writes the benchmark of an operator. Raises RefusedValueError if its call cannot be made."""
    source = os.path.basename(trace.execution_source or trace.source or "a trace")  # noqa: PTH119 - a path or a URL
    if communicates(recorded.name):
        raise RefusedValueError(communication_reason(trace, recorded.name, recorded.node_id))
    facts = ScriptFacts(
        source,
        recorded.mean_ns,
        recorded.is_device_time,
        recorded.num_calls,
        recorded.roofline_ns,
        recorded.bound,
        recorded.device_name,
        _observed(recorded),
    )
    row = _row(trace.nodes, ("kernel_backend", "kernel_file", *COLUMNS), "node_id", recorded.node_id)
    if row is not None and row[0] == "triton":
        return Benchmark(kernel_script(trace, row[1], row[2:], facts), recorded)
    call, unknown = _call(trace, recorded, None if row is None else row[2:])
    if reason := refusal(call.name, call.signature, frozenset(namespaces)):
        raise RefusedValueError(reason)
    return Benchmark(script(call, facts._replace(notes=[*unknown, *facts.notes])), recorded)


def _observed(recorded: RecordedOperator) -> list[str]:
    """Tells whether the recorded time is too long."""
    is_slowed = recorded.is_observed and not recorded.is_device_time and recorded.total_ns
    return ["the time without the observer of the Execution Trace: RECORDED_NS is longer"] if is_slowed else []


def _call(trace: Trace, recorded: RecordedOperator, node: Sequence[Any] | None) -> tuple[OperatorCall, list[str]]:
    """Returns the call of an operator, and what the trace does not know of it."""
    if node is not None and node[2]:
        return node_call(node), []
    event = _row(trace.events, EVENT_COLUMNS, "id", recorded.event_id)
    if event is None:
        raise RefusedValueError("neither shapes nor a signature are recorded")
    found = event_call(event, "cuda:0" if recorded.is_device_time else "cpu")
    missing = unrecorded_places(event)
    if needs_place(found.name, missing):
        raise RefusedValueError("its arguments are not recorded: record an Execution Trace (execution_trace)")
    if event[EVENT_COLUMNS.index("input_strides")] and any(
        isinstance(each.value, TensorValue) and each.value.is_assumed for each in found.arguments
    ):
        raise RefusedValueError("no strides are recorded (sparse, nested or functorch)")
    places = ", ".join(str(place + 1) for place in missing)
    return found, [f"values of the arguments {places} of {len(found.arguments)}: defaults here"] if missing else []


def _row(table: Any, columns: Sequence[str], key: str, wanted: int | None) -> Sequence[Any] | None:
    if wanted is None:
        return None
    keys = [key] if key not in columns else []
    rows = table.select(*keys, *columns).rows()
    at = 0 if keys else columns.index(key)
    return next((row[len(keys) :] for row in rows if row[at] == wanted), None)
