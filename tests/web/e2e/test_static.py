"""Several traces in the output of a cell, alive without a kernel: a job, two sides that are compared, a widget's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest

pytestmark = pytest.mark.browser


@pytest.fixture
def framed(tmp_path: Path, browser: Any) -> Any:
    """Shows what a cell shows, and gives the frame in it."""
    page = browser.new_page(viewport={"width": 1280, "height": 900}, offline=True)

    def show(output: Any) -> Any:
        path = tmp_path / "notebook.html"
        path.write_text(f"<!doctype html><meta charset=utf-8><body>{output._repr_html_()}", encoding="utf-8")
        page.goto(path.as_uri())
        frame = page.frame_locator("iframe[srcdoc]")
        frame.locator(".ks-tracks[data-cost]").wait_for()
        return frame

    yield show
    page.close()


def groups(frame: Any) -> str:
    return " ".join(frame.locator(".ks-group .ks-name").all_inner_texts())


def test_a_job_in_a_frame(data: Path, framed: Any, shot: Callable[[Any, str], None]) -> None:
    job = ks.read_dir(data / "mlp_gloo")
    frame = framed(job.render_static())
    assert all(f"rank {rank}" in groups(frame).lower() for rank in job.ranks)
    assert "Stragglers" in frame.locator("main").inner_text()
    shot(frame.locator("main").page, "static-job")


def test_two_sides_in_a_frame(data: Path, framed: Any, shot: Callable[[Any, str], None]) -> None:
    before, after = (ks.read(data / f"mlp_gloo/kineto_trace_{rank}.json.gz") for rank in (0, 1))
    found = ks.diff(before, after)
    frame = framed(found.render_static())
    assert {"before", "after"} <= {text.split(" · ")[0] for text in groups(frame).split()}
    assert frame.locator("#changes tbody tr").count() > 3
    shot(frame.locator("main").page, "static-diff")


def test_the_widget_of_several_in_a_frame(data: Path, framed: Any) -> None:
    widget = ks.read_dir(data / "mlp_gloo").timeline()
    assert "rank 1" in groups(framed(widget.render_static())).lower()
    widget.close()


def test_a_frame_has_the_theme_of_its_host(cuda: ks.Trace, tmp_path: Path, browser: Any) -> None:
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html><body data-jp-theme-light=false>{cuda.render_static()._repr_html_()}")
    page = browser.new_context(color_scheme="null").new_page()
    page.goto(path.as_uri())
    frame = page.frame_locator("iframe")
    frame.locator(".ks-root[data-theme=dark]").wait_for()
    page.evaluate("document.body.dataset.jpThemeLight = 'true'")
    frame.locator(".ks-root[data-theme=light]").wait_for()
    page.evaluate("document.body.dataset.jpThemeLight = 'false'")
    frame.locator(".ks-root[data-theme=dark]").wait_for()
    page.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_without_scripts_promises_no_timeline(
    scheme: Any, cuda: ks.Trace, tmp_path: Path, strict: Any, shot: Callable[[Any, str], None]
) -> None:
    page = strict.page(scheme)
    page.goto(cuda.report(tmp_path / "static.html", static=True).as_uri())
    assert page.locator("svg.ks-picture path").count() > 0
    for link in page.locator("main a:visible").all():
        address = str(link.get_attribute("href")).removeprefix("#")
        is_text = link.evaluate("link => getComputedStyle(link).pointerEvents") == "none"
        assert is_text or page.locator(f'[id="{address}"]').is_visible(), "every link leads somewhere"
    shot(page, f"static-{scheme}")
