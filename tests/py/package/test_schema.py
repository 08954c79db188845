"""The documented tables and columns are those that users get."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope import _native

pytestmark = pytest.mark.unit

SCHEMA: list[dict[str, Any]] = json.loads(_native.schema_json())
ARROW_TYPES = {
    "int64": "int64",
    "uint64": "uint64",
    "float64": "double",
    "bool": "bool",
    "string": "large_string",
    "json": "large_string",
}
LEADING = ("rank", "window")
"""Columns that tables of a trace get in a job."""
FILES = {
    "chakra": "synthetic_chakra/rank.0.et",
    "flight_recorder": "flight_cuda/nccl_trace_rank_0.json",
    "flight_recorder_set": "flight_ranks/gloo",
    "memory_snapshot": "synthetic_memory/memory_snapshot.pickle",
    "memory_timeline": "memory_cpu/memory_timeline.json",
}


def documented(of: str, analysis: str | None) -> dict[str, list[dict[str, Any]]]:
    """Columns of each table of an owner, and of one analysis."""
    found = [table for table in SCHEMA if table["of"] == of and table["analysis"] == analysis]
    return {table["table"]: table["columns"] for table in found}


def owners() -> Iterator[tuple[str, str | None]]:
    """Each owner with each of its analyses, or without one."""
    yield from sorted({(table["of"], table["analysis"]) for table in SCHEMA}, key=str)


def assert_documented(table: ks.Table, columns: list[dict[str, Any]]) -> None:
    """Names, and with pyarrow also types and units, are those of the schema."""
    assert table.columns == [column["name"] for column in columns], table.name
    try:
        import pyarrow
    except ImportError:
        return
    fields = pyarrow.schema(table)
    types = [ARROW_TYPES[column["type"]] for column in columns]
    assert [str(field.type) for field in fields] == types, table.name
    for field, column in zip(fields, columns, strict=True):
        if unit := (field.metadata or {}).get(b"unit"):
            assert unit.decode() == column["unit"], f"{table.name}.{field.name}"


def assert_all(tables: Mapping[str, ks.Table], of: str, analysis: str | None) -> None:
    """The tables are all that the schema lists, in the same order."""
    known = documented(of, analysis)
    assert list(tables) == list(known), (of, analysis)
    for name, table in tables.items():
        assert_documented(table, known[name])


@pytest.fixture(scope="module")
def job(data: Path) -> ks.TraceSet:
    return ks.read_dir(data / "mlp_gloo")


COMPARISONS = ("check", "diff", "diff_flamegraph", "gate")
"""Analyses of two traces, and of limits."""


def test_owners() -> None:
    """Every owner has a test below."""
    analyses = [entry["name"] for entry in json.loads(_native.analyses_json())]
    of = {owner for owner, _ in owners()}
    assert of == {"trace", "job", "replay", *FILES}
    assert {analysis for _, analysis in owners() if analysis} == {*COMPARISONS, "memory_state", "events", *analyses}


ANALYSES = {
    kind: sorted(name for of, name in owners() if of == kind and name not in (None, *COMPARISONS))
    for kind in ("trace", "job")
}
"""Names of the analyses of a trace and of a job; a comparison has a test of its own."""


def test_tables_of_a_trace(cuda: ks.Trace) -> None:
    tables = {name: cuda.table(name) for name in _native.Trace.table_names()}
    native = cuda._native
    others = [cuda.captured(cuda), ks.Table(native.kernel_sources([]))]
    assert_all(tables | {table.name: table for table in others}, "trace", None)


@pytest.mark.parametrize("name", ANALYSES["trace"])
@pytest.mark.parametrize("folder", ["synthetic_cuda", "transformer_cpu"])
def test_analyses_of_a_trace(data: Path, folder: str, name: str) -> None:
    trace = ks.read(data / folder / "kineto_trace_0.json.gz")
    assert_all(trace.analyze(name).tables, "trace", name)


def test_a_comparison(cuda: ks.Trace) -> None:
    changes = ks.diff(cuda, cuda)
    assert_all(changes.tables, "trace", "diff")
    assert_all(changes.gate().tables, "trace", "gate")
    assert_all(cuda.check(step="1 s").tables, "trace", "check")
    assert_all(changes.flamegraph().tables, "trace", "diff_flamegraph")


def test_tables_of_a_job(job: ks.TraceSet) -> None:
    members = [(member.rank, member.trace._native) for member in job.members]
    tables = _native.rank_tables(members, False)
    assert_all({name: ks.Table(tables.table(name)) for name in tables.table_names()}, "job", None)
    assert_documented(job.clock_offsets, documented("job", None)["clock_offsets"])


@pytest.mark.parametrize("name", ANALYSES["job"])
def test_analyses_of_a_job(job: ks.TraceSet, cuda: ks.Trace, name: str) -> None:
    """A single trace counts as a job of one rank."""
    assert_all(job.analyze(name).tables, "job", name)
    assert_all(cuda.analyze(name).tables, "job", name)


def test_tables_of_a_trace_in_a_job(job: ks.TraceSet) -> None:
    for name, columns in documented("trace", "kernels").items():
        names = job.kernels().tables[name].columns
        assert names == [*LEADING, *(column["name"] for column in columns)]


@pytest.mark.parametrize("of", sorted(FILES))
def test_tables_of_other_files(data: Path, of: str) -> None:
    read = ks.read(data / FILES[of])
    assert isinstance(
        read, ks.Chakra | ks.FlightRecorder | ks.FlightRecorderSet | ks.MemorySnapshot | ks.MemoryTimeline
    )
    assert_all({name: read.table(name) for name in read.table_names}, of, None)
    if isinstance(read, ks.MemorySnapshot | ks.MemoryTimeline):
        assert_all(read.memory().tables, of, "memory")
    if isinstance(read, ks.FlightRecorderSet):
        assert_all(read.events(ks.read_dir(data / FILES[of])).tables, of, "events")
    if isinstance(read, ks.MemorySnapshot):
        tables = read.memory_state().tables
        del tables["memory_holders"]  # the one of `memory`
        assert_all(tables, of, "memory_state")


def test_tables_of_a_replay(job: ks.TraceSet) -> None:
    plan, _ = _native.replay_plan(job.members[0].trace._native)
    tables = [ks.Table(plan), ks.Table(_native.replayed([])), ks.Table(_native.replayed_operators([]))]
    assert_all({table.name: table for table in tables}, "replay", None)


def test_texts() -> None:
    """Every table and column has a description, every column a source, every number a unit."""
    for table in SCHEMA:
        assert table["doc"]
        for column in table["columns"]:
            assert column.keys() == {"name", "type", "unit", "source", "doc"}
            assert column["doc"], (table["table"], column["name"])
            assert column["source"], (table["table"], column["name"])
            assert (column["unit"] is None) == (column["type"] in {"bool", "string", "json"})
