"""Comments of the front-end: plain words in lines that fit."""

from __future__ import annotations

import pytest
from rules import tree, web

pytestmark = pytest.mark.unit

FOLDERS = ("wasm/web", "wasm/build", "tests/web")


def test_comments() -> None:
    names = [name for folder in FOLDERS for name in tree.under(folder, ".ts", ".tsx", ".mjs", ".css")]
    found = [line for name in names for line in web.comment_faults(name, tree.text(name))]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "source",
    [
        "/** What a trace holds. */\n",
        "/**\n * What a trace holds.\n */\n",
        "const a = 1;\n  // What comes next.\n",
        f"// {'long ' * 20}\n",
    ],
)
def test_a_bad_comment_is_found(source: str) -> None:
    assert len(list(web.comment_faults("a.ts", source))) == 1


@pytest.mark.parametrize(
    "source",
    [
        "/** Contents of a trace. */\n",
        "// The reader shows\n// What else? Nothing.\n",
        'const label = "What to do";\n',
        f'const long = "{"x" * 100}";\n',
    ],
)
def test_a_good_comment_is_let_be(source: str) -> None:
    assert list(web.comment_faults("a.ts", source)) == []
