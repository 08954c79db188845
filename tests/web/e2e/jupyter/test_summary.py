"""The summary of a trace looks the same in every host, whose style sheets float lists and stripe tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import kinetoscope as ks
import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

FIXTURE = Path(__file__).resolve().parents[3] / "data/synthetic_cuda/kineto_trace_0.json.gz"
VIEWPORT = {"width": 1280, "height": 1100}
TOLERANCE = 3
# The size of each card, and the places of label and value within it.
CARDS = """cards => cards.map(card => {
    const outer = card.getBoundingClientRect();
    const inner = [...card.children].flatMap(child => {
        const range = document.createRange();
        range.selectNodeContents(child);
        const box = range.getBoundingClientRect();
        return [box.x - outer.x, box.y - outer.y, box.width, box.height];
    });
    return [outer.width, outer.height, ...inner];
})"""
ALIGNED = """block => [...block.querySelectorAll("th,td,caption,p")].map(part => getComputedStyle(part).textAlign)"""
# Words that continue in the next line. Names may break between their words.
SPLIT = r"""block => {
    const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
    const split = [];
    for (let node; (node = walker.nextNode()); )
        for (const { 0: word, index } of node.data.matchAll(/[\p{L}\p{N}]+/gu)) {
            const range = document.createRange();
            range.setStart(node, index);
            range.setEnd(node, index + word.length);
            if (new Set([...range.getClientRects()].map(box => box.y)).size > 1) split.push(word);
        }
    return split;
}"""
GROUNDS = "rows => rows.map(row => getComputedStyle(row).backgroundColor)"
CLEAR = "rgba(0, 0, 0, 0)"


def numbers(page: Page) -> list[float]:
    """Sizes of the cards, and of the texts in them."""
    cards: list[list[float]] = page.locator(".ks-card").evaluate_all(CARDS)
    return [number for card in cards for number in card]


@pytest.fixture
def bare(browser: Any) -> list[float]:
    """The cards on a page without other styles."""
    page = browser.new_page(viewport=VIEWPORT)
    page.set_content(f"<!doctype html><body>{ks.read(FIXTURE)._repr_html_()}")
    found = numbers(page)
    page.close()
    return found


def expect_intact(page: Page, bare: list[float]) -> None:
    block = page.locator(".ks")
    page.locator(".ks-picture img").wait_for()
    assert len(bare) == 7 * 10
    assert numbers(page) == pytest.approx(bare, abs=TOLERANCE)
    number_cells = page.locator(".ks .ks-number").count()
    aligned = block.evaluate(ALIGNED)
    assert aligned.count("right") == number_cells > 0
    assert set(aligned) == {"left", "right"}
    assert block.evaluate(SPLIT) == []
    assert set(page.locator(".ks-section tr").evaluate_all(GROUNDS)) == {CLEAR}, "no stripes"
    tops = page.locator(".ks-card").evaluate_all("cards => cards.map(card => card.getBoundingClientRect().y)")
    assert len(set(tops)) <= 2, "cards stand side by side"


def name_color(page: Page) -> int:
    """Brightness of the clearest point among the names in the picture, from 0 to 255."""
    picture = page.locator(".ks-picture img")
    picture.scroll_into_view_if_needed()
    box = picture.bounding_box()
    assert box is not None
    taken = page.screenshot(clip={**box, "width": 100})
    read = """async ([bytes, isDark]) => {
        const image = await createImageBitmap(new Blob([new Uint8Array(bytes)], { type: "image/png" }));
        const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
        context.drawImage(image, 0, 0);
        const { data } = context.getImageData(0, 0, image.width, image.height);
        const reds = [...data].filter((_, index) => index % 4 === 0);
        return [Math.min(...reds), Math.max(...reds)];
    }"""
    dark, light = page.evaluate(read, [list(taken), False])
    return light - dark


@pytest.mark.parametrize("theme", ["Light", pytest.param("Dark", marks=pytest.mark.nightly)])
@pytest.mark.parametrize("module", ["jupyterlab", "notebook"])
def test_the_summary_is_intact(
    opened: Callable[..., Any],
    read_fixture: str,
    bare: list[float],
    shot: Callable[[Page, str], None],
    module: str,
    theme: str,
) -> None:
    notebook = opened(f"summary{module}{theme}", [f"{read_fixture}trace"], module=module)
    page = notebook.page
    page.set_viewport_size(VIEWPORT)
    notebook.run(0)
    page.locator(".ks-picture img").wait_for()
    if theme == "Dark":
        notebook.use_theme(f"JupyterLab {theme}")
    shot(page, f"summary-{module}-{theme.lower()}")
    expect_intact(page, bare)
    assert name_color(page) > 150, "names of tracks stand out from the page"
    notebook.use_theme("JupyterLab Light")  # the server remembers it for other tests


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_summary_is_intact_in_nbconverts_page(
    converted: Callable[..., Path], browser: Any, bare: list[float], shot: Callable[[Page, str], None], theme: str
) -> None:
    page = browser.new_page(viewport=VIEWPORT)
    page.route("http**", lambda route: route.abort())
    page.goto(converted("trace", theme).as_uri())
    shot(page, f"summary-nbconvert-{theme}")
    expect_intact(page, bare)
    assert name_color(page) > 150, "names of tracks stand out from the page"
    page.close()
