"""Records the public surface of HTA: modules, classes, functions, their parameters with defaults, constants.

    $(scripts/hta.sh) tests/record/hta_surface.py

writes tests/golden/hta/surface.json. tests/py/hta/test_surface.py holds kinetoscope.hta against it.
"""

from __future__ import annotations

import ast
import enum
import importlib
import inspect
import json
import pkgutil
import re
import tempfile
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

GOLDEN = Path(__file__).resolve().parents[1] / "golden/hta/surface.json"
_LONG = 100  # longer texts are prose
_PLAIN = (str, int, float, bool, type(None))


def surface(root: str) -> dict[str, Any]:
    """Describes every public name that a package defines, by its path below the package."""
    package = importlib.import_module(root)
    modules = [info.name for info in pkgutil.walk_packages(package.__path__, f"{root}.")]
    found: dict[str, Any] = {}
    for name in modules:
        module = importlib.import_module(name)
        path = name.removeprefix(f"{root}.")
        if not path.split(".")[-1].startswith("_"):
            found[path] = "module"
            found |= {f"{path}.{key}": described(value) for key, value in _defined(module).items()}
            found |= {f"{path}.{key}": {"from": place} for key, place in _imported(module, root).items()}
    return found


def described(value: Any) -> Any:
    """Describes a function by its parameters, a class by its members, a constant by its value."""
    if inspect.isclass(value):
        return {"class": _members(value)}
    if callable(value):
        return {"parameters": parameters(value)}
    return {"constant": constant(value)}


def parameters(function: Any) -> list[list[Any]]:
    """Lists names, kinds and defaults; `self` and `cls` are left out."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    return [
        [parameter.name, parameter.kind.name, _default(parameter.default)]
        for parameter in found
        if parameter.name not in {"self", "cls"}
    ]


def constant(value: Any) -> Any:
    """Gives plain values as they are, all others as the name of their type."""
    if isinstance(value, str):
        return "text" if len(value) > _LONG else value.replace(tempfile.gettempdir(), "<temporary>")
    if isinstance(value, _PLAIN):
        return value
    for kinds, describe in _DESCRIBED:
        if isinstance(value, kinds):
            return describe(value)
    is_own = hasattr(value, "__dict__") and type(value).__module__.split(".")[0] in {"hta", "kinetoscope"}
    fields = {key: constant(item) for key, item in vars(value).items() if key[0] != "_"} if is_own else None
    return type(value).__name__ if fields is None else fields


_DESCRIBED: list[tuple[Any, Any]] = [
    ((list, tuple), lambda value: [constant(item) for item in value]),
    ((set, frozenset), lambda value: sorted(str(constant(item)) for item in value)),
    (dict, lambda value: {str(constant(key)): constant(item) for key, item in value.items()}),
    (re.Pattern, lambda value: value.pattern),
    (enum.Enum, lambda value: f"{type(value).__name__}.{value.name}"),
]


def _defined(module: ModuleType) -> dict[str, Any]:
    """Finds the classes and functions of a module, and the constants that its source assigns."""
    source = Path(module.__file__ or "").read_text(encoding="utf-8")
    statements = ast.parse(source).body
    targets = {target for statement in statements for target in _assigned(statement)}
    own = {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_")
        and not inspect.ismodule(value)
        and (getattr(value, "__module__", None) == module.__name__ or name in targets)
        and not _is_typing(value)
    }
    own.pop("logger", None)
    return own


def _imported(module: ModuleType, root: str) -> dict[str, str]:
    """Finds the names that a module imports from others of the package, with where they come from.

    Analyzers import what they need inside; programs import it from where it is defined.
    """
    if module.__name__.startswith(f"{root}.analyzers."):
        return {}
    return {
        name: f"{value.__module__.removeprefix(f'{root}.')}.{value.__qualname__}"
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (inspect.isclass(value) or inspect.isroutine(value))
        and value.__module__ not in {None, module.__name__}
        and value.__module__.startswith(f"{root}.")
    }


def _assigned(statement: ast.stmt) -> list[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _is_typing(value: Any) -> bool:
    return type(value).__module__ in {"typing", "types"} and not inspect.isroutine(value)


def _members(kind: type) -> dict[str, Any]:
    if issubclass(kind, enum.Enum):
        return {name: {"constant": constant(member.value)} for name, member in kind.__members__.items()}
    found: dict[str, Any] = {"()": {"parameters": parameters(kind)}}
    for name in dir(kind):
        if name.startswith("_"):
            continue
        value = inspect.getattr_static(kind, name)
        home = next(base for base in kind.__mro__ if name in vars(base))
        if home.__module__.split(".")[0] not in {"hta", "kinetoscope"}:
            continue
        value = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
        is_plain = not callable(value)
        found[name] = "attribute" if is_plain else {"parameters": parameters(value)}
    return found


def _default(value: Any) -> Any:
    if value is inspect.Parameter.empty:
        return "required"
    if callable(value):
        return f"function {getattr(value, '__name__', type(value).__name__)}"
    return constant(value)


if __name__ == "__main__":
    GOLDEN.parent.mkdir(parents=True, exist_ok=True)
    recorded = {"version": version("traceinsight"), "names": surface("hta")}
    GOLDEN.write_text(json.dumps(recorded, indent=0, sort_keys=True) + "\n", encoding="utf-8")
    print(f"{GOLDEN}: {len(recorded['names'])} names")
