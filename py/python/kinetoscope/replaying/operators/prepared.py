"""An operator that is ready to run: its arguments, and the storages that it takes and makes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from kinetoscope.replaying.operators.autocast import autocast_type, low_types
from kinetoscope.replaying.operators.index_range import IndexRange
from kinetoscope.replaying.operators.mask_range import value_ranges
from kinetoscope.replaying.operators.storage import EXTERNAL, Placed, StoragePlan, UnitPlaces
from kinetoscope.replaying.operators.unit import Unit
from kinetoscope.replaying.operators.value import RefusedValueError, TensorValue, Value, tensors

if TYPE_CHECKING:
    from kinetoscope.replaying.operators.machine import Machine

Operator = Callable[..., Any]


class PreparedUnit:
    """A unit with its operator. `reason` says why it does not run."""

    def __init__(self, machine: Machine, unit: Unit, places: UnitPlaces, operator: Operator | None) -> None:
        self.unit = unit
        self.places = places
        self.reason = unit.reason
        self.operator: Operator | None = operator
        self.ranges = {} if unit.call is None else value_ranges(unit.call)
        self.fits_always: set[tuple[int, int]] = set()
        """Values that do not fit by themselves, so that each pass changes them."""
        self.saved: dict[int, Any] = {}
        """Saved values of arguments, by place among their tensors."""
        self.has_numbers = False
        """Whether tensors without dimensions are numbers of Python, which do not set the type."""
        self.autocast = None if unit.call is None else autocast_type(unit.call)
        """Type of the autocast that the operator was recorded above."""
        self._changes_layout = _changed(unit)
        self._machine = machine
        if unit.can_run and operator is None and unit.call is not None and unit.call.signature is not None:
            try:
                self.operator = machine.operator(unit.call.signature)
            except RefusedValueError as error:
                self.reason = str(error)

    @property
    def can_run(self) -> bool:
        """Whether it runs."""
        return not self.reason and self.operator is not None

    def context(self) -> Any:
        """Returns the context in which it runs: that of the recorded autocast."""
        if self.autocast is None:
            return nullcontext()
        devices = [placed.value.device for placed in self.places.inputs]
        return self._machine.autocast(next((each for each in devices if each != "cpu"), "cpu"), self.autocast)

    def ways(self) -> list[tuple[bool, str | None]]:
        """Returns values of `has_numbers` and `autocast` to try, until results have their types."""
        inputs = [placed.value for placed in self.places.inputs]
        low = low_types(self.unit.call) if self.unit.call is not None and self.unit.call.signature and inputs else []
        numbers = [(True, self.autocast)] if any(map(is_number, inputs)) else []
        return [(False, self.autocast), *numbers, *((False, each) for each in low if each != self.autocast)]

    def arguments(self, source: TensorSource) -> tuple[list[Any], dict[str, Any]]:
        """Returns positional and named arguments with the tensors of this moment."""
        given: list[Any] = []
        named: dict[str, Any] = {}
        places = iter(self.places.inputs)
        call = self.unit.call
        for argument in call.arguments if call else ():
            value = self._made(argument.value, places, source, argument.parameter)
            if argument.parameter is not None and argument.parameter.is_keyword:
                named[argument.parameter.name] = value
            else:
                given.append(value)
        return given, named

    def _made(self, value: Value, places: Any, source: TensorSource, parameter: Any) -> Any:
        if isinstance(value, TensorValue):
            placed = next(places)
            if self.has_numbers and is_number(value):
                return source(placed, False).item()
            return source(placed, placed.value.tensor_id in self._changes_layout)
        if isinstance(value, list) and any(isinstance(item, (TensorValue, list)) for item in value):
            return [self._made(item, places, source, None) for item in value]
        return self._machine.constant(value, parameter)

    def place_of(self, key: tuple[int, int]) -> Placed:
        """Returns the place of a tensor, by that of its argument, and that in its list or -1."""
        arguments = self.unit.call.arguments if self.unit.call else ()
        before = len(list(tensors([each.value for each in arguments[: key[0]]])))
        value = arguments[key[0]].value
        inside = len(list(tensors(value[: key[1]]))) if isinstance(value, list) else 0
        return self.places.inputs[before + inside]

    def indices(self, given: Sequence[Any], named: Mapping[str, Any]) -> list[tuple[tuple[int, int], Any, IndexRange]]:
        """Returns the tensors that select, with their ranges."""
        call = self.unit.call
        found: list[tuple[tuple[int, int], Any, IndexRange]] = []
        for key, known in self.ranges.items():
            parameter = call.arguments[key[0]].parameter if call else None
            is_named = parameter is not None and parameter.is_keyword
            value = named[parameter.name] if parameter is not None and is_named else given[key[0]]
            value = value[key[1]] if isinstance(value, list) and key[1] >= 0 else value
            if value is not None:
                found.append((key, value, known))
        return found


TensorSource = Callable[[Placed, bool], Any]
"""Returns the tensor for a place; the flag asks for one of its own."""


def is_number(value: TensorValue) -> bool:
    """Whether a tensor may be a number of Python, which torch records as a tensor."""
    return not value.shape and value.device == "cpu" and value.dtype in {"float64", "int64", "bool"}


def _key(value: TensorValue) -> TensorValue:
    """Returns the layout of a tensor. One whose strides are unknown stays itself."""
    return value if value.is_assumed else value._replace(tensor_id=0)


def _changed(unit: Unit) -> frozenset[int]:
    """Returns tensors whose shape or storage the operator changes, such as `resize_`."""
    given = {value.tensor_id: value for value in unit.inputs}
    made = {value.tensor_id: value for value in unit.outputs}
    return frozenset(each for each in made if each in given and given[each] != made[each])


class Storages:
    """The storages of a pass, and tensors in them."""

    def __init__(self, machine: Machine, plan: StoragePlan) -> None:
        self._machine, self._plan = machine, plan
        self._storages: dict[int, Any] = {}
        self._tensors: dict[int, dict[TensorValue, Any]] = {}
        self.live_bytes = 0
        self.peak_bytes = 0

    def make_external(self) -> None:
        """Makes the storages that exist before the first operator.

        Those that the last pass changed get new values.
        """
        for number, life in enumerate(self._plan.lives):
            if life.born != EXTERNAL:
                continue
            if number not in self._storages:
                self._make(number)
            elif life.is_written:
                self._machine.fill(self._storages[number], life.first, life.range)

    def _make(self, number: int) -> Any:
        life = self._plan.lives[number]
        found = self._machine.storage(life.num_bytes, life.first, life.range)
        self._keep(number, found)
        return found

    def _keep(self, number: int, storage: Any) -> None:
        self._storages[number] = storage
        self._tensors[number] = {}
        self.live_bytes += storage.nbytes()
        self.peak_bytes = max(self.peak_bytes, self.live_bytes)

    def tensor(self, placed: Placed, is_own: bool = False) -> Any:  # noqa: FBT001, FBT002 - the flag of a TensorSource
        """Returns the tensor for a place; `is_own` for one that nothing else uses."""
        key = _key(placed.value)
        kept = self._tensors.get(placed.life, {}).get(key)
        if kept is not None and placed.value.is_assumed and not is_own:
            return kept
        storage = self._storages.get(placed.life)
        if storage is None:
            storage = self._make(placed.life)
        elif storage.nbytes() < placed.value.num_bytes:
            self.free([placed.life])
            storage = self._make(placed.life)
        known = self._tensors[placed.life]
        found = None if is_own else known.get(key)
        if found is None:
            found = self._machine.tensor(storage, placed.value)
            if not is_own:
                known[key] = found
        return found

    def keep(self, placed: Placed, made: Any, at: int) -> bool:
        """Takes a result of the unit `at`. Returns whether it is as recorded."""
        machine = self._machine
        if not isinstance(made, machine.torch.Tensor) or not machine.has_layout(made, placed.value):
            return False
        life, storage = self._plan.lives[placed.life], made.untyped_storage()
        if life.born == at and placed.life not in self._storages:
            self._keep(placed.life, storage)
            if life.lacks_values:
                machine.fill(storage, life.first, life.range)
            self._tensors[placed.life][_key(placed.value)] = made
        elif placed.value.is_assumed and self._is_in(placed.life, storage):
            self._tensors[placed.life][_key(placed.value)] = made
        return True

    def _is_in(self, number: int, storage: Any) -> bool:
        own = self._storages.get(number)
        return own is not None and own.data_ptr() == storage.data_ptr()

    def stand_in(self, places: Sequence[Placed]) -> None:
        """Makes storages for results of an operator that did not run."""
        for placed in places:
            self.tensor(placed)

    def free(self, numbers: Sequence[int]) -> None:
        """Frees storages."""
        for number in numbers:
            storage = self._storages.pop(number, None)
            self._tensors.pop(number, None)
            if storage is not None:
                self.live_bytes -= storage.nbytes()

    def end_pass(self) -> None:
        """Frees all that a pass made."""
        self.free([number for number in self._storages if self._plan.lives[number].born != EXTERNAL])
