"""Recordings that the workers of an executor read: what they are asked, wherever they are, and who asks them."""

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

if TYPE_CHECKING:
    from kinetoscope._io.discovery import Pair
    from kinetoscope._io.source import File
    from kinetoscope._load.recording import Read, Recording

_MAX_KEPT_EVENTS = 1_000_000

_Result = TypeVar("_Result")


class Look(NamedTuple):
    """What is known of a recording once it was read."""

    rank: int | None
    num_events: int
    num_nodes: int
    pair: Pair
    failures: dict[str, str]
    communications: bytes
    """Those alone, as a snapshot: they are what is compared between ranks."""


class Failed(NamedTuple):
    """A recording that cannot be read, and why."""

    why: str


# --- on a worker --------------------------------------------------------------------------------------------------


class _Kept:
    """The traces that were read last in this process: whoever is asked again need not read again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: OrderedDict[str, Read] = OrderedDict()

    def read(self, recording: Recording) -> Read:
        key = _key(recording)
        with self._lock:
            found = self._found.pop(key, None)
        found = found or recording.read()
        with self._lock:
            self._found[key] = found
            while len(self._found) > 1 and self._num_events() > _MAX_KEPT_EVENTS:
                self._found.popitem(last=False)
        return found

    def _num_events(self) -> int:
        return sum(found.trace.num_events + len(found.trace.nodes) for found in self._found.values())


_kept = _Kept()


def _key(recording: Recording) -> str:
    files = [recording.files[name] for name in recording.pair.names]
    return repr([*map(_stamp, files), recording.options.iteration])


def _stamp(file: File) -> tuple[object, ...]:
    """What is another once the file is another, as far as asking for that is cheap."""
    return file.label, file.size, file.changed_ns if isinstance(file, LocalFile) else None


def ask(recording: Recording, question: Callable[..., _Result], *arguments: object) -> _Result | Failed:
    """Only a recording that cannot be read has failed: what is wrong with the question is raised."""
    try:
        read = _kept.read(recording)
    except (_native.TraceError, OSError, MemoryError) as error:
        return Failed(str(error) or type(error).__name__)
    return question(read, *arguments)


# --- what is asked of a recording that was read, here or there ----------------------------------------------------


def look(read: Read) -> Look:
    """What it is, and what it has in common with others."""
    trace = read.trace
    communications = _native.communications(trace._native)  # noqa: SLF001 - the core answers
    return Look(trace.rank, trace.num_events, len(trace.nodes), read.pair, dict(read.failures), communications)


def answer(read: Read, name: str, request: str) -> bytes:
    """What an analysis of one trace says."""
    return _native.packed_answer(read.trace._native, name, request)  # noqa: SLF001 - as above


def tell(read: Read, name: str, request: str, questions: bytes) -> bytes:
    """What it says to the questions of an analysis that compares ranks."""
    return _native.respond(read.trace._native, name, request, questions)  # noqa: SLF001 - as above


# --- who asks -----------------------------------------------------------------------------------------------------


def ask_each(
    executor: Executor,
    question: Callable[..., _Result],
    asked: Sequence[tuple[Recording, tuple[Any, ...]]],
    *,
    progress: bool | None = None,
) -> list[_Result | Failed]:
    """What each answers, in their order, with a bar. Ctrl-C, or an error, takes back what has not begun.

    BrokenExecutor or CancelledError when the executor is no more.
    """
    sizes: dict[Future[_Result | Failed], int] = {}
    try:
        for recording, arguments in asked:
            sizes[executor.submit(ask, recording, question, *arguments)] = recording.size
        total = sum(sizes.values())
        with bar("asking ranks", total, len(sizes), wanted=progress) as shown:

            def look_at(waiting: set[Future[_Result | Failed]]) -> None:
                if shown:
                    shown(total - sum(sizes[future] for future in waiting), len(sizes) - len(waiting))

            return finished_as(_outcome, list(sizes), look_at)
    except BrokenExecutor as error:
        why = "a worker ended by itself, perhaps for want of memory; fewer workers need less of it"
        raise type(error)(f"{why}: {error}") from error
    except CancelledError as error:
        raise CancelledError("the executor was shut down before all ranks had answered") from error
    finally:
        for future in sizes:  # what was not begun
            future.cancel()


def _outcome(future: Future[_Result | Failed]) -> _Result | Failed:
    """A worker that is lost with one recording (dask's `KilledWorker`) leaves the rest; a lost executor does not."""
    error = future.exception()
    is_of_all = (_native.TraceError, ValueError, BrokenExecutor)
    if isinstance(error, Exception) and not isinstance(error, is_of_all):
        return Failed(f"{type(error).__name__}: {error}")
    return future.result()
