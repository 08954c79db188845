"""Kinetoscope: collect, read, question and share PyTorch traces without leaving the notebook.

::

    import kinetoscope as ks

    with ks.profile("traces", wait=1, warmup=1, active=3) as prof:
        for batch in loader:
            train_step(batch)
            prof.step()

    trace = prof.trace            # or ks.read("traces/kineto_trace_0.json.gz"), ks.read_dir("traces")
    trace.timeline()
    trace.events.to_polars()
    trace.report("report.html")
"""

from kinetoscope._native import TraceError, TraceParseError, UnsupportedTraceError, __version__
from kinetoscope.cache import use_cache
from kinetoscope.chakra import Chakra
from kinetoscope.memory import MemorySnapshot, MemoryTimeline
from kinetoscope.profile import profile
from kinetoscope.read import read, read_dir
from kinetoscope.table import Table
from kinetoscope.tables import Tables
from kinetoscope.trace import Trace
from kinetoscope.traceset import TraceSet

__all__ = [
    "Chakra",
    "MemorySnapshot",
    "MemoryTimeline",
    "Table",
    "Tables",
    "Trace",
    "TraceError",
    "TraceParseError",
    "TraceSet",
    "UnsupportedTraceError",
    "__version__",
    "profile",
    "read",
    "read_dir",
    "use_cache",
]
