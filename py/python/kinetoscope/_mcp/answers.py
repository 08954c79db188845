"""Results of tools other than tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass
class Recorded:
    """A recording that tools can name."""

    name: str
    kind: str
    """`file`, or `job` for a folder with several traces."""
    num_bytes: int
    num_files: int


@dataclass
class Listing:
    """Recordings below the served folders."""

    recordings: list[Recorded]
    num_recordings: int
    offset: int
    next_offset: int | None


@dataclass
class Text:
    """A text with the recording that it is about."""

    trace: str
    text: str


@dataclass
class EventRef:
    """An event in short."""

    id: int
    name: str
    kind: str
    start_ns: int
    """As in the tables."""
    dur_ns: int


@dataclass
class Link:
    """A link of an event to another."""

    kind: str
    how: str
    """Matching key."""
    confidence: float
    source: EventRef
    target: EventRef


@dataclass
class EventDetails:
    """An event with its chain: module, operator, launch, device work, node."""

    event: EventRef
    rank: int | None
    category: str
    self_ns: int | None
    device_ns: int | None
    """Device time of work launched inside; null if all was lost."""
    iteration: int | None
    modules: list[EventRef]
    """Innermost first."""
    annotation: EventRef | None
    operator: EventRef | None
    launch: EventRef | None
    unlaunched: str | None
    """Why device work has no launch."""
    device_events: list[EventRef]
    num_device_events: int
    idle_before_ns: int | None
    """Idle time of the stream right before."""
    python_line: str | None
    node: dict[str, Any] | None
    """Node of the Execution Trace: `node_id`, `name`, inputs and outputs."""
    owners: list[EventRef]
    """Events around it on its track, innermost first."""
    links: list[Link]
    num_links: int
    args: dict[str, Any]


@dataclass
class Hits:
    """Events that match a text, in order of time."""

    events: list[EventRef]
    num_hits: int
    offset: int
    next_offset: int | None
    note: str | None = None
    """Without hits: how the text was read, and how terms are written."""


@dataclass
class Picture:
    """A picture of a timeline."""

    mime_type: str
    svg: str
    width: int
    """Pixels."""
    start_ns: int
    end_ns: int


@dataclass
class HostActivity:
    """Work of a host thread during a gap, by name."""

    event: EventRef
    """The longest of its name."""
    count: int
    self_ns: int


@dataclass
class GapExplanation:
    """An idle gap of a stream."""

    device: int | None
    stream: int | None
    start_ns: int
    dur_ns: int
    category: str | None
    """`host_wait`, `kernel_wait`, `other` or `unknown`, as in the analysis `idle`."""
    why: str
    busy_elsewhere_ns: int
    """Busy time of the device's other streams meanwhile."""
    before: EventRef | None
    after: EventRef | None
    after_module: str | None
    launch: EventRef | None
    """The launch of `after`."""
    waited_for: list[EventRef]
    host: list[HostActivity]
