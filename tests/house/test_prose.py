"""README, guides, changelog and notebooks: short sentences and lines, plain first words, valid paths."""

from __future__ import annotations

import json
import re

import pytest
from rules import prose, tree

pytestmark = pytest.mark.unit

GUIDES = (
    *("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "SECURITY.md"),
    *(".github/pull_request_template.md", "tests/data/README.md"),
)
OUTPUTS = {"tests/web/screenshots"}
"""Folders that tests make."""

# A path of this repository in inline code, without a placeholder such as `<name>`.
_PATH = re.compile(r"`((?:core|py|wasm|tests|docs|scripts|benches|notebooks)/[\w./-]+)`")


def missing_paths(name: str, markdown: str) -> list[str]:
    """Paths in inline code at which the repository has neither a file nor a folder."""
    paths = sorted({*_PATH.findall(markdown)} - OUTPUTS)
    return [f"{name}: no such file or folder: {path}" for path in paths if not (tree.ROOT / path).exists()]


def test_guides() -> None:
    names = {*GUIDES, *tree.under("docs", ".md")}
    found = [line for name in sorted(names) for line in prose.faults(name, tree.text(name))]
    assert not found, "\n".join(found)


def test_notebooks() -> None:
    found: list[str] = []
    for name in tree.under("notebooks", ".ipynb"):
        for at, cell in enumerate(json.loads(tree.text(name))["cells"]):
            if cell["cell_type"] == "markdown":
                found += prose.faults(f"{name}, cell {at}", "".join(cell["source"]))
    assert not found, "\n".join(found)


def test_contributing_names_paths_that_exist() -> None:
    found = missing_paths("CONTRIBUTING.md", tree.text("CONTRIBUTING.md"))
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("markdown", "line", "found"),
    [
        (f"Short.\nIt is {'so ' * 24}long.", 2, "expected at most 25 words, found 27: It is so so so so"),
        (f"* {'word ' * 15}\n  {'word ' * 11}", 1, "expected at most 25 words, found 26: word word word"),
        (f"> {'word ' * 13}\n> {'word ' * 13}", 1, "expected at most 25 words, found 26: word word word"),
        (f"```\ncode\n```\n\n{'`a b` ' * 13}\n{'[c](d) ' * 13}", 5, "expected at most 25 words, found 26: "),
        ("x" * 101, 1, "expected at most 100 columns of prose, found 101"),
        (f"Text.\n\n- {'x' * 99}", 3, "expected at most 100 columns of prose, found 101"),
        (f"[{'x' * 99}](y)", 1, "expected at most 100 columns of prose, found 101"),
        ("What a trace holds.", 1, "expected a verb or a noun, found a headless What: What a trace holds."),
        ("* one\n* **What** is left out.", 2, "expected a verb or a noun, found a headless What: "),
        ("1. What comes next is written.", 1, "expected a verb or a noun, found a headless What: "),
        ("## What travels", 1, "expected a verb or a noun, found a headless What: What travels"),
    ],
)
def test_bad_prose_is_found(markdown: str, line: int, found: str) -> None:
    (fault,) = prose.faults("a.md", markdown)
    assert fault.startswith(f"a.md:{line}: {found}")


@pytest.mark.parametrize(
    "markdown",
    [
        f"{'no ' * 15}end. {'No ' * 15}",
        f"# {'word ' * 30}",
        f"```\n{'word ' * 30}\nWhat\n```",
        f"~~~\n```\n{'word ' * 30}\n~~~",
        f"| What | is |\n|---|---|\n| {'word ' * 30} | |",
        f"<!-- {'word ' * 30} -->",
        f"[text](https://a.example/{'x' * 100})",
        f"See <https://a.example/{'x' * 100}>.",
        f"![picture](docs/{'x' * 100}.png)",
        f"`{'a ' * 30}` is one word",
        f"- {'word ' * 15}\n- {'word ' * 15}",
        "Contents. What else? Nothing.",
        "What does a trace hold? Events.",
        "Whatever a trace holds.",
    ],
)
def test_good_prose_is_let_be(markdown: str) -> None:
    assert prose.faults("a.md", markdown) == []


def test_a_path_that_is_gone_is_found() -> None:
    markdown = "See `tests/house`, `tests/record/<name>.py` and `core/src/gone.rs`."
    assert missing_paths("a.md", markdown) == ["a.md: no such file or folder: core/src/gone.rs"]
