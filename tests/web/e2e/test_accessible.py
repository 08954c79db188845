"""The report and its timeline keep nobody out: axe-core finds no serious violation in any of their states."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope._report.page import viewer_page, write_report

pytestmark = pytest.mark.browser

AXE = Path(__file__).resolve().parents[3] / "wasm/node_modules/axe-core/axe.min.js"
SERIOUS = ("serious", "critical")
# Each node is told by its path through shadow roots.
RUN = """() => axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations.map(found => ({
    ...found,
    nodes: found.nodes.map(({ target, failureSummary }) => [target.flat().join(" "), failureSummary]),
})))"""


@pytest.fixture(scope="module")
def axe() -> str:
    if not AXE.is_file():
        pytest.skip("no axe-core: npm ci --prefix wasm")
    return AXE.read_text()


def violations(page: Any) -> list[dict[str, Any]]:
    return [found for found in page.evaluate(RUN) if found["impact"] in SERIOUS]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nobody_is_kept_out(
    scheme: str, axe: str, cuda: ks.Trace, reports: Callable[..., Path], open_timeline: Callable[..., Any]
) -> None:
    event = cuda.events.select("id", "name").rows()[0][0]
    timeline = open_timeline(reports(cuda), scheme, f"#event={event}")
    page = timeline.page
    page.evaluate(axe)
    assert violations(page) == [], "with the details of an event"
    timeline.focus().press("r")
    page.locator(".ks-range").get_by_text("time by kind").wait_for()
    assert violations(page) == [], "with a range summed up"
    for key, name in (("?", "Keys"), ("n", "Notes"), ("Control+Shift+P", "Commands")):
        timeline.focus().press(key)
        page.get_by_role("dialog", name=name).wait_for()
        assert violations(page) == [], f"with {name}"
        page.keyboard.press("Escape")
    page.get_by_role("button", name="Save a copy of the range").click()
    assert violations(page) == [], "with what to save"
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Trace health").click()
    assert violations(page) == [], "with the trace's health"
    page.keyboard.press("Escape")
    timeline.focus().press("e")
    page.locator(".ks-flame-crumbs", has_text="in all").wait_for()
    page.keyboard.press("ArrowDown")
    assert violations(page) == [], "with the flame graph"
    page.keyboard.press("e")
    timeline.search("gemm")
    page.locator(".ks-filter input").fill("nothing is called so")
    assert violations(page) == [], "with a search and a filter"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nobody_is_kept_out_of_the_empty_page(scheme: Any, axe: str, strict: Any, tmp_path: Path) -> None:
    path = tmp_path / "empty.html"
    path.write_text(viewer_page(), encoding="utf-8")
    page = strict.page(scheme)
    page.goto(path.as_uri())
    page.locator(".ks-drop label").wait_for()
    page.evaluate(axe)
    assert violations(page) == []


def test_nobody_is_kept_out_of_what_scrolls(axe: str, data: Path, strict: Any, tmp_path: Path) -> None:
    trace = ks.read(data / "nccl_cuda/kineto_trace_0.json.gz")
    page = strict.page()
    page.goto(write_report([(rank, trace) for rank in range(20)], tmp_path / "many.html", "20 traces").as_uri())
    around = page.locator("#time .ks-scroll")
    assert around.evaluate("one => one.scrollHeight > one.clientHeight"), "else this asks nothing"
    page.evaluate(axe)
    assert violations(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nobody_is_kept_out_of_a_job(
    scheme: str, axe: str, data: Path, open_timeline: Callable[..., Any], tmp_path: Path
) -> None:
    timeline = open_timeline(ks.read_dir(data / "mlp_gloo").report(tmp_path / "job.html"), scheme)
    timeline.page.evaluate(axe)
    timeline.focus().press("k")
    timeline.page.get_by_text("by rank", exact=True).wait_for()
    assert violations(timeline.page) == []


def test_every_control_is_reached_by_the_tab_key(
    cuda: ks.Trace, reports: Callable[..., Path], open_timeline: Callable[..., Any]
) -> None:
    timeline = open_timeline(reports(cuda))
    page = timeline.page
    page.get_by_role("button", name="Pin stream 7").focus()
    timeline.focus().press("n", "Escape")
    page.locator(".ks-search input").focus()
    wanted = set(page.locator(".ks-toolbar button").evaluate_all("all => all.map(b => b.title || b.innerText)"))
    seen, outlined = set(), set()
    for _ in range(60):
        page.keyboard.press("Tab")
        found = page.evaluate(
            """() => {
                const active = document.querySelector("#ks-timeline > div").shadowRoot.activeElement;
                if (!active) return null;
                const { outlineStyle, borderColor } = getComputedStyle(active);
                const around = getComputedStyle(active.parentElement).borderColor;
                return [active.title || active.getAttribute("aria-label") || active.innerText,
                    outlineStyle !== "none" || active.matches(".ks-stage") || around !== borderColor];
            }"""
        )
        if found is None:
            break
        seen.add(found[0])
        if found[1]:
            outlined.add(found[0])
    assert wanted <= seen
    assert any("stream" in name or "Device" in name or "thread" in name or "rocess" in name for name in seen)
    assert seen == outlined, "what has the focus can be seen to have it"
