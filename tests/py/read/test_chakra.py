"""Chakra traces: the graph of one rank as simulators read it."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kinetoscope._cli.main import main
from protobuf import ATTRIBUTES, Node, attribute, metadata, scalar, stream

pytestmark = pytest.mark.unit

SCHEMA = metadata(attrs=[attribute("schema", "string", "1.0.2-chakra.0.0.4"), attribute("pid", "uint64", 2**64 - 1)])
MATMUL = Node(
    2,
    "aten::mm",
    4,
    control=[1],
    start=1_700_000_000_000_001,
    dur=12,
    inputs=("[[1, 2]]", "[[8, 8]]", "['Tensor(float)']"),
    attrs=[attribute("is_cpu_op", "bool", value=True), attribute("stream", "int64", 0)],
).encoded()
REDUCE = Node(
    7,
    "ncclDevKernel_AllReduce",
    7,
    control=[2],
    data=[2, 5],
    attrs=[
        attribute("is_cpu_op", "bool", value=False),
        attribute("comm_type", "int64", 0),
        attribute("comm_size", "int64", 4096),
        attribute("pg_name", "string", "0", doc="of the default group"),
    ],
).encoded()
WHOLE = stream(SCHEMA, MATMUL, REDUCE)


def chakra_of(content: bytes) -> ks.Chakra:
    chakra = ks.read(content)
    assert isinstance(chakra, ks.Chakra)
    return chakra


def column(table: ks.Table, name: str) -> list[Any]:
    return [value for (value,) in table.select(name).rows()]


def test_nodes_and_what_they_wait_for(tmp_path: Path) -> None:
    path = tmp_path / "rank.0.et"
    path.write_bytes(WHOLE)
    chakra = ks.read(path)
    assert isinstance(chakra, ks.Chakra)
    nodes = chakra.nodes
    assert column(nodes, "node_id") == [2, 7]
    assert column(nodes, "name") == ["aten::mm", "ncclDevKernel_AllReduce"]
    assert column(nodes, "node_type") == ["COMP_NODE", "COMM_COLL_NODE"]
    assert column(nodes, "start_ns") == [1_700_000_000_000_001_000, 0]
    assert column(nodes, "dur_ns") == [12_000, 0]
    assert column(nodes, "input_shapes") == ["[[8, 8]]", None]
    assert column(nodes, "collective") == [None, "ALL_REDUCE"]
    assert column(nodes, "comm_bytes") == [None, 4096]
    assert column(nodes, "is_on_host") == [True, False]
    assert chakra.dependencies.rows() == [(1, 2, "control"), (2, 7, "control"), (2, 7, "data"), (5, 7, "data")]
    attrs = json.loads(column(nodes, "attrs")[1])
    assert attrs[-1] == {"name": "pg_name", "type": "string", "value": "0", "doc": "of the default group"}
    assert chakra.metadata["attrs"][1] == {"name": "pid", "type": "uint64", "value": 2**64 - 1}
    assert len(chakra.health) == 0
    assert repr(chakra).splitlines() == [
        *("a Chakra trace: rank.0.et", "  nodes: 2 rows", "  dependencies: 4 rows", "  health: 0 rows"),
    ]


def test_a_file_of_a_rank(data: Path) -> None:
    chakra = ks.read(data / "synthetic_chakra/rank.0.et")
    assert isinstance(chakra, ks.Chakra)
    totals = chakra.nodes.to_polars().group_by("node_type").len().sort("node_type").rows()
    assert totals == [("COMM_COLL_NODE", 2), ("COMM_SEND_NODE", 1), ("COMP_NODE", 4)]
    assert column(chakra.nodes, "comm_target")[-1] == 1
    assert chakra.metadata["attrs"][0]["value"] == "1.1.1-chakra.0.0.4"


def test_gzip_is_seen_through_and_tables_leave() -> None:
    chakra = chakra_of(gzip.compress(WHOLE))
    assert chakra.nodes.to_polars()["comm_bytes"].to_list() == [None, 4096]
    assert "ncclDevKernel_AllReduce" in chakra._repr_html_()


@pytest.mark.parametrize("first", [metadata(), metadata("0.0.4"), metadata("v" * 300)])
def test_every_first_message_is_recognised(first: bytes) -> None:
    assert column(chakra_of(stream(first, MATMUL)).nodes, "node_id") == [2]


INTEGERS = {
    **dict.fromkeys(("int32", "sint32", "sfixed32"), st.integers(-(2**31), 2**31 - 1)),
    **dict.fromkeys(("int64", "sint64", "sfixed64"), st.integers(-(2**63), 2**63 - 1)),
    **dict.fromkeys(("uint32", "fixed32"), st.integers(0, 2**32 - 1)),
    **dict.fromkeys(("uint64", "fixed64"), st.integers(0, 2**64 - 1)),
}
VALUES: dict[str, st.SearchStrategy[Any]] = {
    **INTEGERS,
    "double": st.floats(allow_nan=False, allow_infinity=False),
    "float": st.floats(allow_nan=False, allow_infinity=False, width=32),
    "bool": st.booleans(),
    "string": st.text(st.characters(exclude_categories=["Cs"])),
    "bytes": st.binary(),
}
TYPED = st.sampled_from(ATTRIBUTES).flatmap(
    lambda sort: st.one_of(
        st.tuples(st.just(sort), VALUES[sort]), st.tuples(st.just(f"{sort}_list"), st.lists(VALUES[sort]))
    )
)


@given(st.lists(TYPED, max_size=5))
def test_every_attribute_comes_back_with_its_type(typed: list[tuple[str, Any]]) -> None:
    attrs = [attribute(f"a{number}", sort, value) for number, (sort, value) in enumerate(typed)]
    (found,) = column(chakra_of(stream(SCHEMA, Node(1, "n", 4, attrs=attrs).encoded())).nodes, "attrs")
    read = json.loads(found)
    assert [each["type"] for each in read] == [sort for sort, _ in typed]
    assert [each["value"] for each in read] == [_as_json(sort, value) for sort, value in typed]


def _as_json(sort: str, value: Any) -> Any:
    """Bytes are numbers; of 32 bits, JSON has the shortest digits that give them back."""
    if isinstance(value, list):
        return [_as_json(sort, each) for each in value]
    if isinstance(value, bytes):
        return list(value)
    return pytest.approx(value, rel=1e-6) if sort.startswith("float") else value


def test_what_is_not_finite_is_a_text() -> None:
    attrs = [attribute("a", "double_list", [math.inf, -math.inf, math.nan])]
    (found,) = column(chakra_of(stream(SCHEMA, Node(1, "n", 4, attrs=attrs).encoded())).nodes, "attrs")
    assert json.loads(found)[0]["value"] == ["inf", "-inf", "NaN"]


def test_cut_anywhere_gives_what_is_whole() -> None:
    last = 0
    for end in range(len(stream(SCHEMA)) + 1, len(WHOLE) + 1):
        try:
            chakra = chakra_of(WHOLE[:end])
        except ks.TraceError:
            assert last == 0
            continue
        assert len(chakra.nodes) >= last
        last = len(chakra.nodes)
        is_between = end in (len(stream(SCHEMA, MATMUL)), len(WHOLE))
        assert column(chakra.health, "kind") == ([] if is_between else ["truncated"])
    assert last == 2


def test_a_node_that_is_none_costs_no_neighbour() -> None:
    chakra = chakra_of(stream(SCHEMA, MATMUL, b"\xff\xff\xff", b"", REDUCE))
    assert column(chakra.nodes, "node_id") == [2, 7]
    assert [(kind, count) for kind, count, *_ in chakra.health.rows()] == [("malformed_element", 2)]


@pytest.mark.parametrize("tail", [b"\x80" * 20, b"\xff\xff\xff\xff\x7f" + b"x" * 100])
def test_a_length_that_cannot_be_takes_no_memory(tail: bytes) -> None:
    chakra = chakra_of(WHOLE + tail)
    assert len(chakra.nodes) == 2
    assert column(chakra.health, "kind") in (["malformed_element"], ["truncated"])


@given(st.binary(max_size=200))
def test_no_bytes_do_harm(content: bytes) -> None:
    for whole in (content, stream(SCHEMA, content, MATMUL), WHOLE + content):
        try:
            found = ks.read(whole)
        except (ks.TraceError, OSError):
            continue
        if isinstance(found, ks.Chakra):
            found.nodes.rows()
            found.dependencies.rows()


def saved(content: bytes, folder: Path) -> bytes:
    return chakra_of(content).save(folder / "again.et").read_bytes()


def test_written_as_it_was_read(data: Path, tmp_path: Path) -> None:
    content = (data / "synthetic_chakra/rank.0.et").read_bytes()
    assert saved(content, tmp_path) == content
    assert saved(gzip.compress(content), tmp_path) == content
    packed = chakra_of(content).save(tmp_path / "again.et.gz")
    assert gzip.decompress(packed.read_bytes()) == content
    with pytest.raises(FileNotFoundError, match="expected a folder"):
        chakra_of(content).save(tmp_path / "none/again.et")


NODES = st.builds(
    Node,
    *(st.integers(1, 2**64 - 1), st.text(st.characters(exclude_categories=["Cs"])), st.integers(0, 9)),
    *(st.lists(st.integers(0, 2**64 - 1)), st.lists(st.integers(0, 2**64 - 1))),
    *(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1)),
    inputs=st.tuples(*[st.text(st.characters(exclude_categories=["Cs"]))] * 3),
    attrs=st.lists(TYPED.map(lambda typed: attribute("a", *typed, doc="d"))),
)


@given(st.lists(NODES, min_size=1, max_size=4), st.lists(TYPED, max_size=3))
def test_every_canonical_file_comes_back(
    tmp_path_factory: pytest.TempPathFactory, nodes: list[Node], about: list[tuple[str, Any]]
) -> None:
    first = metadata("0.0.4", [attribute(f"m{number}", *typed) for number, typed in enumerate(about)])
    content = stream(first, *(node.encoded() for node in nodes))
    assert saved(content, tmp_path_factory.mktemp("et", numbered=True)) == content
    assert len(chakra_of(content).health) == 0


@pytest.mark.parametrize(
    "message",
    [
        MATMUL + scalar(99, "string", "a field of a later version"),
        MATMUL + scalar(10, "message", attribute("a", "int64", 1) + scalar(77, "uint64", 5)),
        scalar(1, "uint64", 9) + scalar(6, "uint64", 0),
        scalar(2, "string", "name before number") + scalar(1, "uint64", 9),
        scalar(1, "uint64", 9) + scalar(4, "uint64", 2) + scalar(4, "uint64", 3),
        scalar(1, "uint64", 9) + scalar(8, "message", b""),
        scalar(1, "uint64", 9) + scalar(10, "message", b"\x0a\x01n\x19\x01\x00\x00\x00\x00\x00\xf8\x7f"),
    ],
    ids=["unknown", "unknown inside", "default", "order", "unpacked", "empty inputs", "not a number"],
)
def test_a_message_of_another_layout_comes_back(message: bytes, tmp_path: Path) -> None:
    content = stream(SCHEMA, message, REDUCE)
    assert saved(content, tmp_path) == content
    assert [(kind, count) for kind, count, *_ in chakra_of(content).health.rows()] == [("irregular_message", 1)]
    assert column(chakra_of(content).health, "severity") == ["note"]


def test_a_first_message_of_another_layout_comes_back(tmp_path: Path) -> None:
    content = stream(SCHEMA + scalar(9, "uint64", 1), MATMUL)
    assert saved(content, tmp_path) == content


def test_what_is_no_message_is_counted_and_left_out(tmp_path: Path) -> None:
    assert saved(stream(SCHEMA, MATMUL, b"\xff\xff\xff", REDUCE), tmp_path) == WHOLE


def test_json_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "rank.0.et"
    path.write_bytes(WHOLE)
    assert main(["export", str(path), "--format", "jsonl"]) == 0
    nodes = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [node["node_id"] for node in nodes] == [2, 7]
    assert nodes[0]["input_types"] == "['Tensor(float)']"
    assert nodes[0]["attrs"][0] == {"name": "is_cpu_op", "type": "bool", "value": True}
    assert nodes[1]["attrs"][2] == {"name": "comm_size", "type": "int64", "value": 4096}
    assert nodes[1]["inputs"] is None
    lines = ks.read(path).export(tmp_path / "dependencies.jsonl", "dependencies").read_text().splitlines()
    assert json.loads(lines[0]) == {"source": 1, "target": 2, "kind": "control"}


def test_a_trace_is_asked_for_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "kineto_trace_0.json").write_bytes(WHOLE)
    with pytest.raises(ks.TraceError, match=r"expected a trace, found a Chakra trace: .*; use ks\.read"):
        ks.read_dir(tmp_path)
    with pytest.raises(ks.UnsupportedTraceError, match=r"expected a JSON trace.* found a Chakra trace"):
        ks.read(b'{"traceEvents": []}', WHOLE)


# --- in JSON ------------------------------------------------------------------------------------------------------


GRAPH = {
    "workload_graph": [
        {"Id": 1, "Name": "mm", "NodeType": 4, "is_cpu_op": True, "runtime": 5, "data_deps": []},
        {
            "Id": 2,
            "Name": "ar",
            "NodeType": 7,
            "is_cpu_op": False,
            "data_deps": [1],
            "ctrl_deps": [1],
            "comm_type": 0,
            "comm_size": 4096,
            "comm_src": 2**40,
            "pg_name": "1",
            "note": {"a": 1},
            "ratio": 0.5,
            "text": "7",
        },
        {"Name": "without an id", "NodeType": 4, "data_deps": []},
    ],
    "comment": "of a generator",
}


def test_a_graph_in_json(tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    path.write_text(json.dumps(GRAPH))
    chakra = ks.read(path)
    assert isinstance(chakra, ks.Chakra)
    assert column(chakra.nodes, "name") == ["mm", "ar"]
    assert column(chakra.nodes, "dur_ns") == [5000, 0]
    assert column(chakra.nodes, "collective") == [None, "ALL_REDUCE"]
    assert chakra.dependencies.rows() == [(1, 2, "control"), (1, 2, "data")]
    assert [(kind, count) for kind, count, *_ in chakra.health.rows()] == [("malformed_element", 1)]
    assert chakra.metadata["attrs"] == [{"name": "comment", "type": "string", "value": "of a generator"}]
    found = {attr["name"]: (attr["type"], attr["value"]) for attr in json.loads(column(chakra.nodes, "attrs")[1])}
    assert found == {
        "is_cpu_op": ("bool", False),
        "comm_type": ("int64", 0),
        "comm_size": ("int64", 4096),
        "comm_src": ("int64", 2**40),
        "pg_name": ("string", "1"),
        "note": ("string", '{"a": 1}'),
        "ratio": ("double", 0.5),
        "text": ("string", "7"),
    }
    again = ks.read(chakra.save(tmp_path / "graph.et"))
    assert isinstance(again, ks.Chakra)
    assert again.nodes.rows() == chakra.nodes.rows()


@pytest.mark.parametrize("content", [b'{"workload_graph": 5}', b'{"workload_graph": [{"Id": 1}', b'{"workload_graph"'])
def test_no_graph_in_json(content: bytes) -> None:
    with pytest.raises(ks.TraceParseError, match="expected a Chakra trace in JSON, found"):
        ks.read(content)
