"""How soon a cell shows its picture, from the keys that run it: what the kernel does in between counts."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.browser

TRIES = 8
FIRST_PICTURE_S = 1.0
LARGE = "AMD-AGI__TraceLens/tests/traces/h100/google_owlv2-large-patch14-ensemble__1016001.json.gz"


@pytest.fixture(params=["small", pytest.param("large", marks=pytest.mark.shared)])
def path(request: pytest.FixtureRequest) -> str:
    if request.param == "small":
        return "traces/kineto_trace_0.json.gz"
    found: Path = request.getfixturevalue("shared") / LARGE
    if not found.is_file():
        pytest.skip(f"no {LARGE} in the folder of real traces")
    return str(found)


def test_the_first_picture_comes_soon(opened: Callable[..., Any], path: str, slowness: Callable[[], float]) -> None:
    read = f"import kinetoscope as ks\nimport kinetoscope._notebook.widget\ntrace = ks.read({path!r})"
    notebook = opened(f"soon{len(path)}", [read, *["trace.timeline()"] * TRIES])
    notebook.run(0)
    page = notebook.page
    taken: list[float] = []
    for at in range(1, 1 + TRIES):  # other work on the machine can only make it later, so the best is the truth
        page.locator(".jp-CodeCell").nth(at).locator(".jp-InputArea-prompt").click()
        share = 1 / slowness()
        start = time.perf_counter()
        page.keyboard.press("Shift+Enter")
        page.locator(".ks-tracks[data-cost]").nth(at - 1).wait_for()
        taken.append(share * (time.perf_counter() - start))
        if taken[-1] < FIRST_PICTURE_S:
            break
        page.wait_for_timeout(500)
    assert min(taken) < FIRST_PICTURE_S, taken
