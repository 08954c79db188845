"""Where the time goes, from what criterion measured in core/benches/read.rs just before."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import NamedTuple

from inputs import ROOT, large

_TARGET = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target")


class Share(NamedTuple):
    """A part of the way from gzip to links."""

    name: str
    seconds: float
    how: str


class Parts(NamedTuple):
    """Seconds of each part: the fastest sample of criterion, with the least disturbance."""

    inflate: float
    touch: float
    scan: float
    read_plain: float
    read_gzip: float
    link: float
    snapshot_write: float
    snapshot_load: float

    @property
    def shares(self) -> list[Share]:
        """One after another."""
        return [
            Share("inflate", self.inflate, "alone, piece by piece"),
            Share("read", self.read_plain, "from JSON: recognise or scan events, intern, build columns"),
            Share("link", self.link, "alone"),
        ]


def parts() -> Parts | None:
    """Of the large trace; None where criterion has not measured it."""
    name = large().name.split()[0]
    paths = [_TARGET / "criterion" / name / part / "new/sample.json" for part in Parts._fields]
    return Parts(*map(_quickest, paths)) if all(path.exists() for path in paths) else None


def _quickest(path: Path) -> float:
    sample = json.loads(path.read_text(encoding="utf-8"))
    return min(time / count for time, count in zip(sample["times"], sample["iters"], strict=True)) / 1e9
