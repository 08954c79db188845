"""Chooses the iteration whose times a written Execution Trace takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kinetoscope import _native

if TYPE_CHECKING:
    from kinetoscope.trace import Trace


def with_clean_times(traces: Sequence[Trace]) -> list[Trace]:
    """Links the nodes to an iteration without the Execution Trace observer, which slows the host.

    The iteration is the same one for all ranks of a job. Without one that has the same calls, and
    if an iteration was selected with `relink`, the traces stay as they are.
    """
    number = _native.clean_iteration([trace._native for trace in traces])  # noqa: SLF001 - the core decides
    return list(traces) if number is None else [trace.relink(iteration=number) for trace in traces]
