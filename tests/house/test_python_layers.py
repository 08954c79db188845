"""Who may import whom in the Python package, as ARCHITECTURE.md draws it; who may import other libraries, and when."""

from __future__ import annotations

import sys
from pathlib import PurePosixPath

import pytest
from rules import python, tree
from rules.layers import Edge, Layers, findings

pytestmark = pytest.mark.unit

LAYERS = Layers(
    modules={
        "native": {"_native"},
        "nouns": {
            *(
                "analyses",
                "answer",
                "archive",
                "cache",
                "cells",
                "chakra",
                "differences",
                "discover",
                "doctor",
                "early",
                "entry",
                "export",
                "file",
                "head",
                "hints",
                "job",
            ),
            *(
                "linked",
                "load",
                "memory",
                "names",
                "notice",
                "nsight",
                "nsys",
                "processors",
                "progress",
                "read",
            ),
            *(
                "remote",
                "request",
                "screen",
                "seam",
                "sorts",
                "source",
                "sql",
                "summary",
                "table",
                "tables",
                "text",
                "trace",
            ),
            *("afar", "recording", "scattered"),
            *("traceset", "wanted", "whole", "window", "workers"),
        },
        "hosts": {
            *(
                "aligned",
                "arguments",
                "callbacks",
                "chart",
                "cli",
                "collect",
                "desk",
                "fit",
                "forms",
                "hta",
                "html",
                "message",
                "note",
                "output",
                "pace",
            ),
            *("pages", "questions", "replay", "report", "sharing", "static", "terminal", "widget"),
        },
    },
    may_import={"native": set(), "nouns": {"native"}, "hosts": {"native", "nouns"}},
    exceptions={
        ("answer", "chart"): "Answer.plot(), imported at the call",
        ("summary", "html"): "its _repr_html_ is the report's, imported at the call",
        ("trace", "html"): "as above",
        ("trace", "report"): "trace.report(), imported at the call",
        ("differences", "aligned"): "its report(), imported at the call",
        ("trace", "static"): "trace.render_static(), imported at the call",
        ("traceset", "report"): "job.report(), imported at the call",
        ("traceset", "static"): "job.render_static(), imported at the call",
        ("trace", "widget"): "trace.timeline(), imported at the call",
        ("traceset", "widget"): "job.timeline(), imported at the call",
        ("differences", "widget"): "ks.diff(a, b).timeline(), imported at the call",
    },
)

# The modules that a library is for.
LIBRARIES = {
    "IPython": {"collect", "progress"},
    "accelerate": {"callbacks"},
    "anywidget": {"widget"},
    "duckdb": {"sql"},
    "fsspec": {"remote"},
    "lightning": {"callbacks"},
    "networkx": {"hta"},
    "numpy": {"hta"},  # frames of pandas are its arrays
    "pandas": {"hints", "hta", "table"},
    "plotly": {"hta"},
    "polars": {"hints", "table"},
    "pyarrow": {"export", "hints", "hta", "sql", "table"},
    "psutil": {"collect"},
    "rich": {"progress", "terminal"},
    "torch": {"collect", "replay"},
    "pytorch_lightning": {"callbacks"},
    "traitlets": {"widget"},
    "transformers": {"callbacks"},
}

PACKAGE = "py/python/kinetoscope"


def module(path: str) -> str:
    """The public module that a file is, or is in."""
    return PurePosixPath(path).relative_to(PACKAGE).parts[0].removesuffix(".py")


def own(name: str) -> str | None:
    """The module of the package that an import names; None when it names another package."""
    first, _, rest = name.lstrip(".").partition(".")
    if name.startswith("."):
        return first
    return (rest.split(".")[0] or "__init__") if first == "kinetoscope" else None


def edges(sources: dict[str, str], *, lazy: bool = True) -> list[Edge]:
    """Imports between the modules; those inside functions too, unless not `lazy`."""
    return [
        Edge(f"{name}:{found.line}", module(name), target)
        for name, source in sources.items()
        for found in python.imports(source)
        if (target := own(found.module)) is not None and (lazy or not found.lazy)
    ]


