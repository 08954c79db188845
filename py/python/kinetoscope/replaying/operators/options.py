"""Options of a replay of operators, for the command line and Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from kinetoscope.replaying.operators.unit import UnitChoice

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
    """Returns the options. Raises ValueError for invalid ones."""
    if options.mode not in MODES:
        raise ValueError(f"expected mode of {', '.join(MODES)}, found {options.mode}")
    if options.subgraph is not None and options.node_id is not None:
        raise ValueError("expected subgraph or node_id, found both")
    for name, minimum in {"num_replays": 1, "warmup_iter": 0, "max_memory_bytes": 1}.items():
        value = getattr(options, name)
        if value is not None and value < minimum:
            raise ValueError(f"expected {name} of at least {minimum}, found {value}")
    if options.timeout <= 0:
        raise ValueError(f"expected timeout above 0, found {options.timeout:g}")
    return options
