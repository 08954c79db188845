"""Memory snapshots, held against what Python's own pickle makes of them."""

from __future__ import annotations

import gzip
import json
import math
import os
import pickle
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytestmark = pytest.mark.unit

PROTOCOLS = (2, 3, 4, 5)
Row = dict[str, Any]


def snapshot_of(content: bytes | Path) -> ks.MemorySnapshot:
    snapshot = ks.read(content)
    assert isinstance(snapshot, ks.MemorySnapshot)
    return snapshot


def loaded(path: Path) -> Row:
    return pickle.loads(path.read_bytes())  # noqa: S301 - the oracle, on files that were looked at


def rows(table: ks.Table) -> list[Row]:
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows()]


def health(snapshot: ks.MemorySnapshot) -> dict[str, int]:
    return {row["kind"]: row["count"] for row in rows(snapshot.health)}


# --- the same by other means --------------------------------------------------------------------------------------


def extra(entry: Row, known: set[str]) -> Row | None:
    rest = {key: value for key, value in entry.items() if key not in known}
    return json.loads(json.dumps(rest)) or None


def stacks(snapshot: ks.MemorySnapshot) -> Callable[[int | None], list[Row] | None]:
    found: dict[int, list[Row]] = defaultdict(list)
    for row in rows(snapshot.frames):
        frame = {
            "name": row["function"],
            "filename": row["file"],
            "line": row["line"],
            **json.loads(row["extra"] or "{}"),
        }
        assert row["depth"] == len(found[row["stack_id"]])
        found[row["stack_id"]].append(frame)
    return lambda stack: None if stack is None else found[stack]


def compared(snapshot: ks.MemorySnapshot, table: ks.Table) -> Iterator[Row]:
    """The rows of a table with their stacks and the rest as Python has them."""
    stack_of = stacks(snapshot)
    for row in rows(table):
        if "stack_id" in row:
            row["stack_id"] = stack_of(row["stack_id"])
        row["extra"] = row["extra"] and json.loads(row["extra"])
        yield row


def expected_actions(data: Row) -> Iterator[Row]:
    known = {"action", "addr", "size", "stream", "time_us", "device_free", "pool_id", "frames"}
    known |= {"compile_context", "user_metadata"}
    lists = [*enumerate(data["device_traces"]), (None, data.get("host_traces", []))]
    for number, (device, entry) in enumerate((device, entry) for device, trace in lists for entry in trace):
        yield {
            "id": number,
            "device": device,
            "action": entry["action"],
            "time_ns": entry["time_us"] * 1000,
            "address": entry.get("addr"),
            "size_bytes": entry["size"],
            "stream": entry["stream"],
            "device_free_bytes": entry.get("device_free"),
            "pool": None,
            "compile_context": entry["compile_context"] or None,
            "user_metadata": entry["user_metadata"] or None,
            "stack_id": entry["frames"] or None,
            "extra": extra(entry, known),
        }


def expected_segments(data: Row) -> Iterator[Row]:
    known = {"device", "address", "total_size", "size", "allocated_size", "active_size", "requested_size", "stream"}
    known |= {"segment_type", "segment_pool_id", "is_expandable", "frames", "blocks"}
    for number, entry in enumerate(data["segments"] + data.get("host_segments", [])):
        pool = entry.get("segment_pool_id")
        yield {
            "segment_id": number,
            "device": entry.get("device"),
            "address": entry["address"],
            "size_bytes": entry.get("total_size", entry.get("size")),
            "allocated_bytes": entry.get("allocated_size"),
            "active_bytes": entry.get("active_size"),
            "requested_bytes": entry.get("requested_size"),
            "stream": entry.get("stream"),
            "segment_type": entry.get("segment_type"),
            "pool": None if pool is None else json.dumps(pool, separators=(",", ":")),
            "is_expandable": entry.get("is_expandable"),
            "stack_id": entry["frames"] or None,
            "extra": extra(entry, known),
        }


def expected_blocks(data: Row) -> Iterator[Row]:
    pairs = [(number, segment, block) for number, segment in enumerate(data["segments"]) for block in segment["blocks"]]
    for number, (parent, segment, block) in enumerate(pairs):
        yield {
            "block_id": number,
            "segment_id": parent,
            "device": segment["device"],
            "address": block["address"],
            "size_bytes": block["size"],
            "requested_bytes": block["requested_size"],
            "state": block["state"],
            "stack_id": block["frames"] or None,
            "extra": extra(block, {"address", "size", "requested_size", "state", "frames"}),
        }


