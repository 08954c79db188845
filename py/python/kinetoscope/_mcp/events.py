"""Events and gaps of a trace, from answers of the host protocol."""

from __future__ import annotations

import json
from typing import Any

from kinetoscope._mcp.answers import EventDetails, EventRef, GapExplanation, Hits, HostActivity, Link
from kinetoscope._mcp.failure import CallError
from kinetoscope._mcp.quoted import quoted
from kinetoscope.trace import Trace

_MAX_LISTED = 20
_TERMS = (
    "Terms are dur>1ms (also >=, <, <=, and ns, us, s), kind:kernel, cat:cpu_op, id:123 and stream=7, where stream "
    "stands for any argument. Other text is searched in names"
)


def details(trace: Trace, event: int) -> EventDetails:
    """Returns an event with its chain. Raises CallError for an unknown id."""
    expect_event(event)
    data = trace.query({"type": "event", "id": event}).data
    links = trace.query({"type": "links", "id": event}).data

    def ref(found: dict[str, Any] | None) -> EventRef | None:
        return None if found is None else _ref(trace, found)

    def refs(found: list[dict[str, Any]]) -> list[EventRef]:
        return [_ref(trace, each) for each in found[:_MAX_LISTED]]

    idle, frame = data["idle_before"], data["frame"]
    return EventDetails(
        event=_ref(trace, data),
        rank=trace.rank,
        category=quoted(data["category"]),
        self_ns=_integer(data["self_ns"]),
        device_ns=_integer(data["device_ns"]),
        iteration=data["iteration"],
        modules=refs(data["modules"]),
        annotation=ref(data["annotation"]),
        operator=ref(data["operator"]),
        launch=ref(data["launch"]),
        unlaunched=quoted(data["unlaunched"]),
        device_events=refs(data["device_events"]),
        num_device_events=data["num_device_events"],
        idle_before_ns=None if idle is None else round(idle["dur"]),
        python_line=None if frame is None else quoted(frame["name"]),
        node=_node(data["node"]),
        owners=refs(data["owners"]),
        links=[_link(trace, each) for each in links["links"][:_MAX_LISTED]],
        num_links=links["count"],
        args={quoted(key): quoted(_value(value)) for key, value in data["args"][: 2 * _MAX_LISTED]},
    )


def hits(trace: Trace, wanted: str, offset: int, limit: int) -> Hits:
    """Returns events that match a text. Raises CallError for an empty text."""
    if not wanted:
        raise CallError("expected a part of a name, or terms, found an empty text", f"search with a text. {_TERMS}")
    data, columns = trace.query({"type": "search", "text": wanted, "limit": limit, "from": offset})
    found = [_ref(trace, trace.query({"type": "event", "id": each}).data) for each in columns["id"].tolist()]
    end = offset + len(found)
    count = data["count"]
    note = None if count else _no_hits(data["name"])
    return Hits(found, count, offset, end if found and end < count else None, note)


def gap_before(trace: Trace, event: int) -> GapExplanation:
    """Explains the gap that a device event ends. Raises CallError if there is none."""
    expect_event(event)
    data = trace.query({"type": "event", "id": event}).data
    return _gap(trace, data["track"], data["start"] - 1, f"a gap right before event {event}")


def gap_at(trace: Trace, device: int | None, stream: int, time_ns: int) -> GapExplanation:
    """Explains the gap of a stream at a time. Raises CallError if the stream works then."""
    # Gaps of lost work name no events, so that any event of the stream tells its track.
    for found, event, number in trace.events.select("device", "id", "stream").rows():
        if number == stream and found is not None and device in {None, found}:
            track = trace.query({"type": "event", "id": event}).data["track"]
            return _gap(trace, track, time_ns - trace.origin_ns, f"a gap of stream {stream} at {time_ns} ns")
    raise CallError(f"expected a stream with gaps, found stream {stream}", "analyze(trace, 'idle')")


def expect_event(event: int) -> None:
    """Raises CallError for a number that is no id."""
    if not 0 <= event < 1 << 32:
        raise CallError(f"expected the id of an event, found {event}", "search(trace, text) for ids")


def _no_hits(name: str | None) -> str:
    """Says how a text without hits was read; `name` is all of the text, if it has no term."""
    problem = (
        "No event has all of these terms" if name is None else f"No name of an event contains {quoted(name, 100)!r}"
    )
    return f"{problem}. {_TERMS}."


def _gap(trace: Trace, track: int, time: float, expected: str) -> GapExplanation:
    data = trace.query({"type": "gap", "track": track, "time": time}).data["gap"]
    if data is None:
        raise CallError(f"expected {expected}, found none", "analyze(trace, 'idle', table='gaps') for gaps")

    def ref(found: dict[str, Any] | None) -> EventRef | None:
        return None if found is None else _ref(trace, found)

    neighbour = data["after"] or data["before"]
    events = trace.query({"type": "event", "id": neighbour["id"]}).data if neighbour else None
    args = dict(events["args"]) if events else {}
    modules = events["modules"] if events and data["after"] else []
    host = data["host"]["names"] if data["host"] else []
    return GapExplanation(
        device=_integer(args.get("device")),
        stream=_integer(args.get("stream")),
        start_ns=trace.origin_ns + round(data["start"]),
        dur_ns=round(data["dur"]),
        category=data["category"],
        why=quoted(data["why"]),
        busy_elsewhere_ns=round(data["elsewhere"]),
        before=ref(data["before"]),
        after=ref(data["after"]),
        after_module=quoted(modules[0]["name"]) if modules else None,
        launch=ref(data["launch"]),
        waited_for=[_ref(trace, each) for each in data["waited_for"][:_MAX_LISTED]],
        host=[HostActivity(_ref(trace, each["event"]), each["count"], round(each["self"])) for each in host],
    )


def _ref(trace: Trace, found: dict[str, Any]) -> EventRef:
    start = trace.origin_ns + round(found["start"])
    return EventRef(found["id"], quoted(found["name"]), found["kind"], start, round(found["dur"]))


def _link(trace: Trace, link: dict[str, Any]) -> Link:
    ends = (_ref(trace, link["source"]), _ref(trace, link["target"]))
    return Link(link["kind"], link["how"], link["confidence"], *ends)


def _node(node: dict[str, Any] | None) -> dict[str, Any] | None:
    return None if node is None else {key: quoted(node[key]) for key in ("node_id", "name", "schema")}


def _integer(value: object) -> int | None:
    try:
        return None if value is None else int(str(value))
    except ValueError:
        return None


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
