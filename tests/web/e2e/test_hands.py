"""What a reader does with keys and mouse beside looking: arranging tracks, writing notes, measuring."""

from __future__ import annotations

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


@pytest.fixture
def timeline(cuda: ks.Trace, reports: Reports, open_timeline: Open) -> Any:
    """A small trace with a process, a device and two streams."""
    return open_timeline(reports(cuda))


def names(timeline: Any) -> list[str]:
    return timeline.page.locator(".ks-scrolled .ks-name").all_inner_texts()


def test_the_toolbar_says_what_the_page_says(timeline: Any) -> None:
    page = timeline.page
    assert page.locator(".ks-toolbar .ks-title strong").inner_text() == page.title()


def test_all_buttons_are_within_reach_on_a_narrow_page(
    cuda: ks.Trace, reports: Reports, strict: Any, timeline_on: Any, shot: Shot
) -> None:
    page = strict.page(width=700)
    page.goto(reports(cuda).as_uri())
    timeline_on(page).wait().settle()
    root = page.locator(".ks-root").bounding_box()
    ends = [
        box["x"] + box["width"] for button in page.locator(".ks-toolbar button").all() if (box := button.bounding_box())
    ]
    assert len(ends) == page.locator(".ks-toolbar button").count()
    assert max(ends) <= root["x"] + root["width"]
    shot(page, "narrow-toolbar")


def test_the_timeline_takes_the_whole_screen_and_gives_it_back(timeline: Any, shot: Shot) -> None:
    page = timeline.focus().page
    small = page.locator(".ks-root").bounding_box()
    page.get_by_role("button", name="Full screen").click()
    page.wait_for_function("document.fullscreenElement !== null")
    timeline.settle()
    size = page.viewport_size
    full = page.locator(".ks-root").bounding_box()
    assert (full["width"], full["height"]) == (size["width"], size["height"])
    shot(page, "full-screen")
    timeline.focus()
    page.keyboard.press("Shift+F")
    page.wait_for_function("document.fullscreenElement === null")
    timeline.settle()
    assert page.locator(".ks-root").bounding_box() == small


def test_the_names_of_tracks_get_the_room_they_need(timeline: Any, shot: Shot) -> None:
    page = timeline.page
    width = lambda: page.locator(".ks-gutter").bounding_box()["width"]  # noqa: E731 - asked thrice
    sash = page.get_by_role("separator", name="Width of track names")
    box = sash.bounding_box()
    before, x, y = width(), box["x"] + box["width"] / 2, box["y"] + 200
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 130, y, steps=4)
    page.mouse.up()
    assert width() == pytest.approx(before + 130, abs=2)
    timeline.settle()
    picture = page.locator(".ks-stage > .ks-picture").bounding_box()
    assert picture["width"] == pytest.approx(page.locator(".ks-stage").bounding_box()["width"] - width(), abs=2)
    shot(page, "wide-names")
    sash.focus()
    for _ in range(100):
        page.keyboard.press("ArrowLeft")
    assert width() == pytest.approx(80, abs=2)


def test_tracks_are_filtered_by_their_names(timeline: Any, shot: Shot) -> None:
    page = timeline.focus().page
    before = names(timeline)
    page.keyboard.press("Control+p")
    page.keyboard.insert_text("stream")
    timeline.settle()
    after = names(timeline)
    assert after
    assert after != before
    assert all("stream" in name or name.startswith("Device") for name in after)
    assert "of" in page.locator(".ks-said").inner_text()
    shot(page, "filtered")
    page.keyboard.press("Escape")
    assert names(timeline.settle()) == before


def test_tracks_are_moved_by_the_mouse_and_by_keys(timeline: Any) -> None:
    page = timeline.page
    groups = page.locator(".ks-group .ks-name")
    before = groups.all_inner_texts()
    groups.last.focus()
    page.keyboard.press("Alt+ArrowUp")
    timeline.settle()
    assert groups.all_inner_texts() == [*before[:-2], before[-1], before[-2]]
    assert page.evaluate("document.querySelector('#ks-timeline > div').shadowRoot.activeElement.className") == "ks-name"
    page.keyboard.press("Alt+ArrowDown")
    timeline.settle()
    assert groups.all_inner_texts() == before
    groups.last.drag_to(groups.nth(-2))
    timeline.settle()
    assert groups.all_inner_texts() == [*before[:-2], before[-1], before[-2]]
    assert groups.last.get_attribute("aria-expanded") == "true", "what was dropped was not clicked at"


