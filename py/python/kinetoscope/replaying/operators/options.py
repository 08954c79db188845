"""Options of a replay of operators, for the command line and Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from kinetoscope.replaying.operators.device_choice import expect_device
from kinetoscope.replaying.operators.unit import UnitChoice
from kinetoscope.replaying.options import BACKENDS

MODES = ("full", "compute", "comms")

Replacement = Callable[..., Any]


class OperatorOptions(NamedTuple):
    """Parameters of `replay`, which describes them."""

    mode: str = "full"
    dry_run: bool = False
    device: str | None = None
    subgraph: str | None = None
    node_id: int | None = None
    skip: Sequence[str] = ()
    namespaces: Sequence[str] = ()
    kernel_sources: bool = False
    max_memory_bytes: int | None = None
    warmup_iter: int = 2
    num_replays: int = 5
    replace: Mapping[str, Replacement] | None = None
    backend: str | None = None
    timeout: float = 300.0
    profile: str | None = None

    @property
    def choice(self) -> UnitChoice:
        """The selection of operators."""
        return UnitChoice(
            self.mode,
            self.subgraph,
            self.node_id,
            tuple(self.skip),
            frozenset(self.namespaces),
            self.kernel_sources,
        )


def validated(options: OperatorOptions) -> OperatorOptions:
    """Returns the options, with lists of names. Raises ValueError for invalid ones."""
    if options.mode not in MODES:
        raise ValueError(f"expected mode of {', '.join(MODES)}, found {options.mode}")
    if options.backend not in {None, *BACKENDS}:
        raise ValueError(f"expected backend of {', '.join(BACKENDS)}, found {options.backend}")
    if options.subgraph is not None and options.node_id is not None:
        raise ValueError("expected subgraph or node_id, found both")
    for name, minimum in {"num_replays": 1, "warmup_iter": 0, "max_memory_bytes": 1}.items():
        value = getattr(options, name)
        if value is not None and value < minimum:
            raise ValueError(f"expected {name} of at least {minimum}, found {value}")
    if options.timeout <= 0:
        raise ValueError(f"expected timeout above 0, found {options.timeout:g}")
    if options.dry_run and options.device is not None:  # torch checks the device of a run
        expect_device(options.device)
    _expect_functions({} if options.replace is None else options.replace)
    return options._replace(skip=_names("skip", options.skip), namespaces=_names("namespaces", options.namespaces))


def _names(option: str, given: Any) -> tuple[str, ...]:
    """Returns a list of names. A text is one name."""
    found = (given,) if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)
    wrong = [each for each in found if not isinstance(each, str)]
    if wrong:
        raise ValueError(f"expected names in {option}, found {wrong[0]!r}")
    return found


def _expect_functions(given: Any) -> None:
    wrong = list(_not_functions(given)) if isinstance(given, Mapping) else [repr(given)]
    if wrong:
        raise ValueError(f"expected functions by the name of an operator in replace, found {wrong[0]}")


def _not_functions(given: Mapping[Any, Any]) -> Iterator[str]:
    for name, function in given.items():
        if not isinstance(name, str) or not callable(function):
            yield f"{function!r} for {name}"
