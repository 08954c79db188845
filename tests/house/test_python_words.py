"""Docstrings, comments and help texts of Python files: plain words in lines that fit."""

from __future__ import annotations

import pytest
from rules import python_prose, tree

pytestmark = pytest.mark.unit

FOLDERS = ("benches", "py/python", "scripts", "tests/support")


def test_python_prose() -> None:
    names = [name for folder in FOLDERS for name in tree.under(folder, ".py", ".pyi")]
    found = [line for name in names for line in python_prose.faults(name, tree.text(name))]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ('"""What a device spent its time on."""', 1),
        ('class A:\n    """Costs.\n\n    What is not known is null.\n    """', 4),
        ('class A:\n    cost: int\n    """What it costs."""', 3),
        ('def f():\n    """Rows:\n\n    * names\n    * What they cost.\n    """', 5),
        ('def f():\n    """Rows.\n\n    Raises:\n        KeyError: no row.\n\n    What else is there.\n    """', 7),
        ("x = 1\n# What ends later was not awaited.", 2),
        ("x = 1  # What ends later was not awaited.", 1),
    ],
)
def test_a_headless_what_is_found(source: str, line: int) -> None:
    (fault,) = python_prose.faults("a.py", source)
    assert fault.startswith(f"a.py:{line}: expected a verb or a noun, found a headless What")


@pytest.mark.parametrize(
    "source",
    [
        'parser.add_argument("x", help="what a query answers")',
        'commands.add_parser("x", description=f"What {name} answers")',
        'commands.add_parser("x", epilog="what one file says " + more)',
        'about = "what a query answers"\ncommands.add_parser("x", help=about)',
    ],
)
def test_a_headless_help_text_is_found(source: str) -> None:
    (fault,) = python_prose.faults("a.py", source)
    assert "found a headless What: " in fault


@pytest.mark.parametrize(
    ("source", "line"),
    [
        (f'"""{"word " * 26}."""', 1),
        (f'"""Short.\n\n{"word " * 13}\n{"word " * 13}\n"""', 3),
        (f'"""Rows.\n\nRaises:\n    KeyError: {"word " * 15}\n        {"word " * 11}\n"""', 4),
    ],
)
def test_a_long_sentence_is_found(source: str, line: int) -> None:
    faults = [fault for fault in python_prose.faults("a.py", source) if "words" in fault]
    (fault,) = faults
    assert fault.startswith(f"a.py:{line}: expected at most 25 words, found 2")


@pytest.mark.parametrize(
    ("source", "line"),
    [
        (f'"""{"x" * 98}"""', 1),
        (f'def f():\n    """Rows.\n\n    {"x" * 97}\n    """', 4),
        (f"\n# {'x' * 99}", 2),
    ],
)
def test_a_long_line_of_prose_is_found(source: str, line: int) -> None:
    (fault,) = python_prose.faults("a.py", source)
    assert fault.startswith(f"a.py:{line}: expected at most 100 columns of prose, found 10")


@pytest.mark.parametrize(
    "source",
    [
        f'"""Rows.\n\n::\n\n    {"x " * 60}\n\n    What(1)\n"""',
        f'"""Rows:\n\n```\n{"x " * 60}\n```\n"""',
        f'"""Rows: `{"a " * 30}`."""',
        f'"""Rows:\n\n| What | is |\n|---|---|\n| {"word " * 15} | {"w " * 15} |\n"""',
        '"""What else? Nothing."""',
        '"""Whatever a trace holds."""',
        "# Explains the delay:\n# What waited is named first.",
        f"x = '{'x' * 90}'  # a long literal",
        f"x = '''\n{'word ' * 40}'''",
        f'"""Raises:\n    KeyError: {"word " * 15}\n    ValueError: {"word " * 15}\n"""'.replace("word ", "w "),
        'parser.add_argument("x", help="whatever a query answers", default="what")',
    ],
)
def test_good_prose_is_let_be(source: str) -> None:
    assert python_prose.faults("a.py", source) == []
