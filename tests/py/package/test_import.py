"""`import kinetoscope` is fast and loads nothing that its user did not ask for."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import kinetoscope
import pytest

pytestmark = pytest.mark.unit

HEAVY = ("torch", "IPython", "anywidget", "ipywidgets", "pandas", "polars", "pyarrow", "duckdb", "numpy", "rich")
# Of the standard library, what costs most: half a megabyte or more for each.
UNNEEDED = (
    *("argparse", "ast", "asyncio", "concurrent.futures", "csv", "dataclasses", "datetime", "email", "gzip", "hashlib"),
    *("html.entities", "http", "importlib.metadata", "inspect", "json", "logging", "pathlib", "random", "re", "shlex"),
    *("shutil", "socket", "ssl", "subprocess", "tempfile", "threading", "typing", "urllib", "zipfile"),
)
LIMIT_S = 0.150
MAX_MODULES = 10
"""Modules whose code runs between `ks.read` and the native reader, the package itself included."""


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return done.stdout


def test_loads_nothing_heavy() -> None:
    code = f"import sys, kinetoscope; print([name for name in {HEAVY!r} if name in sys.modules])"
    assert run(code).strip() == "[]"


def test_is_fast() -> None:
    code = "import time; start = time.perf_counter(); import kinetoscope; print(time.perf_counter() - start)"
    fastest = min(float(run(code)) for _ in range(5))  # the others waited for the disk, or for another process
    assert fastest < LIMIT_S


def test_reading_a_file_loads_nothing_that_it_does_not_need(data: Path) -> None:
    kineto = data / "minimal_cpu/kineto_trace_0.json.gz"
    code = (
        "import sys; before = set(sys.modules)\n"
        "import kinetoscope as ks\n"
        f"assert len(ks.read({str(kineto)!r}, cache=False)._native.table('nodes'))\n"
        f"print([name for name in {UNNEEDED!r} if name in sys.modules.keys() - before])"
    )
    assert run(code).strip() == "[]"


@pytest.mark.parametrize("folder", [None, "cache"])
def test_reading_a_file_passes_few_modules(data: Path, tmp_path: Path, folder: str | None) -> None:
    path = tmp_path / "trace.json.gz"
    path.write_bytes((data / "minimal_cpu/kineto_trace_0.json.gz").read_bytes())
    (tmp_path / "trace_et.json.gz").write_bytes((data / "minimal_cpu/torch_et_0.json.gz").read_bytes())
    cache = str(tmp_path / folder) if folder else False
    code = (
        "import sys, kinetoscope as ks\n"
        "names = {ks.__name__}\n"
        "sys.setprofile(lambda frame, event, _: event == 'call' and names.add(frame.f_globals.get('__name__')))\n"
        f"for _ in range(2): trace = ks.read({str(path)!r}, cache={cache!r})\n"
        "sys.setprofile(None)\n"
        "assert len(trace.nodes) and trace.num_events\n"
        "print(*(name for name in names if name.partition('.')[0] == 'kinetoscope'))"
    )
    names = sorted(run(code).split())
    assert "kinetoscope._load.read" in names
    assert len(names) <= MAX_MODULES, names


def test_a_command_loads_nothing_that_another_one_needs() -> None:
    unneeded = ("kinetoscope._report.page", "kinetoscope._notebook.widget", "tempfile", "webbrowser")
    code = f"import sys, kinetoscope._cli.main; print([name for name in {unneeded!r} if name in sys.modules])"
    assert run(code).strip() == "[]"


def test_what_is_public_is_there_whatever_was_imported_before() -> None:
    code = (
        "import importlib, pkgutil, types, kinetoscope as ks\n"
        "early = {name: getattr(ks, name) for name in ks.__all__ if name in vars(ks)}\n"
        "modules = {module.name for module in pkgutil.iter_modules(ks.__path__)} - {'__main__'}\n"
        "for name in sorted(modules): importlib.import_module(f'kinetoscope.{name}')\n"
        "assert all(getattr(ks, name) is value for name, value in early.items())\n"
        "assert set(ks.__all__) <= set(dir(ks))\n"
        "from kinetoscope import *\n"
        "print([name for name in ks.__all__ if isinstance(globals()[name], types.ModuleType)])"
    )
    assert run(code).strip() == "[]"


@pytest.mark.parametrize(
    "first", [f"kinetoscope.{name}" for name in ("_cli.main", "profiling.profiler", "_load.read", "_load.job")]
)
@pytest.mark.parametrize("name", ["profile", "read", "read_dir"])
def test_a_function_is_not_hidden_by_a_module(first: str, name: str) -> None:
    assert run(f"import {first}, kinetoscope; print(callable(kinetoscope.{name}))").strip() == "True"
    assert run(f"import {first}; from kinetoscope import {name}; print(callable({name}))").strip() == "True"


@pytest.mark.parametrize("name", ["diff", "profile", "read", "read_dir", "replay", "replay_comms", "use_cache"])
def test_a_function_is_not_a_module(name: str) -> None:
    code = (
        f"import kinetoscope; print(callable(kinetoscope.{name}))\n"
        f"try:\n    import kinetoscope.{name} as module\n"
        "except ModuleNotFoundError as error:\n    print(error.name)"
    )
    assert run(code).split() == ["True", f"kinetoscope.{name}"]


def shadowed(package: Path) -> set[str]:
    """Modules in a package whose names its `__init__.py` gives to something else, so that one hides the other."""
    bound: set[str] = set()
    for node in ast.walk(ast.parse((package / "__init__.py").read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").rpartition(".")[2] != package.name:
            bound |= {name.asname or name.name for name in node.names}
    return bound & {path.stem for path in package.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}


def test_no_module_is_shadowed() -> None:
    packages = [path.parent for path in Path(kinetoscope.__file__).parent.rglob("__init__.py")]
    assert len(packages) > 10
    assert {package.name: names for package in packages if (names := shadowed(package))} == {}


@pytest.mark.parametrize(
    "source",
    ["def read(): ...", "from kinetoscope._load.read import read", "from .read import load as read", "read = print"],
)
def test_a_shadowed_module_is_found(tmp_path: Path, source: str) -> None:
    (tmp_path / "__init__.py").write_text(source)
    (tmp_path / "read.py").touch()
    assert shadowed(tmp_path) == {"read"}


def test_what_is_not_public_is_told() -> None:
    assert run("import kinetoscope as ks; print(hasattr(ks, 'reed'))").strip() == "False"


def test_reading_works_without_torch() -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "import kinetoscope as ks\n"
        "try:\n    ks.profile('traces')\nexcept ImportError as error:\n    print(error)"
    )
    assert run(code).strip() == "ks.profile: expected PyTorch, found none: pip install torch"


def test_annotations_can_be_looked_up() -> None:
    code = (
        "import inspect, typing, kinetoscope as ks\n"
        "def functions(thing):\n"
        "    kinds = [kind for kind in getattr(thing, '__mro__', []) if 'kinetoscope' in kind.__module__]\n"
        "    for value in [thing, *(value for kind in kinds for value in vars(kind).values())]:\n"
        "        wrapped = (getattr(value, name, None) for name in ('fget', 'func', '__func__'))\n"
        "        value = next(filter(None, wrapped), value)\n"
        "        if inspect.isfunction(value): yield value\n"
        "hints = [typing.get_type_hints(found) for name in ks.__all__ for found in functions(getattr(ks, name))]\n"
        "assert len(hints) > 100, len(hints)\n"
        "print(typing.get_type_hints(ks.Trace.table)['return'] is ks.Table)\n"
        "print(typing.get_type_hints(ks.Trace.kernels)['return'].__mro__[1] is ks.Table)"
    )
    assert run(code).split() == ["True", "True"]


def test_what_is_shown_is_what_is_public() -> None:
    assert run("import kinetoscope as ks; print(sorted(dir(ks)) == sorted(ks.__all__))").strip() == "True"
