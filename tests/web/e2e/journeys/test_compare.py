"""Someone compares two runs: what got faster, by how much, and where that is to be seen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import kinetoscope as ks
import pytest

pytestmark = pytest.mark.browser

CONTROL = "facebookresearch__HolisticTraceAnalysis/tests/data/trace_compare/{0}/{0}.json.gz"


class Pair(NamedTuple):
    before: ks.Trace
    after: ks.Trace


@pytest.fixture
def pair(request: pytest.FixtureRequest, trained: Any) -> Pair:
    """Two runs of one program."""
    if request.param == "training":
        return Pair(*(ks.read(folder / "kineto_trace_0.json.gz") for folder in trained))
    shared: Path = request.getfixturevalue("shared")
    paths = [shared / CONTROL.format(name) for name in ("base", "test")]
    if not all(path.is_file() for path in paths):
        pytest.skip("no two runs to compare in the folder of real traces")
    return Pair(*(ks.read(path) for path in paths))


@pytest.mark.parametrize("pair", ["training", pytest.param("hta", marks=pytest.mark.shared)], indirect=True)
def test_what_changed_is_said_and_shown(
    pair: Pair, visit: Callable[[Path], Any], snap: Callable[[Any, str], None], tmp_path: Path
) -> None:
    found = ks.diff(*pair)
    timeline = visit(found.report(tmp_path / "differences.html"))
    page, name = timeline.page, pair.after.title
    snap(timeline, f"compare-{name}-top")
    assert page.locator("#timeline .ks-group .ks-name").all_inner_texts()[0].startswith("before")
    step = page.locator("#changes tbody tr").first.inner_text()
    assert step.startswith("step")
    before, after = found.select("before_ns", "after_ns").rows()[0]
    word = "faster" if after < before else "slower"
    headline = page.locator(".ks-headline").inner_text()
    assert f"× {word}:" in headline or "takes as long as before" in headline
    page.locator("#ks-timeline").evaluate("place => place.scrollIntoView()")
    timeline.settle()
    snap(timeline, f"compare-{name}-timeline")
    rows = found.tables["diff_kernels"].select("name", "change_ns").rows()
    largest = str(max(rows, key=lambda row: abs(float(str(row[1] or 0))))[0])
    assert page.locator("#kernels tbody tr").first.locator("td").first.inner_text()[:12] in largest
    fits = "boxes => boxes.every(box => box.scrollWidth <= box.clientWidth)"
    assert page.locator(".ks-scroll").evaluate_all(fits), "numbers are seen beside names of any length"
    page.locator("#kernels").scroll_into_view_if_needed()
    snap(timeline, f"compare-{name}-kernels")
    with page.expect_download() as saved:
        page.locator("#kernels").get_by_role("button", name="CSV").click()
    lines = saved.value.path().read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(rows) + 1, "all rows, not those of the page alone"
    links = [page.get_by_role("link", name=side, exact=True) for side in ("before", "after")]
    both = page.locator("#kernels tbody tr").filter(has=links[0]).filter(has=links[1]).first
    both.get_by_role("link", name="before").click()
    counterpart = page.locator(".ks-chain div", has_text="after").get_by_role("button")
    own = timeline.settle().details()["name"]
    counterpart.click()
    assert timeline.settle().details()["name"] == own
    assert page.locator(".ks-chain div", has_text="before").get_by_role("button").count() == 1
