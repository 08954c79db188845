"""Comments of Rust files: they begin with a verb or a noun, and their lines of prose are short."""

from __future__ import annotations

import pytest
from rules import rust, tree

pytestmark = pytest.mark.unit

FOLDERS = ("core/benches", "core/fuzz", "core/src", "py/src", "tests/rust", "wasm/src")


def test_comments() -> None:
    names = [name for folder in FOLDERS for name in tree.under(folder, ".rs")]
    found = [line for name in names for line in rust.comment_faults(name, tree.text(name))]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "source",
    [
        "//! What a device spent its time on.",
        "struct A {\n    /// What it costs.\n    ns: i64,\n}",
        "/// Rows.\n///\n/// What is not known is null.",
        "fn f() {\n    // What ends later was not awaited.\n}",
    ],
)
def test_a_headless_what_is_found(source: str) -> None:
    (line,) = rust.comment_faults("core/src/a.rs", source)
    assert line.endswith("expected a verb or a noun, found a headless What")


def test_a_long_line_of_prose_is_found() -> None:
    (line,) = rust.comment_faults("core/src/a.rs", f"\n/// {'word ' * 20}")
    assert line == "core/src/a.rs:2: expected at most 100 columns of prose, found 104"


@pytest.mark.parametrize(
    "source",
    [
        f'/// Rows.\n///\n/// ```\n/// let text = "{"a" * 100}";\n/// ```\nfn f() {{}}',
        "/// Explains the delay:\n/// What waited is named first.",
        f'let text = "{"a" * 100}"; // a long literal',
        "/// Whatever the file's name says.",
    ],
)
def test_other_comments_are_let_be(source: str) -> None:
    assert list(rust.comment_faults("core/src/a.rs", source)) == []
