"""Runs the operators of a trace in their order, and measures each."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple, final

from kinetoscope._base import text
from kinetoscope.replaying.operators.call import OperatorCall
from kinetoscope.replaying.operators.live_storages import LiveStorages
from kinetoscope.replaying.operators.plain_call import Marks, Others, PlainCall, run_pass
from kinetoscope.replaying.operators.prepared import PreparedUnit
from kinetoscope.replaying.operators.saved_values import SavedValues
from kinetoscope.replaying.operators.sizes import (
    has_large_number,
    layout_key,
    may_exceed,
    recorded_bytes,
    whole_bytes,
)
from kinetoscope.replaying.operators.storage import EXTERNAL, StoragePlan
from kinetoscope.replaying.operators.unit import Unit, UnitKind
from kinetoscope.replaying.operators.value import RefusedValueError

if TYPE_CHECKING:
    from kinetoscope.replaying.operators.machine import Machine
    from kinetoscope.replaying.operators.prepared import Operator
    from kinetoscope.replaying.operators.replaced import Replacements

ANNOTATION = "replay of node "
"""Begin of the annotation around each operator in the trace of a replay, before the node's id."""
_MAX_REASON = 200

Communicate = Callable[[Unit], None]


class EngineParts(NamedTuple):
    """Parts of a replay that the trace alone does not have."""

    kernels: Mapping[int, Operator]
    """Generated kernels by the id of their node."""
    saved: SavedValues
    replaced: Replacements
    communicate: Communicate | None
    """Runs the communications of a unit; None without other ranks."""
    memory_limit: int | None = None
    """Maximum bytes that an operator may take."""


