"""What the Makefile watches is what is compiled."""

from __future__ import annotations

import re
import subprocess
from pathlib import PurePosixPath

import pytest
from rules import tree

pytestmark = pytest.mark.unit


def included(name: str) -> list[str]:
    """The files that a file of Rust is compiled with."""
    paths = re.findall(r'include_(?:str|bytes)!\("([^"]+)"\)', tree.text(name))
    return [str(PurePosixPath(name).parent / path) for path in paths]


def test_a_file_that_is_compiled_in_makes_the_core_be_built_again() -> None:
    rules = subprocess.run(["make", "-pn", "help"], cwd=tree.ROOT, check=True, capture_output=True, text=True).stdout
    (watched,) = [line.split() for line in rules.splitlines() if line.startswith("RUST := ")]
    needed = [path for name in tree.under("core/src", ".rs") for path in (name, *included(name))]
    assert "core/src/edit/harmless.tsv" in needed
    assert sorted({*needed} - {*watched}) == []
