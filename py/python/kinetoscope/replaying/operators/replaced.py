"""Functions that run instead of operators, compared with them on the same inputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, final

from kinetoscope._base import text
from kinetoscope.replaying.operators.agreement import Verdict
from kinetoscope.replaying.operators.call import OperatorCall
from kinetoscope.replaying.operators.names import expect_operators
from kinetoscope.replaying.operators.probe import is_comparison, refilled_places
from kinetoscope.replaying.operators.uninitialized import is_uninitialized

if TYPE_CHECKING:
    from kinetoscope.replaying.operators.machine import Machine
    from kinetoscope.replaying.operators.prepared import PreparedUnit

_MAX_LETTERS = 200

_Arguments = tuple[list[Any], dict[str, Any]]


class _Probe(NamedTuple):
    """A call of the operator on inputs of the check."""

    before: _Arguments
    """Copies of the inputs, as they were before the call."""
    after: _Arguments
    made: Any
    restore: Callable[[], None]
    """Sets the random numbers back to those that the call had."""


@final
class Replacements:
    """Replacements by the name of the operator, and how often their results were compared."""

    def __init__(self, machine: Machine, functions: Mapping[str, Callable[..., Any]], names: Collection[str]) -> None:
        expect_operators(functions, names)
        self._machine = machine
        self._functions = dict(functions)
        self._compared: dict[str, int] = dict.fromkeys(functions, 0)
        self._wrong: dict[str, list[str]] = {name: [] for name in functions}
        self._skipped: dict[str, Counter[str]] = {name: Counter() for name in functions}

    def function(self, name: str) -> Callable[..., Any] | None:
        """Returns the function for an operator; None without one."""
        return self._functions.get(name)

    def compare(self, each: PreparedUnit, operator: Callable[..., Any], arguments: _Arguments) -> Any:
        """Runs an operator, and its replacement on copies of the inputs. Returns its results.

        Compares them on other values first, of both signs and around 1, where the operator takes
        such values. Those of the step may be so small that all results look alike.
        """
        machine, call = self._machine, each.unit.call
        assert call is not None  # noqa: S101 - it runs
        verdicts: list[tuple[str, Verdict]] = []
        probe = self._probe(call, operator, arguments)
        if probe is not None:
            verdicts.append(("random values", self._verdict(each, operator, probe)))
        copies = machine.copies(arguments)
        restore = machine.random_state()
        made = operator(*arguments[0], **arguments[1])
        own = _Probe(copies, arguments, made, restore)
        verdicts.append(("values of the step", self._verdict(each, operator, own, is_rough=probe is not None)))
        results = [made] if probe is None else [probe.made, made]
        is_constant = bool(call.inputs) and not _writes(call) and machine.agreement.is_constant(results)
        self._note(each, call, verdicts, is_constant=is_constant)
        return made

    def _probe(self, call: OperatorCall, operator: Callable[..., Any], arguments: _Arguments) -> _Probe | None:
        """Runs an operator on other values: of both signs, or positive ones for a root or such."""
        places = refilled_places(call)
        best: _Probe | None = None
        best_share = 0.0
        for is_positive in (False, True) if places or is_comparison(call) else ():
            fill = partial(self._machine.filling.fill_normal, is_positive=is_positive)
            try:
                given = self._refilled(call, places, arguments, fill)
                before = self._machine.copies(given)
                restore = self._machine.random_state()
                made = operator(*given[0], **given[1])
                share = self._machine.finite_share((made, given))
            except Exception:  # noqa: BLE001, S112 - torch raises any type for values that an operator refuses
                continue
            if share > best_share:
                best, best_share = _Probe(before, given, made, restore), share
            if share == 1:
                break
        return best

    def _refilled(
        self, call: OperatorCall, places: frozenset[int], arguments: _Arguments, fill: Callable[[Any], None]
    ) -> _Arguments:
        """Copies arguments, and gives those at some places other values."""
        machine = self._machine
        kept: list[Any] = []
        rest = iter(arguments[0])
        for at, (_, parameter) in enumerate(call.arguments):
            is_named = parameter is not None and parameter.is_keyword
            value = arguments[1][parameter.name] if parameter is not None and is_named else next(rest)
            if at not in places:
                kept.append(value)
        given, named = machine.copies(arguments, fill, kept)
        if is_comparison(call):
            given[0] = machine.filling.near(*given[:2])
        return given, named

    def _verdict(
        self, each: PreparedUnit, operator: Callable[..., Any], call: _Probe, *, is_rough: bool = False
    ) -> Verdict:
        """Runs the replacement on the inputs of a call; compares its results, and what it wrote.

        Results that the operator itself makes differently each time are left out.
        """
        given, named = self._machine.copies(call.before)
        call.restore()
        found = self._functions[each.unit.name](*given, **named)
        if is_uninitialized(each.unit.call):
            return Verdict("", 0)
        agreement, inputs = self._machine.agreement, call.after
        results = agreement.compare(found, call.made, inputs, is_rough=is_rough)
        if results.problem:
            call.restore()
            again = operator(*call.before[0], **call.before[1])
            ignored = agreement.unsteady(again, call.made, inputs)
            results = agreement.compare(found, call.made, inputs, ignored=ignored, is_rough=is_rough)
        if results.problem:
            return results
        written = agreement.compare((given, named), inputs, inputs, is_rough=is_rough)
        problem = written.problem and f"inputs after the call: {written.problem}"
        number = results.num_compared + (written.num_compared if _writes(each.unit.call) else 0)
        return Verdict(problem, number)

    def _note(
        self, each: PreparedUnit, call: OperatorCall, verdicts: list[tuple[str, Verdict]], *, is_constant: bool
    ) -> None:
        name = each.unit.name
        wrong = next(((values, verdict.problem) for values, verdict in verdicts if verdict.problem), None)
        if not any(verdict.num_compared for _, verdict in verdicts):
            reason = "new memory has no values" if is_uninitialized(call) else "no results with values"
            self._skipped[name][reason] += 1
            return
        if is_constant and wrong is None:
            self._skipped[name]["each result is the same truth value"] += 1
            return
        self._compared[name] += 1
        if wrong is not None:
            told = " ".join(wrong[1].split())[:_MAX_LETTERS]
            self._wrong[name].append(f"node {each.unit.node_id} with {wrong[0]}: {told}")

    @property
    def lines(self) -> list[str]:
        """One line per replaced operator."""
        return [f"{name} replaced: {'; '.join(self._states(name))}" for name in self._functions]

    def _states(self, name: str) -> Iterator[str]:
        wrong, skipped, number = self._wrong[name], self._skipped[name], self._compared[name]
        if number:
            state = f"results differ in {len(wrong)}, first at {wrong[0]}" if wrong else "all results agree"
            yield f"compared {text.plural(number, 'call')}, {state}"
        for reason, count in skipped.items():
            yield f"not compared: {text.plural(count, 'call')} ({reason})"
        if not number and not skipped:
            yield "not compared: no call ran"


def _writes(call: OperatorCall | None) -> bool:
    """Whether an operator writes arguments. That of a generated kernel, without signature, does."""
    return call is not None and (
        call.signature is None or any(each.parameter and each.parameter.is_written for each in call.arguments)
    )
