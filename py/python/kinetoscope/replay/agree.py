"""Whether all ranks mean the same: each communication is met by all of its group, in an order that comes to an end."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import NamedTuple, final

from kinetoscope.replay.message import Message
from kinetoscope.replay.plan import Step
from kinetoscope.replay.same import difference, fits

_SHOWN = 4

Place = tuple[int, int]
"""A rank, and a step of its plan."""
Steps = Mapping[int, Sequence[Step]]
"""The steps of all ranks."""


class DisagreementError(ValueError):
    """Ranks do not mean the same; were they to begin, they would wait for each other without end."""


class Meeting(NamedTuple):
    """A communication with all that take part in it."""

    messages: dict[int, Message]
    """By rank."""
    places: list[Place]


class Agreement(NamedTuple):
    """What comes of the plans."""

    meetings: list[Meeting]
    left: set[Place]
    """Steps that somebody else's plan is too short for, because it was cut."""


def agree(steps: Steps, *, is_cut: bool = False) -> Agreement:
    """Plays the plans through. DisagreementError, which names ranks and steps, unless all come to their ends.

    Where plans were cut, what then is missing is left out instead.
    """
    play = _Play(steps)
    play.run()
    if play.waiting and not is_cut:
        raise DisagreementError(play.stuck())
    return Agreement(play.done, play.left())


Key = tuple[object, ...]


@final
class _Play:
    """Every rank goes on until it has to wait for others."""

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self._at = dict.fromkeys(steps, 0)
        self._meetings: dict[Key, Meeting] = {}
        self._counts: dict[Key, int] = {}
        self._of_step: dict[Place, Key] = {}
        self._channels: dict[tuple[int, int], tuple[Key, tuple[int, ...]]] = {}
        self._sleepers: dict[Key, list[int]] = {}
        self._loose: dict[int, list[Key]] = {rank: [] for rank in steps}
        self.done: list[Meeting] = []

    def run(self) -> None:
        awake = deque(sorted(self._steps))
        while awake:
            awake.extend(self._go(awake.popleft()))

    @property
    def waiting(self) -> bool:
        """Whether something is open that nobody will come to."""
        return bool(self._meetings) or any(self._at[rank] < len(steps) for rank, steps in self._steps.items())

    def left(self) -> set[Place]:
        """What did not come to its end: open communications, and all that stands behind one that is waited for."""
        behind = {(rank, at) for rank, steps in self._steps.items() for at in range(self._at[rank], len(steps))}
        return behind | {place for meeting in self._meetings.values() for place in meeting.places}

    def _go(self, rank: int) -> list[int]:
        """Goes on with a rank until it waits; the ranks that this wakes."""
        woken: list[int] = []
        steps = self._steps[rank]
        while self._at[rank] < len(steps):
            at = self._at[rank]
            key = self._next(rank, at, steps[at], woken)
            if key is not None and key in self._meetings:
                self._sleepers.setdefault(key, []).append(rank)
                break
            self._at[rank] += 1
        return woken

    def _next(self, rank: int, at: int, step: Step, woken: list[int]) -> Key | None:
        """Does a step, once; what it has to wait for."""
        if step.message is None:
            return self._of_step.get((rank, -1 if step.wait_of is None else step.wait_of))
        if not step.message.is_p2p:
            for key in self._loose[rank]:  # sends and receives are waited for before all meet
                if key in self._meetings:
                    return key
            self._loose[rank].clear()
        key = self._of_step.get((rank, at)) or self._post(rank, at, step.message, woken)
        if step.message.is_p2p:
            self._loose[rank].append(key)
            return None
        return None if step.is_async else key

    def _post(self, rank: int, at: int, message: Message, woken: list[int]) -> Key:
        place = (rank, id(message))  # steps keep their messages, of which most repeat
        found = self._channels.get(place)
        channel, members = found = found or _channel(rank, message)
        self._channels[place] = found
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
            woken.extend(self._sleepers.pop(key, []))
        return key

    def stuck(self) -> str:
        """Who waits for what."""
        lines: list[str] = []
        for rank, steps in self._steps.items():
            at = self._at[rank]
            if at < len(steps):
                lines.append(f"rank {rank} waits in {_words(steps, at)}, its step {at}")
        missing = [
            f"nobody meets {meeting.messages[rank]} of rank {rank}, its step {at}"
            for meeting in self._meetings.values()
            for rank, at in meeting.places[:1]
        ]
        ended = [f"rank {rank} has ended" for rank, steps in self._steps.items() if self._at[rank] == len(steps)]
        return f"ranks disagree: {'; '.join([*(lines or missing)[:_SHOWN], *ended[:_SHOWN]])}"


def _words(steps: Sequence[Step], at: int) -> str:
    step = steps[at]
    if step.message is None and step.wait_of is not None:
        return f"the wait for {steps[step.wait_of].message}"
    return str(step.message)


def _channel(rank: int, message: Message) -> tuple[Key, tuple[int, ...]]:
    """What counts its communications by itself, and the ranks that meet there."""
    group = message.group
    if group is None or rank not in group.members:
        raise DisagreementError(f"expected rank {rank} in the group of {message}, found {group and group.members}")
    if not message.is_p2p:
        if not fits(message, len(group.members)):
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


def _expect_same(meeting: Meeting, rank: int, message: Message, number: int, members: tuple[int, ...]) -> None:
    for other, found in meeting.messages.items():
        if found == message and not message.is_exchange:
            break
        one, two = sorted([(other, found), (rank, message)], key=lambda side: side[0])
        why = difference(one[1], two[1], (members.index(one[0]), members.index(two[0])))
        if why:
            name = message.group.name if message.group else ""
            raise DisagreementError(
                f"ranks {one[0]} and {two[0]} disagree about communication {number} of group {name or '(no name)'}: "
                f"{why}: {one[1]}; {two[1]}"
            )
        if not message.is_exchange:  # there alone, every two have something to themselves
            break
