"""Traces on their way to somebody else: a part of one, without private texts, in a page of a size."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope._cli.main import main
from kinetoscope._report.size_limit import fitting_page, num_bytes
from support.pages import packed_bytes

pytestmark = pytest.mark.unit

Event = dict[str, Any]


def written(trace: ks.Trace, path: Path) -> dict[str, Any]:
    return json.loads(trace.to_chrome(path).read_text())


@pytest.fixture
def trace(data: Path) -> ks.Trace:
    return ks.read(data / "synthetic_cuda/kineto_trace_0.json.gz", et=False)


def test_an_iteration_becomes_a_trace(trace: ks.Trace, tmp_path: Path) -> None:
    number = trace.iterations.select("iteration").rows()[1][0]
    part = trace.trim(iteration=number)
    assert 0 < part.num_events < trace.num_events
    again = ks.read(part.to_chrome(tmp_path / "part.json.gz"))
    assert again.events.rows() == part.events.rows()
    assert again.breakdown(iteration=number).rows() == trace.breakdown(iteration=number).rows()
    kernels = [of.kernels(iteration=number).select("name", "count", "total_ns").rows() for of in (part, trace)]
    assert kernels[0] == kernels[1]
    assert part.metadata["kineto"]["kinetoscope_edits"][0]["edit"] == "trim"
    assert ("trimmed", trace.num_events - part.num_events) in part.health.select("kind", "count").rows()


def rows(trace: ks.Trace, request: dict[str, Any]) -> list[Any]:
    return [table["rows"] for table in trace.query(request).data["tables"]]


def test_a_report_of_a_part_is_about_its_range(trace: ks.Trace, tmp_path: Path) -> None:
    start = trace.origin_ns + 200_000
    end = start + 150_000
    part = trace.trim(start, end)
    request = {"type": "analyze", "name": "breakdown", "options": {"per": "selection"}}
    whole = rows(trace, {**request, "start": 200_000, "end": 350_000})
    busy = trace.query({"type": "summary", "start": 200_000, "end": 350_000}).data["devices"][0]["busy_share"]
    assert busy != part.query({"type": "summary"}).data["devices"][0]["busy_share"], "calls reach out of the range"
    again = ks.read(part.to_chrome(tmp_path / "part.json.gz"))
    for each in (part, again, part.redact(), ks.read(part.save(tmp_path / "part.kscope"))):
        assert rows(each, {**request, "trimmed": True}) == whole
    main(["report", str(tmp_path / "part.json.gz"), "-o", str(tmp_path / "report.html")])
    for page in (part.report(tmp_path / "part.html"), tmp_path / "report.html"):
        words = page.read_text(encoding="utf-8")
        assert "150 µs of " in words
        assert f"busy</dt><dd>{100 * busy:.3g} %" in words
    assert "<b>Trimmed</b>" not in trace.report(tmp_path / "whole.html").read_text(encoding="utf-8")


def test_ids_of_a_part_are_positions_in_its_file(trace: ks.Trace, tmp_path: Path) -> None:
    part = trace.trim(trace.origin_ns, trace.origin_ns + 600_000)
    events = written(part, tmp_path / "part.json")["traceEvents"]
    names = dict(trace.events.select("id", "name").rows())
    assert part.original_ids is not None
    assert len(part.original_ids) == len(events)
    for identifier, name in part.events.select("id", "name").rows():
        assert events[identifier]["name"] == name == names[part.original_ids[identifier]]
    assert trace.original_ids is None


def test_what_is_not_there_is_said(trace: ks.Trace) -> None:
    with pytest.raises(ks.TraceError, match="expected a range or an iteration, found neither"):
        trace.trim()
    with pytest.raises(ks.TraceError, match=r"expected one of the iterations \[.*\], found 99"):
        trace.trim(iteration=99)
    with pytest.raises(ks.TraceError, match="a range or an iteration, found both"):
        trace.trim(1, 2, iteration=1)
    with pytest.raises(TypeError, match="expected nanoseconds, found str"):
        trace.trim("soon")  # pyright: ignore[reportArgumentType] - not a number, on purpose


def test_trim_by_command(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = str(data / "synthetic_cuda/kineto_trace_0.json.gz")
    target = tmp_path / "cut.json.gz"
    assert main(["trim", source, "--iteration", "2", "-o", str(target)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert re.fullmatch(rf"{re.escape(str(target))}: [\d,]+ of [\d,]+ events", lines[0])
    again = ks.read(target)
    assert again.execution_source == str(tmp_path / "cut_et.json.gz")
    assert len(again.nodes)
    assert again.coverage["nodes"]["num_linked"] == ks.read(source).trim(iteration=2).coverage["nodes"]["num_linked"]
    assert main(["trim", source, "--iteration", "2", "--redact", "-o", str(tmp_path / "small.kscope")]) == 0
    assert ks.read(tmp_path / "small.kscope").num_events == again.num_events
    assert main(["trim", source, "-o", str(tmp_path / "all.json")]) == 2
    assert "expected a range or an iteration, found neither" in capsys.readouterr().err


SECRET: list[Event] = [
    {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "secret-service"}},
    {
        "ph": "X",
        "cat": "python_function",
        "name": "/data/secret/train.py(3): step",
        "pid": 1,
        "tid": 1,
        "ts": 0,
        "dur": 90,
    },
    {"ph": "X", "cat": "user_annotation", "name": "## secret ##", "pid": 1, "tid": 1, "ts": 5, "dur": 80},
    {
        "ph": "X",
        "cat": "cpu_op",
        "name": "aten::mm",
        "pid": 1,
        "tid": 1,
        "ts": 10,
        "dur": 50,
        "args": {"Call stack": "secret.py: 3"},
    },
    {
        "ph": "X",
        "cat": "cpu_op",
        "name": "secret::op",
        "pid": 1,
        "tid": 1,
        "ts": 62,
        "dur": 5,
        "args": {"secret": "secret"},
    },
]


@pytest.fixture
def private(tmp_path: Path) -> Path:
    path = tmp_path / "secret-host_17.json"
    header = {"host_name": "secret.example.com", "traceName": "/data/secret/run.json", "distributedInfo": {"rank": 3}}
    path.write_text(json.dumps({**header, "traceEvents": SECRET}))
    return path


def page_texts(page: Path) -> str:
    """All that is in a page, the snapshot inflated."""
    text = page.read_text()
    found = re.search(r"ks-snapshot['\"][^>]*>([^<]*)<", text)
    assert found
    snapshot = ks.Trace.from_snapshot(packed_bytes(found[1]))
    tables = [repr(snapshot.table(name).rows()) for name in ("events", "instants", "health", "nodes")]
    return "\n".join([re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL), *tables, repr(snapshot.metadata)])


def test_nothing_private_leaves(private: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = ks.read(private)
    redacted = trace.redact()
    assert redacted.source is None
    assert redacted.rank == 3
    assert [name for (name,) in redacted.events.select("name").rows()][2] == "aten::mm"
    assert "secret" not in repr(redacted.events.rows()).lower() + repr(redacted.health.rows()) + repr(redacted)
    outputs = [tmp_path / name for name in ("page.html", "events.csv", "all.json.gz")]
    assert main(["report", str(private), "--redact", "-o", str(outputs[0])]) == 0
    assert main(["export", str(private), "--redact", "-o", str(outputs[1])]) == 0
    assert main(["trim", str(private), "--redact", "-o", str(outputs[2])]) == 0
    capsys.readouterr()
    assert "secret" not in page_texts(outputs[0]).lower()
    assert "secret" not in outputs[1].read_text().lower()
    assert b"secret" not in gzip.decompress(outputs[2].read_bytes()).lower()
    assert "secret" in page_texts(trace.report(tmp_path / "open.html")).lower()


def test_nothing_private_is_in_what_param_replays(tmp_path: Path) -> None:
    call = {"Collective name": "allreduce", "dtype": "SecretFloat", "In msg nelems": 4, "Out msg nelems": 4}
    event = {"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 1, "tid": 1, "ts": 1, "dur": 5}
    source, open_, redacted = (tmp_path / name for name in ("trace.json", "open.json", "redacted.json"))
    source.write_text(json.dumps([event | {"args": call}]))
    command = ["export", str(source), "--format", "param-comms", "-o"]
    assert main([*command, str(open_)]) == 0
    assert main([*command, str(redacted), "--redact"]) == 0
    assert "secret" in open_.read_text().lower()
    assert "secret" not in redacted.read_text().lower()
    assert json.loads(redacted.read_text())[0]["comms"] == "all_reduce"


def test_a_part_is_cut_before_it_is_redacted(data: Path, tmp_path: Path) -> None:
    """Else names that are not in the part would be counted, and linked, with the others."""
    source, target = data / "synthetic_cuda/kineto_trace_0.json.gz", tmp_path / "part.json"
    assert main(["trim", str(source), "--iteration", "2", "--redact", "-o", str(target)]) == 0
    edits = [edit["edit"] for edit in json.loads(target.read_text())["kinetoscope_edits"]]
    assert edits == ["trim", "redact"]
    part = ks.read(source).trim(iteration=2).redact()
    assert ks.read(target, et=False).events.select("id", "name").rows() == part.events.select("id", "name").rows()


def test_times_of_a_part_are_integers_that_a_file_can_have(capsys: pytest.CaptureFixture[str]) -> None:
    for flag in ("--start-ns", "--end-ns"):
        with pytest.raises(SystemExit):
            main(["trim", "nowhere.json", "-o", "part.json", flag, "9" * 23])
        assert "expected an integer, found 999" in capsys.readouterr().err


def test_modules_may_stay() -> None:
    events = [
        {"ph": "X", "cat": "python_function", "name": f"nn.Module: {name}", "ts": 1, "dur": 1}
        for name in ("Linear_0", "Mine_3")
    ]
    trace = ks.read(json.dumps(events).encode())
    names = [
        [name for (name,) in part.events.select("name").rows()]
        for part in (trace.redact(), trace.redact(keep_modules=True))
    ]
    assert names == [["nn.Module: Linear_0", "nn.Module: module_1_3"], ["nn.Module: Linear_0", "nn.Module: Mine_3"]]


def test_a_page_has_the_size_that_is_asked_for(data: Path, tmp_path: Path) -> None:
    trace = ks.read(data / "transformer_cpu/kineto_trace_0.json.gz")
    whole = trace.report(tmp_path / "whole.html").stat().st_size
    limit = whole - len(trace.snapshot()) * 5 // 4 // 3
    page = trace.report(tmp_path / "small.html", max_size=limit)
    assert page.stat().st_size <= limit
    assert "removed to reduce the size" in page_texts(page)
    assert "removed to reduce the size" not in page_texts(tmp_path / "whole.html")
    bodies = [
        found.read_text().partition("<main")[2].partition("<script")[0] for found in (page, tmp_path / "whole.html")
    ]
    note = re.search(r'<p class="ks-note ks-edited"><b>Shrunk</b>: removed [^<]*Python frames', bodies[0])
    assert note, "what was left out is said before all else"
    assert "ks-edited" not in bodies[1]
    tables = [re.findall(r"<tbody>.*?</tbody>", body) for body in bodies]
    assert tables[0] == tables[1], "tables are of the whole recording"
    with pytest.raises(ValueError, match="expected a larger max_size than 1,000 bytes") as error:
        trace.report(tmp_path / "none.html", max_size="1KB")
    empty = re.search(r"a page without a trace has ([\d,]+)", str(error.value))
    assert empty
    assert whole * 0.8 < int(empty[1].replace(",", "")) < whole
    assert not (tmp_path / "none.html").exists()


class Sized:
    """A trace that can be made to have any size, and counts how often it was packed."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.num_packed = 0

    def shrink(self, size: int) -> Sized:
        return Sized(max(size, 1))

    def snapshot(self) -> bytes:
        self.num_packed += 1
        return bytes(self.size)


