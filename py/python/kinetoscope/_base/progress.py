"""Progress bars in a terminal, or below a notebook cell."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from kinetoscope._base import text

_SHOWN_AFTER_S = 0.5  # shorter work shows no bar

Update = Callable[[int, int], None]
"""Takes the number of bytes read and of items done."""


@contextmanager
def bar(title: str, num_bytes: int, num_items: int, *, wanted: bool | None) -> Generator[Update | None]:
    """Shows a progress bar for `num_bytes` and `num_items`, and removes it at the end.

    `wanted=None` shows it in a notebook, or if standard error is a terminal. Yields None if no bar
    is shown.
    """
    title = text.printable(title)
    notebook = _notebook()
    if wanted is False or (wanted is None and notebook is None and not sys.stderr.isatty()):
        yield None
    elif notebook is not None:
        with _notebook_bar(notebook, title, num_bytes, num_items) as update:
            yield update
    else:
        with _terminal_bar(title, num_bytes, num_items) as update:
            yield update


@contextmanager
def _terminal_bar(title: str, num_bytes: int, num_items: int) -> Generator[Update]:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(title, total=num_bytes or None)

        def update(bytes_done: int, items_done: int) -> None:
            progress.update(task, completed=bytes_done, description=f"{title}: {items_done} of {num_items}")

        yield update


@contextmanager
def _notebook_bar(display: Any, title: str, num_bytes: int, num_items: int) -> Generator[Update]:
    start = time.monotonic()
    handle: Any = None

    def update(bytes_done: int, items_done: int) -> None:
        nonlocal handle
        label = f"{title}: {items_done} of {num_items}"
        share = min(1, bytes_done / num_bytes) if num_bytes else items_done / max(1, num_items)
        page = f"<progress max='1' value='{share:.3f}'></progress> {text.escaped(label)}"
        bundle = {"text/html": page, "text/plain": f"{label}, {share:.0%}"}
        if handle is not None:
            handle.update(bundle, raw=True)
        elif time.monotonic() - start > _SHOWN_AFTER_S:
            handle = display(bundle, raw=True, display_id=True)

    try:
        yield update
    finally:
        if handle is not None:
            handle.update({"text/html": "", "text/plain": ""}, raw=True)


def _notebook() -> Any:
    """Returns IPython's `display` in a notebook, and None elsewhere."""
    ipython = sys.modules.get("IPython")  # a notebook has imported it already
    shell = ipython.get_ipython() if ipython else None
    if shell is None or not hasattr(shell, "kernel"):
        return None
    from IPython.display import display

    return display
