"""Reads several files given as a list: ranks, and traces of other tools beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from kinetoscope import _native
from kinetoscope._io.discovery import Pair
from kinetoscope._load.companions import (
    NO_PROCESS,
    CompanionAlign,
    add_companion,
    checked,
    is_of_pytorch,
    main_of,
    tool_of,
)
from kinetoscope._load.member import Member
from kinetoscope._load.read import read_one
from kinetoscope.trace_set import TraceSet

if TYPE_CHECKING:
    from kinetoscope._io.source import Source
    from kinetoscope._load.read import Options
    from kinetoscope.trace import Trace


def read_together(
    sources: Sequence[Source],
    align: CompanionAlign,
    options: Options,
    et: Source | Literal[False] | None,
    storage_options: Mapping[str, Any] | None,
) -> Trace | TraceSet:
    """Reads files of one run, each with these options of `read`.

    Returns the trace of PyTorch with those of other tools as companions; a TraceSet of several.
    Raises the errors of `read` and of `Trace.with_companion`. Raises ValueError for an empty list,
    and for options of a single file.
    """
    if not sources:
        raise ValueError("expected at least one trace, found none")
    if et or options.iteration is not None:
        raise ValueError(f"expected one file with et or iteration, found a list of {len(sources)}")
    traces = [checked(read_one(source, options, et, storage_options)) for source in sources]
    tool = tool_of(traces[0])
    mains = [trace for trace in traces if is_of_pytorch(trace)] or [trace for trace in traces if tool_of(trace) == tool]
    for other in traces:
        if other in mains:
            continue
        main = main_of(mains, other)
        if main is None:
            raise _native.TraceError(f"{other.title}: {NO_PROCESS}")
        add_companion(main, other, align)
    if len(mains) == 1:
        return mains[0]
    pairs = [Pair(trace.source or f"trace {at}", trace.execution_source, "given") for at, trace in enumerate(mains)]
    return TraceSet([Member(pair, {}, {}, options, trace) for pair, trace in zip(pairs, mains, strict=True)])
