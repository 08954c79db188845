"""How the core lays traces out for the screen, as the reader wants it; and commands chosen by keys and words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest

pytestmark = pytest.mark.browser

Open = Callable[..., Any]
Reports = Callable[[ks.Trace], Path]
Shot = Callable[[Any, str], None]


@pytest.fixture
def framed(written: Callable[[object], ks.Trace]) -> ks.Trace:
    """An operator in a module, both in functions of Python; and a thread of functions alone."""

    def event(name: str, category: str, thread: int, start: int, dur: int) -> dict[str, object]:
        return {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": thread, "ts": start, "dur": dur}

    frames = [event(f"train.py({at}): f{at}", "python_function", 1, at, 200 - 2 * at) for at in range(12)]
    inside = [event("nn.Module: Linear_0", "python_function", 1, 20, 100), event("aten::mm", "cpu_op", 1, 30, 80)]
    return written([*frames, *inside, event("threading.py(1): wait", "python_function", 2, 0, 200)])


@pytest.fixture
def job(data: Path, tmp_path: Path) -> Path:
    return ks.read_dir(data / "mlp_gloo").report(tmp_path / "job.html")


def tracks(page: Any) -> list[str]:
    return [name for name in page.locator(".ks-row.ks-track .ks-name").all_inner_texts() if "thread" in name]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_functions_of_python_are_hidden_and_come_back(
    scheme: str, framed: ks.Trace, reports: Reports, open_timeline: Open, shot: Shot
) -> None:
    timeline = open_timeline(reports(framed), scheme)
    page = timeline.page
    assert tracks(page) == ["thread 1", "thread 2"]
    before = timeline.picture()
    timeline.focus().press("y")
    assert tracks(page) == ["thread 1"], "a thread with nothing else is gone"
    assert "frames=hidden" in page.url
    assert page.get_by_role("button", name="Python functions: hidden").get_attribute("aria-pressed") == "false"
    shot(page, f"report-frames-hidden-{scheme}")
    page.mouse.click(*timeline.point_at("thread 1", 1, 0.4))
    assert timeline.settle().details()["name"] == "aten::mm", "it lies right below its module now"
    assert timeline.focus().press("p").details()["name"] == "nn.Module: Linear_0"
    page.evaluate("location.hash = 'event=0&frames=hidden'")
    assert timeline.settle().details()["name"] == "train.py(0): f0"
    assert tracks(page) == ["thread 1", "thread 2"], "who goes to a function sees it"
    timeline.focus().press("Escape", "0")
    assert timeline.picture() == before


def test_a_link_keeps_them_hidden(framed: ks.Trace, reports: Reports, open_timeline: Open) -> None:
    page = open_timeline(reports(framed), target="#frames=hidden").page
    assert tracks(page) == ["thread 1"]
    page.get_by_role("button", name="Python functions: hidden").click()
    assert tracks(page) == ["thread 1", "thread 2"]
    assert "frames" not in page.url


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_traces_are_aligned_as_the_reader_wants(scheme: str, job: Path, open_timeline: Open, shot: Shot) -> None:
    timeline = open_timeline(job, scheme)
    page = timeline.page
    choice = page.get_by_role("combobox", name="Align traces by")
    options = choice.locator("option").all_inner_texts()
    assert options[:3] == ["clocks", "recorded", "start"]
    assert options[3].startswith("iteration")
    clocks = timeline.picture()
    choice.select_option("start")
    assert timeline.settle().picture() != clocks
    assert "align=start" in page.url
    shot(page, f"report-aligned-{scheme}")
    again = open_timeline(job, scheme, "#align=start")
    assert again.page.get_by_role("combobox", name="Align traces by").locator(":checked").inner_text() == "start"
    choice.select_option("clocks")
    assert timeline.settle().picture() == clocks


def test_one_trace_is_aligned_with_nothing(cuda: ks.Trace, reports: Reports, open_timeline: Open) -> None:
    page = open_timeline(reports(cuda)).page
    assert page.get_by_role("combobox", name="Align traces by").count() == 0
    assert page.get_by_role("button", name="Python functions").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_path_of_a_job_leads_through_its_ranks(scheme: str, job: Path, open_timeline: Open, shot: Shot) -> None:
    timeline = open_timeline(job, scheme)
    before = timeline.picture()
    timeline.focus().press("k")
    legend = timeline.page.get_by_role("region", name="Bounds of the critical path")
    legend.get_by_text("by rank", exact=True).wait_for()
    assert "rank" in legend.locator("table").last.inner_text()
    assert timeline.settle().picture() != before
    shot(timeline.page, f"report-job-path-{scheme}")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_command_is_chosen_by_its_words(
    scheme: str, cuda: ks.Trace, reports: Reports, open_timeline: Open, shot: Shot
) -> None:
    timeline = open_timeline(reports(cuda), scheme).focus()
    page = timeline.page
    page.keyboard.press("Control+Shift+P")
    dialog = page.get_by_role("dialog", name="Commands")
    assert dialog.get_by_role("option").count() > 25
    shot(page, f"report-commands-{scheme}")
    page.keyboard.insert_text("critical path")
    assert dialog.get_by_role("option").all_inner_texts() == ["Show or hide the critical path\nK"]
    page.keyboard.press("Enter")
    timeline.settle()
    assert dialog.count() == 0
    assert page.get_by_role("button", name="Critical path (k)", exact=True).get_attribute("aria-pressed") == "true"
    assert page.locator(".ks-stage:focus").count() == 1, "the keys go on"
    page.keyboard.press("Control+Shift+P")
    page.keyboard.press("ArrowDown")
    assert dialog.get_by_role("option", selected=True).inner_text().startswith("Zoom out")
    page.keyboard.press("Escape")
    assert dialog.count() == 0


@pytest.mark.parametrize(("key", "mods"), [("n", {}), ("P", {"ctrlKey": True, "shiftKey": True}), ("?", {})])
def test_what_a_key_opens_has_the_keys_that_follow(
    key: str, mods: dict[str, bool], cuda: ks.Trace, reports: Reports, open_timeline: Open
) -> None:
    """A page that is busy draws no frame between two keys, so none may be waited for."""
    has_focus = """async ([key, mods]) => {
        const { shadowRoot } = document.querySelector("#ks-timeline > div");
        const stage = shadowRoot.querySelector(".ks-stage");
        stage.focus();
        stage.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, composed: true, ...mods }));
        for (let turn = 0; turn < 50; turn++) await null;
        return shadowRoot.activeElement.closest(".ks-popup") !== null;
    }"""
    assert open_timeline(reports(cuda)).page.evaluate(has_focus, [key, mods])


def test_the_whole_is_marked_and_one_of_several_arrows_chosen(
    written: Callable[[object], ks.Trace], reports: Reports, open_timeline: Open
) -> None:
    launch = {"ph": "X", "cat": "cuda_runtime", "name": "cudaGraphLaunch", "pid": 1, "tid": 1, "ts": 0, "dur": 9}
    work = {"ph": "X", "cat": "kernel", "pid": 0, "tid": 7, "dur": 5}
    graph = {"args": {"correlation": 4, "device": 0, "stream": 7}}
    kernels = [{**work, **graph, "name": f"kernel_{at}", "ts": 20 + 10 * at} for at in range(3)]
    timeline = open_timeline(reports(written([{**launch, **graph}, *kernels]))).focus()
    page = timeline.page
    timeline.press("Control+a")
    page.locator(".ks-range").get_by_text("time by kind").wait_for()
    assert "4 events" in page.locator(".ks-range").inner_text()
    page.evaluate("location.hash = 'event=0'")
    first = timeline.settle().overlay.evaluate("canvas => canvas.toDataURL()")
    timeline.focus().press("Control+]")
    assert page.locator("[aria-live=polite]").inner_text() == "Arrow 2 of 3, outgoing: kernel_1"
    assert timeline.overlay.evaluate("canvas => canvas.toDataURL()") != first, "the arrow that is chosen is thicker"
    assert timeline.press("]").details()["name"] == "kernel_1"
    assert timeline.press("[").details()["name"] == "cudaGraphLaunch"
