"""Compares files of a wheel with those of the repository: licences, and the bill of materials.

Checks that the extension of JupyterLab is whole.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WHOLE = {
    "licenses/LICENSE": "LICENSE",
    "licenses/THIRD_PARTY_NOTICES.txt": "py/THIRD_PARTY_NOTICES.txt",
    "sboms/kinetoscope.cdx.json": "py/kinetoscope.cdx.json",
}
"""Files in the folder `.dist-info` of a wheel, and the files of the repository that they equal."""


EXTENSION = "/data/share/jupyter/labextensions/kinetoscope/"
"""Where pip takes the extension from, in the folder `.data` of a wheel."""


def extension_faults(archive: zipfile.ZipFile) -> list[str]:
    """Files that the extension of JupyterLab lacks."""
    names = {name.partition(EXTENSION)[2]: name for name in archive.namelist() if EXTENSION in name}
    if "package.json" not in names:
        return [f"expected package.json in {EXTENSION}, found none: build the front-end with make wasm"]
    facts = json.loads(archive.read(names["package.json"]))
    needed = (facts["jupyterlab"]["_build"]["load"], "static/view.html", "install.json")
    return [f"expected {name} in {EXTENSION}, found none" for name in needed if name not in names]


def content_faults(wheel: Path) -> list[str]:
    """Files that a wheel lacks, or that differ: a checkout on Windows may have a link as a text."""
    with zipfile.ZipFile(wheel) as archive:
        inside = {name.partition(".dist-info/")[2]: name for name in archive.namelist() if ".dist-info/" in name}
        found = {name: archive.read(inside[name]) for name in WHOLE if name in inside}
        lab = extension_faults(archive)
    lacking = [f"expected {name} in .dist-info, found none" for name in WHOLE if name not in found] + lab
    return [f"{wheel.name}: {fault}" for fault in lacking] + [
        f"{wheel.name}: expected {name} to equal {WHOLE[name]}, found another content"
        for name, content in found.items()
        if content != (ROOT / WHOLE[name]).read_bytes()
    ]
