"""Functions that run in the workers of an executor, and the call that submits them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from kinetoscope import _native
from kinetoscope._base.progress import bar
from kinetoscope._base.threads import finished_as
from kinetoscope._io.file import LocalFile
from kinetoscope._load.unread import FailedRead

if TYPE_CHECKING:
    from kinetoscope._io.discovery import Pair
    from kinetoscope._io.source import File
    from kinetoscope._load.recording import ReadResult, Recording
    from kinetoscope.trace import Trace

_MAX_CACHED_EVENTS = 1_000_000

_Result = TypeVar("_Result")


class Inspection(NamedTuple):
    """Facts about a recording, known once it was read."""

    rank: int | None
    num_events: int
    num_nodes: int
    pair: Pair
    """Names of the files that were read."""
    failures: dict[str, str]
    """Unreadable files by name, each with the reason."""
    communications: bytes
    """Snapshot with only the communications, which analyses compare between ranks."""
    parts: list[PartInspection]
    """The ranks of a merged file; empty for the recording of one rank."""


class PartInspection(NamedTuple):
    """Facts about a rank of a merged file."""

    inspection: Inspection
    label: str
    origin: str


class Query(NamedTuple):
    """A question of an analysis across ranks to one of them."""

    name: str
    request: str
    queries: bytes


# --- in a worker ---------------------------------------------------------------------------------


class _TraceCache:
    """The traces that this process read last, so that a second request does not read again.

    Holds the latest trace, and older ones up to `_MAX_CACHED_EVENTS` events and nodes together.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._results: OrderedDict[str, ReadResult] = OrderedDict()

    def __len__(self) -> int:
        return len(self._results)

    def read(self, recording: Recording) -> ReadResult:
        key = _key(recording)
        with self._lock:
            result = self._results.pop(key, None)
        result = result or recording.read()
        with self._lock:
            self._results[key] = result
            while len(self._results) > 1 and self._num_events() > _MAX_CACHED_EVENTS:
                self._results.popitem(last=False)
        return result

    def _num_events(self) -> int:
        return sum(result.trace.num_events + len(result.trace.nodes) for result in self._results.values())


_trace_cache = _TraceCache()


def _key(recording: Recording) -> str:
    files = [recording.files[name] for name in recording.pair.names]
    options = recording.options
    captures = [str(source) for source in options.captures.sources] if options.captures else []
    flags = [options.iteration, options.merges, options.include_environment, options.iterations]
    key = [*flags, captures, recording.part]
    return repr([*map(_version, files), *key])


def _version(file: File) -> tuple[object, ...]:
    """Identifies a version of a file as well as a cheap check can."""
    return file.label, file.size, file.modified_ns if isinstance(file, LocalFile) else None


def run(recording: Recording, function: Callable[..., _Result], *arguments: object) -> _Result | FailedRead:
    """Reads a recording and calls `function(result, *arguments)`.

    Returns a FailedRead for an unreadable recording. Raises the errors of `function`, which come
    from a bad request.
    """
    try:
        result = _trace_cache.read(recording)
    except (_native.TraceError, OSError, MemoryError) as error:
        return FailedRead(str(error) or type(error).__name__, isinstance(error, _native.UnsupportedTraceError))
    return function(result, *arguments)


# --- functions of a recording, for workers and for the calling process ---------------------------


def inspect(result: ReadResult) -> Inspection:
    """Returns the facts that a job needs about each rank."""
    parts = [PartInspection(_inspection(part.trace, result, []), part.label, part.origin) for part in result.parts()]
    return _inspection(result.trace, result, parts)


def _inspection(trace: Trace, result: ReadResult, parts: list[PartInspection]) -> Inspection:
    communications = _native.communications(trace._native)  # noqa: SLF001 - an argument of the core
    return Inspection(
        trace.rank, trace.num_events, len(trace.nodes), result.pair, dict(result.failures), communications, parts
    )


def analyze(result: ReadResult, name: str, request: str) -> bytes:
    """Runs an analysis of a single trace, and returns its packed result."""
    return _native.packed_answer(result.trace._native, name, request)  # noqa: SLF001 - as above


def respond(result: ReadResult, queries: Sequence[Query]) -> list[bytes]:
    """Answers the queries of analyses that compare ranks."""
    return [_native.respond(result.trace._native, *query) for query in queries]  # noqa: SLF001 - as above


def report(result: ReadResult, queries: Sequence[Query]) -> list[bytes]:
    """Returns the replies to queries, and last what a report tells about the trace."""
    return [*respond(result, queries), _native.packed_facts(result.trace._native)]  # noqa: SLF001 - as above


# --- in the calling process ----------------------------------------------------------------------


def run_each(
    executor: Executor,
    function: Callable[..., _Result],
    tasks: Sequence[tuple[Recording, tuple[Any, ...]]],
    *,
    progress: bool | None = None,
) -> list[_Result | FailedRead]:
    """Submits `run` for each recording with its arguments, and returns the results in order.

    Shows a progress bar. On Ctrl-C or an error, cancels the tasks that have not started.

    Raises BrokenExecutor if a worker ends, CancelledError if the executor is shut down.
    """
    sizes: dict[Future[_Result | FailedRead], int] = {}
    try:
        for recording, arguments in tasks:
            sizes[executor.submit(run, recording, function, *arguments)] = recording.size
        total = sum(sizes.values())
        with bar("analyzing ranks", total, len(sizes), wanted=progress) as update:

            def on_wait(waiting: set[Future[_Result | FailedRead]]) -> None:
                if update:
                    update(total - sum(sizes[future] for future in waiting), len(sizes) - len(waiting))

            return finished_as(_outcome, list(sizes), on_wait)
    except BrokenExecutor as error:
        message = "a worker process ended, possibly out of memory; try fewer workers"
        raise type(error)(f"{message}: {error}") from error
    except CancelledError as error:
        raise CancelledError("the executor was shut down before all ranks were analyzed") from error
    finally:
        for future in sizes:
            future.cancel()


def _outcome(future: Future[_Result | FailedRead]) -> _Result | FailedRead:
    """Returns the result of a finished task.

    If a cluster loses a single worker (`KilledWorker` of dask), returns a FailedRead and keeps the
    other ranks. Raises the error of a bad request or a broken executor.
    """
    error = future.exception()
    concerns_all_ranks = isinstance(error, (_native.TraceError, ValueError, BrokenExecutor))
    if isinstance(error, Exception) and not concerns_all_ranks:
        return FailedRead(f"{type(error).__name__}: {error}", is_other_kind=False)
    return future.result()
