"""How long a snapshot takes to load beside the JSON it was made of."""

from __future__ import annotations

import tempfile
from pathlib import Path

import kinetoscope as ks
from case import Measured, compared
from inputs import plain, size
from pairs import alternate, timed

NUM_PAIRS = 15


def measure() -> list[Measured]:
    """Both from a file, both on all processors, both linked."""
    source = plain()
    with tempfile.TemporaryDirectory() as folder:
        saved = ks.read(source.path).save(Path(folder) / "large.kscope")
        pairs = alternate(timed(lambda: ks.read(saved)), timed(lambda: ks.read(source.path)), NUM_PAIRS)
        subject = f"{source.name}, {size(saved) / 1e6:.2f} MB for {size(source.path) / 1e6:.1f} MB of JSON"
    return [compared(subject, pairs, pairs.inverse, "ms", "the JSON")]
