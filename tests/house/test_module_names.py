"""Modules that benches and tests import by a bare name: no installed package has the same name.

A peer in the environment would otherwise hide ours, or ours the peer.
"""

from __future__ import annotations

from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from rules import tree

pytestmark = pytest.mark.unit

FOLDERS = ("benches", "tests/house", "tests/record", "tests/support", "tests")
PEERS = {"chakra", "et_replay", "hta", "orjson", "polars", "TraceLens", "traceinsight"}
"""Names of peers, which an environment may have or not."""


def clashes(names: set[str], installed: set[str]) -> list[str]:
    """Our modules with the name of a package that is installed, or may be."""
    return sorted(names & (installed | PEERS))


def test_no_module_has_the_name_of_a_package() -> None:
    names = {_module(path) for folder in FOLDERS for path in (tree.ROOT / folder).glob("*") if _is_module(path)}
    found = clashes(names - {"conftest"}, set(packages_distributions()) - {"kinetoscope"})
    assert not found, f"expected names that no package has, found {', '.join(found)}"


@pytest.mark.parametrize(
    ("names", "installed", "found"),
    [({"hta", "case"}, set[str](), ["hta"]), ({"web", "case"}, {"web"}, ["web"]), ({"case"}, {"web"}, list[str]())],
)
def test_a_clash_is_found(names: set[str], installed: set[str], found: list[str]) -> None:
    assert clashes(names, installed) == found


def _is_module(path: Path) -> bool:
    return path.suffix == ".py" or (path.is_dir() and any(path.glob("*.py")))


def _module(path: Path) -> str:
    return path.stem
