"""The empty page: reads files that are dropped on it, in the browser, and shows what a report shows."""

from __future__ import annotations

import base64
import gzip
import lzma
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope._report.page import report_page, viewer_page
from support.pages import packed_bytes

pytestmark = pytest.mark.browser

Shot = Callable[[Any, str], None]


@pytest.fixture
def viewer(strict: Any, tmp_path: Path) -> Any:
    path = tmp_path / "viewer.html"
    path.write_text(viewer_page(), encoding="utf-8")
    page = strict.page()
    page.goto(path.as_uri())
    page.locator(".ks-drop").wait_for()
    return page


def give(page: Any, *files: Path) -> None:
    page.locator("input[type=file]").set_input_files(files)


def test_files_of_ones_own_become_a_report(
    viewer: Any, data: Path, tmp_path: Path, timeline_on: Any, open_timeline: Any, shot: Shot
) -> None:
    shot(viewer, "viewer-empty")
    folder = data / "minimal_cpu"
    files = (folder / "kineto_trace_0.json.gz", folder / "torch_et_0.json.gz")
    give(viewer, *files)
    timeline_on(viewer).wait().settle()
    trace = ks.read(files[0], files[1])
    report = report_page([(trace.rank, trace)], "x")
    sections = re.findall(r'<section class="[^"]*" id="([^"]*)"', report)
    assert viewer.locator(".ks-grid > section").evaluate_all("all => all.map(one => one.id)") == sections
    assert f"{len(trace.nodes)} nodes" in viewer.locator(".ks-cards").inner_text()
    shot(viewer, "viewer-read")
    with viewer.expect_download() as download:
        viewer.get_by_role("button", name="Save a copy").click()
    copy = tmp_path / "copy.html"
    download.value.save_as(copy)
    assert open_timeline(copy).page.locator("#operators tbody tr").count() > 5


def test_plain_files_are_read_too(viewer: Any, data: Path, tmp_path: Path, timeline_on: Any) -> None:
    plain = tmp_path / "plain.json"
    plain.write_bytes(gzip.decompress((data / "minimal_cpu/kineto_trace_0.json.gz").read_bytes()))
    give(viewer, plain)
    timeline_on(viewer).wait()
    assert viewer.title() == "plain.json"


def test_traces_of_all_ranks_become_one_timeline(
    viewer: Any, data: Path, tmp_path: Path, timeline_on: Any, open_timeline: Any, shot: Shot
) -> None:
    names = ["kineto_trace_0.json.gz", "kineto_trace_1.json.gz"]
    give(viewer, *(data / "mlp_gloo" / name for name in names))
    timeline_on(viewer).wait().settle()
    assert viewer.title() == "2 traces"
    groups = viewer.locator(".ks-group .ks-name").all_inner_texts()
    assert sum("rank" in group for group in groups) == 2
    shot(viewer, "viewer-ranks")
    with viewer.expect_download() as download:
        viewer.get_by_role("button", name="Save a copy").click()
    copy = tmp_path / "copy.html"
    download.value.save_as(copy)
    assert open_timeline(copy).page.locator(".ks-group .ks-name").all_inner_texts() == groups


def test_execution_traces_of_several_ranks_find_their_kineto_traces(viewer: Any, data: Path, timeline_on: Any) -> None:
    folder = data / "mlp_gloo"
    # In the order in which a folder may hand them out.
    names = ("torch_et_1.json.gz", "kineto_trace_0.json.gz", "torch_et_0.json.gz", "kineto_trace_1.json.gz")
    give(viewer, *(folder / name for name in names))
    timeline_on(viewer).wait()
    assert viewer.title() == "2 traces"
    linked = viewer.locator("#health tr", has_text="Execution Trace nodes with an operator")
    nodes = sum(len(trace.nodes) for trace in ks.read_dir(folder))
    assert "100 %" in linked.inner_text()
    with viewer.expect_download() as download:
        viewer.get_by_role("button", name="Save a copy").click()
    page = Path(download.value.path()).read_text(encoding="utf-8")
    carried = re.findall(r'class="ks-snapshot"[^>]*>([^<]{100,})<', page)
    traces = [ks.Trace.from_snapshot(packed_bytes(content)) for content in carried]
    assert sum(len(trace.nodes) for trace in traces) == nodes


def test_a_report_of_two_files_is_called_as_the_kineto_trace(viewer: Any, data: Path, timeline_on: Any) -> None:
    give(viewer, *(data / "minimal_cpu" / name for name in ("torch_et_0.json.gz", "kineto_trace_0.json.gz")))
    timeline_on(viewer).wait()
    assert viewer.title() == "kineto_trace_0.json.gz"


