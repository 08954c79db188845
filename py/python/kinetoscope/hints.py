"""What annotations name in modules that import little: imported when somebody looks an annotation up.

`typing.get_type_hints` evaluates annotations in their modules, where a name that only type checkers see would be none.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor as Executor
    from pathlib import Path as Path
    from typing import Any as Any
    from typing import Literal as Literal

    import pandas as pandas
    import polars as polars
    import pyarrow as pyarrow
    from typing_extensions import Self as Self
    from typing_extensions import Unpack as Unpack

    from kinetoscope import screen as screen
    from kinetoscope import seam as seam
    from kinetoscope.answer import Answer as Answer
    from kinetoscope.chakra import Chakra as Chakra
    from kinetoscope.export import Part as Part
    from kinetoscope.linked import Linked as Linked
    from kinetoscope.scattered import Scattered as Scattered
    from kinetoscope.source import Cache as Cache
    from kinetoscope.source import Source as Source
    from kinetoscope.static import Static as Static
    from kinetoscope.summary import Summary as Summary
    from kinetoscope.table import Table as Table
    from kinetoscope.wanted import Wanted as Wanted
    from kinetoscope.widget import Timeline as Timeline


def looked_up(module: str, names: dict[str, str]) -> Callable[[str], object]:
    """The `__getattr__` of a module with names of others, or others themselves, imported when first asked for."""

    def found(name: str) -> object:
        import sys
        from importlib import import_module

        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}", name=name)
        other = import_module(names[name])
        value = other if names[name].rpartition(".")[2] == name else getattr(other, name)
        return vars(sys.modules[module]).setdefault(name, value)

    return found


if not TYPE_CHECKING:
    __getattr__ = looked_up(
        __name__,
        {
            "Answer": "kinetoscope.answer",
            "Any": "typing",
            "Cache": "kinetoscope.source",
            "Chakra": "kinetoscope.chakra",
            "Executor": "concurrent.futures",
            "Linked": "kinetoscope.linked",
            "Literal": "typing",
            "Part": "kinetoscope.export",
            "Scattered": "kinetoscope.scattered",
            "Path": "pathlib",
            "Self": "typing_extensions",
            "Source": "kinetoscope.source",
            "Static": "kinetoscope.static",
            "Summary": "kinetoscope.summary",
            "Table": "kinetoscope.table",
            "Timeline": "kinetoscope.widget",
            "Unpack": "typing_extensions",
            "Wanted": "kinetoscope.wanted",
            "pandas": "pandas",
            "polars": "polars",
            "pyarrow": "pyarrow",
            "screen": "kinetoscope.screen",
            "seam": "kinetoscope.seam",
        },
    )
