"""Reads one recording, or another file that PyTorch's tools write."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack

from kinetoscope import _native
from kinetoscope._base import lazy
from kinetoscope._base.system import SEPARATORS, num_processors
from kinetoscope._io.cache import cache_folder, read_cached
from kinetoscope._io.file import expect_no_file, file_at_path, file_from_content
from kinetoscope._io.paths import is_report, is_url
from kinetoscope.trace import Trace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kinetoscope._io.source import File
    from kinetoscope._load.captures import Captures
    from kinetoscope.tables import Tables

# Functions import at the call: a local trace needs neither archives nor URLs.


class Options:
    """Options of `read` and `read_dir`, for each recording."""

    def __init__(  # noqa: PLR0913 - options by keyword
        self,
        max_bytes: int | None,
        cache: str | None,
        max_threads: int = 1,
        iteration: int | None = None,
        *,
        merges: bool = False,
        include_environment: bool = False,
        iterations: Sequence[str] | None = None,
        capture: lazy.Capture = None,
    ) -> None:
        if max_bytes is not None and max_bytes < 0:
            raise ValueError(f"expected max_bytes of at least 0, found {max_bytes}")
        self.max_bytes = max_bytes
        """Limit of the decompressed size of each file, in bytes; None for no limit."""
        self.cache = cache
        """Cache folder; None for no cache."""
        self.max_threads = max_threads
        """Threads per recording. The recordings of a job are read on one thread each."""
        self.iteration = iteration
        """Iteration that the nodes of a recording are linked to; None for the recorded links."""
        self.merges = merges
        """Whether the ranks of a merged file stay one trace."""
        self.include_environment = include_environment
        """Whether metadata keep environment variables, host and user names."""
        self.iterations = [iterations] if isinstance(iterations, str) else list(iterations or ())
        """Names of the events that mark iterations; empty for the usual ones."""
        self.captures = None if capture is None else _captures(capture)
        """Traces that captured the graphs; None without any."""


def read(  # noqa: PLR0913 - options by keyword
    source: lazy.Source | lazy.Sources,
    et: lazy.Source | lazy.Literal[False] | None = None,
    *,
    iteration: int | None = None,
    max_bytes: int | None = None,
    cache: lazy.Cache = None,
    storage_options: Mapping[str, lazy.Any] | None = None,
    ranks: lazy.Ranks = "split",
    include_environment: bool = False,
    iterations: Sequence[str] | None = None,
    capture: lazy.Capture = None,
    memory: lazy.MemorySnapshot | str | os.PathLike[str] | None = None,
    align: lazy.CompanionAlign = None,
) -> Trace | lazy.Any:
    """Reads a Kineto trace and its Execution Trace, and links them. Returns a Trace.

    A file that merges the ranks of a job is a job: returns a TraceSet with a trace per rank.

    `source` is a path, a URL, bytes, or a file opened in binary mode. fsspec opens a URL (s3, gs,
    http, …) with `storage_options`. The content decides the format, not the name:

    * JSON, plain or compressed with gzip, xz or zstd; a Kineto trace, or an Execution Trace alone
    * a snapshot of `Trace.save`
    * a Perfetto trace (`.pftrace`), of PyTorch 2.15 or another program
    * an SQLite export of Nsight Systems (`nsys export --type sqlite`)
    * a database of ROCm, of `rocprofv3` or RPD: calls, device work, markers and clocks
    * a database of msprof (`ascend_pytorch_profiler_*.db`): operators, calls, tasks, collectives
    * a profile of XLA (`*.xplane.pb`), of JAX, TensorFlow or PyTorch/XLA
    * a report of Nsight Systems (`.nsys-rep`), with its export beside it or `nsys` on the path
    * a tar or zip archive: returns a TraceSet if it holds several recordings
    * a Chakra trace (`.et`): returns a Chakra
    * a memory snapshot (`torch.cuda.memory._dump_snapshot`): returns a MemorySnapshot
    * a memory timeline (`export_memory_timeline`, as JSON): returns a MemoryTimeline
    * a dump of the flight recorder (`torch.distributed`): returns a FlightRecorder

    `et` is the Execution Trace, or the archive of Execution Traces; False for none. By default,
    `read` looks beside a path or URL for a file with a matching name: `torch_et_0.json.gz` for
    `kineto_trace_0.json.gz`, `rank-3.et.json` for `rank-3.json`, `x_et.json` for `x_trace.json`.

    `iteration` links the shorter file to this iteration of the longer file, as `Trace.relink`
    does. In an archive, it applies to each rank. `max_bytes` limits the decompressed size of each
    file, and of all files of an archive together; default: no limit. `cache` is a folder of
    snapshots that make a second `read` of the same files fast; default: the folder of `use_cache`.

    `iterations` names the host events that mark iterations; `*` stands for any text. `"gaps"`
    divides the calls of the thread that launches at gaps that are much longer than the others. By
    default, `ProfilerStep#n` marks them, or a serving engine or trainer: `Trace.summary` tells.

    `capture` is the trace of the capture of its CUDA or HIP graphs: a Trace, a path, a folder, or
    several. Replayed kernels get operator, module, Python line and inputs from it.
    `memory` is a memory snapshot of the same run, or its path: see `Trace.with_memory`.

    A list of sources is one run: ranks, and traces of other tools, such as VizTracer or Nsight
    Systems, which become companions of the ranks. `align` places them: see `Trace.with_companion`.

    `ranks` is about files with several ranks: `"split"` makes a job of them, and `"merge"` one
    Trace. A list of ranks returns a TraceSet of these alone. docs/merged-files.md says which files
    are merged, and where each event goes.

    `metadata` lacks environment variables, host and user names, command lines and secrets, because
    traces are shared. `include_environment=True` keeps them, also in what is saved, exported or
    shown. `environment_left_out` lists their keys.

    `Trace.verdict` says whether a readable trace can be trusted. A list or a folder of dumps of
    PyTorch's flight recorder returns a `FlightRecorderSet`.

    Raises:
        TraceError: the content is not a readable trace, it has no event of `iterations`, or
            `memory` is of another run.
        OSError: a file cannot be opened.
        ImportError: a package for the URL is missing.
        ValueError: `source` is an empty path, `max_bytes` is negative, or a rank is missing.
    """
    selected = _selected_ranks(ranks)
    flags = {"merges": ranks == "merge", "include_environment": include_environment}
    folder, threads = cache_folder(cache), num_processors()
    options = Options(max_bytes, folder, threads, iteration, **flags, iterations=iterations, capture=capture)
    found = _of_ranks(_read_sources(source, align, options, et, storage_options), selected)
    return found if memory is None else _with_memory(found, memory)


def _read_sources(
    source: lazy.Source | lazy.Sources,
    align: lazy.CompanionAlign,
    options: Options,
    et: lazy.Source | lazy.Literal[False] | None,
    storage_options: Mapping[str, lazy.Any] | None,
) -> Trace | lazy.Any:
    """Reads one source, or a list of them: dumps of flight recorders, or traces."""
    if isinstance(source, (list, tuple)):
        files = [_open_source(one, storage_options) for one in source]
        if any(_native.is_flight_dump(file.head()) for file in files):
            return _read_recorders(files, options)
        from kinetoscope._load.together import read_together

        return read_together(source, align, options, et, storage_options)
    if align is not None:
        raise ValueError("expected a list of files with align, found one file; use Trace.with_companion")
    if (recorders := _recorders_in(source, options)) is not None:
        return recorders
    return read_one(source, options, et, storage_options)


def read_one(
    source: lazy.Source,
    options: Options,
    et: lazy.Source | lazy.Literal[False] | None,
    storage_options: Mapping[str, lazy.Any] | None,
) -> Trace | lazy.Any:
    """Reads one source as `read` does."""
    file = _open_source(source, storage_options)
    execution = file.execution() if et is None else None if et is False else _open_source(et, storage_options)
    return _read_opened(file, execution, options, et)


def _read_recorders(files: Sequence[File], options: Options) -> lazy.FlightRecorderSet:
    """Reads dumps of several ranks."""
    from kinetoscope._load.flight import read_dumps

    return read_dumps(files, options)


def _recorders_in(source: lazy.Source, options: Options) -> lazy.FlightRecorderSet | None:
    """Reads the dumps in a folder; None for another source, and for a folder without them."""
    if not isinstance(source, (str, os.PathLike)) or is_url(source) or not os.path.isdir(source):
        return None
    from kinetoscope._load.flight import read_dump_folder

    return read_dump_folder(source, options)


def _with_memory(found: Trace | lazy.Any, memory: lazy.MemorySnapshot | str | os.PathLike[str]) -> Trace:
    if isinstance(found, Trace):
        return found.with_memory(memory)
    raise _native.UnsupportedTraceError(
        f"expected the trace of one rank with memory=, found a {type(found).__name__}; use Trace.with_memory"
    )


def _read_opened(
    file: File, execution: File | None, options: Options, et: lazy.Source | lazy.Literal[False] | None
) -> Trace | lazy.Any:
    """Reads an opened file with its Execution Trace; `et` is that of `read`."""
    if _native.is_archive(file.head()):
        from kinetoscope._load.job import read_archive

        return read_archive(file, execution, options, has_executions=et is not False)
    if et is None and execution is not None:
        result = _read_with_neighbour(file, execution, options)
    else:
        result = read_files([file] if execution is None else [file, execution], options)
    if not isinstance(result, Trace):
        if options.iteration is None:
            return result
        raise _native.UnsupportedTraceError(f"expected a trace to link, found {result.sort} ({result.source})")
    found = result if options.merges else _job_of(result, options)
    if found is result and options.iteration is not None:
        return result.relink(iteration=options.iteration)
    return found


def _selected_ranks(ranks: lazy.Ranks) -> set[int] | None:
    """Returns the selected ranks; None for all. Raises ValueError for another word."""
    if isinstance(ranks, str):
        if ranks not in {"split", "merge"}:
            raise ValueError(f'expected ranks="split", ranks="merge" or a list of ranks, found {ranks!r}')
        return None
    return set(ranks)


def _of_ranks(found: Trace | lazy.Any, ranks: set[int] | None) -> Trace | lazy.Any:
    """Selects ranks. Raises ValueError for a missing one."""
    if ranks is None:
        return found
    if isinstance(found, Trace):
        if ranks != {found.rank} and found.rank is not None:
            raise ValueError(f"expected a trace of the ranks {sorted(ranks)}, found rank {found.rank}")
        return found
    from kinetoscope.trace_set import TraceSet

    return found.of_ranks(ranks) if isinstance(found, TraceSet) else found


def _job_of(trace: Trace, options: Options) -> Trace | lazy.Any:
    """Returns the job in a merged file; the trace itself if it has one rank."""
    if not (parts := split(trace)):
        return trace
    from kinetoscope.trace_set import job_of_parts

    return job_of_parts(trace, parts, options)


def read_recording(
    kineto: File | None, execution: File | None, options: Options, reading: _native.Reading | None = None
) -> Trace:
    """Reads and links the files of one recording; at least one is not None.

    Raises TraceError or OSError for an unreadable file. Raises UnsupportedTraceError for another
    format than a trace. Raises KeyboardInterrupt if `reading` is cancelled, or on Ctrl-C in the
    main thread.
    """
    files = [file for file in (kineto, execution) if file is not None]
    result = read_files(files, options, reading)
    if isinstance(result, Trace):
        return result
    raise _native.UnsupportedTraceError(
        f"expected a trace, found {result.sort}: {result.source}; use ks.read for this file"
    )


def read_files(files: Sequence[File], options: Options, reading: _native.Reading | None = None) -> Trace | Tables:
    """Reads files as `read_recording` does; a single file may have another format than a trace.

    Also reads the metrics beside each file.
    """
    metrics = [beside for file in files if (beside := file.metrics())]

    def read_native() -> _native.Trace | _native.Tables:
        with ExitStack() as stack:
            sources = [stack.enter_context(file.opened()) for file in [*files, *metrics]]
            return _native.read(
                sources,
                max_bytes=options.max_bytes,
                max_threads=options.max_threads,
                include_environment=options.include_environment,
                reading=reading,
            )

    if options.cache is None:
        native = read_native()
    else:
        native = read_cached(
            options.cache,
            [*files, *metrics],
            read_native,
            max_bytes=options.max_bytes,
            max_threads=options.max_threads,
            include_environment=options.include_environment,
        )
    labels = [file.label for file in files]
    if isinstance(native, _native.Tables):
        return _tables(native, labels[0])
    if options.merges:
        native = native.with_separate_devices(max_threads=options.max_threads) or native
    if options.iterations:
        native = native.with_iterations(options.iterations, max_threads=options.max_threads)
    if options.captures is not None:
        native = options.captures.added_to(native, max_threads=options.max_threads)
    return Trace(native, labels[0], labels[1] if len(labels) > 1 else None)


def _captures(capture: lazy.Capture) -> Captures:
    from kinetoscope._load.captures import Captures

    return Captures(capture)


class RankPart:
    """A rank of a merged file."""

    def __init__(self, trace: Trace, label: str, origin: str) -> None:
        self.trace = trace
        self.label = label
        """Name of the rank in the file: `TP0`, `rank 3`, or its process."""
        self.origin = origin
        """Origin of its number: `label`, `device` (its only GPU), or `order`."""


def split(trace: Trace) -> list[RankPart]:
    """Returns the ranks of a merged file; none for the recording of one rank."""
    parts: list[RankPart] = []
    for native, label, origin, ids in trace._native.split(max_threads=num_processors()):  # noqa: SLF001 - the core splits it
        part = Trace(native, trace.source, trace.execution_source)
        part.original_ids = memoryview(ids).cast("I")
        parts.append(RankPart(part, label, origin))
    return parts


def _tables(native: _native.Tables, source: str | None) -> Tables:
    """Wraps a file that is not a trace in its public class."""
    from kinetoscope.chakra import Chakra
    from kinetoscope.flight_recorder import FlightRecorder
    from kinetoscope.memory import MemorySnapshot, MemoryTimeline

    classes: dict[str, type[Tables]] = {
        "a Chakra trace": Chakra,
        "a flight recorder": FlightRecorder,
        "a memory snapshot": MemorySnapshot,
        "a memory timeline": MemoryTimeline,
    }
    return classes[native.sort](native, source)


def _open_source(source: lazy.Source, storage_options: Mapping[str, lazy.Any] | None) -> File:
    if is_url(source):
        from kinetoscope._io.remote import file_at

        return file_at(source, storage_options)
    if not isinstance(source, (str, os.PathLike)):
        return file_from_content(source)
    path = os.fspath(source)
    if not path:
        raise ValueError("expected the path of a trace, found an empty one")
    if os.path.isdir(path):
        raise IsADirectoryError(f"expected a file, found a folder: {path}; use ks.read_dir for a folder")
    if path.endswith(SEPARATORS):
        expect_no_file(path)
    file = file_at_path(path)
    if is_report(path):
        from kinetoscope._io.nsight import resolve_report

        return resolve_report(file)
    return file


def _read_with_neighbour(file: File, execution: File, options: Options) -> Trace | Tables:
    """Reads a file with the Execution Trace beside it.

    If that fails, reads the file alone and warns: the caller did not ask for an Execution Trace.
    """
    try:
        return read_recording(file, execution, options)
    except (_native.TraceError, OSError) as error:
        result = read_files([file], options)
        if isinstance(result, Trace):
            from kinetoscope._base.warnings import warn

            warn(f"{execution.label}, found beside {file.label}, was not read: {error}")
        return result
