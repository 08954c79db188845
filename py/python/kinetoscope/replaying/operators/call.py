"""Calls of operators, as an Execution Trace or a Kineto trace records them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from kinetoscope.replaying.operators.literal import torch_name
from kinetoscope.replaying.operators.schema import Parameter, Signature, qualified, signature
from kinetoscope.replaying.operators.value import (
    OpaqueValue,
    RefusedValueError,
    TensorValue,
    Value,
    node_values,
    tensor,
    tensors,
)

COLUMNS = (
    *("node_id", "name", "schema", "inputs", "input_types", "input_shapes", "input_strides"),
    *("outputs", "output_types", "output_shapes", "output_strides"),
)
"""Columns of `trace.nodes` that a call is made of."""
EVENT_COLUMNS = ("name", "input_shapes", "input_types", "input_strides", "concrete_inputs")
"""Columns of `trace.events` that a call is made of."""


class Argument(NamedTuple):
    """A recorded argument with its parameter; None where no signature is recorded."""

    value: Value
    parameter: Parameter | None


class OperatorCall(NamedTuple):
    """A recorded call of an operator."""

    name: str
    """Name with namespace, such as `aten::bmm`."""
    signature: Signature | None
    arguments: tuple[Argument, ...]
    results: tuple[Value, ...]
    node_id: int | None = None

    @property
    def inputs(self) -> list[TensorValue]:
        """Tensors among the arguments."""
        return list(tensors([argument.value for argument in self.arguments]))

    @property
    def outputs(self) -> list[TensorValue]:
        """Tensors among the results."""
        return list(tensors(self.results))

    def value_of(self, name: str) -> Value:
        """Returns the argument for a parameter; None if there is none."""
        found = (each.value for each in self.arguments if each.parameter and each.parameter.name == name)
        return next(found, None)


def node_call(row: Sequence[Any]) -> OperatorCall:
    """Returns the call of a node with `COLUMNS`.

    Raises RefusedValueError if it cannot be made again.
    """
    node_id, name, schema, inputs, types, shapes, strides, *results = row
    if not schema:
        raise RefusedValueError("no signature is recorded")
    found = signature(schema)
    values = node_values(inputs, types, shapes, strides)
    outputs = node_values(*(results[at] for at in (0, 1, 2, 3)))
    if found.qualified != name:
        raise RefusedValueError("name and signature of the operator differ")
    if len(values) > len(found.parameters):
        raise RefusedValueError("more arguments than the signature has")
    arguments = [
        Argument(_checked(value, known), known) for value, known in zip(values, found.parameters, strict=False)
    ]
    if any(not known.has_default for known in found.parameters[len(values) :]):
        raise RefusedValueError("fewer arguments than the signature has")
    return OperatorCall(found.qualified, found, tuple(arguments), tuple(outputs), node_id)


def _checked(value: Value, parameter: Parameter) -> Value:
    """Refuses values that no trace records or no replay makes.

    Generator and stream are those of the device.
    """
    torch_name(value, parameter)
    if isinstance(value, OpaqueValue):
        if parameter.type == "Stream":
            return value
        if parameter.type in {"Generator?", "Generator"}:
            return None
        raise RefusedValueError(f"the argument {parameter.name} is not recorded ({value.kind})")
    if isinstance(value, list) and any(isinstance(item, OpaqueValue) for item in value):
        raise RefusedValueError(f"the argument {parameter.name} is not recorded")
    return value


# --- events of a Kineto trace ---------------------------------------------------------------------


def event_call(row: Sequence[Any], device: str) -> OperatorCall:
    """Returns the call of an event with `EVENT_COLUMNS`, which records no signature and no device.

    Raises RefusedValueError if the event has no shapes or cannot be made again.
    """
    name, shapes, types, strides, concrete = row
    if qualified(name) is None:
        raise RefusedValueError("the event is not an operator")
    if not types:
        raise RefusedValueError("no shapes are recorded: record with record_shapes=True")
    listed = [json.loads(text) if text else [] for text in (types, shapes, strides, concrete)]
    columns = [_filled(each, len(listed[0])) for each in listed]
    rows = zip(*columns, strict=True)
    values = [
        _event_value(kind, shape, stride, concrete, place, device)
        for place, (kind, shape, stride, concrete) in enumerate(rows)
    ]
    return OperatorCall(name, None, tuple(Argument(value, None) for value in values), ())


def unrecorded_places(row: Sequence[Any]) -> list[int]:
    """Returns the places of arguments that an event (`EVENT_COLUMNS`) has without type and value.

    Such an argument is a text, a list of tensors, a list with gaps, or none.
    """
    types, concrete = (json.loads(row[at]) if row[at] else [] for at in (2, 4))
    values = _filled(concrete, len(types))
    return [place for place, (kind, text) in enumerate(zip(types, values, strict=True)) if not kind and not text]


def _filled(found: list[Any], length: int) -> list[Any]:
    return [*found, *[None] * (length - len(found))][:length]


def _event_value(kind: Any, shape: Any, stride: Any, concrete: Any, place: int, device: str) -> Value:
    if kind == "TensorList":
        items = enumerate(shape or [])
        steps = stride if isinstance(stride, list) else []
        return [
            tensor("float", size, steps[at] if at < len(steps) else None, device, storage_id=_own(place, at))
            for at, size in items
        ]
    if kind in {"Scalar", "ScalarList", "", "GenericList", None}:
        return _literal(concrete)
    return tensor(str(kind), shape, stride, device, storage_id=_own(place, 0))


def _own(place: int, at: int) -> int:
    """Returns the number of a storage: events record none, so that each tensor has its own."""
    return (place << 20) + at + 1


def _literal(text: Any) -> Value:
    """Parses `False`, `-1`, `0.5` or `[1, 2]`; an empty text is a value that is not recorded."""
    if not isinstance(text, str) or not text:
        return None
    words = {"True": True, "False": False, "None": None, "inf": float("inf"), "-inf": float("-inf")}
    if text in words:
        return words[text]
    try:
        plain = re.sub(r"(\d)\.(?!\d)", r"\1.0", text)  # torch writes 1. for a float, which is not JSON
        found = json.loads(plain.replace("True", "true").replace("False", "false"))
    except (ValueError, RecursionError):
        raise RefusedValueError("an argument is not a number or a list of numbers") from None
    items = found if isinstance(found, list) else [found]
    if not all(isinstance(item, (int, float)) for item in items):
        raise RefusedValueError("an argument is not a number or a list of numbers")
    return found
