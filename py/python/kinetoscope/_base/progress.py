"""How far long work is, where someone is watching: in a terminal, or under a notebook's cell."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from kinetoscope._base import text

_SHOWN_AFTER_S = 0.5  # shorter work needs no bar

Look = Callable[[int, int], None]
"""Takes the bytes read and the items done."""


@contextmanager
def bar(title: str, num_bytes: int, num_items: int, *, wanted: bool | None) -> Generator[Look | None]:
    """Shows a bar for work on this many bytes and items, and takes it away at the end.

    `wanted` says whether: None where the standard error is a terminal, or in a notebook.
    """
    notebook = _notebook()
    if wanted is False or (wanted is None and notebook is None and not sys.stderr.isatty()):
        yield None
    elif notebook is not None:
        with _notebook_bar(notebook, title, num_bytes, num_items) as look:
            yield look
    else:
        with _terminal_bar(title, num_bytes, num_items) as look:
            yield look


@contextmanager
def _terminal_bar(title: str, num_bytes: int, num_items: int) -> Generator[Look]:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(title, total=num_bytes or None)

        def look(bytes_done: int, items_done: int) -> None:
            progress.update(task, completed=bytes_done, description=f"{title}: {items_done} of {num_items}")

        yield look


@contextmanager
def _notebook_bar(display: Any, title: str, num_bytes: int, num_items: int) -> Generator[Look]:
    start = time.monotonic()
    handle: Any = None

    def look(bytes_done: int, items_done: int) -> None:
        nonlocal handle
        words = f"{title}: {items_done} of {num_items}"
        share = min(1, bytes_done / num_bytes) if num_bytes else items_done / max(1, num_items)
        page = f"<progress max='1' value='{share:.3f}'></progress> {text.escaped(words)}"
        bundle = {"text/html": page, "text/plain": f"{words}, {share:.0%}"}
        if handle is not None:
            handle.update(bundle, raw=True)
        elif time.monotonic() - start > _SHOWN_AFTER_S:
            handle = display(bundle, raw=True, display_id=True)

    try:
        yield look
    finally:
        if handle is not None:
            handle.update({"text/html": "", "text/plain": ""}, raw=True)


def _notebook() -> Any:
    """IPython's `display`, where it leads to a notebook; None elsewhere."""
    ipython = sys.modules.get("IPython")  # not imported: where it is not loaded, there is no notebook
    shell = ipython.get_ipython() if ipython else None
    if shell is None or not hasattr(shell, "kernel"):
        return None
    from IPython.display import display

    return display
