"""Storages of a pass, and the tensors in them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, final

from kinetoscope.replaying.operators.plain_call import KeptResult, KeptResults
from kinetoscope.replaying.operators.storage import EXTERNAL, Placed, StoragePlan
from kinetoscope.replaying.operators.value import TensorValue

if TYPE_CHECKING:
    from kinetoscope.replaying.operators.machine import Machine


@final
class LiveStorages:
    """Tensors of a pass by slot.

    Each storage has a slot for any tensor in it, whose number is that of its life. Each layout that
    operators use has a further one. Slots are numbered before the first pass, so that a pass looks
    up nothing.
    """

    def __init__(self, machine: Machine, plan: StoragePlan) -> None:
        self._machine, self._plan = machine, plan
        self.held: list[Any] = [None] * len(plan.lives)
        """Tensors by slot; None where there is none now."""
        self._passing = [number for number, life in enumerate(plan.lives) if life.born != EXTERNAL]
        self._slots_of = [[number] for number in range(len(plan.lives))]
        self._layouts: dict[int, Placed] = {}
        self._slots: dict[tuple[int, TensorValue], int] = {}
        self._num_bytes: dict[int, int] = {}
        self.live_bytes = 0
        self.peak_bytes = 0
        """Peak until `end_counting`."""
        self._is_counting = True

    def slot(self, placed: Placed) -> int:
        """Returns the slot of a layout.

        A tensor stays itself if its strides are unknown, or if it may be the conjugate of another.
        """
        value = placed.value
        is_itself = value.is_assumed or value.dtype.startswith("complex")
        key = placed.life, value if is_itself else value._replace(tensor_id=0)
        found = self._slots.get(key)
        if found is None:
            found = self._slots[key] = len(self.held)
            self._layouts[found] = placed
            self._slots_of[placed.life].append(found)
            self.held.append(None)
        return found

    def make_external(self) -> None:
        """Makes the storages that exist before the first operator.

        Those that the last pass changed get new values.
        """
        for number, life in enumerate(self._plan.lives):
            if life.born != EXTERNAL:
                continue
            if self.held[number] is None:
                self._make(number)
            elif life.is_written:
                self._machine.fill(self.held[number].untyped_storage(), life.first, life.range)

    def tensor(self, slot: int) -> Any:
        """Returns the tensor of a slot."""
        found = self.held[slot]
        if found is None:
            found = self.held[slot] = self.own_tensor(slot)
        return found

    def own_tensor(self, slot: int) -> Any:
        """Returns a tensor like that of a slot, which nothing else uses."""
        placed = self._layouts[slot]
        holder = self.held[placed.life]
        if holder is not None and holder.untyped_storage().nbytes() < placed.value.num_bytes:
            self._free(placed.life)
            holder = None
        holder = self._make(placed.life) if holder is None else holder
        return self._machine.tensor(holder.untyped_storage(), placed.value)

    def _make(self, number: int) -> Any:
        life = self._plan.lives[number]
        found = self._machine.storage(life.num_bytes, life.first, life.range)
        self._hold(number, found)
        return found

    def _hold(self, number: int, tensor: Any) -> None:
        self.held[number] = tensor
        if not self._is_counting:
            return
        self._num_bytes[number] = tensor.untyped_storage().nbytes()
        self.live_bytes += self._num_bytes[number]
        self.peak_bytes = max(self.peak_bytes, self.live_bytes)

    def keep(self, slot: int, made: Any, given: Collection[int], *, is_born: bool) -> bool:
        """Takes a result of a new or a live storage. Returns whether it is as recorded.

        An argument in its slot, one of `given`, stays there: it may be more than an alias.
        """
        machine, placed = self._machine, self._layouts[slot]
        if not isinstance(made, machine.torch.Tensor) or not machine.has_layout(made, placed.value):
            return False
        if is_born and self.held[placed.life] is None:
            self._hold(placed.life, made)
            self.held[slot] = made
            life = self._plan.lives[placed.life]
            if life.lacks_values:
                machine.fill(made.untyped_storage(), life.first, life.range)
        elif slot not in given and self._is_in(placed.life, made):
            self.held[slot] = made
        return True

    def constant(self, value: Any) -> int:
        """Returns a slot that always has a value."""
        self.held.append(value)
        return len(self.held) - 1

    def slots_of(self, lives: Sequence[int]) -> tuple[int, ...]:
        """Returns all slots of storages."""
        return tuple(slot for number in lives for slot in self._slots_of[number])

    def kept(self, slots: Sequence[int], made: Any, given: Collection[int]) -> KeptResults | None:
        """Returns how `keep` kept results; None if it left some out.

        Nothing is to keep if all of them are arguments, in the slots `given`.
        """
        held, results = self.held, self._machine.results(made)
        pairs = list(zip(slots, results, strict=False))
        if all(slot in given for slot, _ in pairs):
            return KeptResults(None, ())
        if any(held[slot] is not result for slot, result in pairs):
            return None
        several = tuple(self._kept(slot, result) for slot, result in pairs)
        is_single = len(several) == len(results) == 1 and results[0] is made
        return KeptResults(several[0], ()) if is_single else KeptResults(None, several)

    def _kept(self, slot: int, result: Any) -> KeptResult:
        holder = self._layouts[slot].life
        return KeptResult(tuple(result.shape), slot, holder if self.held[holder] is result else slot)

    def _is_in(self, number: int, made: Any) -> bool:
        own = self.held[number]
        return own is not None and own.untyped_storage().data_ptr() == made.untyped_storage().data_ptr()

    def forget(self, lives: Sequence[int]) -> None:
        """Drops the layouts of storages whose size changed: they may not fit any more."""
        for number in lives:
            for slot in self._slots_of[number][1:]:
                self.held[slot] = None

    def free(self, lives: Sequence[int]) -> None:
        """Frees storages."""
        for number in lives:
            self._free(number)

    def _free(self, number: int) -> None:
        held = self.held
        for slot in self._slots_of[number]:
            held[slot] = None
        self.live_bytes -= self._num_bytes.pop(number, 0)

    def end_counting(self) -> None:
        """Stops to count bytes: plain calls keep and free without a word to this class."""
        self._is_counting = False

    def end_pass(self) -> None:
        """Frees all that a pass made."""
        for number in self._passing:
            if self.held[number] is not None:
                self._free(number)
