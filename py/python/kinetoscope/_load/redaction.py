"""Redacts traces together, with the traces of other tools beside them."""

from __future__ import annotations

from kinetoscope import _native
from kinetoscope.trace import Trace


def redacted(traces: list[Trace], *, keep_modules: bool = False, level: bool | str = True) -> list[Trace]:
    """Redacts traces: equal texts get equal pseudonyms. `level`: `names` (or True), `strict`."""
    level = "names" if level is True else str(level)
    companions = [companion for trace in traces for companion in trace.companions]
    every = [*traces, *(companion.trace for companion in companions)]
    natives = _native.redacted([trace._native for trace in every], keep_modules, level)  # noqa: SLF001 - the core redacts them
    found = [Trace(native) for native in natives]
    others = iter(found[len(traces) :])
    for trace, private in zip(found[: len(traces)], traces, strict=True):
        trace.companions = tuple(companion._replace(trace=next(others)) for companion in private.companions)
    return found[: len(traces)]