def check(snapshot: ks.MemorySnapshot, data: Row) -> None:
    assert list(compared(snapshot, snapshot.actions)) == list(expected_actions(data))
    assert list(compared(snapshot, snapshot.segments)) == list(expected_segments(data))
    assert list(compared(snapshot, snapshot.blocks)) == list(expected_blocks(data))
    annotations = [
        {"time_ns": entry["time_us"] * 1000, "extra": None, **{key: entry[key] for key in ("device", "name", "stage")}}
        for entry in data["external_annotations"]
    ]
    assert list(compared(snapshot, snapshot.annotations)) == annotations
    assert snapshot.metadata == {"allocator_settings": data["allocator_settings"]}
    assert len(snapshot.past_blocks) == len(snapshot.health) == 0


@pytest.fixture(scope="session")
def fixture(data: Path) -> Row:
    return loaded(data / "synthetic_memory/memory_snapshot.pickle")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_field_is_there(fixture: Row, protocol: int) -> None:
    check(snapshot_of(pickle.dumps(fixture, protocol)), fixture)
    check(snapshot_of(gzip.compress(pickle.dumps(fixture, protocol))), fixture)


def test_json_gives_the_same(fixture: Row) -> None:
    """As someone writes it who would rather not hand a pickle around."""
    check(snapshot_of(json.dumps(fixture).encode()), fixture)
    check(snapshot_of(gzip.compress(b"\xef\xbb\xbf" + json.dumps(fixture, indent=1).encode())), fixture)
    with pytest.raises(ks.TraceParseError, match="expected a memory snapshot in JSON, found EOF while parsing"):
        ks.read(json.dumps(fixture).encode()[:-5])


@pytest.mark.shared
def test_every_field_of_a_real_one_is_there(shared: Path) -> None:
    path = shared / "MAGMA27__assignment2-systems/memory_snapshot.pickle"
    data = loaded(path)
    for protocol in PROTOCOLS:
        check(snapshot_of(pickle.dumps(data, protocol)), data)
    check(snapshot_of(path), data)


def test_sums_agree_with_the_allocator(fixture: Row) -> None:
    """What segments say they have in use is what their blocks have; what was allocated and not freed is in a block."""
    snapshot = snapshot_of(pickle.dumps(fixture))
    used: dict[int, int] = defaultdict(int)
    for block in rows(snapshot.blocks):
        used[block["segment_id"]] += block["size_bytes"] * (block["state"] == "active_allocated")
    on_device = [row for row in rows(snapshot.segments) if row["device"] is not None]
    assert [used[row["segment_id"]] for row in on_device] == [row["allocated_bytes"] for row in on_device]
    sign = {"alloc": 1, "free_completed": -1}
    actions = [row for row in rows(snapshot.actions) if row["device"] == 0]
    assert sum(sign.get(row["action"], 0) * row["size_bytes"] for row in actions) == sum(used.values())


def test_segments_alone_with_histories() -> None:
    """What `torch.cuda.memory_snapshot()` gave before 2.1: blocks follow one another, and say what they held."""
    frames = [{"name": "f", "filename": "a.py", "line": 3}]
    held = [
        {"addr": 1128, "real_size": 300, "frames": frames, "cpp_frames": ["malloc"]},
        {"addr": 1128, "real_size": 9},
    ]
    blocks = [{"size": 128, "state": "inactive"}, {"size": 384, "state": "active_allocated", "history": held}]
    segment = {"device": 0, "address": 1000, "total_size": 512, "stream": 0, "segment_type": "small", "blocks": blocks}
    snapshot = snapshot_of(pickle.dumps([segment]))
    stack_of = stacks(snapshot)
    found = [(row["address"], row["requested_bytes"], stack_of(row["stack_id"])) for row in rows(snapshot.blocks)]
    assert found == [(1000, None, None), (1128, 300, frames)]
    past = [(row["block_id"], row["requested_bytes"], row["extra"]) for row in rows(snapshot.past_blocks)]
    assert past == [(1, 300, '{"cpp_frames":["malloc"]}'), (1, 9, None)]
    assert len(snapshot.health) == 0


