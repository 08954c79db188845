"""An operator that is ready to run: its arguments, and the storages that it takes and makes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from kinetoscope.replaying.operators.index_range import IndexRange, index_ranges
from kinetoscope.replaying.operators.storage import EXTERNAL, Placed, StoragePlan, UnitPlaces
from kinetoscope.replaying.operators.unit import Unit
from kinetoscope.replaying.operators.value import RefusedValueError, TensorValue, Value

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
        self.ranges = {} if unit.call is None else index_ranges(unit.call)
        self.fits_always: set[tuple[int, int]] = set()
        """Indices that do not fit by themselves, so that each pass changes them."""
        self.saved: dict[int, Any] = {}
        """Saved values of arguments, by place among their tensors."""
        self.has_numbers = False
        """Whether tensors without dimensions are numbers of Python, which do not set the type."""
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

    def arguments(self, tensors: TensorSource) -> tuple[list[Any], dict[str, Any]]:
        """Returns positional and named arguments with the tensors of this moment."""
        given: list[Any] = []
        named: dict[str, Any] = {}
        places = iter(self.places.inputs)
        call = self.unit.call
        for argument in call.arguments if call else ():
            value = self._made(argument.value, places, tensors, argument.parameter)
            if argument.parameter is not None and argument.parameter.is_keyword:
                named[argument.parameter.name] = value
            else:
                given.append(value)
        return given, named

    def _made(self, value: Value, places: Any, tensors: TensorSource, parameter: Any) -> Any:
        if isinstance(value, TensorValue):
            placed = next(places)
            if self.has_numbers and is_number(value):
                return tensors(placed, False).item()
            return tensors(placed, placed.value.tensor_id in self._changes_layout)
        if isinstance(value, list) and any(isinstance(item, (TensorValue, list)) for item in value):
            return [self._made(item, places, tensors, None) for item in value]
        return self._machine.constant(value, parameter)

    def indices(self, given: Sequence[Any]) -> list[tuple[tuple[int, int], Any, IndexRange]]:
        """Returns the tensors that select, with their ranges."""
        found: list[tuple[tuple[int, int], Any, IndexRange]] = []
        for key, known in self.ranges.items():
            value = given[key[0]] if key[0] < len(given) else None
            value = value[key[1]] if isinstance(value, list) and key[1] >= 0 else value
            if value is not None:
                found.append((key, value, known))
        return found


TensorSource = Callable[[Placed, bool], Any]
"""Returns the tensor for a place; the flag asks for one of its own."""


def is_number(value: TensorValue) -> bool:
    """Whether a tensor may be a number of Python, which torch records as a tensor."""
    return not value.shape and value.device == "cpu" and value.dtype in {"float64", "int64", "bool"}


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
        """Makes the storages that exist before the first operator."""
        for number, life in enumerate(self._plan.lives):
            if life.born == EXTERNAL and number not in self._storages:
                self._make(number)

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
        storage = self._storages.get(placed.life)
        if storage is None:
            storage = self._make(placed.life)
        elif storage.nbytes() < placed.value.num_bytes:
            self.free([placed.life])
            storage = self._make(placed.life)
        known = self._tensors[placed.life]
        key = placed.value._replace(tensor_id=0)
        found = None if is_own else known.get(key)
        if found is None:
            found = self._machine.tensor(storage, placed.value)
            if not is_own:
                known[key] = found
        return found

    def keep(self, placed: Placed, made: Any, at: int) -> bool:
        """Takes a result of the unit `at`. Returns whether it is as recorded."""
        machine = self._machine
        is_tensor = isinstance(made, machine.torch.Tensor)
        fits = is_tensor and machine.has_layout(made, placed.value)
        if self._plan.lives[placed.life].born == at and placed.life not in self._storages and fits:
            self._keep(placed.life, made.untyped_storage())
            self._tensors[placed.life][placed.value._replace(tensor_id=0)] = made
        return bool(fits)

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