def loaded_at_import(sources: dict[str, str]) -> set[str]:
    """The modules that `import kinetoscope` runs."""
    direct = edges(sources, lazy=False)
    loaded, previous = {"__init__"}, set[str]()
    while loaded != previous:
        previous = set(loaded)
        loaded |= {edge.target for edge in direct if edge.source in loaded}
    return loaded


def foreign(sources: dict[str, str]) -> list[str]:
    """Libraries in modules that they are not for, and those that would be loaded with the package."""
    loaded = loaded_at_import(sources)
    found: list[str] = []
    for name, source in sources.items():
        for line, imported, lazy in python.imports(source):
            library = imported.split(".")[0]
            if own(imported) is not None or library in sys.stdlib_module_names:
                continue
            if module(name) not in LIBRARIES.get(library, set()):
                found.append(f"{name}:{line}: {library} is not for {module(name)}")
            elif not lazy and module(name) in loaded:
                found.append(f"{name}:{line}: `import kinetoscope` would load {library}: import it where it is used")
    return found


def sources() -> dict[str, str]:
    return {name: tree.text(name) for name in tree.under(PACKAGE, ".py")}


def inner(sources: dict[str, str]) -> dict[str, str]:
    """All but the package itself, which is the table of contents and may name every module."""
    return {name: source for name, source in sources.items() if module(name) not in {"__init__", "__main__"}}


def test_package() -> None:
    found = findings(LAYERS, edges(inner(sources())))
    assert not found, "\n".join(found)


def test_libraries() -> None:
    assert foreign(sources()) == []


def test_what_differs_between_versions_of_torch_is_in_one_module() -> None:
    knowing = {
        name
        for name, source in sources().items()
        if any(found.module.split(".")[0] == "torch" for found in python.imports(source))
    }
    assert knowing == {f"{PACKAGE}/collect/pytorch.py", f"{PACKAGE}/replay/backend.py"}


@pytest.mark.parametrize(
    ("file", "source", "found"),
    [
        ("table.py", "from kinetoscope import widget", "table (nouns) may not import widget (hosts)"),
        ("table.py", "from kinetoscope.html import page", "table (nouns) may not import html (hosts)"),
        ("table.py", "from . import cli", "table (nouns) may not import cli (hosts)"),
        ("table.py", "def f():\n    import kinetoscope.report", "table (nouns) may not import report (hosts)"),
        ("table.py", "from kinetoscope.thing import x", "expected every module in a layer, found thing in none"),
        (
            "table.py",
            "from kinetoscope import __version__",
            "expected every module in a layer, found __version__ in none",
        ),
    ],
)
def test_an_import_upwards_is_found(file: str, source: str, found: str) -> None:
    layers = LAYERS._replace(exceptions={})
    (line,) = findings(layers, edges({f"{PACKAGE}/{file}": source}))
    assert line.endswith(found)


def test_imports_for_type_checkers_are_let_be() -> None:
    source = (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch\n    from kinetoscope import widget\n"
    )
    files = {f"{PACKAGE}/table.py": source}
    assert findings(LAYERS._replace(exceptions={}), edges(files)) == []
    assert foreign(files) == []


def test_a_library_in_the_wrong_module_is_found() -> None:
    files = {f"{PACKAGE}/text.py": "def f():\n    import torch.cuda\n"}
    assert foreign(files) == [f"{PACKAGE}/text.py:2: torch is not for text"]


def test_a_library_loaded_with_the_package_is_found() -> None:
    files = {
        f"{PACKAGE}/__init__.py": "from kinetoscope.read import read",
        f"{PACKAGE}/read.py": "from kinetoscope import collect",
        f"{PACKAGE}/collect.py": "import torch",
        f"{PACKAGE}/widget.py": "import anywidget",
    }
    expected = f"{PACKAGE}/collect.py:1: `import kinetoscope` would load torch: import it where it is used"
    assert foreign(files) == [expected]