# --- any plain data -----------------------------------------------------------------------------------------------

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
SCALARS = st.one_of(
    *(st.none(), st.booleans(), st.integers(-(2**127), 2**127 - 1), st.floats(allow_nan=False, allow_infinity=False)),
    *(TEXT, st.text("ab", min_size=250, max_size=300)),
)
PLAIN = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        *(st.lists(inner, max_size=8), st.tuples(inner), st.tuples(inner, inner), st.tuples(inner, inner, inner)),
        *(st.lists(inner, min_size=4, max_size=6).map(tuple), st.dictionaries(TEXT, inner, max_size=6)),
        inner.map(lambda value: [value, value]),
    ),
    max_leaves=30,
)


@given(PLAIN, st.sampled_from(PROTOCOLS))
def test_plain_data_comes_back(value: Any, protocol: int) -> None:
    snapshot = snapshot_of(pickle.dumps({"segments": [], "told": value}, protocol))
    assert snapshot.metadata == json.loads(json.dumps({"told": value}))
    assert len(snapshot.health) == 0


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_many_items_come_back(protocol: int) -> None:
    """More than Python adds at once, and more than a memo's short numbers reach."""
    value = {"list": list(range(5000)), "dict": {str(key): [key, str(key)] for key in range(3000)}, "big": "x" * 70_000}
    assert snapshot_of(pickle.dumps({"segments": [], **value}, protocol)).metadata == value


def test_what_json_has_no_word_for() -> None:
    told = {"bytes": b"\x00\xff", "array": bytearray(b"a"), "frozen": frozenset({1}), "set": {2}, 7: math.inf}
    snapshot = snapshot_of(pickle.dumps({"segments": [], "told": told}, 5))
    expected = {"bytes": [0, 255], "array": [97], "frozen": [1], "set": [2], "7": "inf"}
    assert snapshot.metadata == {"told": expected}


def test_a_file_name_that_is_no_text_is_counted() -> None:
    frames = [{"name": "f", "filename": os.fsdecode(b"/\xff.py"), "line": 1}]
    snapshot = snapshot_of(pickle.dumps({"device_traces": [[{"action": "alloc", "frames": frames}]]}))
    assert rows(snapshot.frames)[0]["file"] == "/\ufffd\ufffd\ufffd.py"
    assert health(snapshot) == {"invalid_utf8": 1}


def test_what_follows_is_counted() -> None:
    """The viewer's page pads the pickle that it holds."""
    assert health(snapshot_of(pickle.dumps({"segments": []}) + b"\0\0")) == {"trailing_text": 1}


# --- strangers ----------------------------------------------------------------------------------------------------


