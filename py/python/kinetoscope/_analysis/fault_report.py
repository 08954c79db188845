"""Facts about a trace for a bug report: numbers and known words, no text of the trace."""

from __future__ import annotations

import platform
import re
from collections import Counter
from importlib import metadata
from typing import TYPE_CHECKING, Any

from kinetoscope import _native
from kinetoscope.tables import Tables
from kinetoscope.trace_set import TraceSet

if TYPE_CHECKING:
    from kinetoscope.table import Table
    from kinetoscope.trace import Trace

_PACKAGES = ("torch", "pandas", "polars", "pyarrow", "duckdb", "anywidget", "ipywidgets", "jupyterlab")
"""Packages whose versions matter."""
_HEADER_NUMBERS = re.compile(
    r"schemaVersion|with_\w+|record_shapes|profile_memory|cuda_\w+_version|cupti_version|hip_\w+_version"
)
"""Keys of a header whose numbers tell how a trace was recorded."""
_VERSION = re.compile(r"[\w.+-]{1,40}")
_SLICE_ROWS = 100_000


def fault_report(
    found: Trace | TraceSet | Tables | None, error: Exception | None, num_bytes: int | None
) -> dict[str, Any]:
    """Returns a JSON object: versions, and facts about what was read or about the error.

    It holds no text of the trace: no names, paths, hosts or messages.
    """
    report: dict[str, Any] = {
        "kinetoscope": _native.__version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "packages": _versions(),
    }
    if num_bytes is not None:
        report["num_bytes"] = num_bytes
    if error is not None:
        report["error"] = _error(error)
    if isinstance(found, TraceSet):
        report["traces"] = [_trace(trace) | {"rank": trace.rank} for trace in found]
        report["num_skipped"] = len(found.skipped)
    elif isinstance(found, Tables):
        report["tables"] = {name: len(found.table(name)) for name in found.table_names}
    elif found is not None:
        report["traces"] = [_trace(found)]
    return report


def _versions() -> dict[str, str]:
    installed = set(_PACKAGES) & set(metadata.packages_distributions())
    return {name: metadata.version(name) for name in _PACKAGES if name in installed}


def _error(error: Exception) -> dict[str, Any]:
    """Returns the class, and the position in the message, which itself may quote the file."""
    places = re.findall(r"byte (\d+)\)", str(error))
    return {"class": type(error).__name__, "byte": int(places[-1]) if places else None}


def _trace(trace: Trace) -> dict[str, Any]:
    return {
        "verdict": trace.verdict.state,
        "num_events": trace.num_events,
        "num_nodes": len(trace.nodes),
        "num_iterations": len(trace.iterations),
        "kinds": _kinds(trace.events),
        "problems": _rows(trace.problems(), "problem", "state", "count", "num_all", "device", "stream"),
        "health": _rows(trace.health, "kind", "severity", "count"),
        "coverage": dict(trace.coverage),
        "header": _header(trace.metadata),
    }


def _kinds(events: Table) -> dict[str, int]:
    """Counts events by kind, a slice at a time."""
    counted: Counter[str] = Counter()
    for start in range(0, len(events), _SLICE_ROWS):
        counted.update(kind for (kind,) in events.select("kind").rows(start, start + _SLICE_ROWS))
    return dict(counted)


def _rows(table: Table, *columns: str) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in table.select(*columns).rows()]


def _header(metadata: dict[str, Any]) -> dict[str, Any]:
    """Returns known numbers and versions of the headers."""
    kineto = metadata.get("kineto") or {}
    execution = metadata.get("execution") or {}
    numbers = {
        key: value for key, value in kineto.items() if isinstance(value, int | float) and _HEADER_NUMBERS.fullmatch(key)
    }
    own = kineto.get("kinetoscope")
    versions = {"torch": own.get("torch") if isinstance(own, dict) else None, "execution": execution.get("schema")}
    known = {key: value for key, value in versions.items() if isinstance(value, str) and _VERSION.fullmatch(value)}
    devices = kineto.get("deviceProperties")
    return numbers | known | {"num_devices": len(devices) if isinstance(devices, list) else 0}
