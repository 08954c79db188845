"""Other people's traces, number by number: what the tables and the summary say, against the plain documents.

The oracle is Python's own parser with decimals instead of floats, and brute force where we search.
"""

from __future__ import annotations

import gzip
import json
import lzma
import os
import random
import tarfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any, NamedTuple

import kinetoscope as ks
import pytest

pytestmark = pytest.mark.shared

SAMPLE = 60
"""Events of a track that a search by brute force looks at."""

INTEGERS = {
    "correlation": "correlation_id",
    "External id": "external_id",
    "external id": "external_id",
    "Record function id": "record_id",
    "Sequence number": "seq_num",
    "bytes": "bytes",
    "Bytes": "bytes",
    "registers per thread": "registers",
    "shared memory": "shared_memory_bytes",
    "In msg nelems": "in_elems",
    "Out msg nelems": "out_elems",
    "Group size": "group_size",
    "graph id": "graph_id",
    "graph node id": "graph_node_id",
}
FLOATS = {"memory bandwidth (GB/s)": "bandwidth_gbps", "est. achieved occupancy %": "occupancy"}
TEXTS = {
    "Input Dims": "input_shapes",
    "Input dims": "input_shapes",
    "Input type": "input_types",
    "Input Strides": "input_strides",
    "Concrete Inputs": "concrete_inputs",
    "grid": "grid",
    "block": "block",
    "Collective name": "collective",
    "dtype": "dtype",
    "Process Group Name": "group_name",
}
BANDWIDTH = "memory bandwidth (GB/s)"
OUTSIDE_ARGS = {"ph", "name", "cat", "pid", "tid", "ts", "dur", "args"}
WORK = {"kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset", "mtia_ccp_events"}
ON_DEVICE = WORK | {"cuda_sync", "gpu_user_annotation", "cuda_profiler_range"}
OWNERS = {"cpu_op", "operator", "user_annotation"}

Row = dict[str, Any]


class Document(NamedTuple):
    """A trace as it is handed over, and as a plain parser sees it."""

    content: bytes
    root: Any

    @property
    def events(self) -> list[Any] | None:
        """The events of a Kineto trace; None in any other file."""
        return self.root if isinstance(self.root, list) else self.root.get("traceEvents")

    @property
    def base_ns(self) -> int:
        """What is added to all times: nothing where they are later than it already."""
        base = 0 if isinstance(self.root, list) else int(self.root.get("baseTimeNanoseconds", 0))
        times = (nanoseconds(event["ts"]) for event in of_phases(self, "XBiIC").values() if "ts" in event)
        return base if min(times, default=base) < base else 0


def files() -> list[Path | None]:
    repository = Path(__file__).resolve().parents[3]
    folder = Path(os.environ.get("KINETOSCOPE_SHARED") or repository.parent / "shared") / "data"
    endings = (".json", ".json.gz", ".json.xz", ".tar.gz", ".tgz")
    found = sorted(path for path in folder.rglob("*") if path.name.endswith(endings)) if folder.is_dir() else []
    return [path for path in found if path.parent.name != "_derived"] or [None]


def contents(path: Path) -> Iterator[bytes]:
    if ".tar" not in path.name and not path.name.endswith(".tgz"):
        yield lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()
        return
    with tarfile.open(path) as archive:
        for entry in archive:
            file = archive.extractfile(entry)
            if file and entry.name.endswith((".json", ".json.gz")) and not Path(entry.name).name.startswith("._"):
                yield file.read()


def parsed(text: str) -> Any:
    return json.loads(text, strict=False, parse_float=Decimal, parse_constant=str)


def of_phases(document: Document, phases: str) -> dict[int, Row]:
    """Elements of the document by their position."""
    events = enumerate(document.events or [])
    return {at: event for at, event in events if isinstance(event, dict) and event.get("ph", "?") in phases}


def nanoseconds(micros: Any) -> int:
    return int((Decimal(str(micros)) * 1000).quantize(Decimal(1), rounding=ROUND_HALF_UP))


