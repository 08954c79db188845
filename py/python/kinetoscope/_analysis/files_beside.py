"""Files beside a trace: sources of compiled kernels, memory snapshots, traces of other tools."""

from __future__ import annotations

import os

from kinetoscope._base import lazy
from kinetoscope._base.system import num_processors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from kinetoscope import _native
    from kinetoscope._load.companions import Companion


class FilesBeside:
    """The methods of a trace that read files beside it."""

    source: str | None
    execution_source: str | None
    _native: _native.Trace
    companions: Sequence[Companion] = ()
    """Traces of other tools on the time axis; see `with_companion`. Edited traces have none."""

    def kernel_sources(self, folder: str | os.PathLike[str] | None = None) -> lazy.Table:
        """Traces compiled kernels back to Triton sources, FX nodes and lines of Python.

        Reads files in `folder` and its subfolders; by default, in the folder or archive of the
        trace:

        * source files with the names that the trace has (`kernel_file`), wherever they were written
        * files of Inductor: `output_code.py`, `fx_graph_readable.py` (`TORCH_COMPILE_DEBUG=1`)
        * files of tlparse: `inductor_provenance_tracking_node_mappings.json` and others

        Never opens a path that a trace or a source names. The table has a row per kernel and node:

        * `source`, `source_line`: the definition of the kernel
        * `node`, `target`: a node of the compiled graph, and its operator
        * `python_file`, `python_line`, `python_function`, `code`: the line of the program
        * `reason`: why a kernel has no source

        Raises ValueError if the trace was not read from a local file and `folder` is missing.
        Raises OSError for a missing folder or an unreadable file.
        """
        from kinetoscope._io.kernel_sources import source_files
        from kinetoscope.table import Table

        files = source_files(folder, self.source, self._native.kernel_file_names())
        return Table(self._native.kernel_sources(files))

    def with_kernel_sources(self, folder: str | os.PathLike[str] | None = None) -> lazy.Trace:
        """Returns the trace with the sources of its generated kernels, for `roofline`.

        Reads the same files as `kernel_sources`, with the same errors, and logs of the compiler
        (`TORCH_TRACE`, up to 8 MiB; `recompile_reasons_*.json` of tlparse). `roofline` then counts
        operations of generated kernels, and bytes by the indices that each kernel loads and
        stores. `findings` names the guard that made a function compile again. Files and
        snapshots written from the trace do not contain the sources.

        ::

            trace.with_kernel_sources().roofline()
        """
        from kinetoscope._io.kernel_sources import source_files
        from kinetoscope.trace import Trace

        files = source_files(folder, self.source, self._native.kernel_file_names())
        found = Trace(self._native.with_sources(files), self.source, self.execution_source)
        found.companions = self.companions
        return found

    def with_memory(self, snapshot: lazy.MemorySnapshot | str | os.PathLike[str]) -> lazy.Trace:
        """Adds what a memory snapshot of the same run knows. Returns a new trace.

        Both files have one clock, so that memory, operators, modules and lines share one time axis,
        even if the trace was recorded without `profile_memory`. `snapshot` is the file of
        `torch.cuda.memory._dump_snapshot` or its MemorySnapshot.

        * Actions of the allocator during the trace become `[memory]` events, each on the thread
          with an operator at that time. An action without such a thread is on the thread
          "Memory snapshot".
        * Equal events of the trace (device, address, time within 1 ms) stay; they get the
          snapshot's `line` of Python and `category`.
        * Memory in use as the trace begins becomes `[memory in use]` events at its first time.

        `memory`, findings, the timeline and reports use them. Raises TraceError if the snapshot is
        of another run, or has no action in the time of the trace. Raises UnsupportedTraceError for
        another format.
        """
        from kinetoscope._load.memory import memory_snapshot
        from kinetoscope.trace import Trace

        tables = memory_snapshot(snapshot)._native  # noqa: SLF001 - the core joins them
        native = self._native.with_memory(tables, max_threads=num_processors())
        found = Trace(native, self.source, self.execution_source)
        found.companions = self.companions
        return found

    def with_companion(self, source: lazy.Trace | lazy.Source, *, align: lazy.CompanionAlign = None) -> lazy.Trace:
        """Adds the trace of another tool of the same run, on one time axis. Returns a new trace.

        The timeline and the report show both. `companions` lists them, with their own tables and
        analyses. Those of this trace stay as they are: a companion is no rank.

        `source` is a Trace or a source of `read`: VizTracer, Nsight Systems, ROCm, XLA (JAX),
        TensorFlow, ONNX Runtime, Proton. `align` places it in time:

        * `"annotations"`: by annotations of the same name in both traces (`record_function`,
          `log_event`, NVTX), matched in order; the offset is the median, `spread_ns` its accuracy
        * `"recorded"`: times as in the files
        * `{"offset_ns": 1500}`: adds so many ns to the times of the other trace
        * None: by annotations; else as recorded, if both clocks count from 1970

        Raises TraceError if too few annotations fit one offset; the message has their number.
        Raises UnsupportedTraceError for another format, and OSError for an unreadable file.

        ::

            trace.with_companion("viztracer.json").timeline()
        """
        from kinetoscope._load.companions import companion, trace_of
        from kinetoscope.trace import Trace

        trace = Trace(self._native, self.source, self.execution_source)
        placed = companion(trace, trace_of(source), align)
        trace.companions = (*self.companions, placed)
        return trace
