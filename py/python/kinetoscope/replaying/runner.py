"""Runs the steps of a rank once."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import final

from kinetoscope.replaying.backend import Backend, Buffers, Work
from kinetoscope.replaying.contents import expected, given
from kinetoscope.replaying.message import Message
from kinetoscope.replaying.options import Options
from kinetoscope.replaying.plan import Step

_MAX_OPEN_BYTES = 2 << 30
"""Maximum memory of communications without a wait so far."""
_NS = 1e-9


@final
class Runner:
    """One pass through the steps of a rank."""

    def __init__(self, backend: Backend, steps: Sequence[Step], options: Options, *, checks: bool = False) -> None:
        self._backend, self._steps, self._options = backend, steps, options
        self._checks = checks
        self._open: dict[int, Work] = {}
        self._open_bytes = 0
        self._pending_p2p: dict[int, Work] = {}
        self._works: dict[int, Work] = {}
        self._numbers: dict[object, int] = {}
        self._number_of: dict[int, int] = {}
        self.wrong: list[str] = []
        self._next = 0
        self._keep_pace = self._pace()

    def run(self) -> dict[int, int]:
        """Runs all steps. Returns durations in ns by index of the step.

        Raises TimeoutError if a communication does not complete in time.
        """
        self.advance(len(self._steps))
        return self.finish()

    def advance(self, end: int) -> None:
        """Runs the steps before `end` that have not run."""
        while self._next < end:
            at, step = self._next, self._steps[self._next]
            self._next += 1
            self._keep_pace(step)
            if step.message is None:
                self._wait_for(step.wait_of)
            elif step.message.is_p2p:
                self._next = self._exchange(at)
            else:
                self._collective(at, step, step.message)

    def finish(self) -> dict[int, int]:
        """Waits for all that is open. Returns durations in ns by index of the step."""
        self._end_p2p()
        for place in list(self._open):
            self._wait_for(place)
        self._backend.finish()
        return {place: work.dur_ns() for place, work in sorted(self._works.items())}

    def _pace(self) -> Callable[[Step], None]:
        """Returns a function that waits for the recorded start of a step, or does nothing."""
        starts = [step.start_ns for step in self._steps if step.start_ns is not None]
        if not self._options.use_timestamp or not starts:
            return lambda _: None
        first, replay_start = min(starts), time.perf_counter_ns()

        def pace(step: Step) -> None:
            if step.start_ns is not None:
                ahead_ns = step.start_ns - first - (time.perf_counter_ns() - replay_start)
                time.sleep(max(ahead_ns, 0) * _NS)

        return pace

    def _collective(self, at: int, step: Step, message: Message) -> None:
        self._end_p2p()
        work = self._started(at, self._backend.start(self._buffers(at, message)))
        if step.is_async and not self._options.blocking:
            self._hold(at, work)
            return
        self._end(at, work)

    def _hold(self, at: int, work: Work) -> None:
        self._backend.wait_on_side_stream(work)
        self._open[at] = work
        self._bound(self._open)

    def _bound(self, works: dict[int, Work]) -> None:
        """Waits for the oldest works until the rest fits into the memory limit."""
        while self._open_bytes > _MAX_OPEN_BYTES and len(works) > 1:
            self._wait_for(next(iter(works)))

    def _wait_for(self, place: int | None) -> None:
        place = -1 if place is None else place
        work = self._open.pop(place, None) or self._pending_p2p.pop(place, None)
        if work is not None:
            self._end(place, work)

    def _started(self, at: int, work: Work) -> Work:
        self._works[at] = work
        self._open_bytes += _num_bytes(work)
        return work

    def _end(self, at: int, work: Work) -> None:
        work.wait()
        self._verify(at, work)
        self._open_bytes -= _num_bytes(work)
        work.buffers.given, work.buffers.taken = [], []

    # --- sends and receives -----------------------------------------------------------------------

    def _exchange(self, at: int) -> int:
        """Starts a send or receive, or its whole batch. Returns the index of the next step."""
        end = at + 1
        batch = self._steps[at].batch
        while batch is not None and end < len(self._steps) and self._steps[end].batch == batch:
            end += 1
        places = range(at, end)
        buffers = [self._buffers(place, message) for place in places if (message := self._steps[place].message)]
        works = [self._backend.start(buffers[0])] if batch is None else self._backend.start_batch(buffers)
        for place, work in zip(places, works, strict=True):
            self._pending_p2p[place] = self._started(place, work)
        self._bound(self._pending_p2p)
        if self._steps[at].is_async is False and batch is None:
            self._end_p2p()
        return end

    def _end_p2p(self) -> None:
        """Waits for sends and receives before a collective: traces do not record these waits."""
        for place, work in self._pending_p2p.items():
            self._end(place, work)
        self._pending_p2p.clear()

    # --- contents ---------------------------------------------------------------------------------

    def _buffers(self, at: int, message: Message) -> Buffers:
        buffers = self._backend.buffers(message)
        if self._checks and message.group is not None:
            number = self._number_of[at] = self._next_number(message)
            buffers.fill(given(message, message.group.members.index(self._backend.rank), number))
        return buffers

    def _next_number(self, message: Message) -> int:
        """Returns the number of a message in its channel; equal on all ranks of the channel."""
        group = message.group
        ends: tuple[int | None, ...] = ()
        if message.is_p2p and group is not None:
            own = group.members.index(self._backend.rank)
            ends = (own, message.peer) if message.collective == "send" else (message.peer, own)
        number = self._numbers.get((group, ends, message.tag), 0)
        self._numbers[group, ends, message.tag] = number + 1
        return number

    def _verify(self, at: int, work: Work) -> None:
        message = work.buffers.message
        if not self._checks or message.group is None:
            return
        contents = expected(message, message.group.members.index(self._backend.rank), self._number_of[at])
        if contents is not None and (wrong := work.buffers.wrong(contents)):
            self.wrong.append(f"{message} of group {message.group.name} on rank {self._backend.rank}: {wrong}")


def _num_bytes(work: Work) -> int:
    return work.buffers.message.in_bytes + work.buffers.message.out_bytes
