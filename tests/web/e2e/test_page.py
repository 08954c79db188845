"""What surrounds the timeline: links into it, files that the page hands out, paper, narrow screens, several ranks."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
import synthetic_training
from support.pages import packed_bytes

pytestmark = pytest.mark.browser

Open = Callable[..., Any]
Reports = Callable[[ks.Trace], Path]
Shot = Callable[[Any, str], None]


def saved(page: Any, button: str, folder: Path, place: Any = None) -> Path:
    """Presses a button of the page, or of a place on it, and keeps the file that comes of it."""
    with page.expect_download() as download:
        (place or page).get_by_role("button", name=button, exact=place is None).click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def is_in_sight(page: Any) -> bool:
    box = page.locator("#ks-timeline").bounding_box()
    return box["y"] < page.viewport_size["height"] and box["y"] + box["height"] > 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_first_screen_says_what_matters(
    scheme: str, cuda: ks.Trace, reports: Reports, open_timeline: Open, shot: Shot
) -> None:
    page = open_timeline(reports(cuda), scheme).page
    page.evaluate("scrollTo(0, 0)")
    page.set_viewport_size({"width": 1400, "height": 1000})
    assert page.locator(".ks-nav a").all_inner_texts()[:4] == ["Time", "Iterations", "Findings", "Timeline"]
    for words in ("device 0 busy", "slowest", "Device time"):
        assert page.get_by_text(words, exact=True).first.is_visible()
    shot(page, f"report-top-{scheme}")


def test_evidence_of_a_finding_is_shown_in_the_timeline(cuda: ks.Trace, reports: Reports, open_timeline: Open) -> None:
    evidence = json.loads(str(cuda.findings().select("evidence").rows()[0][0]))
    timeline = open_timeline(reports(cuda))
    page = timeline.page
    page.evaluate("scrollTo(0, 0)")
    for _ in range(2):  # the second time the address is the link's own already
        page.locator("#findings li").first.get_by_role("link", name="1", exact=True).click()
        assert timeline.settle().details()["id"] == str(evidence[0])
        assert is_in_sight(page)
        timeline.focus().press("Escape")
        page.evaluate("scrollTo(0, 0)")


def test_the_longest_kernel_is_a_link(cuda: ks.Trace, reports: Reports, open_timeline: Open) -> None:
    names = ("name", "longest_id")
    name, longest = cuda.kernels().select(*names).rows()[0]
    timeline = open_timeline(reports(cuda))
    row = timeline.page.locator("#kernels tbody tr").first
    assert str(name) in (row.locator("span[title]").get_attribute("title") or "")
    row.get_by_role("link", name="show").click()
    assert timeline.settle().details()["id"] == str(longest)
    assert f"event={longest}" in timeline.page.url


def test_the_slowest_iteration_is_a_link(transformer: ks.Trace, reports: Reports, open_timeline: Open) -> None:
    timeline = open_timeline(reports(transformer))
    time = transformer.summary().data["iteration_time"]
    page = timeline.page
    page.locator(".ks-card", has_text="slowest").get_by_role("link").click()
    timeline.settle()
    start, end = page.url.split("#range=")[1].split("&")[0].split("-")
    assert int(end) - int(start) == time["slowest_ns"]


def test_a_name_is_copied_whole(cuda: ks.Trace, reports: Reports, open_timeline: Open) -> None:
    page = open_timeline(reports(cuda)).page
    cell = page.locator("#kernels td.ks-name").first
    cell.hover()
    cell.get_by_role("button").click()
    # The browser copies after the click has returned.
    cell.locator(".ks-copy.ks-done").wait_for()
    search = page.locator(".ks-search input")
    search.focus()
    page.keyboard.press("Control+v")
    assert search.input_value() == str(cuda.kernels().select("name").rows()[0][0])


def test_all_rows_of_a_table_are_saved(cuda: ks.Trace, reports: Reports, open_timeline: Open, tmp_path: Path) -> None:
    page = open_timeline(reports(cuda)).page
    operators = page.locator("#operators")
    expected = cuda.operators()
    for kind in ("CSV", "JSON"):
        with page.expect_download() as download:
            operators.get_by_role("button", name=kind).click()
        download.value.save_as(tmp_path / kind)
    rows = list(csv.DictReader((tmp_path / "CSV").read_text(encoding="utf-8").splitlines()))
    assert list(rows[0]) == expected.columns
    assert [int(row["total_ns"]) for row in rows] == [row[0] for row in expected.select("total_ns").rows()]
    objects = json.loads((tmp_path / "JSON").read_text(encoding="utf-8"))
    assert [row["name"] for row in objects] == [row["name"] for row in rows]


def test_a_saved_copy_opens_where_the_reader_was(
    cuda: ks.Trace, reports: Reports, open_timeline: Open, tmp_path: Path
) -> None:
    kernel = cuda.kernels().select("longest_id").rows()[0][0]
    timeline = open_timeline(reports(cuda), target=f"#event={kernel}")
    timeline.focus().press("n")
    timeline.page.keyboard.insert_text("what <b>is</b> this?")
    timeline.page.keyboard.press("Enter")
    copy = saved(timeline.page, "Save a copy", tmp_path)
    again = open_timeline(copy)
    assert again.details()["id"] == str(kernel)
    assert again.page.locator("#kernels tbody tr").count() == timeline.page.locator("#kernels tbody tr").count()
    again.page.get_by_role("button", name="1 note").click()
    assert again.page.locator(".ks-notes input").input_value() == "what <b>is</b> this?"


def test_the_trace_is_saved_for_other_viewers(
    cuda: ks.Trace, reports: Reports, open_timeline: Open, tmp_path: Path
) -> None:
    page = open_timeline(reports(cuda)).page
    path = saved(page, "Save the trace", tmp_path)
    assert path.name.endswith(".json.gz")
    columns = ("id", "name", "start_ns", "dur_ns")
    assert ks.read(path, False).events.select(*columns).rows() == cuda.events.select(*columns).rows()
    assert saved(page, "Perfetto", tmp_path).is_file(), "a page on disk may not hand it over"
    assert "ui.perfetto.dev" in page.get_by_role("status").first.inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_marked_range_is_saved_as_a_trace_and_as_a_report(
    scheme: str, transformer: ks.Trace, reports: Reports, open_timeline: Open, tmp_path: Path, shot: Shot
) -> None:
    start, dur = (int(str(cell)) for cell in transformer.iterations.select("start_ns", "dur_ns").rows()[1])
    end, origin = start + dur, transformer.origin_ns
    timeline = open_timeline(reports(transformer), scheme, f"#range={start - origin}-{end - origin}")
    page = timeline.page
    timeline.focus().press("n")
    page.keyboard.insert_text("this one")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Save a copy of the range").click()
    shot(page, f"report-save-{scheme}")
    trace = ks.read(saved(page, "Save the trace", tmp_path, page.get_by_role("dialog")), False)
    expected = transformer.trim(start, end)
    assert not list(tmp_path.glob("*.json*.json.gz")), "the name has one ending"
    columns = ("name", "start_ns", "dur_ns")
    assert trace.events.select(*columns).rows() == expected.events.select(*columns).rows()
    copy = open_timeline(saved(page, "Save a report", tmp_path, page.get_by_role("dialog")))
    label = copy.page.get_by_role("application").get_attribute("aria-label")
    assert f"{expected.num_events:,} events" in label
    is_about_its_range(copy.page, transformer, (start, end), expected.origin_ns)
    operators = saved(copy.page, "CSV", tmp_path, copy.page.locator("#operators"))
    totals = [int(row["total_ns"]) for row in csv.DictReader(operators.read_text(encoding="utf-8").splitlines())]
    assert totals == [row[0] for row in transformer.operators(start_ns=start, end_ns=end).select("total_ns").rows()]
    assert copy.page.locator("#operators tbody tr").count() > 0
    copy.page.get_by_role("button", name="1 note").click()
    assert copy.page.get_by_role("textbox", name="Note at").input_value() == "this one"
    copy.page.get_by_title("Go to the note").click()
    copy.focus().press("Escape")
    shot(copy.settle().page, f"report-saved-note-{scheme}")


def is_about_its_range(page: Any, whole: ks.Trace, span: tuple[int, int], origin: int) -> None:
    start, end = span
    assert page.url.endswith(f"#range={start - origin}-{end - origin}"), "it opens there"
    assert "All numbers describe this range" in page.locator(".ks-edited").inner_text()
    card = page.locator(".ks-card", has_text="span").first.inner_text()
    assert f"{whole.summary(start, end).data['num_events']:,} events" in card


def test_traces_that_tell_no_rank_are_saved_under_names_of_their_own(
    written: Callable[[object], ks.Trace], open_timeline: Open, tmp_path: Path
) -> None:
    event = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 50}
    before, after = (written([{**event, "dur": dur}]) for dur in (50, 70))
    page = open_timeline(ks.diff(before, after).report(tmp_path / "both.html")).page
    names: list[str] = []
    page.on("download", lambda download: names.append(download.suggested_filename))
    page.get_by_role("button", name="Save the trace").click()
    page.wait_for_timeout(1500)
    assert len(set(names)) == 2, names


def test_the_first_screen_of_a_job_counts_what_the_timeline_found(open_timeline: Open, tmp_path: Path) -> None:
    folder = tmp_path / "job"
    folder.mkdir()
    synthetic_training.write(folder, ranks=2)
    job = ks.read_dir(folder)
    page = open_timeline(job.report(tmp_path / "job.html")).page
    card = page.locator(".ks-card", has_text="findings").locator("a").inner_text()
    assert int(card) == len(job.findings()) > 0
    assert page.get_by_role("button", name=f"{card} findings").count() == 1


def test_what_is_saved_redacted_tells_no_private_text(
    written: Callable[[object], ks.Trace], reports: Reports, open_timeline: Open, tmp_path: Path
) -> None:
    event = {"ph": "X", "cat": "python_function", "pid": 1, "tid": 1, "ts": 1, "dur": 50}
    operator = {**event, "cat": "cpu_op", "name": "alice::attention", "ts": 60}
    private = written([{**event, "name": "/data/alice/train.py(3): step"}, operator, {**operator, "ts": 400}])
    page = open_timeline(reports(private), target="#range=0-100000").page
    page.get_by_role("button", name="Save a copy of the range").click()
    page.get_by_role("checkbox", name="redacted").check()
    trace = ks.read(saved(page, "Save the trace", tmp_path, page.get_by_role("dialog")), False)
    names = [str(row[0]) for row in trace.events.select("name").rows()]
    assert len(names) == 2
    assert "frame_1" in names
    assert not any("alice" in name for name in names)
    report = saved(page, "Save a report", tmp_path, page.get_by_role("dialog"))
    assert "alice" in reports(private).read_text()
    assert "alice" not in report.read_text()
    assert "2 events" in open_timeline(report).page.get_by_role("application").get_attribute("aria-label")


def test_on_paper_all_rows_and_a_picture_of_the_timeline(cuda: ks.Trace, reports: Reports, open_timeline: Open) -> None:
    page = open_timeline(reports(cuda)).page
    picture = page.locator(".ks-on-paper svg")
    assert not picture.is_visible()
    page.emulate_media(media="print")
    assert not page.locator("#ks-timeline").is_visible()
    assert picture.is_visible()
    assert page.locator("thead").first.evaluate("head => getComputedStyle(head).display") == "table-header-group"
    assert not page.get_by_text("Evidence:").first.is_visible(), "links lead nowhere there"
    assert not page.get_by_role("button", name="CSV").first.is_visible()
    hidden = page.locator(".ks-scroll").evaluate_all(
        "all => all.filter(one => one.scrollHeight > one.clientHeight + 1).length"
    )
    assert hidden == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_narrow_screen_has_all(scheme: str, transformer: ks.Trace, reports: Reports, strict: Any, shot: Shot) -> None:
    page = strict.page(scheme, width=700)
    page.goto(reports(transformer).as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 700
    shot(page, f"report-narrow-{scheme}")


def test_all_ranks_are_in_the_report_of_a_job(data: Path, open_timeline: Open, tmp_path: Path, shot: Shot) -> None:
    job = ks.read_dir(data / "mlp_gloo")
    timeline = open_timeline(job.report(tmp_path / "job.html"))
    page = timeline.page
    groups = " ".join(page.locator(".ks-group .ks-name").all_inner_texts())
    assert all(f"rank {rank}" in groups.lower() for rank in job.ranks)
    assert {"Stragglers", "Communication"} <= set(page.locator("h2").all_inner_texts())
    shot(page, "report-job")


def test_a_table_that_is_wider_than_its_place_can_be_saved(cuda: ks.Trace, reports: Reports, strict: Any) -> None:
    page = strict.page(width=500)
    page.goto(reports(cuda).as_uri())
    around = page.locator("#kernels .ks-scroll").first
    assert around.evaluate("one => one.scrollWidth > one.clientWidth"), "else this asks nothing"
    box, button = around.bounding_box(), page.locator("#kernels .ks-tools button").nth(1).bounding_box()
    assert box
    assert button
    assert button["x"] + button["width"] <= box["x"] + box["width"] + 1


def test_what_a_smaller_page_has_no_more_is_said_to_be_gone(
    transformer: ks.Trace, open_timeline: Open, tmp_path: Path
) -> None:
    whole = transformer.report(tmp_path / "whole.html").stat().st_size
    limit = whole - len(transformer.snapshot()) * 5 // 4 * 85 // 100
    report = transformer.report(tmp_path / "small.html", max_size=limit)
    body, _, rest = report.read_text().partition("<script")
    snapshot = re.search(r"ks-snapshot['\"][^>]*>([^<]*)<", rest)
    assert snapshot
    left = ks.Trace.from_snapshot(packed_bytes(snapshot[1]))
    gone = {*transformer.events.select("id").rows()} - {*left.events.select("id").rows()}
    timeline = open_timeline(report)
    assert "Shrunk" in timeline.page.locator(".ks-edited").inner_text()
    link = next(found for found in re.findall(r'href="#event=(\d+)"', body) if (int(found),) in gone)
    timeline.page.locator(f"a[href='#event={link}']").first.click()
    assert f"event {link} is not in this page" in timeline.page.get_by_role("alert").inner_text()


def test_the_numbers_of_a_chart_are_saved(
    transformer: ks.Trace, reports: Reports, open_timeline: Open, tmp_path: Path
) -> None:
    page = open_timeline(reports(transformer)).page
    chart = page.locator("#memory figure.ks-picture")
    path = saved(page, "CSV", tmp_path, chart)
    rows = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
    series = transformer.memory().tables["memory_series"]
    assert len(rows) == len(series) + 1
    assert rows[0][: len(series.columns)] == series.columns