class Runs:
    """Would make a folder when it is loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_code_is_refused_and_not_run(tmp_path: Path, protocol: int) -> None:
    hostile = pickle.dumps({"segments": [], "run": Runs(tmp_path / "made")}, protocol)
    with pytest.raises(ks.UnsupportedTraceError, match=r"plain data, found the opcode (STACK_)?GLOBAL.* \(byte \d+\)"):
        ks.read(hostile)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("value", [complex(1), {1, 2}, Path(), Path, math.sin])
def test_what_takes_code_to_build_is_refused(value: object) -> None:
    with pytest.raises(ks.UnsupportedTraceError, match="found the opcode GLOBAL, which runs code on load"):
        ks.read(pickle.dumps({"segments": [], "x": value}, 3))


def test_what_is_not_in_the_file_is_refused() -> None:
    content = pickle.dumps({"segments": [], "x": pickle.PickleBuffer(b"a")}, 5, buffer_callback=lambda _buffer: False)
    with pytest.raises(ks.UnsupportedTraceError, match="NEXT_BUFFER, which refers to an object outside the file"):
        ks.read(content)


def test_cut_anywhere_is_an_error(fixture: Row) -> None:
    for protocol in PROTOCOLS:
        whole = pickle.dumps(fixture, protocol)
        for end in range(2, len(whole)):
            with pytest.raises(ks.TraceParseError, match="expected a complete pickle, found the end of the file"):
                ks.read(whole[:end])


@given(st.data())
def test_no_bytes_do_harm(data: st.DataObject) -> None:
    protocol = data.draw(st.sampled_from(PROTOCOLS))
    small = {"segments": [{"blocks": [{"size": 5}]}], "device_traces": [[{"addr": 1}]]}
    content = bytearray(pickle.dumps(small, protocol))
    for _ in range(data.draw(st.integers(1, 5))):
        content[data.draw(st.integers(2, len(content) - 1))] = data.draw(st.integers(0, 255))
    try:
        snapshot = snapshot_of(bytes(content))
    except ks.TraceError:
        return
    assert [len(snapshot.table(name).rows()) for name in snapshot.table_names]


@pytest.mark.parametrize(
    "content",
    [
        b"\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\x7fx.",
        b"\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\xffN.",
        b"\x80\x04Nr\xff\xff\xff\xff.",
        b"\x80\x04\x8b\xff\xff\xff\x7f.",
    ],
)
def test_lengths_that_cannot_be_take_no_memory(content: bytes) -> None:
    with pytest.raises(ks.TraceParseError, match=r"\(byte [23]\)"):
        ks.read(content)


def test_references_without_end_take_no_time() -> None:
    bomb: list[Any] = []
    for _ in range(60):
        bomb = [bomb, bomb]
    loop: list[Any] = []
    loop.append(loop)
    block = {"size": 1}
    shared = [block] * 20_000
    segments = [{"address": number, "blocks": shared, "bomb": bomb} for number in range(20_000)]
    text = "x" * 100_000
    frames = [{"name": text, "filename": "", "line": 1}] * 20_000
    trace = [{"action": "alloc", "frames": frames, "user_metadata": text, "told": text} for _ in range(20_000)]
    start = time.monotonic()
    snapshot = snapshot_of(pickle.dumps({"segments": segments, "device_traces": [trace, trace], "loop": loop}))
    assert (len(snapshot.segments), len(snapshot.blocks), len(snapshot.actions)) == (20_000, 1, 20_000)
    assert (len(snapshot.frames), snapshot.metadata) == (20_000, {})
    found = health(snapshot)
    assert found.pop("oversized_value") > 39_000
    assert found == {"shared_row": 19_999 + 19_999 + 1}
    assert time.monotonic() - start < 10


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (pickle.dumps({"model": 1}), r"expected a memory snapshot: .*found a dict with \[\"model\"\]"),
        (pickle.dumps([1, 2]), "found a list"),
        (pickle.dumps(0x1950A86A20F9469CFC6C, 2), "found an int"),
        (b"<html><script>import 'https://cdn/MemoryViz.js'", "a memory snapshot in HTML"),
    ],
)
def test_what_is_no_snapshot_is_refused(content: bytes, message: str) -> None:
    with pytest.raises(ks.TraceError, match=message):
        ks.read(content)


def test_a_limit_is_kept(fixture: Row) -> None:
    content = gzip.compress(pickle.dumps({**fixture, "x": " " * 1_000_000}))
    with pytest.raises(ks.TraceError, match="expected at most 100000 bytes"):
        ks.read(content, max_bytes=100_000)


# --- as tables ----------------------------------------------------------------------------------------------------


def test_tables_leave(data: Path, tmp_path: Path) -> None:
    snapshot = snapshot_of(data / "synthetic_memory/memory_snapshot.pickle")
    frame = snapshot.actions.to_pandas()
    assert frame["time_ns"].is_monotonic_increasing is False  # the host's come last
    assert snapshot.export(tmp_path / "blocks.csv", "blocks").read_text().startswith("block_id,segment_id,device,")
    assert snapshot.export(tmp_path / "actions.parquet").stat().st_size > 0
    assert repr(snapshot).splitlines()[:2] == ["a memory snapshot: memory_snapshot.pickle", "  actions: 32 rows"]
    assert "<img" in snapshot._repr_html_()


def test_a_trace_is_asked_for_elsewhere(data: Path, tmp_path: Path) -> None:
    content = (data / "synthetic_memory/memory_snapshot.pickle").read_bytes()
    (tmp_path / "kineto_trace_0.json").write_bytes(content)
    with pytest.raises(ks.TraceError, match=r"expected a trace, found a memory snapshot: .*; use ks\.read"):
        ks.read_dir(tmp_path)
    with pytest.raises(ks.UnsupportedTraceError, match=r"expected a JSON trace.* found a Python pickle"):
        ks.read(b'{"traceEvents": []}', content)
