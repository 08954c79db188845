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
from kinetoscope.read import read
from kinetoscope.trace import Trace

TYPE_CHECKING = False  # as `typing` has it, which would be half a megabyte
if TYPE_CHECKING:
    from kinetoscope.chakra import Chakra
    from kinetoscope.job import read_dir
    from kinetoscope.memory import MemorySnapshot, MemoryTimeline
    from kinetoscope.profiling import profile
    from kinetoscope.table import Table
    from kinetoscope.tables import Tables
    from kinetoscope.traceset import TraceSet
else:
    # What reading one file does without: the module that each is from, imported when it is first asked for.
    _LAZY = {
        "Chakra": "chakra",
        "MemorySnapshot": "memory",
        "MemoryTimeline": "memory",
        "Table": "table",
        "Tables": "tables",
        "TraceSet": "traceset",
        "profile": "profiling",
        "read_dir": "job",
    }

    def __getattr__(name: str) -> object:
        if name not in _LAZY:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
        from importlib import import_module

        return globals().setdefault(name, getattr(import_module(f"{__name__}.{_LAZY[name]}"), name))

    def __dir__() -> list[str]:
        return sorted(globals().keys() | _LAZY.keys())


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
