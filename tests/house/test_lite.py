"""The notebook in a page: Pyodide's list of packages, and the linker in place of Emscripten's."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import subprocess
import sys
import zipfile
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import lite
import pytest
from rules import tree

pytestmark = pytest.mark.unit

METADATA = "Metadata-Version: 2.4\nName: A_b.c\nVersion: 1.2\n\nText\n"


@pytest.fixture(scope="module")
def emcc() -> ModuleType:
    loader = SourceFileLoader("emcc", str(tree.ROOT / "scripts/emscripten/emcc"))
    spec = importlib.util.spec_from_loader("emcc", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_all_that_a_package_needs_is_taken() -> None:
    packages = {
        "A": {"depends": ["B.c"]},
        "b-c": {"depends": ["a", "d"]},
        "d": {"depends": []},
        "e": {"depends": []},
    }
    assert list(lite.with_dependencies(packages, ["a"])) == ["a", "b-c", "d"]


def test_a_wheel_is_described(tmp_path: Path) -> None:
    path = tmp_path / "A_b.c-1.2-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for name in ["a/__init__.py", "a/b.py", "c.py", "d.data/e.py", "f/g.json"]:
            wheel.writestr(name, "")
        wheel.writestr("A_b.c-1.2.dist-info/METADATA", METADATA)
    entry = lite.described(path, {"a-b-c": ["D_e"]})
    assert entry["name"] == "a-b-c"
    assert entry["version"] == "1.2"
    assert entry["imports"] == ["a", "c"]
    assert entry["depends"] == ["d-e"]
    assert entry["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()


def test_what_the_notebook_opens_is_in_the_page() -> None:
    cells = json.loads((tree.ROOT / "docs/lite/try.ipynb").read_text())["cells"]
    source = "".join(line for cell in cells for line in cell["source"])
    names = [name for name in lite.CONTENTS if not name.endswith(".ipynb")]
    assert names
    assert all(f'"{name}"' in source for name in names)
    assert all(path.is_file() for path in lite.CONTENTS.values())


def test_the_linker_gets_inputs_and_exports(emcc: ModuleType, tmp_path: Path) -> None:
    exports = tmp_path / "exports"
    exports.write_text('["_PyInit__native"]')
    arguments = ["-sSIDE_MODULE=2", "-O3", "a.o", "-l", "c", "-Wl,-Bstatic", "b.rlib", "-o", "c.wasm"]
    assert emcc.inputs([*arguments, "-s", f"EXPORTED_FUNCTIONS=@{exports}", "-s", "WASM=1"]) == [
        *("a.o", "b.rlib", "-o", "c.wasm", "--export=PyInit__native"),
    ]


def test_the_linker_tells_its_version() -> None:
    command = [sys.executable, tree.ROOT / "scripts/emscripten/emcc", "--version"]
    assert subprocess.check_output(command, text=True).strip().count(".") == 2
