"""Reads budgets from a TOML file."""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path
from typing import Any

from kinetoscope._base.optional import needed

DEFAULT = "kinetoscope.toml"
"""File that the command `check` reads by default."""

_TABLE = "budget"


def read_budgets(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Reads the table `budget` of a TOML file.

    Raises OSError if the file cannot be opened, ValueError for other contents, and ImportError in
    Python 3.10 without tomli.
    """
    content = Path(path).read_bytes()
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        with needed("budgets in TOML", "kinetoscope[toml]"):
            import tomli as tomllib  # pyright: ignore[reportMissingImports] - a dependency of Python 3.10 alone
    try:
        tables = tomllib.loads(content.decode())
    except ValueError as error:  # also of the decoding
        raise ValueError(f"expected TOML in {path}, found an error: {error}") from None
    unknown = sorted(tables.keys() - {_TABLE})
    if unknown:
        hint = f"; budgets belong below [{_TABLE}]" if not isinstance(tables[unknown[0]], dict) else ""
        raise ValueError(f"expected the table [{_TABLE}] alone in {path}, found {', '.join(unknown)}{hint}")
    budgets = tables.get(_TABLE)
    if not isinstance(budgets, dict):
        raise ValueError(f"expected a table [{_TABLE}] in {path}, found none")  # noqa: TRY004 - a user's mistake
    return _plain(budgets)


def _plain(value: Any) -> Any:
    """Replaces values that JSON lacks, such as dates and NaN, by texts: no budget takes them."""
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    is_plain = isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))
    return value if is_plain else str(value)
