"""A report comes by mail: it is opened from disk, on a machine without a network, and sent on with a note."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    "name",
    [
        "training",
        pytest.param("owlv2", marks=pytest.mark.shared),
        pytest.param("dlrm", marks=pytest.mark.shared),
    ],
)
def test_it_opens_without_a_network_and_is_sent_on(
    name: str, mailed: Callable[[str], Path], visit: Callable[[Path], Any], snap: Callable[[Any, str], None]
) -> None:
    report = mailed(name)
    timeline = visit(report)
    page = timeline.page
    page.context.set_offline(True)
    page.reload()
    timeline.wait()
    snap(timeline, f"mailed-{name}-top")
    page.locator("#ks-timeline").evaluate("place => place.scrollIntoView()")
    timeline.settle()
    assert timeline.ink(timeline.tracks) > 0
    snap(timeline, f"mailed-{name}-timeline")
    timeline.focus().press("n")
    page.keyboard.insert_text("look here")
    page.keyboard.press("Enter")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save a copy").click()
    copy = report.with_name("copy.html")
    download.value.save_as(copy)
    page.goto(copy.as_uri())
    timeline.wait().settle()
    page.get_by_role("button", name="1 note").click()
    assert page.locator(".ks-notes input").input_value() == "look here"


@pytest.fixture
def mailed(reported: Callable[[str], tuple[ks.Trace, Path]], real: Any, tmp_path: Path) -> Callable[[str], Path]:
    """The report alone in a folder, under another name."""

    def send(name: str) -> Path:
        to = tmp_path / "from a colleague.html"
        if name == "dlrm":
            return ks.read_dir(real(name)).report(to)
        shutil.copy(reported(name)[1], to)
        return to

    return send
