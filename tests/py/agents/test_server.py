"""The server for assistants, asked by the official SDK's own client: tools, schemas, pages, errors."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import anyio
import kinetoscope as ks
import pytest

pytest.importorskip("mcp", reason="the SDK is not installed")

from kinetoscope._mcp.folders import AllowedFolders
from kinetoscope._mcp.store import TraceStore
from support.mcp_calls import with_client

pytestmark = pytest.mark.unit

TRACE = "transformer_cuda/kineto_trace_0.json.gz"
TOOLS = {
    *("list_traces", "digest", "findings", "analyze", "sql", "event"),
    *("search", "diff", "timeline_image", "memory", "explain_gap"),
}


def ask(data: Path, tool: str, **arguments: Any) -> Any:
    async def call(client: Any) -> Any:
        return await client.call_tool(tool, arguments)

    return with_client([data], call)


def answer(data: Path, tool: str, **arguments: Any) -> dict[str, Any]:
    result = ask(data, tool, **arguments)
    assert not result.is_error, result.content[0].text
    content: dict[str, Any] = result.structured_content
    return content


def error(data: Path, tool: str, **arguments: Any) -> str:
    result = ask(data, tool, **arguments)
    assert result.is_error, result.structured_content
    return str(result.content[0].text)


def rows(page: dict[str, Any]) -> list[dict[str, Any]]:
    names = [column["name"] for column in page["columns"]]
    return [dict(zip(names, row, strict=True)) for row in page["rows"]]


def test_tools_are_read_only_and_have_schemas(data: Path) -> None:
    async def tools(client: Any) -> Any:
        return (await client.list_tools()).tools

    found = with_client([data], tools)
    assert {tool.name for tool in found} == TOOLS
    for tool in found:
        assert tool.annotations.read_only_hint
        assert not tool.annotations.open_world_hint
        assert tool.output_schema["type"] == "object"
        assert tool.input_schema["additionalProperties"] is False
        assert tool.description
        assert len(tool.description) > 80


def test_resources(data: Path) -> None:
    async def read(client: Any) -> list[str]:
        found = (await client.list_resources()).resources
        addresses = [*(str(each.uri) for each in found), "kinetoscope://schema/events"]
        return [(await client.read_resource(address)).contents[0].text for address in addresses]

    schema, glossary, events = with_client([data], read)
    assert {"events", "kernels", "gaps"} <= {table["table"] for table in json.loads(schema)}
    assert "**rank**" in glossary
    columns = {column["name"]: column for column in json.loads(events)[0]["columns"]}
    assert columns["dur_ns"]["unit"] == "ns"


def test_an_unknown_table_of_the_schema_tells_the_next_call(data: Path) -> None:
    async def read(client: Any) -> str:
        with pytest.raises(Exception, match="kinetoscope://schema") as caught:
            await client.read_resource("kinetoscope://schema/nothing")
        return str(caught.value)

    assert "expected the name of a table" in with_client([data], read)


def test_pages_have_units_and_lead_to_the_next(data: Path) -> None:
    names: list[str] = []
    page: dict[str, Any] = {}
    offset: int | None = 0
    while offset is not None:
        page = answer(
            data, "analyze", trace=TRACE, analysis="kernels", columns=["name", "total_ns"], offset=offset, limit=25
        )
        assert page["columns"][1] == {"name": "total_ns", "unit": "ns"}
        assert len(page["rows"]) <= 25
        names += [row["name"] for row in rows(page)]
        offset = page["next_offset"]
    expected = ks.read(data / TRACE).kernels().select("name").rows()
    assert len(names) == page["num_rows"] == len(expected)


def test_answers_are_those_of_python(data: Path) -> None:
    trace = ks.read(data / TRACE)
    assert answer(data, "digest", trace=TRACE, max_chars=5_000)["text"] == trace.digest(5_000)
    findings = rows(answer(data, "findings", trace=TRACE))
    assert [row["cost_ns"] for row in findings] == [cost for (cost,) in trace.findings().select("cost_ns").rows()]
    gaps = rows(answer(data, "analyze", trace=TRACE, analysis="idle", table="gaps", options={"longest": 3}))
    assert [row["dur_ns"] for row in gaps] == [
        dur for (dur,) in trace.idle(longest=3).tables["gaps"].select("dur_ns").rows()
    ]
    part = answer(data, "analyze", trace=TRACE, analysis="operators", part={"iteration": 4}, limit=1)
    assert part["num_rows"] == len(trace.operators(iteration=4))
    total = answer(data, "sql", trace=TRACE, query="select count(*) as n from events")
    assert rows(total) == [{"n": trace.num_events}]
    hits = answer(data, "search", trace=TRACE, text="aten::mm", limit=3)
    assert hits["num_hits"] == 40
    assert hits["next_offset"] == 3
    assert [each["name"] for each in hits["events"]] == ["aten::mm"] * 3


def test_an_event_has_its_chain(data: Path) -> None:
    (longest,) = ks.read(data / TRACE).kernels().select("longest_id").rows()[0]
    found = answer(data, "event", trace=TRACE, event_id=longest)
    assert found["event"]["kind"] == "kernel"
    assert found["launch"]["name"] == "cudaLaunchKernel"
    assert found["operator"]["name"] == "aten::sum"
    assert found["modules"][0]["name"].startswith("nn.Module: ")
    assert found["node"]["name"] == "aten::sum"
    assert [link["kind"] for link in found["links"]] == ["launch"]
    assert found["idle_before_ns"] > 0


def test_a_gap_is_explained_by_its_end_and_by_its_time(data: Path) -> None:
    trace = ks.read(data / TRACE)
    row = trace.idle().tables["gaps"].select("stream", "start_ns", "dur_ns", "category", "after_id").rows()[0]
    stream, start, dur, category, after = row
    one = answer(data, "explain_gap", trace=TRACE, after_id=after)
    other = answer(data, "explain_gap", trace=TRACE, stream=stream, time_ns=start + dur // 2)
    assert one == other
    assert (one["start_ns"], one["dur_ns"], one["category"], one["stream"]) == (start, dur, category, stream)
    assert one["after"]["id"] == after
    assert one["host"]
    assert "expected a gap" in error(data, "explain_gap", trace=TRACE, stream=stream, time_ns=0)
    assert "after_id" in error(data, "explain_gap", trace=TRACE)


def test_memory_of_traces_and_snapshots(data: Path) -> None:
    page = answer(data, "memory", trace=TRACE, table="memory_owners", limit=2)
    assert len(page["rows"]) == 2
    snapshot = "memory_cuda/trained.pickle.gz"
    assert answer(data, "memory", trace=snapshot, at="peak")["table"] == "memory_pools"
    assert answer(data, "digest", trace=snapshot)["text"].startswith("# Digest of a memory snapshot")
    growth = answer(data, "diff", before=snapshot, after="memory_cuda/failed.pickle.gz")
    assert growth["table"] == "memory_growth"
    assert "memory(" in error(data, "sql", trace=snapshot, query="select 1")
    assert "memory(" in error(data, "event", trace=snapshot, event_id=1)


def test_jobs_need_a_rank_for_events(data: Path) -> None:
    listed = answer(data, "list_traces", limit=500)["recordings"]
    assert {"name": "mlp_gloo", "kind": "job"}.items() <= next(
        each for each in listed if each["name"] == "mlp_gloo"
    ).items()
    assert answer(data, "analyze", trace="mlp_gloo", analysis="stragglers")["num_rows"] == 2
    assert "ranks 0, 1" in error(data, "event", trace="mlp_gloo", event_id=12)
    assert answer(data, "event", trace="mlp_gloo", event_id=12, rank=1)["rank"] == 1
    sides = [f"mlp_gloo/kineto_trace_{rank}.json.gz" for rank in (0, 1)]
    page = answer(data, "diff", before=sides[0], after=sides[1], table="diff_operators", limit=3)
    assert page["table"] == "diff_operators"
    assert "diff_kernels" in page["other_tables"]


def test_a_picture_of_a_range(data: Path) -> None:
    start = ks.read(data / TRACE).iterations.select("start_ns").rows()[0][0]
    picture = answer(data, "timeline_image", trace=TRACE, start_ns=start, end_ns=start + 1_000_000, width=400)
    assert picture["svg"].startswith("<svg")
    assert picture["mime_type"] == "image/svg+xml"
    assert ElementTree.fromstring(picture["svg"]).tag == "{http://www.w3.org/2000/svg}svg"
    assert "expected start_ns before end_ns" in error(data, "timeline_image", trace=TRACE, start_ns=9, end_ns=3)
    assert "width from 200 to 2000" in error(data, "timeline_image", trace=TRACE, width=10**9)


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("analyze", {"trace": TRACE, "analysis": "idel"}, "expected an analysis of summary, "),
        ("analyze", {"trace": TRACE, "analysis": "idle", "options": {"executor": 1}}, "expected options of "),
        ("analyze", {"trace": TRACE, "analysis": "idle", "part": {"rank": 1}}, "expected part of "),
        ("analyze", {"trace": TRACE, "analysis": "idle", "table": "nope"}, "expected a table of idle, gaps"),
        ("analyze", {"trace": TRACE, "analysis": "kernels", "columns": ["nope"]}, "expected columns of name, "),
        ("analyze", {"trace": TRACE, "analysis": "kernels", "limit": 501}, "expected limit from 1 to 500"),
        ("analyze", {"trace": TRACE, "analysis": "kernels", "offset": -1}, "expected offset from 0"),
        ("analyze", {"trace": TRACE, "analysis": "kernels", "part": {"iteration": 99}}, "99"),
        ("digest", {"trace": TRACE, "max_chars": 10**9}, "expected max_chars from 2000 to 60000"),
        ("digest", {"trace": TRACE, "form": "yaml"}, "expected markdown or json"),
        ("event", {"trace": TRACE, "event_id": 10**12}, "expected the id of an event"),
        ("event", {"trace": TRACE, "event_id": 4_000_000_000}, "id of an event"),
        ("search", {"trace": TRACE, "text": "x" * 20_000}, "at most 10000 characters"),
        ("search", {"trace": TRACE, "text": ""}, "found an empty text"),
        ("sql", {"trace": TRACE, "query": "select " + "1," * 20_000 + "1"}, "at most 10000 characters"),
        ("sql", {"trace": TRACE, "query": "select * from nothing"}, "expected a query of the tables events, "),
        ("sql", {"trace": TRACE, "query": "select 1; select 2"}, "2 statements"),
        ("sql", {"trace": TRACE, "query": "select 1", "max_seconds": 1e9}, "expected max_seconds up to 60"),
        (
            "sql",
            {"trace": TRACE, "query": "select count(*) from range(1000000000000)", "max_seconds": 0.3},
            "at most 0.3 s",
        ),
        ("memory", {"trace": TRACE, "at": "peak"}, "expected a memory snapshot"),
        ("digest", {"trace": "jax_cuda/none.json"}, "expected the name of a recording"),
        ("digest", {"trace": "flight_cuda/nccl_trace_rank_0.json"}, "expected a trace or a memory snapshot"),
    ],
)
def test_errors_tell_the_next_call(data: Path, tool: str, arguments: dict[str, Any], words: str) -> None:
    text = error(data, tool, **arguments)
    assert words in text
    assert "Next call: " in text
    assert len(text) < 2_000


@pytest.mark.parametrize(
    ("tool", "arguments", "next_call"),
    [
        ("analyze", {"trace": TRACE, "analysis": "kernels", "iteration": 3}, 'analyze with part={"iteration": ...}'),
        ("analyze", {"trace": TRACE, "analysis": "kernels", "iteratoin": 3}, 'analyze with part={"iteration": ...}'),
        ("analyze", {"trace": TRACE, "analysis": "operators", "by": "shape"}, 'analyze with options={"by": ...}'),
        ("analyze", {"trace": TRACE, "analysis": "idle", "tabel": "gaps"}, "analyze with table instead of tabel"),
        ("analyze", {"trace": TRACE, "analysis": ["idle"], "ranks": 1}, "analyze with rank instead of ranks"),
        ("digest", {"trace": "mlp_gloo", "ranks": [1]}, "digest without ranks"),
        ("digest", {"trace": TRACE, "maxChars": 3_000}, "digest with max_chars instead of maxChars"),
        ("findings", {"trace": TRACE, "iteration": 3}, "findings without iteration"),
        ("list_traces", {"folder": "mlp_gloo"}, "list_traces without folder"),
        ("search", {"trace": TRACE, "query": "mm"}, "search without query"),
    ],
)
def test_unknown_arguments_are_errors(data: Path, tool: str, arguments: dict[str, Any], next_call: str) -> None:
    unknown = list(arguments)[-1]
    text = error(data, tool, **arguments)
    assert f", found {unknown}. Next call: {next_call}" in text


@pytest.mark.parametrize(
    ("arguments", "next_call"),
    [
        ({"options": {"iteration": 3}}, 'part={"iteration": ...}'),
        ({"part": {"stack_depth": 2}}, 'options={"stack_depth": ...}'),
        ({"part": {"modul": "Linear"}}, 'part={"module": ...}'),
        ({"options": {"nothing": 1}}, "other options"),
    ],
)
def test_unknown_keys_lead_to_their_place(data: Path, arguments: dict[str, Any], next_call: str) -> None:
    text = error(data, "analyze", trace=TRACE, analysis="operators", **arguments)
    assert text.endswith(f"Next call: analyze with {next_call}")


def test_a_search_without_hits_tells_how_terms_are_written(data: Path) -> None:
    for text in ("dur>1mss", "kind:nope"):
        found = answer(data, "search", trace=TRACE, text=text)
        assert found["num_hits"] == 0
        assert found["note"].startswith(f"No name of an event contains '{text}'. Terms are dur>1ms")
    for text in ("stream=abc", "kind:kernel dur>1mss"):
        assert answer(data, "search", trace=TRACE, text=text)["note"].startswith("No event has all of these terms. ")
    assert answer(data, "search", trace=TRACE, text="kind:kernel dur>1us")["note"] is None
    assert answer(data, "search", trace=TRACE, text="aten::mm", offset=1_000)["note"] is None


@pytest.mark.parametrize(
    "query",
    [
        "select * from read_csv('{path}')",
        "select * from read_text('/etc/hostname')",
        "select * from '{path}'",
        "attach '{path}' as x",
        "copy (select 1) to '{path}'",
        "export database '{path}'",
        "install httpfs",
        "load httpfs",
        "set enable_external_access = true",
        "set memory_limit = '100GB'",
        "create table x as select 1",
        "drop table events",
        "select * from sources",
    ],
)
def test_sql_reads_tables_alone(data: Path, tmp_path: Path, query: str) -> None:
    path = tmp_path / "file.csv"
    assert "Next call: " in error(data, "sql", trace=TRACE, query=query.format(path=path))
    assert list(tmp_path.iterdir()) == []


def test_sql_says_that_it_cuts_a_result(data: Path) -> None:
    page = answer(data, "sql", trace=TRACE, query="select * from range(100_001)")
    assert page["num_rows"] == 100_000
    assert page["caveat"].startswith("only the first 100,000 rows")
    assert answer(data, "sql", trace=TRACE, query="select * from range(99_999)")["caveat"] is None


def test_names_of_a_hostile_trace_are_data(data: Path) -> None:
    name = "hostile/kineto_trace_0.json.gz"
    pages = [
        answer(data, "analyze", trace=name, analysis="kernels", limit=100),
        answer(data, "sql", trace=name, query="select name, args from events"),
        answer(data, "search", trace=name, text="kernel", limit=100),
        answer(data, "event", trace=name, event_id=42),
    ]
    for text in texts(pages):
        assert all(char.isprintable() for char in text), text
        assert len(text) <= 400


def texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for each in value.values() for text in texts(each)]
    return [text for each in value for text in texts(each)] if isinstance(value, list) else []


def test_an_incomplete_recording_has_a_caveat(data: Path, tmp_path: Path) -> None:
    from support.planted import write_planted

    write_planted(tmp_path / "job", lost=2)
    page = answer(tmp_path, "analyze", trace="job/rank0.json.gz", analysis="kernels")
    assert page["caveat"].startswith("the recording is incomplete")
    assert answer(data, "analyze", trace=TRACE, analysis="kernels")["caveat"] is None


def test_names_outside_are_refused(data: Path, tmp_path: Path) -> None:
    served, outside = tmp_path / "served", tmp_path / "outside"
    served.mkdir()
    outside.mkdir()
    shutil.copy(data / "minimal_cpu/kineto_trace_0.json.gz", outside / "secret.json.gz")
    shutil.copy(data / "minimal_cpu/kineto_trace_0.json.gz", served / "open.json.gz")
    assert answer(served, "digest", trace="open.json.gz")["trace"] == "open.json.gz"
    names = [
        *("../outside/secret.json.gz", "a/../../outside/secret.json.gz", str(outside / "secret.json.gz")),
        *("/etc/passwd", "~/x.json", "file:///etc/passwd", "https://example.org/x.json", "..", "C:/x.json"),
        *("..\\outside\\secret.json.gz", "a\0b", "", "x" * 5_000, "./../outside/secret.json.gz"),
    ]
    for name in names:
        assert "Next call: list_traces()" in error(served, "digest", trace=name), name
        assert "Next call: list_traces()" in error(served, "diff", before="open.json.gz", after=name), name


def test_links_that_lead_outside_are_refused(data: Path, tmp_path: Path) -> None:
    served, outside = tmp_path / "served", tmp_path / "outside"
    (served / "beside").mkdir(parents=True)
    outside.mkdir()
    for file in (data / "minimal_cpu").iterdir():
        shutil.copy(file, outside)
    (served / "link.json.gz").symlink_to(outside / "kineto_trace_0.json.gz")
    (served / "folder").symlink_to(outside)
    shutil.copy(data / "minimal_cpu/kineto_trace_0.json.gz", served / "beside")
    # The Execution Trace would be read with the trace beside it.
    (served / "beside/torch_et_0.json.gz").symlink_to(outside / "torch_et_0.json.gz")
    listed = {each["name"] for each in answer(served, "list_traces")["recordings"]}
    assert listed == {"beside/kineto_trace_0.json.gz"}
    for name in ("link.json.gz", "folder", "folder/kineto_trace_0.json.gz"):
        assert "symbolic links" in error(served, "digest", trace=name), name
    count = {"query": "select count(*) as n from nodes"}
    for name in ("beside/kineto_trace_0.json.gz", "beside"):
        assert rows(answer(served, "sql", trace=name, **count)) == [{"n": 0}], name
    (served / "beside/torch_et_0.json.gz").unlink()
    shutil.copy(outside / "torch_et_0.json.gz", served / "beside")
    assert rows(answer(served, "sql", trace="beside/kineto_trace_0.json.gz", **count)) != [{"n": 0}]


def opened(folder: Path) -> list[str]:
    """Lists recordings, and opens each of them."""
    names = [each["name"] for each in answer(folder, "list_traces")["recordings"]]
    for name in names:
        answer(folder, "digest", trace=name)
    return names


@pytest.mark.parametrize("target", ["run", "run/kineto_trace_0.json.gz", "missing", "/etc", "/etc/hostname"])
@pytest.mark.parametrize("link", ["latest", "run/latest", "run/latest.json.gz", "run/torch_et_1.json.gz"])
def test_what_is_listed_beside_a_link_can_be_opened(data: Path, tmp_path: Path, link: str, target: str) -> None:
    shutil.copytree(data / "mlp_gloo", tmp_path / "run")
    (tmp_path / link).unlink(missing_ok=True)
    (tmp_path / link).symlink_to(tmp_path / target)
    assert opened(tmp_path) == ["run", "run/kineto_trace_0.json.gz", "run/kineto_trace_1.json.gz"]
    assert answer(tmp_path, "analyze", trace="run", analysis="stragglers")["num_rows"] == 2
    assert "Next call: list_traces()" in error(tmp_path, "digest", trace=link)


@pytest.mark.parametrize("name", [TRACE, "transformer_cuda"])
def test_metrics_behind_a_link_are_left_out(data: Path, tmp_path: Path, name: str) -> None:
    def counters(folder: Path) -> set[str]:
        return {row["name"] for row in rows(answer(folder, "sql", trace=name, query="select name from counters"))}

    shutil.copytree(data / "transformer_cuda", tmp_path / "transformer_cuda")
    all_counters = counters(tmp_path)
    metrics = tmp_path / "transformer_cuda/metrics_0.jsonl"
    metrics.unlink()
    expected = counters(tmp_path)
    assert expected < all_counters
    metrics.symlink_to(data / "transformer_cuda/metrics_0.jsonl")
    assert counters(tmp_path) == expected


def test_what_is_listed_can_be_opened(data: Path, tmp_path: Path) -> None:
    shutil.copytree(data / "mlp_gloo", tmp_path / "run")
    (tmp_path / "run/other.nsys-rep").write_bytes(b"a report, which would start a program")
    (tmp_path / "memory").mkdir()
    for name in ("a.pickle.gz", "b.pickle.gz"):
        shutil.copy(data / "memory_cuda/trained.pickle.gz", tmp_path / "memory" / name)
    trace = data / "minimal_cpu/kineto_trace_0.json.gz"
    (tmp_path / "names").mkdir()
    if sys.platform == "linux":
        for name in ("back\\slash.json.gz", os.fsdecode(b"\xff.json.gz"), "10:30.json.gz"):
            shutil.copy(trace, tmp_path / "names" / name)
    shutil.copy(trace, tmp_path / "~home.json.gz")
    names = opened(tmp_path)
    assert ("names/10:30.json.gz" in names) is (sys.platform == "linux")
    assert {"run", "memory/a.pickle.gz", "memory/b.pickle.gz"} <= set(names)
    assert not {"memory", "~home.json.gz", "run/other.nsys-rep"} & set(names)
    assert "a report of Nsight Systems" in error(tmp_path, "digest", trace="run/other.nsys-rep")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_is_no_recording(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    assert answer(tmp_path, "list_traces")["num_recordings"] == 0
    assert "expected the name of a recording" in error(tmp_path, "digest", trace="pipe.json")


def test_several_folders_have_prefixes(data: Path, tmp_path: Path) -> None:
    folders = AllowedFolders([data / "minimal_cpu", data / "hostile", tmp_path])
    assert [entry.name for entry in folders.entries()] == [
        "hostile/kineto_trace_0.json.gz",
        "minimal_cpu/kineto_trace_0.json.gz",
    ]
    with pytest.raises(ValueError, match="expected a folder"):
        AllowedFolders([data / "README.md"])
    with pytest.raises(ValueError, match="at least one folder"):
        AllowedFolders([])


def test_traces_are_read_once_and_the_oldest_are_freed(data: Path) -> None:
    store = TraceStore(AllowedFolders([data]), max_memory=10_000_000)
    first = store.recording(TRACE)
    assert store.recording(TRACE) is first
    other = store.recording("transformer_cpu/kineto_trace_0.json.gz")
    assert store.recording("transformer_cpu/kineto_trace_0.json.gz") is other
    small = TraceStore(AllowedFolders([data]), max_memory=1)
    first = small.recording(TRACE)
    small.recording("minimal_cpu/kineto_trace_0.json.gz")
    assert small.recording(TRACE) is not first


def test_a_changed_file_is_read_anew(data: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(data / "minimal_cpu/kineto_trace_0.json.gz", tmp_path / "a.json.gz"))
    store = TraceStore(AllowedFolders([tmp_path]))
    before = store.recording("a.json.gz")
    shutil.copy(data / "synthetic_cuda/kineto_trace_0.json.gz", path)
    os.utime(path, ns=(1, 1))
    assert store.recording("a.json.gz") is not before


def test_over_standard_input_and_output(data: Path) -> None:
    from mcp import ClientSession, StdioServerParameters, stdio_client

    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "kinetoscope", "mcp", str(data)], env=environment
    )

    async def run() -> tuple[Any, Any]:
        async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            tools = await session.list_tools()
            return tools, await session.call_tool("digest", {"trace": TRACE, "max_chars": 3_000})

    tools, result = anyio.run(run)
    assert {tool.name for tool in tools.tools} == TOOLS
    assert result.structured_content["text"] == ks.read(data / TRACE).digest(3_000)


def test_without_the_sdk_the_command_tells_how_to_install_it(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from kinetoscope._cli.main import main

    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    assert main(["mcp", str(data)]) == 2
    assert "pip install 'kinetoscope[mcp]'" in capsys.readouterr().err
    assert main(["mcp", str(data / "README.md")]) == 2