def rows(table: ks.Table, *columns: str) -> list[Row]:
    names = columns or tuple(table.columns)
    return [dict(zip(names, row, strict=True)) for row in table.select(*names).rows()]


class Pair(NamedTuple):
    """A Kineto trace as a plain parser and as we read it; rows of its events by their ids."""

    document: Document
    trace: ks.Trace
    table: dict[int, Row]


def documents(path: Path) -> list[Document]:
    return [Document(content, parsed(plain(content).decode("utf-8-sig"))) for content in contents(path)]


def plain(content: bytes) -> bytes:
    return gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content


# The scope lets the tests of one file follow each other, so that it is parsed once.
@pytest.fixture(scope="module", params=files(), ids=lambda path: path.name if path else "none")
def found(request: pytest.FixtureRequest, shared: Path) -> list[Document]:
    return documents(request.param)


@pytest.fixture(scope="module")
def pairs(found: list[Document]) -> list[Pair]:
    return [pair(document) for document in found if document.events is not None]


def pair(document: Document) -> Pair:
    trace = ks.read(document.content)
    return Pair(document, trace, {row["id"]: row for row in rows(trace.events)})


# --- tables -------------------------------------------------------------------------------------------------------


def test_events_are_exact(pairs: list[Pair]) -> None:
    for document, _, table in pairs:
        base, events = document.base_ns, of_phases(document, "XB")
        assert list(table) == list(events)
        for row, event in zip(table.values(), events.values(), strict=True):
            assert place(row) == place_of(event), event
            assert row["start_ns"] == base + nanoseconds(event.get("ts", 0)), event
            assert event["ph"] == "B" or row["dur_ns"] == max(0, nanoseconds(event.get("dur", 0))), event
            rest = parsed(row["args"] or "{}")
            assert not [key for key, value in facts(event).items() if is_lost(row, rest, key, value)], (event, row)


def test_points_are_exact(pairs: list[Pair]) -> None:
    for document, trace, _ in pairs:
        base = document.base_ns
        for table, phases in ((trace.instants, "iI"), (trace.flows, "stf")):
            events = of_phases(document, phases)
            assert [row["id"] for row in rows(table, "id")] == list(events)
            for row, event in zip(rows(table), events.values(), strict=True):
                assert place(row) == place_of(event), event
                assert row["time_ns"] == base + nanoseconds(event["ts"]), event
                if "args" in row and phases == "iI":
                    assert parsed(row["args"] or "{}") == facts(event), event
        flows = [str(row["flow_id_text"] or row["flow_id"]) for row in rows(trace.flows)]
        assert flows == [str(event["id"]) for event in of_phases(document, "stf").values()]


def place(row: Row) -> tuple[str, ...]:
    return tuple(row[column] or "" for column in ("name", "category", "process", "thread"))


def place_of(event: Row) -> tuple[str, ...]:
    return tuple(str(event.get(key, "")) for key in ("name", "cat", "pid", "tid"))


def facts(event: Row) -> Row:
    """All that an event says beside its name, place and time."""
    return {key: value for key, value in event.items() if key not in OUTSIDE_ARGS} | (event.get("args") or {})


def is_lost(row: Row, rest: Row, key: str, value: Any) -> bool:
    """Whether neither the key's column nor what is left of the arguments holds the value."""
    if key == BANDWIDTH:
        return False  # has a test of its own
    if key in rest:
        return bool(rest[key] != value)
    if key in INTEGERS:
        no_graph = key.startswith("graph") and not int(value)  # Kineto writes 0 for work outside of any graph
        return bool(row[INTEGERS[key]] != (None if no_graph else int(value)))
    if key in FLOATS:
        return bool(row[FLOATS[key]] != float(value))
    text = row[TEXTS[key]]
    return bool(text != value if isinstance(value, str) else parsed(text) != value)


def test_bandwidths_are_the_nearest_floats(shared: Path) -> None:
    path = shared / "facebookresearch__HolisticTraceAnalysis/tests/data/nccl_parser_config/nccl_data.json.gz"
    for document, _, table in map(pair, documents(path)):
        args = {at: event.get("args", {}) for at, event in of_phases(document, "X").items()}
        written = {at: float(values[BANDWIDTH]) for at, values in args.items() if BANDWIDTH in values}
        assert {at: table[at]["bandwidth_gbps"] for at in written} == written


