"""Storages of a replay: which tensors share one, from when to when it lives, and memory needed.

A trace numbers storages by address, so that a number comes again after the memory was freed. A
result in a storage that no argument has starts a new life of its number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinetoscope.replaying.operators.index_range import IndexRange
from kinetoscope.replaying.operators.mask_range import value_ranges
from kinetoscope.replaying.operators.sizes import excess_bytes
from kinetoscope.replaying.operators.uninitialized import is_overwritten, is_uninitialized
from kinetoscope.replaying.operators.unit import Unit
from kinetoscope.replaying.operators.value import TensorValue, Value, tensors

EXTERNAL = -1
"""Birth of a storage that exists before the first operator, such as a parameter."""


class StorageLife:
    """A storage from its first use to its last."""

    def __init__(self, born: int, first: TensorValue) -> None:
        self.born = born
        """Index of the unit whose result it is, or EXTERNAL."""
        self.first = first
        self.last_use = born
        self.num_bytes = 0
        self.is_reborn = False
        """Whether its number comes again, so that it was freed."""
        self.range: IndexRange | None = None
        """Valid values if operators select with it."""
        self.is_written = False
        """Whether operators change its values, so that a pass leaves others than it found."""
        self.lacks_values = False
        """Whether it is made without values, such as by `aten::empty`, and read like that."""

    def use(self, unit: int, value: TensorValue) -> None:
        """Notes a use by a unit."""
        self.last_use = max(self.last_use, unit)
        self.num_bytes = max(self.num_bytes, value.num_bytes)

    @property
    def is_freed(self) -> bool:
        """Whether it is freed after its last use; external ones live on unless they come again."""
        return self.born != EXTERNAL or self.is_reborn


class Placed(NamedTuple):
    """A tensor in a life of its storage."""

    value: TensorValue
    life: int


class UnitPlaces(NamedTuple):
    """Tensors of a unit, in the order of its arguments and of its results."""

    inputs: list[Placed]
    outputs: list[Placed]


class StoragePlan(NamedTuple):
    """All storages of a replay."""

    lives: list[StorageLife]
    places: list[UnitPlaces]
    freed_after: dict[int, list[int]]
    """Lives that end with a unit, by its index."""
    external_bytes: dict[str, int]
    """Bytes by device before the first unit."""
    peak_bytes: dict[str, int]
    """Largest sum of live storages by device: external ones, and results."""


class _Planner:
    def __init__(self) -> None:
        self.lives: list[StorageLife] = []
        self._current: dict[tuple[int, int, str], int] = {}

    def given(self, at: int, value: TensorValue) -> Placed:
        """Places an argument. A storage that nothing made is external."""
        life = self._current.get(_key(value))
        if life is None:
            life = self._new(EXTERNAL, value)
        self.lives[life].use(at, value)
        return Placed(value, life)

    def made(self, at: int, value: TensorValue, own: frozenset[tuple[int, int, str]]) -> Placed:
        """Places a result: in the storage of an argument, or in a new one."""
        key = _key(value)
        life = self._current.get(key)
        is_new = life is None or (key not in own and self.lives[life].born != at)
        if is_new and life is not None:
            self.lives[life].is_reborn = True
        if is_new or life is None:
            life = self._new(at, value)
        self.lives[life].use(at, value)
        return Placed(value, life)

    def _new(self, born: int, value: TensorValue) -> int:
        self.lives.append(StorageLife(born, value))
        self._current[_key(value)] = len(self.lives) - 1
        return len(self.lives) - 1


def _key(value: TensorValue) -> tuple[int, int, str]:
    """Empty storages have no address, so that they share a number; each tensor has its own."""
    own = value.tensor_id if value.num_bytes == 0 else 0
    return value.storage_id, own, value.device


def storage_plan(units: Sequence[Unit]) -> StoragePlan:
    """Plans the storages of units. Does not look at their contents."""
    planner = _Planner()
    places: list[UnitPlaces] = []
    for at, unit in enumerate(units):
        inputs = [planner.given(at, value) for value in unit.inputs]
        own = frozenset(_key(each.value) for each in inputs)
        outputs = [planner.made(at, value, own) for value in unit.outputs]
        places.append(UnitPlaces(inputs, outputs))
    _note_ranges(units, places, planner.lives)
    _note_changes(units, places, planner.lives)
    freed: dict[int, list[int]] = {}
    for number, life in enumerate(planner.lives):
        if life.is_freed:
            freed.setdefault(life.last_use, []).append(number)
    external, peak = _memory(units, planner.lives, freed)
    return StoragePlan(planner.lives, places, freed, external, peak)


def _memory(
    units: Sequence[Unit], lives: Sequence[StorageLife], freed: dict[int, list[int]]
) -> tuple[dict[str, int], dict[str, int]]:
    live: dict[str, int] = {}
    for life in lives:
        if life.born == EXTERNAL:
            live[life.first.device] = live.get(life.first.device, 0) + life.num_bytes
    external, peak = dict(live), dict(live)
    born: dict[int, list[StorageLife]] = {}
    for life in lives:
        born.setdefault(life.born, []).append(life)
    for at, unit in enumerate(units):
        for life in born.get(at, []):
            live[life.first.device] = live.get(life.first.device, 0) + life.num_bytes
        for device, num_bytes in live.items():
            peak[device] = max(peak.get(device, 0), num_bytes + _temporary_bytes(unit, device))
        for number in freed.get(at, []):
            live[lives[number].first.device] -= lives[number].num_bytes
    return external, peak


def _temporary_bytes(unit: Unit, device: str) -> int:
    """Returns the largest storage that only exists inside of a unit, and what its sizes ask for."""
    own = {value.storage_id for value in (*unit.inputs, *unit.outputs)}
    inner = (value for value in unit.temporaries if value.storage_id not in own and value.device == device)
    asked = 0 if unit.call is None or not unit.can_run else excess_bytes(unit.call)
    is_here = device in {value.device for value in (*unit.outputs, *unit.inputs)} or not (unit.outputs or unit.inputs)
    return max((value.num_bytes for value in inner), default=0) + (asked if is_here else 0)


# --- values ---------------------------------------------------------------------------------------


def _note_changes(units: Sequence[Unit], places: Sequence[UnitPlaces], lives: Sequence[StorageLife]) -> None:
    """Notes storages that operators write, and those that are read before they have values."""
    is_open: set[int] = set()
    for at, (unit, own) in enumerate(zip(units, places, strict=True)):
        written = _written(unit, own.inputs)
        for each in written:
            lives[each.life].is_written = True
        made = {each.life for each in own.outputs}
        for each in own.inputs:
            is_view = each.life in made and not written
            if each.life in is_open and not is_view:
                is_open.discard(each.life)
                lives[each.life].lacks_values = not is_overwritten(unit.call, each.value, lives[each.life].num_bytes)
        if is_uninitialized(unit.call):
            is_open.update(life for life in made if lives[life].born == at)


def _written(unit: Unit, inputs: Sequence[Placed]) -> list[Placed]:
    """Returns the arguments that a unit may write: without a signature, all."""
    if unit.call is None or unit.call.signature is None:
        return list(inputs)
    flags = [
        argument.parameter is not None and argument.parameter.is_written
        for argument in unit.call.arguments
        for _ in tensors([argument.value])
    ]
    return [each for each, is_written in zip(inputs, flags, strict=True) if is_written]


def _note_ranges(units: Sequence[Unit], places: Sequence[UnitPlaces], lives: Sequence[StorageLife]) -> None:
    """Gives each storage of whole numbers or masks the range that all operators after it accept.

    Goes backwards: the whole numbers that an index is made of have its range.
    """
    for at in range(len(units) - 1, -1, -1):
        call = units[at].call
        if call is None:
            continue
        known = value_ranges(call)
        direct = {id(_at(call.arguments[key[0]].value, key[1])): found for key, found in known.items()}
        made = [each for each in places[at].outputs if lives[each.life].born == at]
        passed = next((each for each in made if lives[each.life].range is not None), None)
        recorded = units[at].recorded_ranges or {}
        for place, each in enumerate(places[at].inputs):
            if each.value.is_integer and place in recorded:
                _narrow(lives[each.life], IndexRange(recorded[place] + 1))
            found = direct.get(id(each.value))
            if found is None and passed is not None:
                found = _passed(lives[passed.life].range, passed.value, each.value)
            if found is not None:
                _narrow(lives[each.life], found)


def _passed(found: IndexRange | None, made: TensorValue, given: TensorValue) -> IndexRange | None:
    """Returns the range of an argument, from that of a result. Values that depend stay together."""
    if found is None or not (given.is_integer or given.dtype == made.dtype == "bool"):
        return None
    if not found.is_exact or given.num_elems == made.num_elems:
        return found
    return IndexRange(found.end, low=found.low) if given.is_integer else None


def _at(value: Value, at: int) -> Value:
    return value[at] if isinstance(value, list) and at >= 0 else value


def _narrow(life: StorageLife, found: IndexRange) -> None:
    """Takes a narrower range. Values that depend on each other come before others."""
    known = life.range
    if known is None or (not known.is_exact, known.end) > (not found.is_exact, found.end):
        life.range = found