@final
class Engine:
    """Passes over the operators of a rank."""

    def __init__(self, machine: Machine, units: Sequence[Unit], plan: StoragePlan, parts: EngineParts) -> None:
        self._machine, self._plan = machine, plan
        self._communicate, self._replaced = parts.communicate, parts.replaced
        self._memory_limit = parts.memory_limit
        self._known_bytes: dict[Hashable, int | None] = {}
        self._storages = LiveStorages(machine, plan)
        self.prepared = [
            PreparedUnit(machine, self._storages, unit, places, parts.kernels.get(unit.node_id))
            for unit, places in zip(units, plan.places, strict=True)
        ]
        self.calls: list[PlainCall | None] = []
        """Calls by the index of the unit, after `check`; None for units with other work."""
        self.mismatches: dict[int, int] = {}
        """Units with results of other shapes or strides than recorded."""
        self.other_types: dict[int, tuple[str, str]] = {}
        """Units with a result of another type than recorded: its type, and the recorded one."""
        for each in self.prepared:
            if each.unit.kind == UnitKind.COMMUNICATION and not each.reason and self._communicate is None:
                each.reason = "communications need a process per rank (torchrun)"
            elif each.unit.kind == UnitKind.KERNEL and not each.reason and each.operator is None:
                each.reason = "the source of the kernel is not beside the trace"

            each.saved = {
                place: machine.saved(each.places.inputs[place].value, content)
                for place, content in parts.saved.get(each.unit.node_id, {}).items()
            }
        self.step_ns = 0
        """Time of the last measured pass."""

    @property
    def peak_bytes(self) -> int:
        """Peak of the storages that this replay holds."""
        return self._storages.peak_bytes

    def make_inputs(self) -> None:
        """Makes parameters, inputs and all else that exists before the first operator.

        Call this before each pass: values that the last one changed would drift, out of their range
        or to infinity.
        """
        with self._machine.like_training():
            self._storages.make_external()

    def check(self) -> None:
        """Runs all once, and finds those that fail, and indices that do not fit."""
        with self._machine.like_training():
            for at, each in enumerate(self.prepared):
                self._step(at, each, self._checked)
            self._storages.end_pass()
        self._storages.end_counting()
        self.calls = self._plain_calls()

    def _plain_calls(self) -> list[PlainCall | None]:
        """Returns calls for units around which nothing else is to do."""
        resized = {placed.life for each in self.prepared if each.resizes for placed in each.places.inputs}
        return [
            self._plain_call(at, each) if resized.isdisjoint(each.lives) else None
            for at, each in enumerate(self.prepared)
        ]

    def _plain_call(self, at: int, each: PreparedUnit) -> PlainCall | None:
        lives = [self._plan.lives[placed.life] for placed in each.places.outputs]
        needs_values = any(life.lacks_values and life.born == at for life in lives)
        if not each.can_run or needs_values or self._replaced.function(each.unit.name):
            return None
        return each.plain_call(self._storages.slots_of(self._plan.freed_after.get(at, ())))

    def measured(self, *, is_annotated: bool = False) -> dict[int, int]:
        """Runs all once. Returns times in ns by the index of the unit."""
        machine = self._machine
        marks: Marks = {}

        def timed(at: int, each: PreparedUnit, operator: Operator, given: list[Any], named: dict[str, Any]) -> Any:
            name = f"{ANNOTATION}{each.unit.node_id}"
            with each.context(), machine.annotated(name) if is_annotated else nullcontext():
                begin = machine.mark()
                made = operator(*given, **named)
                marks[at] = (begin, machine.mark())
            return made

        def step(at: int) -> None:
            self._step(at, self.prepared[at], timed)

        calls = [None] * len(self.calls) if is_annotated else self.calls
        others = Others(step, self._storages.tensor, machine.results, self._take_other)
        begin = time.perf_counter_ns()
        with machine.like_training():
            marks |= run_pass(calls, self._storages.held, machine.mark, others)
            self._storages.end_pass()
        machine.finish()
        self.step_ns = time.perf_counter_ns() - begin
        return {at: machine.between_ns(*both) for at, both in marks.items()}

    def _take_other(self, at: int, made: Any, error: Exception | None) -> None:
        """Takes what a plain call did not keep."""
        if error is not None:
            self.prepared[at].reason = _reason(error)
            self.calls[at] = None
        self._take(at, self.prepared[at], made)

    def _step(self, at: int, each: PreparedUnit, run: Callable[..., Any]) -> None:
        made: Any = None
        if each.unit.kind == UnitKind.COMMUNICATION and not each.reason and self._communicate is not None:
            communicate = self._communicate
            run(at, each, lambda: communicate(each.unit), [], {})
        elif each.can_run and each.operator is not None:
            try:
                made = self._made(at, each, each.operator, run)
            except Exception as error:
                if self._replaced.function(each.unit.name):
                    raise
                each.reason = _reason(error)
        self._take(at, each, made)
        if each.resizes:
            self._storages.forget([placed.life for placed in each.places.inputs])
        self._storages.free(self._plan.freed_after.get(at, ()))

    def _made(self, at: int, each: PreparedUnit, operator: Operator, run: Callable[..., Any]) -> Any:
        """Runs an operator on its arguments of this moment."""
        with self._machine.unrecorded():
            for place, content in each.saved.items():
                self._storages.tensor(each.slots[place]).copy_(content)
            given, named = each.first_arguments()
            for key, value, known in each.indices(given, named):
                if key in each.fits_always:
                    self._machine.filling.fit(value, known)
        return run(at, each, self._replaced.function(each.unit.name) or operator, given, named)

    def _checked(
        self, _at: int, each: PreparedUnit, operator: Operator, given: list[Any], named: dict[str, Any]
    ) -> Any:
        if each.unit.kind == UnitKind.COMMUNICATION:
            return operator()
        self._expect_memory(each, given, named)
        self._fit(each, given, named)
        own = each.operator
        if own is None or operator is own:
            made = self._settled(each, operator, (given, named))
        else:
            with self._machine.unrecorded():
                self._settled(each, own, self._machine.copies((given, named)))
            with each.context():
                made = self._replaced.compare(each, own, each.arguments())
        self._machine.finish()
        return made

    def _expect_memory(self, each: PreparedUnit, given: list[Any], named: dict[str, Any]) -> None:
        """Refuses an operator that needs more than the trace tells, and than the limit leaves."""
        call, limit = each.unit.call, self._memory_limit
        if call is None or call.signature is None or each.operator is None or limit is None:
            return
        room = max(limit - self._storages.live_bytes, 0)
        needed = self._untold_bytes(call, each.operator, given, named) if may_exceed(call, room) else 0
        if needed is None or needed > room:
            found = "an unknown size" if needed is None else text.size(needed)
            raise RefusedValueError(f"expected results of {text.size(room)} at most, found {found}")
        copied = whole_bytes(call)
        if copied > room:
            raise RefusedValueError(
                f"expected an expanded input of {text.size(room)} at most, found {text.size(copied)}: it is copied"
            )

    def _untold_bytes(
        self, call: OperatorCall, operator: Operator, given: list[Any], named: dict[str, Any]
    ) -> int | None:
        """Returns the size of results if they are larger than recorded, else 0; None if unknown.

        Computes it once for equal layouts and numbers.
        """
        key = layout_key(call)
        if key not in self._known_bytes:
            self._known_bytes[key] = self._machine.result_bytes(operator, given, named)
        made = self._known_bytes[key]
        if made is None:
            return None if has_large_number(call) else 0
        return made if made > recorded_bytes(call) else 0

    def _fit(self, each: PreparedUnit, given: list[Any], named: dict[str, Any]) -> None:
        """Makes the values that select valid, and notes those that each pass must make valid.

        Those that operators compute may be valid now, and invalid in the next pass.
        """
        filling = self._machine.filling
        for key, value, known in each.indices(given, named):
            fits = filling.fits(value, known)
            if not fits:
                filling.fit(value, known)
            if not fits or (self._is_computed(each, key) and not known.is_exact):
                each.fits_always.add(key)

    def _is_computed(self, each: PreparedUnit, key: tuple[int, int]) -> bool:
        life = self._plan.lives[each.place_of(key).life]
        return life.born != EXTERNAL or life.is_written

    def _settled(self, each: PreparedUnit, operator: Operator, arguments: tuple[list[Any], dict[str, Any]]) -> Any:
        """Runs an operator, in other ways until its results have the recorded types.

        Tensors may have been numbers, and the operator may have been recorded above autocast.
        Returns the results of the first way that runs if none has those types.
        """
        outputs = [placed.value for placed in each.places.outputs]
        first: tuple[tuple[bool, str | None], Any] | None = None
        error: Exception | None = None
        for number, way in enumerate(each.ways()):
            each.choose(way)
            given, named = each.arguments() if number else arguments
            try:
                with each.context():
                    made = operator(*given, **named)
            except Exception as caught:  # noqa: BLE001 - torch raises any type; the first is raised below
                error = error or caught
                continue
            if self._machine.has_types(made, outputs):
                return made
            first = first or (way, made)
        if first is None:
            assert error is not None  # noqa: S101 - each way failed
            raise error
        each.choose(first[0])
        return first[1]

    def _take(self, at: int, each: PreparedUnit, made: Any) -> None:
        """Keeps results, and makes those that are missing or of other shapes."""
        storages, lives = self._storages, self._plan.lives
        results, outputs = self._machine.results(made), each.places.outputs
        if each.can_run and len(results) >= len(outputs):
            triples = list(zip(each.result_slots, outputs, results, strict=False))
            fits = [
                storages.keep(slot, result, each.slots, is_born=lives[placed.life].born == at)
                for slot, placed, result in triples
            ]
            other = next(
                (
                    (str(result.dtype), placed.value.dtype)
                    for _, placed, result in triples
                    if not self._machine.has_types(result, [placed.value])
                ),
                None,
            )
            if other is not None:
                self.other_types[at] = other
            elif all(fits):
                each.kept = storages.kept(each.result_slots, made, () if each.shapes_arguments else each.slots)
            else:
                self.mismatches[at] = self.mismatches.get(at, 0) + 1
        for slot in each.result_slots:
            storages.tensor(slot)


def _reason(error: Exception) -> str:
    """Says why an operator is left out."""
    told = " ".join(str(error).split())[:_MAX_REASON]
    return told if isinstance(error, RefusedValueError) else f"it fails here: {told}"
