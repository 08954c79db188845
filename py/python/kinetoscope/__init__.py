"""Kinetoscope: record, analyse and share PyTorch traces without leaving the notebook.

::

    import kinetoscope as ks

    with ks.profile("traces", wait=1, warmup=1, active=3) as prof:
        for batch in loader:
            train_step(batch)
            prof.step()

    trace = prof.trace            # or ks.read("trace.json.gz"), ks.read_dir("traces")[0]
    trace.timeline()              # interactive, under the cell
    trace.kernels().to_polars()   # an analysis; trace.events is a table
    trace.findings()              # bottlenecks, each with its cost and fix
    trace.report("report.html")   # one file, works offline

`read` returns a `Trace`, `read_dir` a `TraceSet` with the traces of all ranks. Files of other
formats become `MemorySnapshot`, `MemoryTimeline`, `FlightRecorder`, `Chakra` or another `Tables`;
flight recorders of several ranks become a `FlightRecorderSet`.
"""

from __future__ import annotations

from kinetoscope._base import lazy
from kinetoscope._base.lazy import lazy_getattr
from kinetoscope._io.cache import use_cache
from kinetoscope._load.read import read
from kinetoscope._native import TraceError, TraceLimitError, TraceParseError, UnsupportedTraceError, __version__
from kinetoscope.trace import Trace

TYPE_CHECKING = False  # importing it from `typing` costs half a megabyte
if TYPE_CHECKING:
    from kinetoscope._analysis.differences import diff
    from kinetoscope._load.job import read_dir
    from kinetoscope.chakra import Chakra
    from kinetoscope.flight_recorder import FlightRecorder, FlightRecorderSet
    from kinetoscope.memory import MemorySnapshot, MemoryTimeline
    from kinetoscope.profiling.profiler import profile
    from kinetoscope.replaying.operators.run import replay
    from kinetoscope.replaying.replay import replay_comms
    from kinetoscope.table import Table
    from kinetoscope.tables import Tables
    from kinetoscope.trace_set import TraceSet
else:
    # Imported at first use: reading one file does not need these modules.
    __getattr__ = lazy_getattr(
        __name__,
        {
            "Chakra": "kinetoscope.chakra",
            "FlightRecorder": "kinetoscope.flight_recorder",
            "FlightRecorderSet": "kinetoscope.flight_recorder",
            "MemorySnapshot": "kinetoscope.memory",
            "MemoryTimeline": "kinetoscope.memory",
            "Table": "kinetoscope.table",
            "Tables": "kinetoscope.tables",
            "TraceSet": "kinetoscope.trace_set",
            "diff": "kinetoscope._analysis.differences",
            "profile": "kinetoscope.profiling.profiler",
            "read_dir": "kinetoscope._load.job",
            "replay": "kinetoscope.replaying.operators.run",
            "replay_comms": "kinetoscope.replaying.replay",
        },
    )

    def __dir__() -> list[str]:
        return sorted(__all__)


def load_ipython_extension(shell: lazy.Any) -> None:
    """Registers `%kinetoscope` and `%%kinetoscope` for `%load_ext`; see their `--help`."""
    from kinetoscope._notebook.magics import register

    register(shell)


__all__ = [
    "Chakra",
    "FlightRecorder",
    "FlightRecorderSet",
    "MemorySnapshot",
    "MemoryTimeline",
    "Table",
    "Tables",
    "Trace",
    "TraceError",
    "TraceLimitError",
    "TraceParseError",
    "TraceSet",
    "UnsupportedTraceError",
    "__version__",
    "diff",
    "profile",
    "read",
    "read_dir",
    "replay",
    "replay_comms",
    "use_cache",
]
