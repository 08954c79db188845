"""Simulates the plans of all ranks, to detect mismatches and deadlocks before the replay."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import NamedTuple, final

from kinetoscope import _native
from kinetoscope.replaying.lacking import lacking
from kinetoscope.replaying.message import Message, call
from kinetoscope.replaying.plan import Step

_SHOWN = 4

Place = tuple[int, int]
"""A rank and the index of a step in its plan."""
Steps = Mapping[int, Sequence[Step]]
"""The steps of all ranks."""


class DisagreementError(ValueError):
    """The plans of the ranks mismatch: a replay would fail or deadlock."""


class Meeting(NamedTuple):
    """A communication with the messages of all its ranks."""

    messages: dict[int, Message]
    """By rank."""
    places: list[Place]


class Agreement(NamedTuple):
    """Result of a simulation."""

    meetings: list[Meeting]
    left: set[Place]
    """Steps without a partner, because the plan of the partner was cut."""


def agree(steps: Steps, *, is_cut: bool = False) -> Agreement:
    """Simulates the plans.

    Raises DisagreementError, which names ranks and steps, if a rank waits forever. With `is_cut`,
    returns the unfinished steps instead.
    """
    simulation = _Simulation(steps)
    try:
        simulation.run()
    except DisagreementError as error:
        if not is_cut:
            _raise_lacking(steps, error)
        raise
    if simulation.waiting and not is_cut:
        _raise_lacking(steps)
        raise DisagreementError(simulation.stuck())
    return Agreement(simulation.done, simulation.left())


def _raise_lacking(steps: Steps, error: Exception | None = None) -> None:
    """Raises DisagreementError if sequence numbers tell which rank lacks which call."""
    if lines := lacking(steps):
        raise DisagreementError(f"ranks disagree: {'; '.join(lines[:_SHOWN])}") from error


Key = tuple[object, ...]


@final
class _Simulation:
    """Runs each rank until it must wait for others."""

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self._at = dict.fromkeys(steps, 0)
        self._meetings: dict[Key, Meeting] = {}
        self._counts: dict[Key, int] = {}
        self._of_step: dict[Place, Key] = {}
        self._channels: dict[tuple[int, int], tuple[Key, tuple[int, ...]]] = {}
        self._waiting: dict[Key, list[int]] = {}
        self._pending_p2p: dict[int, list[Key]] = {rank: [] for rank in steps}
        self.done: list[Meeting] = []

    def run(self) -> None:
        runnable = deque(sorted(self._steps))
        while runnable:
            runnable.extend(self._advance(runnable.popleft()))

    @property
    def waiting(self) -> bool:
        """Whether a communication or a rank is unfinished."""
        return bool(self._meetings) or any(self._at[rank] < len(steps) for rank, steps in self._steps.items())

    def left(self) -> set[Place]:
        """Returns unfinished steps: open communications, and all steps after a wait for one."""
        blocked = {(rank, at) for rank, steps in self._steps.items() for at in range(self._at[rank], len(steps))}
        return blocked | {place for meeting in self._meetings.values() for place in meeting.places}

    def _advance(self, rank: int) -> list[int]:
        """Advances a rank until it waits. Returns the ranks that continue because of it."""
        resumed: list[int] = []
        steps = self._steps[rank]
        while self._at[rank] < len(steps):
            at = self._at[rank]
            key = self._next(rank, at, steps[at], resumed)
            if key is not None and key in self._meetings:
                self._waiting.setdefault(key, []).append(rank)
                break
            self._at[rank] += 1
        return resumed

    def _next(self, rank: int, at: int, step: Step, resumed: list[int]) -> Key | None:
        """Runs a step. Returns the key of the communication to wait for, if any."""
        if step.message is None:
            return self._of_step.get((rank, -1 if step.wait_of is None else step.wait_of))
        if not step.message.is_p2p:
            for key in self._pending_p2p[rank]:  # a collective waits for earlier sends and receives
                if key in self._meetings:
                    return key
            self._pending_p2p[rank].clear()
        key = self._of_step.get((rank, at)) or self._post(rank, at, step.message, resumed)
        if step.message.is_p2p:
            self._pending_p2p[rank].append(key)
            return None
        return None if step.is_async else key

    def _post(self, rank: int, at: int, message: Message, resumed: list[int]) -> Key:
        place = (rank, id(message))  # messages live as long as the steps, and most repeat
        known = self._channels.get(place)
        channel, members = known = known or _channel(rank, message)
        self._channels[place] = known
        number = self._counts.get((*channel, rank), 0)
        self._counts[(*channel, rank)] = number + 1
        key = (*channel, number)
        meeting = self._meetings.setdefault(key, Meeting({}, []))
        self._of_step[rank, at] = key
        _expect_same(meeting, rank, message, number, members)
        meeting.messages[rank] = message
        meeting.places.append((rank, at))
        if len(meeting.messages) == len(members):
            self.done.append(self._meetings.pop(key))
            resumed.extend(self._waiting.pop(key, []))
        return key

    def stuck(self) -> str:
        """Describes which ranks wait, and in which steps."""
        lines: list[str] = []
        for rank, steps in self._steps.items():
            at = self._at[rank]
            if at < len(steps):
                lines.append(f"rank {rank} waits in {_words(steps, at)}, its step {at}")
        missing = [
            f"no partner for {meeting.messages[rank]} of rank {rank}, its step {at}"
            for meeting in self._meetings.values()
            for rank, at in meeting.places[:1]
        ]
        lacking = [
            f"rank {rank} lacks {next(iter(meeting.messages.values())).collective}, call {key[-1]} of its group"
            for key, meeting in self._meetings.items()
            for rank in _members(key)
            if rank not in meeting.messages
        ]
        ended = [f"rank {rank} has ended" for rank, steps in self._steps.items() if self._at[rank] == len(steps)]
        return f"ranks disagree: {'; '.join([*(lines or missing)[:_SHOWN], *ended[:_SHOWN], *lacking[:_SHOWN]])}"


def _words(steps: Sequence[Step], at: int) -> str:
    step = steps[at]
    if step.message is None and step.wait_of is not None:
        return f"the wait for {steps[step.wait_of].message}"
    return str(step.message)


def _channel(rank: int, message: Message) -> tuple[Key, tuple[int, ...]]:
    """Returns the key of a message's channel, which numbers its communications, and its ranks."""
    group = message.group
    if group is None or rank not in group.members:
        raise DisagreementError(f"expected rank {rank} in the group of {message}, found {group and group.members}")
    if not message.is_p2p:
        if not _native.call_fits(call(message), len(group.members)):
            raise DisagreementError(f"expected sizes for {len(group.members)} ranks, found {message} of rank {rank}")
        return (group.name, group.members), group.members
    peer = -1 if message.peer is None else message.peer
    if not 0 <= peer < len(group.members):
        raise DisagreementError(
            f"expected the other side of {message} of rank {rank} in group {group.name}, found none"
        )
    other = group.members[peer]
    ends = (rank, other) if message.collective == "send" else (other, rank)
    return (group.name, group.members, *ends, message.tag), ends


def _members(key: Key) -> tuple[int, ...]:
    """Returns the ranks of a collective by its key; none for a message between two ranks."""
    members = key[1] if len(key) == 3 else ()  # noqa: PLR2004 - the keys of `_channel`, with a number
    return members if isinstance(members, tuple) else ()


def _expect_same(meeting: Meeting, rank: int, message: Message, number: int, members: tuple[int, ...]) -> None:
    for other, known in meeting.messages.items():
        if known == message and not message.is_exchange:
            break
        one, two = sorted([(other, known), (rank, message)], key=lambda side: side[0])
        places = (members.index(one[0]), members.index(two[0]))
        reason = _native.call_difference(call(one[1]), call(two[1]), places)
        if reason:
            name = message.group.name if message.group else ""
            raise DisagreementError(
                f"ranks {one[0]} and {two[0]} disagree about communication {number} of group {name or '(no name)'}: "
                f"{reason}: {one[1]}; {two[1]}"
            )
        if not message.is_exchange:  # only in an exchange, each pair has sizes of its own
            break
