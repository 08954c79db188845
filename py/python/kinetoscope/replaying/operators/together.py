"""Communications between the operators of a replay, on all ranks of a job."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, final

from kinetoscope.replaying.operators.unit import is_communication
from kinetoscope.replaying.options import Options, validated
from kinetoscope.replaying.replay import all_plans
from kinetoscope.replaying.runner import Runner
from kinetoscope.replaying.settle import settle

if TYPE_CHECKING:
    from kinetoscope.replaying.operators.coverage import OperatorSample
    from kinetoscope.replaying.operators.options import OperatorOptions
    from kinetoscope.replaying.operators.unit import Unit
    from kinetoscope.replaying.source import Reader
    from kinetoscope.replaying.world import World


_NOT_COMPARED = (
    "times of communications are not compared: the trace has the time of their launch, "
    "this replay waits for their end. replay-comms compares them"
)


@final
class Together:
    """The communications of this rank. Messages have buffers of their own."""

    def __init__(self, sources: Sequence[Reader], options: OperatorOptions, place: World) -> None:
        from kinetoscope.replaying.backend import Backend

        is_on_gpu = (options.device or "").startswith("cuda")
        device = None if options.backend else ("cuda" if is_on_gpu else "cpu")
        self._options = validated(Options(backend=options.backend, device=device, timeout=options.timeout))
        self._backend = Backend(place, self._options)
        try:
            settled = settle(all_plans(self._backend, sources, self._options), self._options)
            self._backend.make_groups(settled.groups)
        except BaseException:
            self._backend.end()
            raise
        self._steps = settled.steps[place.rank]
        self._ends: dict[int, int] = {}
        self._runner: Runner | None = None
        self.notes = settled.notes

    def __enter__(self) -> Together:
        return self

    def __exit__(self, *_: object) -> None:
        self._backend.end()

    def choose(self, units: Sequence[Unit]) -> None:
        """Assigns the communications to units: those from a unit's node to the next unit's."""
        ids = [step.node_id or 0 for step in self._steps]
        for unit, after in zip(units, [*units[1:], None], strict=True):
            self._ends[unit.node_id] = len(ids) if after is None else bisect_left(ids, after.node_id)

    def begin_pass(self) -> None:
        """Waits for the other ranks."""
        self._backend.meet()
        self._runner = Runner(self._backend, self._steps, self._options)

    def communicate(self, unit: Unit) -> None:
        """Runs the communications of a unit, and the waits before them."""
        assert self._runner is not None  # noqa: S101 - a pass has begun
        self._runner.advance(self._ends[unit.node_id])

    def end_pass(self) -> None:
        """Waits for all communications."""
        assert self._runner is not None  # noqa: S101 - a pass has begun
        self._runner.advance(len(self._steps))
        self._runner.finish()

    def gathered(self, samples: list[OperatorSample]) -> list[OperatorSample]:
        """Returns the samples of all ranks on rank 0, and its own on each other rank.

        Those of communications have no replayed time, because it is not that of their launch.
        """
        found: Any = self._backend.gather_at_first(samples)
        of_all: list[OperatorSample] = [sample for of_rank in found for sample in of_rank]
        if any(is_communication(sample.name) for sample in of_all):
            self.notes = [*self.notes, _NOT_COMPARED]
        return [sample._replace(replayed_ns=None) if is_communication(sample.name) else sample for sample in of_all]
