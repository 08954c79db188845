"""The notebook about recording, as a reader runs it: it shows results, and nothing in red."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.torch, pytest.mark.alone]

GUIDE = Path(__file__).resolve().parents[4] / "notebooks/profile_training.ipynb"
PATIENCE_S = 120


def code_cells(notebook: Any) -> list[dict[str, Any]]:
    cells: list[dict[str, Any]] = json.loads(notebook.saved())["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def test_profile_training_runs(opened: Callable[..., Any], shot: Callable[[Page, str], None]) -> None:
    pytest.importorskip("torch")
    notebook = opened("guide", GUIDE)
    page = notebook.page
    notebook.run_all()
    cells = code_cells(notebook)
    for _ in range(PATIENCE_S):
        cells = code_cells(notebook)
        if all(cell["execution_count"] for cell in cells):
            break
        page.wait_for_timeout(1000)
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert all(cell["execution_count"] for cell in cells)
    assert [output for output in outputs if output["output_type"] == "error"] == []
    assert [output["text"] for output in outputs if output.get("name") == "stderr"] == []
    html = ["".join(output.get("data", {}).get("text/html", "")) for output in outputs]
    assert sum("ks-card" in each for each in html) >= 2, "the recordings of the first window and of the magics"
    for theme in ("Light", "Dark"):
        notebook.use_theme(f"JupyterLab {theme}")
        for name, text in (
            ("window", "Record a window of a loop"),
            ("demand", "Record on demand"),
            ("magics", "Magics"),
        ):
            page.locator("h2", has_text=text).scroll_into_view_if_needed()
            page.wait_for_timeout(500)
            shot(page, f"guide-{name}-{theme.lower()}")
    notebook.use_theme("JupyterLab Light")  # the server remembers it for other tests
