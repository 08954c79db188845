"""Recordings that the workers of an executor read: what they are asked, wherever they are, and who asks them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, wait
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from kinetoscope import _native
from kinetoscope.progress import bar

if TYPE_CHECKING:
    from kinetoscope.discover import Pair
    from kinetoscope.recording import Read, Recording

_LOOK_S = 0.1
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
    return repr([*((file.label, file.size) for file in files), recording.options.iteration])


def _ask(recording: Recording, question: Callable[[_native.Trace], _Result]) -> _Result | Failed:
    """Only a recording that cannot be read has failed: what is wrong with the question is raised."""
    try:
        trace = _kept.read(recording).trace
    except (_native.TraceError, OSError, MemoryError) as error:
        return Failed(str(error) or type(error).__name__)
    return question(trace._native)  # noqa: SLF001 - the core answers


def look(recording: Recording) -> Look | Failed:
    """Reads the recording, and tells what it is and what it has in common with others."""
    communications = _ask(recording, _native.communications)
    if isinstance(communications, Failed):
        return communications
    trace, pair, failures = _kept.read(recording)
    return Look(trace.rank, trace.num_events, len(trace.nodes), pair, dict(failures), communications)


def answer(recording: Recording, name: str, request: str) -> bytes | Failed:
    """What an analysis of one trace says."""
    return _ask(recording, lambda trace: _native.packed_answer(trace, name, request))


def tell(recording: Recording, ways: bytes) -> bytes | Failed:
    """What the rank did on its ways to communications."""
    return _ask(recording, lambda trace: _native.doings(trace, ways))


def bring(recording: Recording) -> bytes | Failed:
    """All of it, as a snapshot."""
    return _ask(recording, lambda trace: trace.snapshot())


# --- where the answers are put together ---------------------------------------------------------------------------


def ask_each(
    executor: Executor,
    work: Callable[..., _Result],
    asked: Sequence[tuple[Recording, tuple[Any, ...]]],
    *,
    progress: bool | None = None,
) -> list[_Result]:
    """What `work` gives for each of them, in their order, with a bar. Ctrl-C takes back what has not begun."""
    futures: list[Future[_Result]] = []
    try:
        for recording, question in asked:
            futures.append(executor.submit(work, recording, *question))
        sizes = dict(zip(futures, [recording.size for recording, _ in asked], strict=True))
        with bar("asking ranks", sum(sizes.values()), len(futures), wanted=progress) as shown:
            waiting = set(futures)
            while waiting:
                _, waiting = wait(waiting, _LOOK_S)
                if shown:
                    shown(
                        sum(size for future, size in sizes.items() if future not in waiting),
                        len(futures) - len(waiting),
                    )
        return [future.result() for future in futures]
    except BaseException:
        for future in futures:
            future.cancel()
        raise
