"""The fuzz targets are complete. `tests/rust/fuzzed.rs` compiles and runs the code that they share."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

import pytest
from rules import tree
from support.fuzz_seeds import seeds

pytestmark = pytest.mark.unit

SCRIPT = tree.text("scripts/fuzz.sh")


def declared() -> dict[str, str]:
    """The file of each target in the manifest, by name."""
    return dict(re.findall(r'\[\[bin\]\]\nname = "(\w+)"\npath = "([^"]+)"', tree.text("core/fuzz/Cargo.toml")))


def test_the_manifest_lists_every_file() -> None:
    files = [str(PurePosixPath(name).relative_to("core/fuzz")) for name in tree.under("core/fuzz/targets", ".rs")]
    assert sorted(declared().values()) == sorted(files)
    assert all(path == f"targets/{name}.rs" for name, path in declared().items())


def test_the_script_runs_every_target() -> None:
    (targets,) = re.findall(r"^targets=\(([^)]*)\)$", SCRIPT, re.MULTILINE)
    assert sorted(targets.split()) == sorted(declared())


def test_every_target_has_seeds() -> None:
    inputs = seeds(None)
    assert sorted(inputs) == sorted(declared())
    assert all(inputs.values())