def test_nodes_are_exact(found: list[Document]) -> None:
    for document in found:
        if isinstance(document.root, dict) and "nodes" in document.root:
            trace = ks.read(document.content)
            for row, node in zip(rows(trace.nodes), document.root["nodes"], strict=True):
                check_node(row, node)
            num_tensors = sum(count_tensors(node, role) for node in document.root["nodes"] for role in ROLES)
            assert len(trace.tensors) == num_tensors


ROLES = ("inputs", "outputs")


def check_node(row: Row, node: Row) -> None:
    values = node | {attribute["name"]: attribute["value"] for attribute in node.get("attrs", [])}
    assert row["node_id"] == node["id"]
    assert row["parent_id"] == node.get("ctrl_deps", node.get("parent"))
    assert row["name"] == node["name"]
    assert (row["record_id"] or 0) == values.get("rf_id", 0)
    assert (row["schema"] or "") == values.get("op_schema", "")
    for role in ROLES:
        if isinstance(node[role], dict):
            assert parsed(row[role]) == node[role]["values"]
            assert parsed(row[f"{role[:-1]}_shapes"]) == node[role]["shapes"]
            assert parsed(row[f"{role[:-1]}_strides"] or "null") == node[role].get("strides")
        else:
            assert parsed(row[role]) == node[role]


def count_tensors(node: Row, role: str) -> int:
    """Each mention of a tensor's type is one tensor: a list has a type for each of its elements."""
    inner = node[role]
    types = inner["types"] if isinstance(inner, dict) else node[f"{role[:-1]}_types"]
    return sum(name.count("Tensor(") for name in types)


# --- links --------------------------------------------------------------------------------------------------------


class Span(NamedTuple):
    """An event in time; `id` is its place in the file."""

    start: int
    end: int
    id: int

    def is_around(self, other: Span) -> bool:
        return self.start <= other.start and other.end <= self.end

    @classmethod
    def of(cls, row: Row) -> Span:
        return cls(row["start_ns"], row["start_ns"] + row["dur_ns"], row["id"])


def innermost(spans: list[Span]) -> int | None:
    return max(spans, key=lambda span: (span.start, -span.end, span.id)).id if spans else None


def spans_by_track(document: Document, table: dict[int, Row]) -> dict[Any, list[Span]]:
    """Events by thread or stream; a stream may have the numbers of a thread."""
    tracks: dict[Any, list[Span]] = defaultdict(list)
    events = document.events or []
    for at, row in table.items():
        tracks[track_of(events[at])].append(Span.of(row))
    return tracks


def track_of(event: Row) -> tuple[str, str, bool]:
    return str(event.get("pid")), str(event.get("tid")), category(event) in ON_DEVICE


def category(event: Row) -> str:
    return str(event.get("cat", "")).lower()


def test_parents_are_the_innermost_around(pairs: list[Pair]) -> None:
    chance = random.Random(1)
    for document, _, table in pairs:
        if not any(isinstance(event.get("ts"), Decimal) for event in of_phases(document, "X").values()):
            continue  # whole microseconds are nested with slack
        for spans in spans_by_track(document, table).values():
            for span in chance.sample(spans, min(SAMPLE, len(spans))):
                around = [other for other in spans if other.is_around(span)]
                around = [other for other in around if other[:2] != span[:2] or other.id < span.id]
                assert table[span.id]["parent_id"] == innermost(around)


def test_operators_are_the_innermost_around_launches(pairs: list[Pair]) -> None:
    for document, _, table in pairs:
        events = document.events or []
        tracks = spans_by_track(document, table).items()
        owners = {track: [span for span in spans if category(events[span.id]) in OWNERS] for track, spans in tracks}
        work = [row for at, row in table.items() if category(events[at]) in WORK and row["launch_id"] is not None]
        wrong = 0
        for row in random.Random(2).sample(work, min(SAMPLE, len(work))):
            launch = Span.of(table[row["launch_id"]])
            around = [owner for owner in owners[track_of(events[launch.id])] if owner.is_around(launch)]
            wrong += row["operator_id"] != innermost(around)
        assert wrong <= len(work) // 50  # where whole microseconds let a launch seem to outlast its operator


