"""Times frames of the timeline in headless Chromium, which draws in software."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import kinetoscope as ks
from case import Measured, Skipped, short
from inputs import crowd
from playwright.sync_api import Page, sync_playwright
from web import browser_path

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NUM_TIMES = 3
SECONDS = 4
LATE = 0.95
# A canvas may be drawn after the script. Reading a pixel waits for it, so its time counts.
DRAWN = """(() => {
    const ask = requestAnimationFrame.bind(window);
    window.requestAnimationFrame = step => ask(now => {
        step(now);
        const root = document.querySelector("#ks-timeline > div")?.shadowRoot;
        for (const canvas of root?.querySelectorAll("canvas") ?? []) canvas.getContext("2d").getImageData(0, 0, 1, 1);
    });
})()"""
# Chromium's names of events that run scripts, or clean up after them.
WORK = {"EventDispatch", "FireAnimationFrame", "FunctionCall", "RunMicrotasks", "TimerFire", "MinorGC", "MajorGC"}

Hands = Callable[[Page], None]


def measure() -> list[Measured]:
    """A million events: zooming and panning with the wheel, with keys, and scrolling the tracks."""
    source = crowd()
    report = ks.read(source.path).report(source.path.with_suffix(".html"))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path(), args=["--no-sandbox", "--disable-gpu"])
        late = {name: [_late(browser, report, hands) for _ in range(NUM_TIMES)] for name, hands in HANDS.items()}
        host = f"Chromium {browser.version}"
        browser.close()
    each = ", ".join(f"{name} {short(statistics.median(values))} ms" for name, values in late.items())
    worst = [max(values) for values in zip(*late.values(), strict=True)]
    return [Measured(f"{source.name}, {host}: {each}", worst, f"{short(statistics.median(worst))} ms", "—")]


def _late(browser: Browser, report: Path, hands: Hands) -> float:
    """The milliseconds in which 95 of 100 frames are done."""
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.add_init_script(DRAWN)
    page.goto(report.as_uri())
    page.locator(".ks-tracks[data-cost]").wait_for(timeout=60_000)
    page.locator(".ks-stage").focus()
    page.wait_for_timeout(500)
    browser.start_tracing(page=page, categories=["devtools.timeline", "v8"])
    hands(page)
    costs = sorted(_costs(json.loads(browser.stop_tracing())["traceEvents"]))
    page.close()
    if len(costs) < SECONDS * 10:
        raise Skipped(f"only {len(costs)} frames in {SECONDS} s")
    return costs[int(LATE * len(costs))]


def _costs(events: list[dict[str, Any]]) -> Iterator[float]:
    """Yields the processor time of the page's thread per frame, in milliseconds."""
    frames = [event for event in events if event["name"] == "FireAnimationFrame"]
    thread = statistics.mode((event["pid"], event["tid"]) for event in frames)
    own = [event for event in events if (event["pid"], event["tid"]) == thread and "tts" in event]
    spans = sorted((event["tts"], event["tts"] + event.get("tdur", 0)) for event in own if event["name"] in WORK)
    starts = sorted(event["tts"] for event in own if event["name"] == "FireAnimationFrame")
    for start, end in pairwise(starts):
        yield _covered([span for span in spans if start <= span[0] < end]) / 1000


def _covered(spans: list[tuple[float, float]]) -> float:
    """Total time of spans that are sorted by start."""
    total, until = 0.0, 0.0
    for start, end in spans:
        total += max(0.0, end - max(start, until))
        until = max(until, end)
    return total


def _wheel(page: Page) -> None:
    """Zooms in, across and out again at the pointer, a notch at a time."""
    page.mouse.move(800, 600)
    page.keyboard.down("Control")
    for notch in range(SECONDS * 30):
        page.mouse.wheel(0, -60 if notch < SECONDS * 15 else 60)
        page.wait_for_timeout(16)
    page.keyboard.up("Control")


def _keys(page: Page) -> None:
    """Glides in, to and fro, and out."""
    page.mouse.move(800, 600)
    for key, ms in (("w", 1200), ("d", 900), ("a", 900), ("s", 1000)):
        page.keyboard.down(key)
        page.wait_for_timeout(ms)
        page.keyboard.up(key)


def _scroll(page: Page) -> None:
    """All tracks, up and down, at three zooms."""
    page.mouse.move(800, 600)
    for turn in range(SECONDS * 30):
        page.mouse.wheel(0, 90 if turn // 20 % 2 == 0 else -90)
        page.wait_for_timeout(16)
        if turn % 40 == 39:  # noqa: PLR2004 - once each way
            page.keyboard.press("w")


HANDS: dict[str, Hands] = {"wheel": _wheel, "keys": _keys, "scroll": _scroll}
