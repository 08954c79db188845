"""The report as the README shows it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.browser


def test_the_picture_of_a_report(
    reported: Callable[[str], Any], strict: Any, timeline_on: Any, shot: Callable[[Any, str], None]
) -> None:
    page = strict.page("dark", width=1400, height=1000)
    page.goto(reported("training")[1].as_uri())
    timeline_on(page).wait().settle()
    for words in ("Device time", "Iterations", "Findings"):
        assert page.get_by_role("heading", name=words).first.is_visible()
    assert page.locator(".ks-findings li").count() == 3
    shot(page, "readme-report-dark")
