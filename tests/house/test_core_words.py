"""Comments and texts of Rust files begin with a verb or a noun; their lines and sentences are short."""

from __future__ import annotations

import pytest
from rules import rust, tree

pytestmark = pytest.mark.unit

FOLDERS = ("core/benches", "core/fuzz", "core/src", "py/src", "tests/rust", "wasm/src")
SHIPPED = ("core/src", "py/src", "wasm/src")


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


def test_texts() -> None:
    names = [name for folder in SHIPPED for name in tree.under(folder, ".rs")]
    found = [line for name in names for line in rust.text_faults(name, tree.text(name))]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('doc: "what slows the run down"', "what"),
        ('doc: "how many frames are listed"', "how"),
        ('advice: "Who asks the members"', "Who"),
        ('doc: "whose time counts"', "whose"),
        ('cost: "where the \\\n    time went"', "where"),
        ('fix: "what \\"it\\" costs"', "what"),
    ],
)
def test_a_headless_text_is_found(text: str, word: str) -> None:
    (line,) = rust.text_faults("core/src/a.rs", f"\nstatic A: B = B {{ {text} }};")
    assert line.startswith(f"core/src/a.rs:2: expected a verb or a noun, found a headless {word}: ")


@pytest.mark.parametrize("text", ["word " * 26, f"short; {'word ' * 26}", "word \\\n" * 26, f"Short. {'Word ' * 26}"])
def test_a_long_sentence_of_a_text_is_found(text: str) -> None:
    (line,) = rust.text_faults("core/src/a.rs", f'const A: &str = "{text}";')
    assert line.startswith("core/src/a.rs:1: expected at most 25 words, found 26")


@pytest.mark.parametrize(
    "source",
    [
        'let key = "what";',
        'let keys = ["what", "how many"];',
        'let question = "What does a trace hold?";',
        'let text = "whatever a trace holds";',
        f'let page = "<p>{"word " * 26}</p>";',
        f'let sql = "SELECT {"word, " * 26}";',
        f'let text = "{"word " * 20}; {"word " * 20}";',
        '// says "what a trace holds"',
        '#[cfg(test)]\nmod tests {\n    const A: &str = "what a trace holds";\n}',
    ],
)
def test_other_texts_are_let_be(source: str) -> None:
    assert list(rust.text_faults("core/src/a.rs", source)) == []
