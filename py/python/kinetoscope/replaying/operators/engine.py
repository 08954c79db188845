"""Runs the operators of a trace in their order, and measures each."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple, final

from kinetoscope.replaying.operators.prepared import PreparedUnit, Storages, is_number
from kinetoscope.replaying.operators.saved_values import SavedValues
from kinetoscope.replaying.operators.storage import StoragePlan
from kinetoscope.replaying.operators.unit import Unit, UnitKind

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


@final
class Engine:
    """Passes over the operators of a rank."""

    def __init__(self, machine: Machine, units: Sequence[Unit], plan: StoragePlan, parts: EngineParts) -> None:
        self._machine, self._plan = machine, plan
        self._communicate, self._replaced = parts.communicate, parts.replaced
        self._storages = Storages(machine, plan)
        self.prepared = [
            PreparedUnit(machine, unit, places, parts.kernels.get(unit.node_id))
            for unit, places in zip(units, plan.places, strict=True)
        ]
        self.mismatches: dict[int, int] = {}
        """Units with results of other shapes or strides than recorded."""
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
        """Makes parameters, inputs and all else that exists before the first operator."""
        with self._machine.like_training():
            self._storages.make_external()

    def check(self) -> None:
        """Runs all once, and finds those that fail, and indices that do not fit."""
        self._run(self._checked)

    def measured(self, *, is_annotated: bool = False) -> dict[int, int]:
        """Runs all once. Returns times in ns by the index of the unit."""
        marks: dict[int, tuple[Any, Any]] = {}

        def timed(at: int, each: PreparedUnit, operator: Operator, given: list[Any], named: dict[str, Any]) -> Any:
            name = f"{ANNOTATION}{each.unit.node_id}"
            with self._machine.annotated(name) if is_annotated else nullcontext():
                begin = self._machine.mark()
                made = operator(*given, **named)
                marks[at] = (begin, self._machine.mark())
            return made

        begin = self._machine.mark()
        self._run(timed)
        self._machine.finish()
        self.step_ns = time.perf_counter_ns() - begin.host_ns
        return {at: self._machine.between_ns(*both) for at, both in marks.items()}

    def _run(self, run: Callable[..., Any]) -> None:
        with self._machine.like_training():
            self._storages.make_external()
            for at, each in enumerate(self.prepared):
                self._step(at, each, run)
                self._storages.free(self._plan.freed_after.get(at, []))
            self._storages.end_pass()

    def _step(self, at: int, each: PreparedUnit, run: Callable[..., Any]) -> None:
        if each.unit.kind == UnitKind.COMMUNICATION and not each.reason and self._communicate is not None:
            communicate = self._communicate
            run(at, each, lambda: communicate(each.unit), [], {})
            self._storages.stand_in(each.places.outputs)
            return
        made: Any = None
        if each.can_run and each.operator is not None:
            for place, content in each.saved.items():
                self._storages.tensor(each.places.inputs[place]).copy_(content)
            given, named = each.arguments(self._storages.tensor)
            for key, value, known in each.indices(given):
                if key in each.fits_always:
                    value.remainder_(known.end)
            made = run(at, each, self._replaced.function(each.unit.name) or each.operator, given, named)
            del given, named
        self._take(at, each, made)

    def _checked(
        self, _at: int, each: PreparedUnit, operator: Operator, given: list[Any], named: dict[str, Any]
    ) -> Any:
        for key, value, known in each.indices(given):
            if self._machine.fit_index(value, known):
                each.fits_always.add(key)
        try:
            if each.operator is not None and operator is not each.operator and self._replaced.function(each.unit.name):
                made = self._replaced.compare(each.unit.name, each.unit.node_id, each.operator, (given, named))
            else:
                made = operator(*given, **named)
            made = self._with_numbers(each, operator, made)
            self._machine.finish()
        except Exception as error:
            if each.unit.kind == UnitKind.COMMUNICATION or self._replaced.function(each.unit.name):
                raise
            each.reason = f"it fails here: {' '.join(str(error).split())[:_MAX_REASON]}"
            return None
        return made

    def _with_numbers(self, each: PreparedUnit, operator: Operator, made: Any) -> Any:
        """Runs an operator again with numbers, not tensors, if its result has another type."""
        outputs = [placed.value for placed in each.places.outputs]
        if not any(is_number(placed.value) for placed in each.places.inputs) or self._machine.has_types(made, outputs):
            return made
        each.has_numbers = True
        given, named = each.arguments(self._storages.tensor)
        again = operator(*given, **named)
        each.has_numbers = self._machine.has_types(again, outputs)
        return again if each.has_numbers else made

    def _take(self, at: int, each: PreparedUnit, made: Any) -> None:
        """Keeps results, and makes those that are missing or of other shapes."""
        tensors = list(self._machine.tensors(made))
        outputs = each.places.outputs
        if each.can_run and len(tensors) >= len(outputs):
            fits = [self._storages.keep(placed, result, at) for placed, result in zip(outputs, tensors, strict=False)]
            if not all(fits):
                self.mismatches[at] = self.mismatches.get(at, 0) + 1
        self._storages.stand_in(outputs)