def test_two_files_belong_together_whatever_they_are_called_and_a_copy_is_passed_over(
    viewer: Any, data: Path, tmp_path: Path, timeline_on: Any
) -> None:
    kineto = (data / "minimal_cpu/kineto_trace_0.json.gz").read_bytes()
    contents = {"mine.json.gz": kineto, "mine.json": gzip.decompress(kineto)}
    contents["other.json.gz"] = (data / "minimal_cpu/torch_et_0.json.gz").read_bytes()
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    give(viewer, *(tmp_path / name for name in contents))
    timeline_on(viewer).wait()
    assert viewer.title() == "mine.json.gz"
    linked = viewer.locator("#health tr", has_text="Execution Trace nodes with an operator")
    assert linked.count() == 1
    told = viewer.locator("#recording").get_by_text("mine.json: skipped because its compressed copy is there")
    assert told.count() == 1


def test_an_execution_trace_alone_is_said_to_be_one(viewer: Any, data: Path) -> None:
    give(viewer, data / "mlp_gloo/torch_et_0.json.gz")
    viewer.locator(".ks-failed").wait_for()
    said = viewer.get_by_role("status").inner_text()
    assert said.startswith("torch_et_0.json.gz: expected a Kineto trace with this Execution Trace")


def test_what_cannot_be_shown_beside_others_is_left_out_and_told(
    viewer: Any, data: Path, tmp_path: Path, timeline_on: Any
) -> None:
    folder = data / "mlp_gloo"
    (tmp_path / "notes.json").write_text("not a trace")
    names = ("kineto_trace_0.json.gz", "torch_et_0.json.gz", "torch_et_1.json.gz")
    give(viewer, *(folder / name for name in names), tmp_path / "notes.json")
    timeline_on(viewer).wait()
    told = viewer.get_by_role("alert").inner_text()
    assert told.startswith("Skipped: ")
    # The only two that are left are taken for a pair.
    for why in ("notes.json: expected a JSON trace", "torch_et_1.json.gz: its Kineto trace notes.json was skipped"):
        assert why.split(":")[0] in told
        assert viewer.locator("#recording").get_by_text(why).count() == 1
    assert viewer.title() == "kineto_trace_0.json.gz"


def test_a_snapshot_is_read_and_ranks_tell_traces_apart_that_have_none(
    viewer: Any, data: Path, tmp_path: Path, timeline_on: Any
) -> None:
    trace = ks.read(data / "synthetic_cuda/kineto_trace_0.json.gz")
    trace.save(tmp_path / "a.kscope")
    trace.save(tmp_path / "b.kscope")
    give(viewer, tmp_path / "a.kscope", tmp_path / "b.kscope")
    timeline_on(viewer).wait()
    table = viewer.locator("[data-analysis=breakdown]").first
    assert "rank 0" in table.inner_text()
    assert "rank 1" in table.inner_text()


def drop(page: Any, *files: tuple[str, bytes]) -> list[bool]:
    """Drops files on the page, one right after the other; false for each that it leaves to the browser."""
    dropped = """(files) => files.map(([name, base64]) => {
        const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([bytes], name));
        return !document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
    })"""
    taken = page.evaluate(dropped, [[name, base64.b64encode(content).decode()] for name, content in files])
    return [bool(one) for one in taken]


def test_what_is_dropped_is_read_one_after_the_other_until_there_is_a_report(
    viewer: Any, data: Path, timeline_on: Any
) -> None:
    content = (data / "minimal_cpu/kineto_trace_0.json.gz").read_bytes()
    assert all(drop(viewer, ("no.json", b"hello"), ("first.json.gz", content), ("second.json.gz", content)))
    timeline_on(viewer).wait().settle()
    assert viewer.title() == "first.json.gz"
    assert drop(viewer, ("third.json.gz", content)) == [True], "the browser would open it in the report's place"
    viewer.wait_for_timeout(500)
    assert viewer.title() == "first.json.gz"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"hello", "found text that is not a JSON object or array"),
        (b"", "found an empty file"),
        (b'{"a": 1}', 'found an object with ["a"]'),
        (b"\x1f\x8b\x08", "found a compressed stream that is damaged at its start"),
    ],
)
def test_what_is_no_trace_is_said(viewer: Any, tmp_path: Path, content: bytes, expected: str) -> None:
    path = tmp_path / "other.json"
    path.write_bytes(content)
    give(viewer, path)
    viewer.locator(".ks-failed").wait_for()
    assert expected in viewer.get_by_role("status").inner_text()
    assert viewer.locator("input[type=file]").count() == 1, "another file can be tried"


