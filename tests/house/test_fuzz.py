"""The fuzz targets are complete: nothing here compiles them, as that takes minutes and a nightly compiler."""

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


def test_limits_name_every_field() -> None:
    """A new field of `Limits` breaks the constant of the targets, which nothing else would notice."""
    body = re.search(r"pub struct Limits \{(.*?)\n\}", tree.text("core/src/read/input.rs"), re.DOTALL)
    assert body is not None
    fields = re.findall(r"pub (\w+):", body[1])
    constant = re.search(r"const LIMITS: Limits =\s*Limits \{(.*?)\}", tree.text("core/fuzz/src/lib.rs"), re.DOTALL)
    assert constant is not None
    assert sorted(re.findall(r"(\w+):", constant[1])) == sorted(fields)
