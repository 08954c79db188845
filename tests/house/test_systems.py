"""The package runs on Linux, macOS and Windows: one module knows how they differ."""

from __future__ import annotations

import pytest
from rules import systems, tree

pytestmark = pytest.mark.unit

PACKAGE = "py/python/kinetoscope"
KNOWS = f"{PACKAGE}/_base/system.py"


def test_one_module_knows_the_systems() -> None:
    names = [name for name in tree.under(PACKAGE, ".py") if name != KNOWS]
    found = [line for name in names for line in systems.dependent(name, tree.text(name))]
    assert not found, "\n".join(found)


def test_that_module_needs_it() -> None:
    assert systems.dependent(KNOWS, tree.text(KNOWS)) != []


def test_text_files_have_an_encoding() -> None:
    names = [name for folder in (PACKAGE, "scripts") for name in tree.under(folder, ".py")]
    found = [line for name in names for line in systems.without_encoding(name, tree.text(name))]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "source",
    [
        "import fcntl",
        "def f():\n    from resource import getrusage",
        "import os\nos.fork()",
        "from os import geteuid",
        "import signal\nA = signal.SIGUSR1",
        "import sys\nif sys.platform == 'linux': pass",
        "import os\nA = os.O_NONBLOCK",
        "import shlex\nshlex.quote('a')",
    ],
)
def test_a_call_of_one_system_is_found(source: str) -> None:
    assert len(systems.dependent("a.py", source)) == 1


@pytest.mark.parametrize("source", ["import os\nos.getpid()", "import signal\nsignal.SIGINT", "'os.fork'", "self.name"])
def test_a_call_of_all_systems_is_let_be(source: str) -> None:
    assert systems.dependent("a.py", source) == []


@pytest.mark.parametrize(
    "source", ["open('a')", "open('a', 'w')", "p.read_text()", "p.write_text('a')", "p.open('r')", "p.open(mode='w')"]
)
def test_a_text_file_without_an_encoding_is_found(source: str) -> None:
    assert len(systems.without_encoding("a.py", source)) == 1


@pytest.mark.parametrize(
    "source",
    [
        "open('a', 'rb')",
        "open('a', encoding='utf-8')",
        "p.read_text(encoding='utf-8')",
        "p.read_text('utf-8')",
        "p.write_text('a', encoding='utf-8')",
        "p.open('rb')",
        "webbrowser.open(url)",
        "file_system.open(path, 'rb')",
        "gzip.open(path)",
        "open('a', **options)",
    ],
)
def test_other_files_are_let_be(source: str) -> None:
    assert systems.without_encoding("a.py", source) == []
