"""Who may import whom in the Python package, as ARCHITECTURE.md draws it; who may import other libraries, and when."""

from __future__ import annotations

import sys
from pathlib import PurePosixPath

import pytest
from rules import circles, python, tree
from rules.layers import Edge, Layers, against

pytestmark = pytest.mark.unit

LAYERS = Layers(
    modules={
        "native": {"_native"},
        "base": {"_base"},
        "files": {"_io"},
        "nouns": {
            *("_analysis", "_export", "_load", "_remote"),
            *("chakra", "flight_recorder", "memory", "table", "tables", "trace", "trace_set"),
        },
        "hosts": {
            *("_cli", "_mcp", "_notebook", "_report"),
            *("callbacks", "hta", "profiling", "pytest_plugin", "replaying"),
        },
    },
    may_import={
        "native": set(),
        "base": {"native"},
        "files": {"native", "base"},
        "nouns": {"native", "base", "files"},
        "hosts": {"native", "base", "files", "nouns"},
    },
    exceptions={
        ("_analysis", "_report"): "AnalysisResult.plot(), diff.report(), a summary's HTML: imported at the call",
        ("_analysis", "_notebook"): "ks.diff(a, b).timeline(), imported at the call",
        ("_analysis", "replaying"): "trace.benchmark(), imported at the call",
        ("chakra", "replaying"): "job.to_chakra() compares the ranks as a replay does, imported at the call",
        ("trace", "_report"): "trace.report(), render_static() and its HTML, imported at the call",
        ("memory", "_report"): "snapshot.report(), imported at the call",
        ("trace", "_notebook"): "trace.timeline(), imported at the call",
        ("trace_set", "_report"): "job.report() and render_static(), imported at the call",
        ("trace_set", "_notebook"): "job.timeline(), imported at the call",
    },
)

# The files or packages that a library is for.
LIBRARIES = {
    "IPython": {"_base.progress", "_notebook.magics"},
    "accelerate": {"callbacks"},
    "anywidget": {"_notebook.widget"},
    "duckdb": {"_export.sql"},
    "fsspec": {"_io.remote"},
    "lightning": {"callbacks"},
    "networkx": {"hta"},
    "anyio": {"_mcp.stdio"},
    "mcp": {"_mcp.server", "_mcp.stdio"},
    "mcp_types": {"_mcp.server"},
    "numpy": {"hta"},  # frames of pandas are its arrays
    "pandas": {"_base.lazy", "hta", "table"},
    "plotly": {"hta"},
    "polars": {"_base.lazy", "table"},
    "pyarrow": {"_base.lazy", "_export.sql", "_export.tables", "hta", "table"},
    "psutil": {"profiling"},
    "pytest": {"pytest_plugin"},
    "rich": {"_base.progress", "_cli.terminal"},
    "tomli": {"_analysis.budget_file"},
    "torch": {"profiling", "replaying"},
    "pytorch_lightning": {"callbacks"},
    "traitlets": {"_notebook.widget"},
    "transformers": {"callbacks"},
    "xlsxwriter": {"_export.workbook"},
}

PACKAGE = "py/python/kinetoscope"


def module(path: str) -> str:
    """The module at the top of the package that a file is, or is in."""
    return PurePosixPath(path).relative_to(PACKAGE).parts[0].removesuffix(".py")


def place(path: str) -> str:
    """The module that a file is; of a public package, the package."""
    found = ".".join(PurePosixPath(path).relative_to(PACKAGE).with_suffix("").parts)
    return found if found.startswith("_") else module(path)


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


def file_of(path: str) -> str:
    """The dotted name of a file below the package; `__init__` stands for its folder."""
    parts = PurePosixPath(path).relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def file_edges(sources: dict[str, str]) -> list[tuple[str, str]]:
    """Imports between files that run when a file is imported."""
    files = {file_of(name) for name in sources}
    found: list[tuple[str, str]] = []
    for name, source in sources.items():
        for imported in python.imports(source):
            if imported.lazy or own(imported.module) is None:
                continue
            target = imported.module.lstrip(".").removeprefix("kinetoscope").lstrip(".") or "__init__"
            inner_names = [f"{target}.{inner_name}" for inner_name in imported.names]
            wanted = [file for file in inner_names if file in files]
            wanted += [target] if target in files and len(wanted) < max(len(inner_names), 1) else []
            found += [(file_of(name), file) for file in wanted if file != file_of(name)]
    return found


