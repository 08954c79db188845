"""How much memory reading a long trace takes."""

from __future__ import annotations

from case import Measured
from fresh import read_once
from inputs import Input, long, long_gzip


def measure() -> list[Measured]:
    """The peak of a fresh process, from JSON and from gzip, beside the size of the JSON."""
    size = long().path.stat().st_size
    return [_measured(source, size) for source in (long(), long_gzip())]


def _measured(source: Input, size: int) -> Measured:
    read = read_once("kinetoscope", source.path)
    subject = f"{source.name}, {source.path.stat().st_size / 1e6:.0f} MB"
    ours = f"{read.peak_bytes / 1e6:.0f} MB, {read.start_bytes / 1e6:.0f} MB of them before reading"
    return Measured(subject, [read.peak_bytes / size], ours, f"{size / 1e6:.0f} MB of JSON")
