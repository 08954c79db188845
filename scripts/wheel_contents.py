"""Compares files of a wheel with those of the repository: licences, and the bill of materials."""

from __future__ import annotations

import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WHOLE = {
    "licenses/LICENSE": "LICENSE",
    "licenses/THIRD_PARTY_NOTICES.txt": "py/THIRD_PARTY_NOTICES.txt",
    "sboms/kinetoscope.cdx.json": "py/kinetoscope.cdx.json",
}
"""Files in the folder `.dist-info` of a wheel, and the files of the repository that they equal."""


def content_faults(wheel: Path) -> list[str]:
    """Files that a wheel lacks, or that differ: a checkout on Windows may have a link as a text."""
    with zipfile.ZipFile(wheel) as archive:
        inside = {name.partition(".dist-info/")[2]: name for name in archive.namelist() if ".dist-info/" in name}
        found = {name: archive.read(inside[name]) for name in WHOLE if name in inside}
    lacking = [f"{wheel.name}: expected {name} in .dist-info, found none" for name in WHOLE if name not in found]
    return lacking + [
        f"{wheel.name}: expected {name} to equal {WHOLE[name]}, found another content"
        for name, content in found.items()
        if content != (ROOT / WHOLE[name]).read_bytes()
    ]