def test_launches_have_the_number_of_their_work(pairs: list[Pair]) -> None:
    for document, _, table in pairs:
        events = document.events or []
        is_launch = {at: category(events[at]).endswith(("runtime", "driver")) for at in table}
        numbers = {row["correlation_id"] for at, row in table.items() if is_launch[at]} - {0, None}
        for at, row in table.items():
            if category(events[at]) in WORK:
                assert (row["launch_id"] is not None) == (row["correlation_id"] in numbers)
            if row["launch_id"] is not None:
                assert is_launch[row["launch_id"]]
                assert table[row["launch_id"]]["correlation_id"] == row["correlation_id"]


def test_own_time_is_what_the_children_leave(pairs: list[Pair]) -> None:
    for _, _, table in pairs:
        children: Counter[int] = Counter()
        for row in table.values():
            children[row["parent_id"]] += row["dur_ns"]
        assert all(row["self_ns"] == max(0, row["dur_ns"] - children[at]) for at, row in table.items())


def test_every_iteration_is_kept(shared: Path) -> None:
    path = next(shared.rglob("*.pt.trace.json.xz"))
    for document, trace, _ in map(pair, documents(path)):
        steps = [event for event in of_phases(document, "X").values() if event["name"].startswith("ProfilerStep#")]
        assert len(trace.iterations) == len(steps)


def test_nodes_of_another_run_are_not_linked(shared: Path) -> None:
    trace = ks.read(
        shared / "facebookresearch__HolisticTraceAnalysis/tests/data/nccl_parser_config/nccl_data.json.gz",
        shared / "facebookresearch__param/et_replay/tests/inputs/1.1.0-chakra.0.0.4/resnet_2gpu_et.json.gz",
    )
    assert trace.coverage["nodes"]["num_linked"] == 0


# --- summary ------------------------------------------------------------------------------------------------------


def test_the_summary_adds_up(pairs: list[Pair]) -> None:
    for document, trace, table in pairs:
        events, summary = document.events or [], trace.summary().data
        if not any(isinstance(event, dict) and event.get("cat") for event in events):
            continue  # names tell the work of such a file
        work = [row for at, row in table.items() if category(events[at]) in WORK]
        busy = {device["device"]: device["busy_ns"] for device in summary["devices"]}
        assert busy == {device: busy_ns(work, device) for device in {row["device"] for row in work}}
        kernels: dict[str, list[int]] = defaultdict(list)
        for row in work:
            kernels[row["name"]].append(row["dur_ns"])
        assert summary["num_kernels"] == len(kernels)
        for kernel in summary["kernels"]:
            durs = kernels[kernel["name"]]
            assert (kernel["count"], kernel["total_ns"]) == (len(durs), sum(durs))
            assert (kernel["min_ns"], kernel["max_ns"]) == (min(durs), max(durs))


def busy_ns(work: list[Row], device: int | None) -> int:
    """Time with any work, by walking over its starts."""
    total, until = 0, -(2**63)
    for row in sorted(work, key=lambda row: row["start_ns"]):
        if row["device"] == device:
            end = row["start_ns"] + row["dur_ns"]
            total += max(0, end - max(until, row["start_ns"]))
            until = max(until, end)
    return total


def test_numbers_of_more_digits_than_python_converts(tmp_path: Path) -> None:
    digits = "1" * 5000
    path = tmp_path / "trace.json"
    event = f'{{"ph": "X", "name": "a", "ts": 1, "dur": 2, "args": {{"n": {digits}}}}}'
    path.write_text(f'{{"wide": {digits}, "traceEvents": [{event}]}}')
    trace = ks.read(path)
    assert trace.metadata["kineto"]["wide"] == float("inf")
    assert trace.query({"type": "event", "id": 0}).data
