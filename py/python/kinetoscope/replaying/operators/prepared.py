"""An operator that is ready to run: its arguments, and the slots that it takes and fills."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from kinetoscope.replaying.operators.argument_maker import ArgumentMaker, Arguments, TensorKinds, is_number
from kinetoscope.replaying.operators.autocast import autocast_type, low_types
from kinetoscope.replaying.operators.index_range import IndexRange
from kinetoscope.replaying.operators.mask_range import value_ranges
from kinetoscope.replaying.operators.plain_call import KeptResults, PlainCall
from kinetoscope.replaying.operators.storage import Placed, UnitPlaces
from kinetoscope.replaying.operators.unit import Unit
from kinetoscope.replaying.operators.value import RefusedValueError, tensors

if TYPE_CHECKING:
    from kinetoscope.replaying.operators.live_storages import LiveStorages
    from kinetoscope.replaying.operators.machine import Machine

Operator = Callable[..., Any]


class PreparedUnit:
    """A unit with its operator. `reason` says why it does not run."""

    def __init__(
        self, machine: Machine, storages: LiveStorages, unit: Unit, places: UnitPlaces, operator: Operator | None
    ) -> None:
        self.unit = unit
        self.places = places
        self.reason = unit.reason
        self.operator: Operator | None = operator
        self.ranges = {} if unit.call is None else value_ranges(unit.call)
        self.fits_always: set[tuple[int, int]] = set()
        """Values that do not fit by themselves, so that each pass changes them."""
        self.saved: dict[int, Any] = {}
        """Saved values of arguments, by place among their tensors."""
        self.slots = [storages.slot(placed) for placed in places.inputs]
        self.result_slots = [storages.slot(placed) for placed in places.outputs]
        self._missing: tuple[int, ...] = ()
        self._loses_arguments = False
        """Whether making one argument empties the slot of another, as its storage is too small."""
        self.kept: KeptResults | None = None
        """How a pass kept the results; None until all were as recorded."""
        self.autocast = None if unit.call is None else autocast_type(unit.call)
        """Type of the autocast that the operator was recorded above."""
        self._changes_layout = _changed(unit)
        self._machine, self._storages = machine, storages
        self._has_numbers = False
        self._maker: ArgumentMaker | None = None
        if unit.can_run and operator is None and unit.call is not None and unit.call.signature is not None:
            try:
                self.operator = machine.operator(unit.call.signature)
            except RefusedValueError as error:
                self.reason = str(error)

    @property
    def can_run(self) -> bool:
        """Whether it runs."""
        return not self.reason and self.operator is not None

    @property
    def lives(self) -> list[int]:
        """Lives of the storages that it takes and makes."""
        return [placed.life for placed in (*self.places.inputs, *self.places.outputs)]

    @property
    def resizes(self) -> bool:
        """Whether it changes the sizes of its storages."""
        return bool(self._changes_layout) or "resize_" in self.unit.name

    @property
    def shapes_arguments(self) -> bool:
        """Whether it gives arguments the shape of a result, as those of `out=`."""
        parameters = [each.parameter for each in self.unit.call.arguments] if self.unit.call else []
        return any(each is not None and each.is_keyword and each.is_written for each in parameters)

    def context(self) -> Any:
        """Returns the context in which it runs: that of the recorded autocast."""
        if self.autocast is None:
            return nullcontext()
        devices = [placed.value.device for placed in self.places.inputs]
        return self._machine.autocast(next((each for each in devices if each != "cpu"), "cpu"), self.autocast)

    def ways(self) -> list[tuple[bool, str | None]]:
        """Returns ways to run it, for `choose`, until results have their types."""
        inputs = [placed.value for placed in self.places.inputs]
        low = low_types(self.unit.call) if self.unit.call is not None and self.unit.call.signature and inputs else []
        numbers = [(True, self.autocast)] if any(map(is_number, inputs)) else []
        return [(False, self.autocast), *numbers, *((False, each) for each in low if each != self.autocast)]

    def choose(self, way: tuple[bool, str | None]) -> None:
        """Chooses a way: whether tensors without dimensions are numbers, and the type of autocast.

        Numbers of Python do not set the type of a result.
        """
        self._has_numbers, self.autocast = way
        self._maker = None

    def arguments(self) -> Arguments:
        """Returns positional and named arguments with the tensors of this moment."""
        return self._argument_maker().arguments()

    def first_arguments(self) -> Arguments:
        """Returns the arguments of a call, and notes which slots no operator before has filled."""
        held = self._storages.held
        before = {slot: held[slot] for slot in self.slots}
        found = self.arguments()
        self._missing = tuple(slot for slot, kept in before.items() if kept is None)
        lost = (kept is not None and held[slot] is not kept for slot, kept in before.items())
        self._loses_arguments = any(lost) or any(held[slot] is None for slot in self.slots)
        return found

    def plain_call(self, freed: tuple[int, ...]) -> PlainCall | None:
        """Returns a call without other work around it; None if this unit needs some."""
        needs_work = self.saved or self.fits_always or self.autocast or self._loses_arguments
        if self.operator is None or self.kept is None or needs_work:
            return None
        held, maker = self._storages.held, self._argument_maker()
        missing = tuple(slot for slot in self._missing if held[slot] is None)  # others stay filled
        arguments = maker.plain()
        operator = self._machine.direct(self.operator)
        return arguments and PlainCall(operator, missing, arguments, self.kept, freed)

    def _argument_maker(self) -> ArgumentMaker:
        if self._maker is None:
            call = self.unit.call
            kinds = TensorKinds(self._changes_layout, self._has_numbers)
            arguments = call.arguments if call else ()
            self._maker = ArgumentMaker(self._machine, self._storages, arguments, self.slots, kinds)
        return self._maker

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


def _changed(unit: Unit) -> frozenset[int]:
    """Returns tensors whose shape or storage the operator changes, such as `resize_`."""
    given = {value.tensor_id: value for value in unit.inputs}
    made = {value.tensor_id: value for value in unit.outputs}
    return frozenset(each for each in made if each in given and given[each] != made[each])
