"""Small: files split at 500 lines, functions fail at 80, and the glue stays glue."""

from __future__ import annotations

import pytest
from rules import sizes, tree

pytestmark = pytest.mark.unit

MEASURED = (".css", ".mjs", ".py", ".pyi", ".rs", ".sh", ".ts", ".tsx")
GLUE = 300


def test_files() -> None:
    found = [line for name in tree.under("", *MEASURED) for line in sizes.long_file(name, tree.text(name))]
    assert not found, "\n".join(found)


def test_functions() -> None:
    found = [line for name in tree.under("", ".py") for line in sizes.long_functions(name, tree.text(name))]
    assert not found, "\n".join(found)


def test_glue() -> None:
    found = sizes.together("wasm/src", map(tree.text, tree.under("wasm/src", ".rs")), GLUE)
    assert not found, "\n".join(found)


def test_a_long_file_is_found() -> None:
    assert sizes.long_file("a.rs", "\n" * 500) == []
    assert sizes.long_file("a.rs", "\n" * 501) == ["a.rs: expected at most 500 lines, found 501"]


def test_a_long_function_is_found() -> None:
    source = "class A:\n    async def f(self):\n" + "        pass\n" * 80
    assert sizes.long_functions("a.py", source) == ["a.py:2: f: expected at most 80 lines, found 81"]
    assert sizes.long_functions("a.py", source.replace("        pass\n", "", 1)) == []


def test_long_glue_is_found() -> None:
    assert sizes.together("wasm/src", ["\n" * 200, "\n" * 101], GLUE) == [
        "wasm/src: expected at most 300 lines together, found 301"
    ]
