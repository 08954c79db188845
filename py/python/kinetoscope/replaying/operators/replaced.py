"""Functions that run instead of operators, compared with them on the same inputs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, final

from kinetoscope._base import text
from kinetoscope.replaying.operators.names import expect_operators

if TYPE_CHECKING:
    from kinetoscope.replaying.operators.machine import Machine

_MAX_LETTERS = 200


@final
class Replacements:
    """Replacements by the name of the operator, and how often their results were compared."""

    def __init__(self, machine: Machine, functions: Mapping[str, Callable[..., Any]], names: Collection[str]) -> None:
        expect_operators(functions, names)
        self._machine = machine
        self._functions = dict(functions)
        self._compared: dict[str, int] = dict.fromkeys(functions, 0)
        self._wrong: dict[str, list[str]] = {name: [] for name in functions}

    def function(self, name: str) -> Callable[..., Any] | None:
        """Returns the function for an operator; None without one."""
        return self._functions.get(name)

    def compare(self, name: str, node_id: int, operator: Callable[..., Any], arguments: tuple[Any, Any]) -> Any:
        """Runs an operator, and its replacement on copies of the inputs. Returns its results."""
        given, named = arguments
        copies = self._machine.copies((given, named))
        made = operator(*given, **named)
        own = self._functions[name](*copies[0], **copies[1])
        self._compared[name] += 1
        problem = self._machine.difference(own, made) or self._machine.difference(copies, (given, named))
        if problem:
            self._wrong[name].append(f"node {node_id}: {' '.join(problem.split())[:_MAX_LETTERS]}")
        return made

    @property
    def is_correct(self) -> bool:
        """Whether all results agree."""
        return not any(self._wrong.values())

    @property
    def lines(self) -> list[str]:
        """One line per replaced operator."""
        found: list[str] = []
        for name, number in self._compared.items():
            wrong = self._wrong[name]
            calls = text.plural(number, "call")
            state = f"results differ in {len(wrong)}, first at {wrong[0]}" if wrong else "all results agree"
            found.append(f"{name} replaced: compared {calls}, {state}")
        return found
