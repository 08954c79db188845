"""Selection of a part of a trace or job."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    from concurrent.futures import Executor


class NamedPart(TypedDict, total=False):
    """Keyword arguments that select a part of a trace. Several select what is in all of them."""

    iteration: int | None
    """Number of an iteration, as in `Trace.iterations`."""
    phase: str | None
    """Phase of a serving engine's iterations: `prefill`, `decode`, `mixed`, `draft` or `verify`."""
    state: str | None
    """State of the loop, as in `Trace.iterations`: `warm_up`, `capture` or `steady`."""
    annotation: str | None
    """Name of user annotations (`record_function`); `*` stands for any text.

    Selects events inside them, and device work launched inside them. That includes the backward
    pass if their thread waited for it. These events are never clipped.
    """
    module: str | None
    """Name of modules (`nn.Module`), such as `Linear_0` or `Linear_*`.

    Selects events of their calls and of the backward pass of these, with the device work of both.
    A path such as `model.layers.0` selects kernels of graphs that name it, and what is below it.
    """


class EventSelection(NamedPart, total=False):
    """Keyword arguments that select events of a trace or job.

    By default, everything but iterations in which the observer of the Execution Trace ran.
    """

    start_ns: int | None
    """Start of the range, in ns as in the tables."""
    end_ns: int | None
    """End of the range, in ns as in the tables."""
    stream: int | None
    """Only the device events of this stream."""
    launched_inside: bool
    """Only device events whose launch is inside the range."""
    clip: bool
    """Whether times are clipped to the range; default: True.

    With False, an event counts as a whole in the range in which it starts. Device work counts in
    the range of its launch.
    """
    observed: bool
    """Whether to include iterations with the observer of the Execution Trace; default: False.

    Only matters without a range and an iteration.
    """
    rank: int | Iterable[int] | None
    """For a job: only this rank, or these ranks. ValueError for a rank without a trace."""
    executor: Executor | None
    """For a job: an executor whose workers read the traces, each about one at a time."""
    progress: bool | None
    """Whether to show a progress bar with an executor; default: in a terminal or notebook."""


class Selection(EventSelection, total=False):
    """Keyword arguments that select and divide events of a trace or job."""

    by: Literal["phase"] | None
    """`"phase"` gives one result per phase of the iterations, told apart by the column `phase`."""
