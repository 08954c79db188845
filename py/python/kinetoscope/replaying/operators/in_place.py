"""Operators that change their inputs, so that each call of a benchmark needs new ones."""

from __future__ import annotations

import re

from kinetoscope.replaying.operators.call import OperatorCall
from kinetoscope.replaying.operators.value import OpaqueValue, RefusedValueError

_IN_PLACE = re.compile(r".*[^_]_|__i[a-z]+__")
"""Names of operators that change their first argument, by the convention of torch."""
_MAX_COPIED_BYTES = 1 << 30


def writes(call: OperatorCall) -> bool:
    """Whether an operator changes an argument. Without a signature, its name tells it."""
    if call.signature is None:
        return _IN_PLACE.fullmatch(call.name.partition("::")[2]) is not None
    return any(each.parameter is not None and each.parameter.is_written for each in call.arguments)


def needs_copies(call: OperatorCall) -> bool:
    """Whether each call gets copies of the inputs: it changes them, and copies fit into the memory.

    Raises RefusedValueError if they do not fit, and the call changes more than values.
    """
    if not writes(call) or any(isinstance(each.value, OpaqueValue) for each in call.arguments):
        return False
    fits = sum(each.num_bytes for each in call.inputs) <= _MAX_COPIED_BYTES
    if not fits and _changes_layout(call):
        raise RefusedValueError(f"it changes the shape of inputs of more than {_MAX_COPIED_BYTES >> 30} GiB")
    return fits


def _changes_layout(call: OperatorCall) -> bool:
    given = {each.tensor_id: each for each in call.inputs}
    return any(each.tensor_id in given and given[each.tensor_id] != each for each in call.outputs)
