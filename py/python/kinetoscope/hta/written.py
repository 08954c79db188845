"""Trace files of ranks, with additions for viewers."""

from __future__ import annotations

import gzip
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinetoscope._io.atomic import atomic_path

if TYPE_CHECKING:
    from kinetoscope.hta.common.trace import Trace


def document_of(traces: Trace, rank: int) -> dict[str, Any]:
    """Returns a rank's trace in Chrome's JSON format.

    The label of an event is its position in `traceEvents`.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = traces.recorded(rank).to_chrome(Path(folder, "trace.json"))
        return json.loads(path.read_bytes())


def write_document(document: dict[str, Any], path: Path) -> str:
    """Writes a trace, compressed if the name ends in `.gz`; returns the path."""
    path = path.expanduser()
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(document).encode()
    with atomic_path(path) as temporary:
        temporary.write_bytes(gzip.compress(text, mtime=0) if path.suffix == ".gz" else text)
    return str(path)


def name_of(traces: Trace, rank: int) -> str:
    """Returns the name of a rank's file with a JSON suffix."""
    name = Path(traces.trace_files[rank]).name
    return name if name.endswith((".json", ".gz")) else f"{name}.json"
