"""Python source: what it imports, when, and how long its functions are."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple


class Import(NamedTuple):
    """One imported module."""

    line: int
    module: str
    lazy: bool
    names: tuple[str, ...] = ()
    """Names imported from the module; each may be a module itself."""


def imports(source: str) -> Iterator[Import]:
    """Every import that runs: those for type checkers only are left out. `lazy` is one inside a function."""
    yield from _imports(ast.parse(source), lazy=False)


def long_functions(source: str, limit: int) -> Iterator[tuple[int, str, int]]:
    """Line, name and length of each function of more than `limit` lines."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > limit:
                yield node.lineno, node.name, length


def _imports(node: ast.AST, *, lazy: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(child.lineno, alias.name, lazy)
        elif isinstance(child, ast.ImportFrom):
            yield from _from(child, lazy=lazy)
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
            for other in child.orelse:
                yield from _imports(other, lazy=lazy)
        else:
            inside = lazy or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from _imports(child, lazy=inside)


def _from(node: ast.ImportFrom, *, lazy: bool) -> Iterator[Import]:
    module = "." * node.level + (node.module or "")
    if module in {"kinetoscope", "."}:  # `from kinetoscope import table` names modules
        for alias in node.names:
            yield Import(node.lineno, f"{module}.{alias.name}".replace("..", "."), lazy)
    else:
        yield Import(node.lineno, module, lazy, tuple(alias.name for alias in node.names))
