"""Names for annotations, imported when an annotation is evaluated.

`typing.get_type_hints` evaluates annotations in their module, which lacks the names that only type
checkers import.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Sequence as Sequence
    from concurrent.futures import Executor as Executor
    from pathlib import Path as Path
    from typing import Any as Any
    from typing import Literal as Literal

    import pandas as pandas
    import polars as polars
    import pyarrow as pyarrow
    from typing_extensions import Self as Self
    from typing_extensions import Unpack as Unpack

    from kinetoscope._analysis import protocol as protocol
    from kinetoscope._analysis import session as session
    from kinetoscope._analysis.coverage import Coverage as Coverage
    from kinetoscope._analysis.differences import Differences as Differences
    from kinetoscope._analysis.digest import DigestForm as DigestForm
    from kinetoscope._analysis.flamegraph import FlameGraph as FlameGraph
    from kinetoscope._analysis.gate import Gate as Gate
    from kinetoscope._analysis.result import AnalysisResult as AnalysisResult
    from kinetoscope._analysis.selection import EventSelection as EventSelection
    from kinetoscope._analysis.selection import NamedPart as NamedPart
    from kinetoscope._analysis.selection import Selection as Selection
    from kinetoscope._analysis.summary import Section as Section
    from kinetoscope._analysis.summary import Summary as Summary
    from kinetoscope._analysis.verdict import Verdict as Verdict
    from kinetoscope._export.analysis_tables import ChosenAnalyses as ChosenAnalyses
    from kinetoscope._export.et_plus import EtPlusFile as EtPlusFile
    from kinetoscope._export.tables import Part as Part
    from kinetoscope._io.source import Cache as Cache
    from kinetoscope._io.source import RankMode as RankMode
    from kinetoscope._io.source import Ranks as Ranks
    from kinetoscope._io.source import Source as Source
    from kinetoscope._io.source import Sources as Sources
    from kinetoscope._load.captures import Capture as Capture
    from kinetoscope._load.companions import Companion as Companion
    from kinetoscope._load.companions import CompanionAlign as CompanionAlign
    from kinetoscope._notebook.widget import Timeline as Timeline
    from kinetoscope._remote.coordinator import Coordinator as Coordinator
    from kinetoscope._report.static import Static as Static
    from kinetoscope.chakra import Chakra as Chakra
    from kinetoscope.flight_recorder import FlightRecorderSet as FlightRecorderSet
    from kinetoscope.memory import MemorySnapshot as MemorySnapshot
    from kinetoscope.replaying.operators.benchmark import Benchmark as Benchmark
    from kinetoscope.table import Table as Table
    from kinetoscope.trace import Trace as Trace
    from kinetoscope.trace_set import TraceSet as TraceSet


def lazy_getattr(module: str, names: dict[str, str]) -> Callable[[str], object]:
    """Makes a module `__getattr__` that imports names, or modules, at their first use."""

    def import_name(name: str) -> object:
        import sys
        from importlib import import_module

        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}", name=name)
        other = import_module(names[name])
        value = other if names[name].rpartition(".")[2] == name else getattr(other, name)
        return vars(sys.modules[module]).setdefault(name, value)

    return import_name


if not TYPE_CHECKING:
    __getattr__ = lazy_getattr(
        __name__,
        {
            "AnalysisResult": "kinetoscope._analysis.result",
            "Any": "typing",
            "Benchmark": "kinetoscope.replaying.operators.benchmark",
            "Cache": "kinetoscope._io.source",
            "Capture": "kinetoscope._load.captures",
            "Chakra": "kinetoscope.chakra",
            "ChosenAnalyses": "kinetoscope._export.analysis_tables",
            "Companion": "kinetoscope._load.companions",
            "CompanionAlign": "kinetoscope._load.companions",
            "Differences": "kinetoscope._analysis.differences",
            "DigestForm": "kinetoscope._analysis.digest",
            "Executor": "concurrent.futures",
            "EtPlusFile": "kinetoscope._export.et_plus",
            "FlightRecorderSet": "kinetoscope.flight_recorder",
            "FlameGraph": "kinetoscope._analysis.flamegraph",
            "Gate": "kinetoscope._analysis.gate",
            "Literal": "typing",
            "MemorySnapshot": "kinetoscope.memory",
            "Part": "kinetoscope._export.tables",
            "Coverage": "kinetoscope._analysis.coverage",
            "Coordinator": "kinetoscope._remote.coordinator",
            "Path": "pathlib",
            "RankMode": "kinetoscope._io.source",
            "Ranks": "kinetoscope._io.source",
            "Section": "kinetoscope._analysis.summary",
            "Self": "typing_extensions",
            "Source": "kinetoscope._io.source",
            "Sources": "kinetoscope._io.source",
            "Static": "kinetoscope._report.static",
            "Summary": "kinetoscope._analysis.summary",
            "Table": "kinetoscope.table",
            "Timeline": "kinetoscope._notebook.widget",
            "Trace": "kinetoscope.trace",
            "TraceSet": "kinetoscope.trace_set",
            "Unpack": "typing_extensions",
            "Verdict": "kinetoscope._analysis.verdict",
            "EventSelection": "kinetoscope._analysis.selection",
            "NamedPart": "kinetoscope._analysis.selection",
            "Sequence": "collections.abc",
            "Selection": "kinetoscope._analysis.selection",
            "pandas": "pandas",
            "polars": "polars",
            "pyarrow": "pyarrow",
            "session": "kinetoscope._analysis.session",
            "protocol": "kinetoscope._analysis.protocol",
        },
    )
