"""The report, opened from disk: live with scripts on, readable with scripts off, and never talking to anyone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest

pytestmark = pytest.mark.browser

# The helpers are defined in conftest.py, which tests cannot import from.
Open = Callable[..., Any]
Reports = Callable[[ks.Trace], Path]
Shot = Callable[[Any, str], None]


def events(trace: ks.Trace, *columns: str) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in trace.events.select(*columns).rows()]


# Longer than what counts as one move.
ONE_MOVE_MS = 1100


def gemms(trace: ks.Trace) -> list[dict[str, Any]]:
    rows = events(trace, "id", "name", "kind", "start_ns", "dur_ns", "launch_id")
    found = [row for row in rows if "gemm" in row["name"]]
    return sorted(found, key=lambda row: row["start_ns"])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_timeline_is_live(scheme: str, cuda: ks.Trace, reports: Reports, open_timeline: Open, shot: Shot) -> None:
    timeline = open_timeline(reports(cuda), scheme)
    groups = timeline.page.locator(".ks-group .ks-name").all_inner_texts()
    assert any(group.startswith("Device 0") for group in groups)
    assert timeline.page.locator(".ks-root").get_attribute("data-theme") == scheme
    shot(timeline.page, f"report-{scheme}")


def test_stacks_of_operators_can_be_read(
    transformer: ks.Trace, reports: Reports, open_timeline: Open, shot: Shot
) -> None:
    timeline = open_timeline(reports(transformer), "dark")
    hits = timeline.search("aten::linear")
    assert int(hits.split()[0].replace(",", "")) > 5
    timeline.page.keyboard.press("Enter")
    before = timeline.settle().picture()
    timeline.focus().press("f", "f", "s", "s", "s")
    assert timeline.details()["name"] == "aten::linear"
    assert timeline.picture() != before
    timeline.page.get_by_role("button", name="Clear the search").click()
    timeline.settle()
    shot(timeline.page, "report-stacks-dark")


def test_zooming_and_moving_change_the_picture(cuda: ks.Trace, reports: Reports, open_timeline: Open) -> None:
    timeline = open_timeline(reports(cuda)).focus()
    whole = timeline.settle().picture()
    seen = {whole}
    for key in ("w", "d", "w", "a"):
        seen.add(timeline.press(key).picture())
    timeline.page.mouse.move(*timeline.point_at("stream 7", 0, 0.5))
    timeline.page.keyboard.down("Control")
    timeline.page.mouse.wheel(0, -240)
    timeline.page.keyboard.up("Control")
    seen.add(timeline.settle().picture())
    assert len(seen) == 6, "each of them shows something else"
    assert timeline.press("0").picture() == whole


def test_the_page_scrolls_until_the_timeline_has_the_focus(
    cuda: ks.Trace, reports: Reports, open_timeline: Open
) -> None:
    timeline = open_timeline(reports(cuda))
    page = timeline.page
    page.set_viewport_size({"width": 1280, "height": 420})
    timeline.settle()
    page.mouse.move(*timeline.point_at("thread 4200", 0, 0.5))
    page.mouse.wheel(0, 90)
    page.wait_for_timeout(400)  # the page's policy forbids Playwright's own way of waiting for a condition
    assert page.evaluate("scrollY") > 0
    timeline.focus().settle()
    before, scrolled = timeline.picture(), page.evaluate("scrollY")
    page.mouse.move(*timeline.point_at("thread 4200", 0, 0.5))
    page.mouse.wheel(0, 40)
    timeline.settle()
    assert page.evaluate("scrollY") == scrolled
    assert timeline.picture() != before


def test_a_click_shows_the_kernel(cuda: ks.Trace, reports: Reports, open_timeline: Open, shot: Shot) -> None:
    kernel = gemms(cuda)[0]
    origin = cuda.origin_ns
    start = kernel["start_ns"] - origin
    timeline = open_timeline(reports(cuda), target=f"#range={start}-{start + 2 * kernel['dur_ns']}")
    timeline.focus().press("Escape")  # the range was only to be shown; its summary would cover the streams
    lane = cuda.query({"type": "event", "id": kernel["id"]}).data["lane"]
    timeline.page.mouse.click(*timeline.point_at("stream 7", lane, 0.25))
    details = timeline.settle().details()
    assert details["name"] == kernel["name"]
    assert details["duration"] == f"{kernel['dur_ns']} ns"
    assert details["start"] == f"{kernel['start_ns']} ns"
    assert details["kind"] == "kernel"
    shot(timeline.page, "report-kernel")


def test_details_lead_from_the_kernel_to_its_operator_and_node(
    cuda: ks.Trace, reports: Reports, open_timeline: Open
) -> None:
    kernel = gemms(cuda)[0]
    timeline = open_timeline(reports(cuda), target=f"#event={kernel['id']}")
    panel = timeline.page.locator(".ks-event")
    panel.wait_for()
    panel.get_by_text("arguments").click()
    text = panel.inner_text()
    for expected in ("cudaLaunchKernel", "aten::addmm(Tensor self", "Execution Trace node", "correlation", "[512]"):
        assert expected in text
    panel.get_by_role("button", name="cudaLaunchKernel").click()
    assert timeline.settle().details()["kind"] == "launch"


def test_back_returns_to_what_was_looked_at_before(cuda: ks.Trace, reports: Reports, open_timeline: Open) -> None:
    first = gemms(cuda)[0]
    timeline = open_timeline(reports(cuda), target=f"#event={first['id']}")
    page = timeline.page
    page.wait_for_timeout(ONE_MOVE_MS)
    page.locator(".ks-event").get_by_role("button", name="cudaLaunchKernel").click()
    assert timeline.settle().details()["kind"] == "launch"
    page.go_back()
    page.wait_for_function(f"location.hash === '#event={first['id']}'")
    assert timeline.settle().details()["kind"] == "kernel"


def test_a_page_with_traces_is_not_left_for_a_file_that_is_dropped_on_it(
    cuda: ks.Trace, reports: Reports, open_timeline: Open
) -> None:
    page = open_timeline(reports(cuda)).page
    drop = "!dispatchEvent(new DragEvent('drop', {cancelable: true, dataTransfer: new DataTransfer()}))"
    assert page.evaluate(drop), "the browser would open it instead"
    assert "Open the empty page again" in page.locator(".ks-error-note").inner_text()


def test_the_launch_arrow_is_drawn_and_can_be_followed(cuda: ks.Trace, reports: Reports, open_timeline: Open) -> None:
    kernel = gemms(cuda)[3]
    timeline = open_timeline(reports(cuda))
    empty = timeline.ink(timeline.overlay)
    timeline.page.evaluate(f"location.hash = 'event={kernel['id']}'")
    timeline.settle()
    assert timeline.ink(timeline.overlay) > empty + 200
    assert (
        timeline.focus().press("[").details()["id"] == str(kernel["launch_id"])
        or timeline.details()["kind"] == "launch"
    )
    assert timeline.press("]").details()["name"] == kernel["name"]


def test_search_counts_and_steps_in_time(cuda: ks.Trace, reports: Reports, open_timeline: Open, shot: Shot) -> None:
    expected = gemms(cuda)
    timeline = open_timeline(reports(cuda))
    before = timeline.picture()
    assert timeline.search("GEMM") == f"{len(expected)} hits"
    assert timeline.settle().picture() != before, "what was not found is dimmed"
    page = timeline.page
    for at, kernel in enumerate(expected[:2], start=1):
        page.keyboard.press("Enter")
        page.locator(f".ks-hits:has-text('{at} of {len(expected)}')").wait_for()
        assert timeline.settle().details()["start"] == f"{kernel['start_ns']} ns"
    shot(page, "report-search")
    page.keyboard.press("Escape")
    assert timeline.settle().page.locator(".ks-hits").count() == 0
    assert timeline.search("no such name") == "no hits"


def test_a_range_is_summed_up(cuda: ks.Trace, reports: Reports, open_timeline: Open, shot: Shot) -> None:
    timeline = open_timeline(reports(cuda), "dark")
    page, box = timeline.page, timeline.overlay.bounding_box()
    page.mouse.move(box["x"] + 100, box["y"] + 8)
    page.mouse.down()
    page.mouse.move(box["x"] + 500, box["y"] + 8, steps=4)
    page.mouse.up()
    table = page.locator(".ks-range")
    table.get_by_text("time by kind").wait_for()
    assert "aten::mm" in table.inner_text()
    assert "#range=" in page.url
    shot(page, "report-range")
    table.get_by_role("button", name="sm90").first.click()
    assert "gemm" in timeline.settle().details()["name"]
    timeline.focus().press("Escape", "Escape")
    assert page.get_by_role("tab", selected=True).inner_text() == "Trace"
    assert "#" not in page.url


def test_a_link_leads_to_the_event(cuda: ks.Trace, reports: Reports, open_timeline: Open) -> None:
    kernel = gemms(cuda)[5]
    timeline = open_timeline(reports(cuda), target=f"#event={kernel['id']}")
    assert timeline.details()["id"] == str(kernel["id"])
    timeline.focus().press(".")
    assert timeline.page.url.split("#")[1] != f"event={kernel['id']}"


def test_help_and_health_open_and_close(cuda: ks.Trace, reports: Reports, open_timeline: Open, shot: Shot) -> None:
    timeline = open_timeline(reports(cuda)).focus()
    page = timeline.page
    timeline.press("?")
    assert "Zoom in" in page.get_by_role("dialog").inner_text()
    shot(page, "report-help")
    timeline.press("Escape")
    assert page.get_by_role("dialog").count() == 0
    page.get_by_role("button", name="Trace health").click()
    dialog = page.get_by_role("dialog")
    assert "Complete:" in dialog.inner_text()
    shot(page, "report-health")
    ids = json.loads(str(cuda.verdict.problems.select("event_ids").rows()[0][0]))
    dialog.get_by_role("button", name="were launched before").click()
    assert dialog.count() == 0
    assert timeline.details()["id"] == str(ids[0])


def test_tracks_fold_and_stay_at_the_top(cuda: ks.Trace, reports: Reports, open_timeline: Open) -> None:
    timeline = open_timeline(reports(cuda))
    page, seen = timeline.page, {timeline.picture()}
    name = page.get_by_role("button", name="stream 7", exact=True)
    name.click()
    assert name.get_attribute("aria-expanded") == "false"
    seen.add(timeline.settle().picture())
    page.get_by_role("button", name="Pin stream 7").click(force=True)
    seen.add(timeline.settle().picture())
    assert page.locator(".ks-pinned .ks-row").count() == 1
    assert len(seen) == 3


def test_what_is_said_for_those_who_hear(cuda: ks.Trace, reports: Reports, open_timeline: Open) -> None:
    timeline = open_timeline(reports(cuda), target=f"#event={gemms(cuda)[0]['id']}")
    said = timeline.page.locator("[aria-live=polite]")
    assert "gemm" in said.inner_text()
    assert ", kernel, " in said.inner_text()
    label = timeline.page.get_by_role("application").get_attribute("aria-label")
    assert label is not None
    assert f"{cuda.num_events} events" in label


def test_tables_can_be_sorted(cuda: ks.Trace, reports: Reports, open_timeline: Open) -> None:
    page = open_timeline(reports(cuda)).page
    table = page.locator("table", has=page.locator("caption", has_text="Operators by name"))
    names = table.locator("tbody td:first-child b")
    table.get_by_role("button", name="name", exact=True).click()
    assert names.all_inner_texts() == sorted(names.all_inner_texts(), key=str.lower)
    table.get_by_role("button", name="calls").click()
    counts = [int(text) for text in table.locator("tbody td:nth-child(2)").all_inner_texts()]
    assert counts == sorted(counts, reverse=True)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_without_scripts_everything_is_readable(
    scheme: Any, cuda: ks.Trace, reports: Reports, strict: Any, shot: Shot
) -> None:
    page = strict.page(scheme, scripts=False)
    page.goto(reports(cuda).as_uri())
    text = page.locator("body").inner_text()
    for expected in ("Operators", "Kernels", "aten::mm", "Iterations", "Scripts are off"):
        assert expected in text
    assert page.locator("#ks-timeline svg").is_visible()
    shot(page, f"report-without-scripts-{scheme}")


def test_the_policy_lets_nothing_else_run(cuda: ks.Trace, reports: Reports, browser: Any) -> None:
    page = browser.new_page()
    page.goto(reports(cuda).as_uri())
    tried = page.evaluate(
        """() => new Promise((done) => setTimeout(async () => {  // a call from outside may evaluate, a timer may not
            const attempt = async (what) => {
                try { await what(); return "ran"; } catch (error) { return error.name; }
            };
            const script = document.createElement("script");
            script.textContent = "window.injected = 1";
            document.body.append(script);
            const evaluated = await attempt(() => Function("return 1")());
            done([evaluated, await attempt(() => fetch("data:,x")), window.injected]);
        }))"""
    )
    page.close()
    assert tried == ["EvalError", "TypeError", None]


def test_hostile_names_stay_text(
    hostile: ks.Trace, reports: Reports, open_timeline: Open, strict: Any, shot: Shot
) -> None:
    timeline = open_timeline(reports(hostile))
    page = timeline.page
    rows = [row for row in events(hostile, "id", "name") if "<" in (row["name"] or "")]
    assert len(rows) > 1
    for row in rows:
        page.evaluate(f"location.hash = 'event={row['id']}'")
        page.locator(".ks-event-name", has_text=row["name"].strip()[:20]).wait_for()
    page.mouse.move(*timeline.settle().point_at("thread 4200", 0, 0.5))
    timeline.search("<script>")
    page.keyboard.press("Enter")
    timeline.settle()
    shot(page, "report-hostile")
    assert page.evaluate("window.hostile") is None
    assert page.locator("main img, main iframe").count() == 0
    still = strict.page(scripts=False)
    still.goto(reports(hostile).as_uri())
    assert "<script>window.hostile" in still.locator("body").inner_text()


def test_an_empty_trace_says_so(written: Callable[[object], ks.Trace], reports: Reports, strict: Any) -> None:
    page = strict.page()
    page.goto(reports(written({"traceEvents": []})).as_uri())
    page.get_by_text("has no events with a duration").wait_for()


def test_a_broken_snapshot_leaves_the_page_readable(
    cuda: ks.Trace, reports: Reports, tmp_path: Path, browser: Any
) -> None:
    whole = reports(cuda).read_text()
    start = whole.index(">", whole.index('class="ks-snapshot"')) + 1
    broken = tmp_path / "broken.html"
    broken.write_text(f"{whole[:start]}AAAA{whole[start + 4 :]}")
    page = browser.new_page()
    page.goto(broken.as_uri())
    assert "expected" in page.get_by_role("alert").inner_text()
    assert page.locator("#ks-timeline svg").is_visible()
    assert "aten::mm" in page.locator("body").inner_text()
    page.close()
