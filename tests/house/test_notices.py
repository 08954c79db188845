"""Notices and bill of materials name the packages of a wheel: as many as the lockfiles, and no other."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import notices
import pytest
import sbom
import third_party
from rules import tree
from third_party import Inventory, Package

pytestmark = pytest.mark.unit

NOT_PACKAGES = {"Rust standard library"}
"""Parts that no lockfile has."""


@cache
def locked() -> Inventory:
    """Packages of the lockfiles."""
    return third_party.inventory()


def bill() -> dict[str, Any]:
    return json.loads(tree.text(notices.SBOM))


def test_the_notices_name_every_package_and_no_other() -> None:
    listing = tree.text(notices.NOTICES).partition("Notices of authors\n")[0]
    named = re.findall(r"^  (\S.*) \([^()]*\)$", listing, re.MULTILINE)
    assert [title for title in named if title.rpartition(" ")[0] not in NOT_PACKAGES] != []
    packages = {title for title in named if not title.startswith(tuple(NOT_PACKAGES))}
    assert packages == set(locked().packages)


def test_every_package_has_a_licence_text() -> None:
    texts = tree.text(notices.NOTICES).partition("\nLicences\n")[2]
    heads = [
        " ".join(head.split()) for head in re.findall(rf"^{'-' * 80}\n(\S[^\n]* of (?:.+\n)+)", texts, re.MULTILINE)
    ]
    given = {title for head in heads for title in head.partition(" of ")[2].split(", ")}
    assert given == set(locked().packages)


def test_the_bill_of_materials_names_the_same_packages() -> None:
    listed = {f"{entry['name']} {entry.get('version', '')}".strip() for entry in bill()["components"]}
    assert {title for title in listed if not title.startswith(tuple(NOT_PACKAGES))} == set(locked().packages)
    (version,) = re.findall(r'^version = "([^"]+)"', tree.text("Cargo.toml"), re.MULTILINE)
    assert bill()["metadata"]["component"]["version"] == version


def test_the_bill_of_materials_is_the_same_on_every_machine() -> None:
    assert not {"serialNumber", "timestamp"} & ({*bill()} | {*bill()["metadata"]})
    for name in (notices.SBOM, notices.NOTICES):
        assert not re.search(r"/(?:home|root|Users|tmp|registry/src)/", tree.text(name)), name


def test_the_viewer_lists_what_it_contains() -> None:
    lists = re.findall(r':\s+"([^"]+)",\n', tree.text(notices.LIST))
    shown = {title for titles in lists for title in titles.split(", ")}
    assert shown - NOT_PACKAGES == {package.title for package in locked().linked("front-end")}
    assert len(tree.text(notices.LIST)) <= notices.MAX_LIST_BYTES


def test_the_licences_are_those_that_may_enter() -> None:
    (allowed,) = re.findall(r"^allow = \[(.*?)^\]", tree.text("deny.toml"), re.MULTILINE | re.DOTALL)
    assert set(third_party.accepted()) == set(re.findall(r'^    "([^"]+)"', allowed, re.MULTILINE))


def test_the_same_targets_are_checked() -> None:
    (checked,) = re.findall(r"^targets = \[(.*?)\]", tree.text("deny.toml"), re.MULTILINE | re.DOTALL)
    assert re.findall(r'"([^"]+)"', checked) == third_party.targets()


def test_one_version_per_tool() -> None:
    deny = set(re.findall(r"cargo-deny ([\d.]+)", tree.text("scripts/deny.sh") + tree.text("scripts/advisories.sh")))
    assert len(deny) == 1
    assert len(set(re.findall(r'"maturin==([\d.]+)"', tree.text("pyproject.toml")))) == 1


@pytest.mark.parametrize(
    ("expression", "taken"),
    [
        ("MIT", "MIT"),
        ("MIT OR Apache-2.0", "Apache-2.0"),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", "Apache-2.0 AND Unicode-3.0"),
    ],
)
def test_the_preferred_licence_is_taken(expression: str, taken: str) -> None:
    assert third_party.chosen(expression, ["Apache-2.0", "MIT", "Unicode-3.0"]) == taken


def test_an_unknown_licence_is_refused() -> None:
    with pytest.raises(ValueError, match="found GPL"):
        third_party.chosen("GPL-3.0", ["MIT"])


def test_a_package_without_a_text_is_found() -> None:
    found = Inventory({"a 1": Package("cargo", "a", "1", "MIT", "")}, {"": {"a 1"}})
    with pytest.raises(SystemExit, match="found none for a 1: MIT"):
        notices.texts(found, {"licenses": []})


def test_macros_are_not_linked() -> None:
    part = frozenset({"front-end"})
    packages = {
        "a 1": Package("cargo", "a", "1", "MIT", "", parts=part),
        "b 1": Package("cargo", "b", "1", "MIT", "", parts=part, is_macro=True),
        "c 1": Package("cargo", "c", "1", "MIT", "", parts=part),
        "d 1": Package("cargo", "d", "1", "MIT", "", parts=frozenset({"extension module"})),
    }
    found = Inventory(packages, {"": {"a 1", "b 1"}, "a 1": {"d 1"}, "b 1": {"c 1"}})
    assert [package.title for package in found.linked("front-end")] == ["a 1"]


def test_a_long_list_is_refused() -> None:
    packages = [Package("cargo", f"package-{number}", "1.0.0", "MIT", "") for number in range(100)]
    with pytest.raises(SystemExit, match="expected at most 1500 bytes"):
        notices.short_list(packages)


def test_a_scoped_package_has_an_address() -> None:
    package = Package("npm", "@a/b", "1", "MIT", "https://a.example", "00")
    found = json.loads(sbom.document(Inventory({"@a/b 1": package}, {"": {"@a/b 1"}})))
    assert found["components"][0]["purl"] == "pkg:npm/%40a/b@1"
    assert found["dependencies"][0]["dependsOn"] == ["pkg:npm/%40a/b@1"]