def test_the_policy_refuses_the_network(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "viewer.html"
    path.write_text(viewer_page(), encoding="utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    tried = page.evaluate("fetch('data:,x').then(() => 'ran', (error) => error.name)")
    page.close()
    assert tried == "TypeError"


def test_an_xz_file_is_read_too(viewer: Any, data: Path, tmp_path: Path, timeline_on: Any) -> None:
    text = gzip.decompress((data / "minimal_cpu/kineto_trace_0.json.gz").read_bytes())
    (tmp_path / "trace.json.xz").write_bytes(lzma.compress(text))
    give(viewer, tmp_path / "trace.json.xz")
    timeline_on(viewer).wait()
    assert viewer.title() == "trace.json.xz"


def test_a_memory_snapshot_becomes_a_page_of_its_own(viewer: Any, data: Path, shot: Shot) -> None:
    give(viewer, data / "memory_cuda/trained.pickle.gz")
    viewer.locator(".ks-grid").wait_for()
    snapshot = ks.read(data / "memory_cuda/trained.pickle.gz")
    (row,) = snapshot.memory().select("peak_requested_bytes", "num_blocks").rows()
    cells = viewer.locator("#memory tbody td").all_inner_texts()
    assert f"{row[0] / 2**20:.2f}" in cells
    assert str(row[1]) in cells
    assert "cuda_memory.py" in str(viewer.locator("#origins tbody").text_content())
    assert viewer.locator("#over_time svg").count() == 1
    shot(viewer, "viewer-memory")


def test_a_snapshot_of_the_same_run_joins_its_trace(viewer: Any, data: Path, timeline_on: Any, shot: Shot) -> None:
    files = data / "memory_cuda/kineto_trace_0.json.gz", data / "memory_cuda/trained.pickle.gz"
    give(viewer, *files)
    timeline_on(viewer).wait()
    trace = ks.read(files[0], memory=files[1])
    owners = trace.memory().tables["memory_owners"].select("line").rows()
    line = next(line for (line,) in owners if line)
    assert Path(line.split(":")[0]).name in str(viewer.locator("#memory").text_content())
    assert viewer.get_by_role("alert").count() == 0
    shot(viewer, "viewer-trace-memory")


def test_a_memory_snapshot_of_another_run_is_passed_over_with_the_reason(
    viewer: Any, data: Path, timeline_on: Any
) -> None:
    give(viewer, data / "minimal_cpu/kineto_trace_0.json.gz", data / "memory_cuda/failed.pickle.gz")
    timeline_on(viewer).wait()
    assert "failed.pickle.gz (expected" in viewer.get_by_role("alert").inner_text()


def test_a_memory_snapshot_beside_several_traces_is_passed_over(viewer: Any, data: Path, timeline_on: Any) -> None:
    give(viewer, *sorted((data / "mlp_gloo").glob("kineto*.json.gz")), data / "memory_cuda/failed.pickle.gz")
    timeline_on(viewer).wait()
    said = viewer.get_by_role("alert").inner_text()
    assert "failed.pickle.gz (a memory snapshot: choose it alone, or with the trace of its run)" in said


def test_an_export_of_nsight_systems_is_read(viewer: Any, data: Path, timeline_on: Any, shot: Shot) -> None:
    path = data / "synthetic_nsight/nsys_0.sqlite"
    give(viewer, path)
    timeline_on(viewer).wait().settle()
    assert viewer.title() == path.name
    trace = ks.read(path)
    name, count = trace.kernels().select("name", "count").rows()[0]
    first = str(viewer.locator("#kernels tbody tr").first.text_content())
    assert name in first
    assert str(count) in first
    shot(viewer, "viewer-nsight")


@pytest.mark.parametrize("file", ["synthetic_rocm/rocprofv3_results.db", "synthetic_perfetto/trace.pftrace"])
def test_files_that_are_no_json_are_read(viewer: Any, data: Path, timeline_on: Any, shot: Shot, file: str) -> None:
    path = data / file
    give(viewer, path)
    timeline_on(viewer).wait().settle()
    name, *_ = ks.read(path).kernels().select("name").rows()[0]
    assert name in str(viewer.locator("#kernels tbody tr").first.text_content())
    shot(viewer, f"viewer-{path.stem}")


def test_another_database_says_what_is_in_it(viewer: Any, tmp_path: Path) -> None:
    import sqlite3

    path = tmp_path / "notes.sqlite"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE notes (text)")
    database.close()
    give(viewer, path)
    viewer.locator(".ks-failed").wait_for()
    assert "found an SQLite database with the tables notes" in viewer.get_by_role("status").inner_text()


def test_a_flight_recorder_is_named_with_what_reads_it(viewer: Any, data: Path) -> None:
    give(viewer, data / "flight_cuda/nccl_trace_rank_0.pickle")
    viewer.locator(".ks-failed").wait_for()
    assert "found a flight recorder: read it with ks.read" in viewer.get_by_role("status").inner_text()