def test_the_last_page_that_is_made_may_fit() -> None:
    lengths = iter([1000, 900, 800, 700, 100])
    pages: list[str] = []

    def page(_traces: object, _snapshots: object) -> str:
        pages.append("x" * next(lengths))
        return pages[-1]

    whole: Any = Sized(500)
    assert len(fitting_page([(None, whole)], 100, page)) == 100
    assert len(pages) == 5
    lengths = iter([1000, 900, 800, 700, 600])
    with pytest.raises(ValueError, match="than 500 bytes, found no page that small"):
        fitting_page([(None, whole)], 500, page)


def test_a_trace_is_packed_once_for_a_page() -> None:
    whole: Any = Sized(500)
    content = fitting_page([(None, whole)], None, lambda _, snapshots: "x" * len(snapshots[0]))
    assert (len(content), whole.num_packed) == (500, 1)


def test_a_size_is_looked_at_before_anything_is_made() -> None:
    def page(_traces: object, _snapshots: object) -> str:
        pytest.fail("a page was made")

    for size in ("bogus", -5, "-1MB"):
        with pytest.raises(ValueError, match="expected a size such as 10MB, found"):
            fitting_page([], size, page)


def test_a_size_is_looked_at_before_anything_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("report", "view"):
        with pytest.raises(SystemExit):
            main([command, "nowhere.json", "--max-size", "bogus"])
        assert "expected a size such as 10MB, found 'bogus'" in capsys.readouterr().err