def test_the_arrow_keys_walk_and_fold_the_tracks(timeline: Any) -> None:
    page = timeline.page
    first, second = page.locator(".ks-scrolled .ks-name").nth(0), page.locator(".ks-scrolled .ks-name").nth(1)
    first.focus()
    page.keyboard.press("ArrowDown")
    timeline.settle()
    assert second.evaluate("element => element.matches(':focus')")
    page.keyboard.press("ArrowUp")
    timeline.settle()
    page.keyboard.press("ArrowLeft")
    assert first.get_attribute("aria-expanded") == "false"
    page.keyboard.press("ArrowRight")
    assert first.get_attribute("aria-expanded") == "true"


def test_only_what_folds_has_the_sign_of_it(timeline: Any) -> None:
    signs = """all => all.map(name => [
        name.hasAttribute("aria-expanded"),
        getComputedStyle(name.querySelector(".ks-icon")).visibility === "visible",
    ])"""
    found = timeline.focus().press("}").page.locator(".ks-scrolled .ks-name").evaluate_all(signs)
    assert any(folds for folds, _ in found)
    assert not all(folds for folds, _ in found)
    assert all(folds == is_shown for folds, is_shown in found)


def test_a_note_is_written_found_again_and_removed(
    cuda: ks.Trace, reports: Reports, open_timeline: Open, shot: Shot
) -> None:
    event = cuda.events.select("id", "name").rows()[0][0]
    timeline = open_timeline(reports(cuda), target=f"#event={event}")
    page = timeline.focus().page
    timeline.press("n")
    page.keyboard.insert_text("why is this first?")
    page.keyboard.press("Enter")
    timeline.settle()
    assert page.get_by_role("dialog").count() == 0
    shot(page, "note")
    timeline.focus().press("0")
    page.get_by_role("button", name="1 note").click()
    assert page.locator(".ks-notes input").input_value() == "why is this first?"
    page.locator(".ks-when").click()
    assert timeline.settle().details()["id"] == str(event)
    page.get_by_role("button", name="Close (Escape)").click()
    timeline.focus().press("Delete")
    assert page.get_by_role("button", name="1 note").count() == 0
    assert page.locator(".ks-said").inner_text() == "Note removed"


def test_what_the_file_says_of_an_event_is_read_without_another_click(
    written: Callable[[object], ks.Trace], reports: Reports, open_timeline: Open
) -> None:
    event = {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": 0, "dur": 9}
    trace = written([{**event, "args": {"Input Dims": [[64, 512]]}}])
    timeline = open_timeline(reports(trace), target="#event=0")
    timeline.page.locator(".ks-event").get_by_text("[[64,512]]").wait_for(timeout=5000)


def test_a_click_on_a_note_opens_it(timeline: Any) -> None:
    page = timeline.focus().page
    box = timeline.overlay.bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 200)
    timeline.press("Shift+M", "Shift+M")
    page.mouse.click(box["x"] + 203, box["y"] + 24 + 9)
    assert page.locator(".ks-notes li").count() == 2
    page.locator(".ks-notes .ks-current input:focus").wait_for()
    page.keyboard.insert_text("here")
    assert "here" in page.locator(".ks-notes .ks-current input").input_value()


def test_what_is_measured_shows_its_length(cuda: ks.Trace, reports: Reports, open_timeline: Open) -> None:
    event = cuda.events.select("id", "name").rows()[0][0]
    timeline = open_timeline(reports(cuda), target=f"#event={event}")
    before = timeline.settle().ink(timeline.overlay)
    timeline.focus().press("m")
    measured = timeline.ink(timeline.overlay)
    assert measured > before
    assert " at " in timeline.page.locator(".ks-said").inner_text()
    timeline.press("r")
    timeline.page.locator(".ks-range").get_by_text("time by kind").wait_for()
    timeline.press("q")
    assert timeline.page.locator(".ks-details").count() == 0


def test_keys_in_a_list_of_choices_are_its_own(cuda: ks.Trace, reports: Reports, open_timeline: Open) -> None:
    event = cuda.events.select("id", "name").rows()[0][0]
    timeline = open_timeline(reports(cuda), target=f"#event={event}")
    timeline.focus().press("r")
    page, choices = timeline.page, timeline.page.get_by_label("Other analyses of the range")
    choices.focus()
    before = timeline.settle().picture()
    timeline.press("ArrowDown")
    assert choices.input_value(), "another analysis is chosen"
    page.keyboard.press("n")
    assert page.get_by_role("dialog").count() == 0, "no note is taken"
    assert timeline.settle().picture() == before


