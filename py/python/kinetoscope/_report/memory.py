"""The page of a memory snapshot: tables, pictures, and the file for scripts that search."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

from kinetoscope import _native
from kinetoscope._io.atomic import write_bytes
from kinetoscope._report.page import embedded, page_of, static_page
from kinetoscope._report.size_limit import expect_size, num_bytes

_GZIP = b"\x1f\x8b"


def write_memory_report(
    native: _native.Tables,
    file: Path | None,
    path: str | os.PathLike[str],
    title: str,
    max_size: int | str | None = None,
) -> Path:
    """Writes the page. It has no scripts without `file`, or if they would exceed `max_size`."""
    body = native.memory_page(title)
    if file is not None:
        page = page_of(title, body, embedded("ks-memory", _packed(file))).encode("utf-8", "replace")
        if max_size is None or len(page) <= num_bytes(max_size):
            return write_bytes(path, page)
    return write_bytes(path, expect_size(static_page(title, body), max_size))


def _packed(file: Path) -> bytes:
    content = file.read_bytes()
    return content if content.startswith(_GZIP) else gzip.compress(content, 6, mtime=0)
