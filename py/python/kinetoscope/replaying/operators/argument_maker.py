"""Arguments of an operator, made anew in each pass from the tensors of that moment."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, final

from kinetoscope.replaying.operators.call import Argument
from kinetoscope.replaying.operators.plain_call import PlainArguments
from kinetoscope.replaying.operators.schema import Parameter
from kinetoscope.replaying.operators.value import TensorValue, Value

if TYPE_CHECKING:
    from kinetoscope.replaying.operators.live_storages import LiveStorages
    from kinetoscope.replaying.operators.machine import Machine

Arguments = tuple[list[Any], dict[str, Any]]
"""Positional and named arguments."""


class TensorKinds(NamedTuple):
    """Tensors among arguments that are not simply those of their slots."""

    own: Collection[int]
    """Ids of tensors that the operator itself changes, so that nothing else may use them."""
    has_numbers: bool
    """Whether tensors without dimensions are numbers of Python."""


class _Source(NamedTuple):
    """Where an argument comes from: the tensor of a slot, a function, or a constant."""

    slot: int | None
    make: Callable[[], Any] | None
    constant: Any = None


@final
class ArgumentMaker:
    """Makes the arguments of a call. All that is equal in each pass is computed once."""

    def __init__(
        self,
        machine: Machine,
        storages: LiveStorages,
        arguments: Sequence[Argument],
        slots: Sequence[int],
        kinds: TensorKinds,
    ) -> None:
        """`slots` has those of the tensors, in the order of the arguments."""
        self._machine, self._storages, self._kinds = machine, storages, kinds
        self._given: list[Any] = []
        self._named: dict[str, Any] = {}
        self._from_slots: list[tuple[int, int]] = []
        """Places of tensors among the positional arguments, and their slots."""
        self._made: list[tuple[int, Callable[[], Any]]] = []
        self._made_named: list[tuple[str, Callable[[], Any]]] = []
        self._named_slots: list[tuple[str, int]] = []
        rest = iter(slots)
        for value, parameter in arguments:
            found = self._source(value, rest, parameter)
            if parameter is not None and parameter.is_keyword:
                self._add_named(parameter.name, found)
            else:
                self._add(found)

    def _add(self, found: _Source) -> None:
        place = len(self._given)
        self._given.append(found.constant)
        if found.slot is not None:
            self._from_slots.append((place, found.slot))
        elif found.make is not None:
            self._made.append((place, found.make))

    def _add_named(self, name: str, found: _Source) -> None:
        self._named[name] = found.constant
        if found.slot is not None:
            self._named_slots.append((name, found.slot))
        elif found.make is not None:
            self._made_named.append((name, found.make))

    def _source(self, value: Value, slots: Iterator[int], parameter: Parameter | None) -> _Source:
        if isinstance(value, TensorValue):
            slot = next(slots)
            if self._kinds.has_numbers and is_number(value):
                return _Source(None, lambda: self._storages.tensor(slot).item())
            is_own = value.tensor_id in self._kinds.own
            return _Source(None, partial(self._storages.own_tensor, slot)) if is_own else _Source(slot, None)
        if isinstance(value, list) and any(isinstance(item, (TensorValue, list)) for item in value):
            return self._list_source([self._source(item, slots, None) for item in value])
        return _Source(None, None, self._machine.constant(value, parameter))

    def _list_source(self, items: Sequence[_Source]) -> _Source:
        slots = [item.slot for item in items if item.slot is not None]
        if len(slots) == len(items):
            return _Source(None, lambda: [self._storages.tensor(slot) for slot in slots])
        return _Source(None, lambda: [self._value(item) for item in items])

    def _value(self, found: _Source) -> Any:
        if found.slot is not None:
            return self._storages.tensor(found.slot)
        return found.constant if found.make is None else found.make()

    def arguments(self) -> Arguments:
        """Returns positional and named arguments with the tensors of this moment."""
        given, named = self._given.copy(), self._named
        held = self._storages.held
        for place, slot in self._from_slots:
            found = held[slot]
            given[place] = self._storages.tensor(slot) if found is None else found
        for place, make in self._made:
            given[place] = make()
        if self._made_named or self._named_slots:
            tensors = {name: self._storages.tensor(slot) for name, slot in self._named_slots}
            named = {**named, **tensors, **{name: make() for name, make in self._made_named}}
        return given, named

    def plain(self) -> PlainArguments | None:
        """Returns arguments that only need tensors of slots; None if named ones need more."""
        if self._made_named:
            return None
        return PlainArguments(self._getter(), self._named, tuple(self._named_slots))

    def _getter(self) -> Callable[[list[Any]], Sequence[Any]]:
        if self._made:
            return lambda _: self.arguments()[0]
        places = dict(self._from_slots)
        slots = [places[at] if at in places else self._storages.constant(value) for at, value in enumerate(self._given)]
        if len(slots) > 1:
            return itemgetter(*slots)
        first = slots[0] if slots else 0
        return itemgetter(slice(first, first + len(slots)))


def is_number(value: TensorValue) -> bool:
    """Whether a tensor may be a number of Python, which torch records as a tensor."""
    return not value.shape and value.device == "cpu" and value.dtype in {"float64", "int64", "bool"}