def test_escape_shuts_what_popped_up_wherever_the_focus_is_in_it(timeline: Any) -> None:
    page = timeline.page
    page.locator(".ks-colors-button").click()
    page.get_by_role("radio", name="name").check()
    page.keyboard.press("Escape")
    assert page.get_by_role("dialog").count() == 0
    timeline.focus().press("n")
    page.keyboard.press("Escape")
    assert page.get_by_role("dialog").count() == 0
    assert page.locator(".ks-stage:focus").count() == 1


def test_colours_tell_what_is_on_the_screen_while_it_is_still_being_read(
    transformer: ks.Trace, reports: Reports, strict: Any, timeline_on: Any
) -> None:
    page = strict.page()
    # To a frame that counts its milliseconds each answer comes late.
    page.add_init_script("let late = 0; performance.now = () => (late += 5);")
    page.goto(reports(transformer).as_uri())
    timeline = timeline_on(page).wait().settle()
    page.locator(".ks-colors-button").click()
    page.get_by_role("radio", name="operator").check(timeout=5000)
    page.locator(".ks-legend li", has_text="aten::").first.wait_for(timeout=5000)
    timeline.focus().press("w", "0")
    assert page.locator(".ks-legend li").count() > 1


def test_no_key_reaches_the_page(timeline: Any) -> None:
    page = timeline.page
    page.evaluate(
        """() => { window.heard = [];
        for (const type of ["keydown", "keyup"]) document.addEventListener(type, event => heard.push(event.key)); }"""
    )
    timeline.focus()
    keys = [
        *"wsadfmnrqxpc0.,[]/",
        "Escape",
        "Enter",
        "?",
        "Escape",
        "Shift+M",
        "Delete",
        "Home",
        "ArrowDown",
        "Control+p",
    ]
    for key in keys:
        page.keyboard.press(key)
    page.locator(".ks-scrolled .ks-name").first.focus()
    for key in ("ArrowDown", "ArrowLeft", "Alt+ArrowDown", "d", "d"):
        page.keyboard.press(key)
    # What has the focus may go away: a row that is pinned, a note that is removed, a popup that is shut.
    page.get_by_role("button", name="Pin stream 7").focus()
    for key in ("Enter", "d"):
        page.keyboard.press(key)
        timeline.settle()
    timeline.focus()
    for key in ("n", "Tab", "Enter", "d", "Escape", "d", "?", "Escape", "d"):
        page.keyboard.press(key)
    heard = set(page.evaluate("heard")) - {"Tab", "Control", "Alt", "Shift"}
    assert heard == set()
    page.locator("body").evaluate("() => document.activeElement.blur()")
    page.keyboard.press("d")
    assert page.evaluate("heard").count("d") == 2, "outside of it they are the page's"


def test_the_page_does_not_move_for_a_key(timeline: Any) -> None:
    page = timeline.page
    page.set_viewport_size({"width": 1280, "height": 420})
    timeline.focus().settle()
    before = page.evaluate("scrollY")
    timeline.press("ArrowDown", "ArrowUp", "Home", "w", "s", "/", "Escape", "n", "Escape")
    assert page.evaluate("scrollY") == before


@pytest.mark.parametrize("scale", [2, 3])
def test_the_picture_is_crisp(scale: int, cuda: ks.Trace, reports: Reports, browser: Any, timeline_on: Any) -> None:
    context = browser.new_context(device_scale_factor=scale, viewport={"width": 1001, "height": 700})
    page = context.new_page()
    page.goto(reports(cuda).as_uri())
    timeline = timeline_on(page).wait().settle()
    sizes = "canvas => [canvas.width, canvas.getBoundingClientRect().width]"
    for canvas in (timeline.tracks, timeline.overlay):
        pixels, points = canvas.evaluate(sizes)
        assert pixels == pytest.approx(scale * points, abs=0.01)
    context.close()


def test_the_picture_follows_the_pixels_of_the_screen(
    cuda: ks.Trace, reports: Reports, browser: Any, timeline_on: Any
) -> None:
    context = browser.new_context(device_scale_factor=1)
    # Emulating another screen tells nobody that it is another one, which real browsers do in this way.
    context.add_init_script(
        """const real = window.matchMedia.bind(window);
        window.screens = new EventTarget();
        window.matchMedia = query => query.includes("resolution") ? window.screens : real(query);"""
    )
    page = context.new_page()
    page.goto(reports(cuda).as_uri())
    timeline = timeline_on(page).wait().settle()
    before = timeline.tracks.evaluate("canvas => canvas.width")
    for ratio in (2, 3):
        page.evaluate(f"window.devicePixelRatio = {ratio}; window.screens.dispatchEvent(new Event('change'))")
        assert timeline.settle().tracks.evaluate("canvas => canvas.width") == ratio * before
    context.close()