def loaded_at_import(sources: dict[str, str]) -> set[str]:
    """The files that `import kinetoscope` runs."""
    direct = file_edges(sources)
    loaded, previous = {"__init__"}, set[str]()
    while loaded != previous:
        previous = set(loaded)
        loaded |= {target for source, target in direct if source in loaded}
    return loaded


def foreign(sources: dict[str, str]) -> list[str]:
    """Libraries in modules that they are not for, and those that would be loaded with the package."""
    loaded = loaded_at_import(sources)
    found: list[str] = []
    for name, source in sources.items():
        for line, imported, lazy, _ in python.imports(source):
            library = imported.split(".")[0]
            if own(imported) is not None or library in sys.stdlib_module_names:
                continue
            if place(name) not in LIBRARIES.get(library, set()):
                found.append(f"{name}:{line}: {library} is not for {place(name)}")
            elif not lazy and file_of(name) in loaded:
                found.append(f"{name}:{line}: `import kinetoscope` would load {library}: import it where it is used")
    return found


def sources() -> dict[str, str]:
    return {name: tree.text(name) for name in tree.under(PACKAGE, ".py")}


def inner(sources: dict[str, str]) -> dict[str, str]:
    """All but the package itself, which is the table of contents and may name every module."""
    return {name: source for name, source in sources.items() if module(name) not in {"__init__", "__main__"}}


def test_package() -> None:
    # rooms of one layer may know each other: circles are looked for among files
    found = against(LAYERS, edges(inner(sources())))
    assert not found, "\n".join(found)


def test_libraries() -> None:
    assert foreign(sources()) == []


def test_what_differs_between_versions_of_torch_is_in_one_module() -> None:
    knowing = {
        name
        for name, source in sources().items()
        if any(found.module.split(".")[0] == "torch" for found in python.imports(source))
    }
    replaying = {f"{PACKAGE}/replaying/backend.py", f"{PACKAGE}/replaying/operators/machine.py"}
    assert knowing == {f"{PACKAGE}/profiling/pytorch.py", *replaying}


def test_no_large_circle_of_files() -> None:
    found = circles.findings(file_edges(sources()))
    assert not found, "\n".join(found)


def test_a_large_circle_is_found() -> None:
    names = ["table", "_io.file", "_load.read", "trace"]
    files = {
        f"{PACKAGE}/{name.replace('.', '/')}.py": f"from kinetoscope.{names[(at + 1) % 4]} import thing"
        for at, name in enumerate(names)
    }
    (line,) = circles.findings(file_edges(files))
    assert line.startswith("circle of 4 files, expected at most 3")


@pytest.mark.parametrize(
    ("file", "source", "found"),
    [
        ("table.py", "from kinetoscope import _report", "table (nouns) may not import _report (hosts)"),
        ("table.py", "from kinetoscope._report.html import page", "table (nouns) may not import _report (hosts)"),
        ("_io/file.py", "from kinetoscope import table", "_io (files) may not import table (nouns)"),
        ("table.py", "def f():\n    import kinetoscope._cli.main", "table (nouns) may not import _cli (hosts)"),
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
    (line,) = against(layers, edges({f"{PACKAGE}/{file}": source}))
    assert line.endswith(found)


def test_imports_for_type_checkers_are_let_be() -> None:
    source = (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch\n    from kinetoscope import _report\n"
    )
    files = {f"{PACKAGE}/table.py": source}
    assert against(LAYERS._replace(exceptions={}), edges(files)) == []
    assert foreign(files) == []


def test_a_library_in_the_wrong_module_is_found() -> None:
    files = {f"{PACKAGE}/_base/text.py": "def f():\n    import torch.cuda\n"}
    assert foreign(files) == [f"{PACKAGE}/_base/text.py:2: torch is not for _base.text"]


def test_a_library_loaded_with_the_package_is_found() -> None:
    files = {
        f"{PACKAGE}/__init__.py": "from kinetoscope._load.read import read",
        f"{PACKAGE}/_load/read.py": "from kinetoscope import profiling",
        f"{PACKAGE}/profiling/__init__.py": "import torch",
        f"{PACKAGE}/_notebook/widget.py": "import anywidget",
    }
    expected = f"{PACKAGE}/profiling/__init__.py:1: `import kinetoscope` would load torch: import it where it is used"
    assert foreign(files) == [expected]
