"""Executes notebooks, and writes them as Markdown with their outputs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
from html_blocks import block
from nbclient import NotebookClient

_OUTPUTS = ("text/html", "image/svg+xml", "image/png", "text/markdown", "text/plain")
"""Forms of an output, the preferred one first. A widget needs a kernel, its picture does not."""
_TIMEOUT_S = 300


def executed(path: Path) -> str:
    """Runs a notebook in its folder. Returns Markdown with the outputs.

    Raises CellExecutionError if a cell fails.
    """
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=_TIMEOUT_S, resources={"metadata": {"path": path.parent}}).execute()
    return "\n\n".join(_cell(cell) for cell in notebook.cells)


def _cell(cell: Any) -> str:
    if cell.cell_type == "markdown":
        return cell.source
    code = f"```python\n{cell.source}\n```"
    return "\n\n".join([code, *filter(None, map(_output, cell.outputs))])


def _output(output: Any) -> str:
    if output.output_type == "stream":
        return _text(output.text) if output.name == "stdout" else ""
    if output.output_type == "error":
        return _text("\n".join(output.traceback))
    data = output.get("data", {})
    form = next((form for form in _OUTPUTS if form in data), None)
    if form is None:
        return ""
    if form == "text/plain":
        return _text(data[form])
    return block(
        f'<img alt="" src="data:image/png;base64,{data[form].strip()}">' if form == "image/png" else data[form]
    )


def _text(content: str) -> str:
    escaped = re.sub(r"\x1b\[[0-9;]*m", "", content).rstrip("\n")
    return f"```text\n{escaped}\n```" if escaped else ""