def test_who_wants_no_motion_gets_none(cuda: ks.Trace, reports: Reports, browser: Any, timeline_on: Any) -> None:
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    page.goto(reports(cuda).as_uri())
    timeline = timeline_on(page).wait().settle().focus()
    shown = page.locator(".ks-corner").get_by_text("shown")
    before = shown.inner_text()
    at_once = page.evaluate(
        """() => new Promise(done => {
            const root = document.querySelector("#ks-timeline > div").shadowRoot;
            const stage = root.querySelector(".ks-stage");
            stage.dispatchEvent(new KeyboardEvent("keydown", { key: "w", bubbles: true, composed: true }));
            requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(() =>
                done(root.querySelector(".ks-corner").innerText))));
        })"""
    )
    assert before not in at_once
    assert timeline.settle().page.locator(".ks-corner").inner_text() == at_once
    context.close()


def test_what_is_told_of_an_event_lies_under_the_pointer_when_the_picture_has_moved(timeline: Any) -> None:
    page = timeline.focus().page
    tip = page.locator(".ks-tooltip")
    place = timeline.point_at("stream 7", 0, 0.5)
    page.mouse.move(*place)
    told = tip.inner_text()
    timeline.press("w", "w", "w", "d").settle()
    assert tip.count() == 0
    page.mouse.move(place[0] + 1, place[1])
    timeline.press("0").settle()
    page.mouse.move(*place)
    assert tip.inner_text() == told
    page.keyboard.down("Control")
    page.mouse.wheel(0, -300)
    page.keyboard.up("Control")
    timeline.settle()
    assert tip.inner_text() == told, "the wheel zooms around what is under the pointer"


def test_what_is_written_beside_a_track_stays_in_sight_while_the_track_is(
    transformer: ks.Trace, reports: Reports, open_timeline: Open
) -> None:
    timeline = open_timeline(reports(transformer))
    page = timeline.page
    page.set_viewport_size({"width": 1280, "height": 240})
    timeline.focus().settle()
    timeline.overlay.hover()
    row = page.locator(".ks-scrolled .ks-track", has=page.get_by_role("button", name="Show names")).first
    left: list[float] = []
    while len(left) < 2 or left[-1] < left[-2]:
        page.mouse.wheel(0, 30)
        timeline.settle()
        top = page.locator(".ks-scrolled").bounding_box()["y"]
        whole, name = row.bounding_box(), row.locator(".ks-name").bounding_box()
        button = row.get_by_role("button", name="Show names").bounding_box()
        left.append(whole["y"] + whole["height"] - top)
        assert name["y"] >= top - 1
        assert button["y"] >= name["y"] + name["height"] - 1, "one below the other"
        assert button["y"] + button["height"] <= whole["y"] + whole["height"] + 1
    assert left[0] - left[-1] > 100, "its beginning was scrolled away"


def test_a_click_where_a_stream_was_idle_says_why(timeline: Any, cuda: ks.Trace, shot: Shot) -> None:
    page = timeline.page
    rows = cuda.idle().tables["gaps"].select("start_ns", "dur_ns", "stream", "after_id").rows()
    start, dur, stream, after = max(rows, key=lambda row: int(str(row[1])))
    first = min(int(str(row[0])) for row in cuda.events.select("start_ns").rows())
    page.evaluate("view => { location.hash = `#view=${view}`; }", f"{start - first}-{start - first + dur}")
    timeline.settle()
    page.get_by_placeholder("Filter tracks").fill(f"stream {stream}")
    timeline.settle()
    x, y = timeline.point_at(f"stream {stream}", 0, 0.5)
    page.mouse.click(x, y)
    gap = page.locator(".ks-gap")
    gap.wait_for()
    shot(page, "idle-why")
    gap.locator(".ks-chain > div", has=page.get_by_text("after", exact=True)).get_by_role("button").click()
    timeline.settle()
    assert timeline.details()["id"] == str(after)
    page.get_by_title("Explain (i)").click()
    assert page.get_by_role("tab", name="Idle").get_attribute("aria-selected") == "true"
