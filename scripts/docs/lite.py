"""Builds the notebooks that run in a page: JupyterLite, with Kinetoscope's wheel for Pyodide.

usage: scripts/docs/lite.py WHEEL OUTPUT

Everything that the page loads lies in OUTPUT: it asks no other host.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable
from email.parser import HeaderParser
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PYODIDE = ROOT / "wasm/node_modules/pyodide"
PYODIDE_FILES = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
CONTENTS = {
    "try.ipynb": ROOT / "docs/lite/try.ipynb",
    # JupyterLite takes each file with "json" in its extension for text.
    "transformer.gz": ROOT / "tests/data/transformer_cuda/kineto_trace_0.json.gz",
}

KERNEL = ("micropip", "ipython", "jedi", "packaging", "rich", "typing-extensions")
"""Packages that Pyodide lists, needed by its kernel and by Kinetoscope."""

WIDGETS = {
    "anywidget": ["ipywidgets", "psygnal", "typing-extensions"],
    "comm": ["traitlets"],
    "ipywidgets": ["comm", "ipython", "jupyterlab-widgets", "traitlets"],
    "jupyterlab-widgets": [],
    "psygnal": [],
}
"""Packages that Pyodide does not list, with those that they import. Versions are as in .venv."""

Package = dict[str, Any]
"""An entry of Pyodide's list of packages."""


def main(wheel: Path, output: Path) -> None:
    """Writes the notebooks into a folder."""
    with tempfile.TemporaryDirectory() as folder:
        lite = Path(folder)
        _copy_files(lite / "files", CONTENTS)
        pyodide = lite / "static/pyodide"
        _copy_files(pyodide, {name: PYODIDE / name for name in PYODIDE_FILES})
        _write_packages(pyodide, wheel)
        _write_settings(lite)
        command = [Path(sys.executable).with_name("jupyter"), "lite", "build", "--apps", "notebooks", "--apps", "lab"]
        command += ["--lite-dir", lite, "--output-dir", output, "--no-sourcemaps", "--no-unused-shared-packages"]
        subprocess.run(command, check=True, cwd=lite)  # noqa: S603 - our own arguments


def _copy_files(folder: Path, files: dict[str, Path]) -> None:
    folder.mkdir(parents=True)
    for name, path in files.items():
        shutil.copy(path, folder / name)


def _write_settings(folder: Path) -> None:
    """Writes settings of JupyterLite: its kernel installs nothing from elsewhere."""
    kernel = {"disablePyPIFallback": True, "loadPyodideOptions": {"packages": ["micropip"]}}
    settings = {"litePluginSettings": {"@jupyterlite/pyodide-kernel-extension:kernel": kernel}}
    data = {"jupyter-lite-schema-version": 0, "jupyter-config-data": settings}
    (folder / "jupyter-lite.json").write_text(json.dumps(data), encoding="utf-8")


def _write_packages(folder: Path, wheel: Path) -> None:
    """Fetches wheels into a folder, and writes Pyodide's list with just these."""
    listed = json.loads((PYODIDE / "pyodide-lock.json").read_text(encoding="utf-8"))
    known = with_dependencies(listed["packages"], KERNEL)
    wanted = [f"{name}=={package['version']}" for name, package in known.items()]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--platform=any"]
    command += ["--python-version=3.14", "--dest", str(folder)]
    wanted += [f"{name}=={version(name)}" for name in WIDGETS]
    subprocess.run([*command, *wanted], check=True)  # noqa: S603 - as above
    shutil.copy(wheel, folder)
    depends = {name: package["depends"] for name, package in known.items()} | WIDGETS
    depends["kinetoscope"] = ["anywidget", "rich"]
    entries = [described(path, depends) for path in sorted(folder.glob("*.whl"))]
    content = {**listed, "packages": {entry["name"]: entry for entry in entries}}
    (folder / "pyodide-lock.json").write_text(json.dumps(content), encoding="utf-8")


def with_dependencies(packages: dict[str, Package], names: Iterable[str]) -> dict[str, Package]:
    """Returns the packages of these names, and all that they depend on."""
    by_name = {_normalized(name): package for name, package in packages.items()}
    found: dict[str, Package] = {}
    waiting = list(names)
    while waiting:
        name = _normalized(waiting.pop())
        if name not in found:
            found[name] = by_name[name]
            waiting += by_name[name]["depends"]
    return dict(sorted(found.items()))


def described(wheel: Path, depends: dict[str, list[str]]) -> Package:
    """Returns the entry of a wheel for Pyodide's list.

    `depends` has the packages that each one imports.
    """
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = next(name for name in names if name.endswith(".dist-info/METADATA"))
        headers = HeaderParser().parsestr(archive.read(metadata).decode())
    name = _normalized(headers["Name"])
    modules = {Path(entry).parts[0].removesuffix(".py") for entry in names if entry.endswith(".py")}
    return {
        "name": name,
        "version": headers["Version"],
        "file_name": wheel.name,
        "install_dir": "site",
        "package_type": "package",
        "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
        "imports": sorted(module for module in modules if module.isidentifier()),
        "depends": [_normalized(other) for other in depends[name]],
        "unvendored_tests": False,
    }


def _normalized(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())
