"""Many timelines on one page, and what is left of them when they are closed."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import kinetoscope as ks

pytestmark = pytest.mark.browser

COUNT = 10
# Free memory is cut in another way each time, which may take a page of 64 KiB more; thirty traces take megabytes.
FEWER_BYTES_THAN_LEFT_TRACES = 3 << 16


@pytest.fixture(scope="module")
def script(bundled: Callable[[str], Path]) -> Path:
    """What opens and closes timelines."""
    return bundled("many")


class Many:
    """A page with timelines."""

    def __init__(self, page: Any, snapshot: bytes) -> None:
        self.page = page
        self._snapshot = base64.b64encode(snapshot).decode()
        self._session = page.context.new_cdp_session(page)
        self._session.send("Performance.enable")

    def open(self, count: int) -> None:
        for _ in range(count):
            self.page.evaluate("snapshot => many.open(snapshot)", self._snapshot)
        for at in range(count):
            self.page.locator(".ks-tracks[data-cost]").nth(at).wait_for()

    def close(self) -> None:
        self.page.evaluate("many.closeAll()")

    def counts(self) -> dict[str, int]:
        """What the page holds once nobody can reach the rest."""
        self.page.wait_for_timeout(300)
        for _ in range(2):
            self._session.send("HeapProfiler.collectGarbage")
        metrics = self._session.send("Performance.getMetrics")["metrics"]
        held = {metric["name"]: int(metric["value"]) for metric in metrics}
        return {
            "bytes": self.page.evaluate("many.bytes()"),
            **{name: held[name] for name in ("Nodes", "JSEventListeners")},
        }


@pytest.fixture
def many(script: Path, strict: Any, cuda: ks.Trace, tmp_path: Path) -> Many:
    path = tmp_path / "many.html"
    path.write_text("<!doctype html><meta charset=utf-8><title>many</title><body></body>")
    page = strict.page()
    page.goto(path.as_uri())
    page.add_script_tag(content=script.read_text())
    return Many(page, cuda.snapshot())


def test_ten_timelines_live_on_one_page(many: Many) -> None:
    many.open(COUNT)
    page = many.page
    assert page.locator("canvas").count() == 3 * COUNT
    shown = "canvas => new Set(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data).size > 20"
    for at in range(COUNT):
        assert page.locator(".ks-tracks").nth(at).evaluate(shown)
    first, last = (page.locator(".ks-corner").nth(at).inner_text for at in (0, COUNT - 1))
    before = last()
    page.locator(".ks-stage").first.focus()
    page.keyboard.press("w")
    page.wait_for_timeout(600)
    assert first() != before, "a key moves the one that has the focus"
    assert last() == before, "and no other"


def test_nothing_is_left_of_what_is_closed(many: Many) -> None:
    many.open(COUNT)
    page = many.page
    page.locator(".ks-stage").first.focus()
    for key in ("n", "Escape", "?", "Escape", ".", "w"):  # each makes elements and listeners of its own
        page.keyboard.press(key)
    many.close()
    before = many.counts()
    for _ in range(3):
        many.open(COUNT)
        many.close()
    after = many.counts()
    assert after.pop("bytes") - before.pop("bytes") < FEWER_BYTES_THAN_LEFT_TRACES
    assert after == before
    assert page.locator("canvas").count() == 0
