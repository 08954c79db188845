"""`kinetoscope.hta` has every public name of HTA with its parameters, but for those that docs/hta.md lists."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import hta_surface
import pytest

pytestmark = pytest.mark.unit

REPOSITORY = Path(__file__).resolve().parents[3]
GOLDEN: dict[str, Any] = json.loads((REPOSITORY / "tests/golden/hta/surface.json").read_text(encoding="utf-8"))["names"]
LISTED = re.compile(r"^\| `([\w.]+)` \|", re.MULTILINE)


def listed() -> set[str]:
    """The names in the section of docs/hta.md on names that differ."""
    document = (REPOSITORY / "docs/hta.md").read_text(encoding="utf-8")
    section = document.partition("## Names that differ")[2].partition("\n## ")[0]
    return set(LISTED.findall(section))


def differences(theirs: Any, ours: Any) -> list[str]:
    """What a program for HTA would miss: a missing name, a parameter that is missing, moved or has another default."""
    if ours is None:
        return ["is missing"]
    if isinstance(theirs, str) or "from" in theirs:  # a module, an attribute, an import
        return []
    ((kind, wanted),) = theirs.items()
    found = ours.get(kind) if isinstance(ours, dict) else None
    if found is None:
        return [f"expected a {kind}, found {ours if isinstance(ours, str) else sorted(ours)}"]
    if kind == "parameters":
        return parameters_missing(wanted, found)
    if kind == "class":
        return [f"{name}: {line}" for name, member in wanted.items() for line in differences(member, found.get(name))]
    is_text = wanted == "text" and isinstance(found, str)
    return [] if is_text or wanted == found else [f"expected {wanted!r}, found {found!r}"[:200]]


def parameters_missing(theirs: list[list[Any]], ours: list[list[Any]]) -> list[str]:
    """HTA's parameters have to come first, by name, kind and default; ours may have more that have defaults."""
    lines = []
    for at, (name, kind, default) in enumerate(theirs):
        found = ours[at] if at < len(ours) else None
        if found is None or found[0] != name or found[1] != kind:
            lines.append(f"expected the parameter {name} ({kind}), found {found}")
        elif found[2] != default:
            lines.append(f"{name}: expected the default {default!r}, found {found[2]!r}")
    lines += [f"expected a default for {name}" for name, _, default in ours[len(theirs) :] if default == "required"]
    return lines


OURS = hta_surface.surface("kinetoscope.hta")


def found_differences(name: str) -> list[str]:
    found = OURS.get(name)
    while isinstance(found, dict) and "from" in found and "from" not in GOLDEN[name]:
        found = OURS[found["from"]]
    return differences(GOLDEN[name], found)


@pytest.mark.parametrize("name", sorted(GOLDEN))
def test_a_name_is_there_as_hta_has_it(name: str) -> None:
    if name in listed():
        assert found_differences(name), f"{name} does not differ any more: docs/hta.md should not list it"
    else:
        assert not found_differences(name), f"{name}\n" + "\n".join(found_differences(name))


def test_every_name_that_is_listed_is_one_of_hta() -> None:
    assert listed() <= set(GOLDEN)


def test_differences_are_found() -> None:
    theirs = {"parameters": [["df", "POSITIONAL_OR_KEYWORD", "required"], ["rank", "POSITIONAL_OR_KEYWORD", 0]]}
    assert differences(theirs, None) == ["is missing"]
    assert differences(theirs, {"parameters": [["df", "POSITIONAL_OR_KEYWORD", "required"]]})
    assert differences(theirs, {"parameters": [*theirs["parameters"][:1], ["rank", "POSITIONAL_OR_KEYWORD", 1]]})
    assert differences(theirs, {"parameters": [*theirs["parameters"], ["more", "KEYWORD_ONLY", "required"]]})
    assert not differences(theirs, {"parameters": [*theirs["parameters"], ["more", "KEYWORD_ONLY", None]]})