def test_sizes_have_units() -> None:
    sizes: list[int | str] = [10, "10", "10MB", "1.5 GB", "2KiB", "3 b"]
    assert [num_bytes(size) for size in sizes] == [10, 10, 10**7, 15 * 10**8, 2048, 3]
    for size in ("", "MB", "10 apples", "1e999GB", "-1", -1):
        with pytest.raises(ValueError, match="expected a size such as 10MB"):
            num_bytes(size)


def test_a_smaller_snapshot_counts_what_it_lacks(data: Path) -> None:
    trace = ks.read(data / "transformer_cpu/kineto_trace_0.json.gz")
    size = len(trace.snapshot())
    part = trace.shrink(size // 2)
    assert len(part.snapshot()) <= size // 2
    counts = dict(part.health.select("kind", "count").rows())
    gone = counts.get("shrunk_frame", 0) + counts.get("shrunk_event", 0)
    assert part.num_events == trace.num_events - gone
    assert part.metadata["kineto"]["kinetoscope_edits"][-1]["edit"] == "shrink"


# --- without the timeline -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["synthetic_cuda", "transformer_cpu"])
def test_a_static_page_is_small_and_has_no_scripts(data: Path, tmp_path: Path, name: str) -> None:
    trace = ks.read(data / name / "kineto_trace_0.json.gz")
    static = trace.report(tmp_path / "static.html", static=True, max_size="300kB").read_text()
    whole = trace.report(tmp_path / "whole.html").read_text()
    assert "<script" not in static
    assert "script-src" not in static
    bodies = [re.findall(r"<main class='[^']*'>(.*?)</main>", page, re.DOTALL)[0] for page in (static, whole)]
    assert bodies[0] == bodies[1]


def test_a_static_page_by_the_command(data: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert main(["report", str(data / "synthetic_cuda"), "--static", "--redact", "-o", str(page)]) == 0
    assert "<script" not in page.read_text()
    assert page.stat().st_size < 300_000


def test_a_static_page_above_its_size_is_not_written(trace: ks.Trace, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"expected a larger max_size than 9,000 bytes, found [\d,]+"):
        trace.report(tmp_path / "page.html", static=True, max_size="9kB")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match=r"a static page \(static=True, --static\) needs less"):
        trace.report(tmp_path / "page.html", max_size="9kB")
