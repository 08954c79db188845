"""Pages at the widths of phones, laptops and large screens: no text is cut unseen, broken in a word, or overlaps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest

pytestmark = pytest.mark.browser

WIDTHS = (400, 720, 1280, 1920)

# Elements whose own text is wider than they are, and that neither scroll nor show that they are cut.
CLIPPED = """() => {
    const found = [];
    const roots = [document, ...[...document.querySelectorAll('*')].map(one => one.shadowRoot).filter(Boolean)];
    for (const one of roots.flatMap(root => [...root.querySelectorAll('*')])) {
        if (!(one instanceof HTMLElement) || one.closest('script, style, select, .ks-hidden')) continue;
        const text = [...one.childNodes].filter(node => node.nodeType === 3).map(node => node.data).join('').trim();
        const { overflowX, textOverflow, display, clip, clipPath } = getComputedStyle(one);
        const isSeen = display !== 'inline' && one.clientWidth > 1 && clip === 'auto' && clipPath === 'none';
        const isCut = overflowX === 'hidden' || overflowX === 'clip';
        if (text && isSeen && isCut && textOverflow !== 'ellipsis' && one.scrollWidth > one.clientWidth + 1)
            found.push(`${one.className || one.tagName}: ${text.slice(0, 60)}`);
    }
    return found;
}"""

# Words of headings and cells that are broken over lines, but for names, which are long and have breaks of their own.
BROKEN = """() => {
    const found = [];
    const range = document.createRange();
    const cells = [...document.querySelectorAll('th, td:not(.ks-name), .ks-card, .ks-nav a, h2')];
    for (const cell of cells) {
        const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
        for (let node = walker.nextNode(); node; node = walker.nextNode()) {
            if (node.parentElement.closest('svg, small, b.ks-long')) continue;
            for (const { index, 0: word } of node.data.matchAll(/[^\\s/_.:-]+/g)) {
                range.setStart(node, index);
                range.setEnd(node, index + word.length);
                const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
                if (lines.size > 1 && word.length <= 24) found.push(`${cell.tagName} ${cell.className}: ${word}`);
            }
        }
    }
    return found;
}"""

# Labels of a chart that lie on each other, and those that leave it.
OVERLAPPING = """() => {
    const found = [];
    for (const svg of document.querySelectorAll('figure.ks-picture > svg, figure.ks-picture svg')) {
        const frame = svg.getBoundingClientRect();
        if (frame.width === 0) continue;
        const labels = [...svg.querySelectorAll('text')]
            .map(text => [text.textContent, text.getBoundingClientRect()])
            .filter(([text, { width, height }]) => text.trim() && width > 0 && height > 0);
        labels.forEach(([text, a], at) => {
            if (a.left < frame.left - 2 || a.right > frame.right + 2) found.push(`outside: ${text}`);
            for (const [other, b] of labels.slice(at + 1)) {
                const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
                const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
                if (wide > 2 && high > 0.4 * Math.min(a.height, b.height)) found.push(`${text} / ${other}`);
            }
        });
    }
    return found;
}"""

# Things that stand side by side, and may not lie on each other.
COLLIDING = """() => {
    const found = [];
    const roots = [document, ...[...document.querySelectorAll('*')].map(one => one.shadowRoot).filter(Boolean)];
    const which = '.ks-toolbar, .ks-cards, .ks-nav, .ks-row, .ks-head';
    const rows = roots.flatMap(root => [...root.querySelectorAll(which)]);
    for (const row of rows) {
        const boxes = [...row.children].map(one => [one, one.getBoundingClientRect()])
            .filter(([one, { width, height }]) =>
                width > 1 && height > 1 && !['absolute', 'fixed'].includes(getComputedStyle(one).position));
        boxes.forEach(([one, a], at) => {
            for (const [other, b] of boxes.slice(at + 1)) {
                const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
                const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
                if (wide > 2 && high > 2) found.push(`${row.className}: ${one.className} / ${other.className}`);
            }
        });
    }
    return found;
}"""


@pytest.fixture(scope="module")
def pages(data: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("layout")

    def one(name: str) -> ks.Trace:
        return ks.read(data / name / "kineto_trace_0.json.gz")

    trained, served, job = one("transformer_cuda"), one("decode_cuda/serving"), ks.read_dir(data / "mlp_gloo")
    before, after = one("graph_cuda"), one("compiled_cuda")
    hostile = ks.read(next((data / "hostile").glob("*.json*")))
    return {
        "training": trained.report(folder / "training.html"),
        "job": job.report(folder / "job.html"),
        "serving": served.report(folder / "serving.html"),
        "diff": ks.diff(before, after).report(folder / "diff.html"),
        "hostile": hostile.report(folder / "hostile.html"),
    }


@pytest.mark.parametrize("name", ["training", "job", "serving", "diff", "hostile"])
def test_every_text_can_be_read(
    name: str, pages: dict[str, Path], strict: Any, timeline_on: Any, shot: Callable[[Any, str], None]
) -> None:
    page = strict.page(width=WIDTHS[0], height=900)
    page.goto(pages[name].as_uri())
    timeline = timeline_on(page).wait()
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(300)
        timeline.settle()
        shot(page, f"layout-{name}-{width}")
        for what, look in (
            ("clipped", CLIPPED),
            ("broken", BROKEN),
            ("overlapping", OVERLAPPING),
            ("colliding", COLLIDING),
        ):
            found = page.evaluate(look)
            assert found == [], f"{what} at {width} pixels"
        wide = page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, f"the page is wider than its window of {width} pixels"
