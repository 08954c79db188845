"""Traces written for viewers: the file of a rank with something added."""

from __future__ import annotations

import gzip
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinetoscope._io.atomic import written_whole

if TYPE_CHECKING:
    from kinetoscope.hta.common.trace import Trace


def document_of(traces: Trace, rank: int) -> dict[str, Any]:
    """The file of a rank as Chrome's JSON, whatever it was read from; an event's label is its place in it."""
    with tempfile.TemporaryDirectory() as folder:
        path = traces.recorded(rank).to_chrome(Path(folder, "trace.json"))
        return json.loads(path.read_bytes())


def write_document(document: dict[str, Any], path: Path) -> str:
    """Writes it, compressed where the name ends in `.gz`; returns the path."""
    path = path.expanduser()
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(document).encode()
    with written_whole(path) as temporary:
        temporary.write_bytes(gzip.compress(text, mtime=0) if path.suffix == ".gz" else text)
    return str(path)


def name_of(traces: Trace, rank: int) -> str:
    """The name of a rank's file, ended as JSON's are."""
    name = Path(traces.trace_files[rank]).name
    return name if name.endswith((".json", ".gz")) else f"{name}.json"
