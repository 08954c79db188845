"""Worker threads for reading, with progress and cancellation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar, final

from kinetoscope._base.system import HAS_THREADS, num_processors
from kinetoscope._native import Reading

_MAX_THREADS = 8
_LOOK_S = 0.1

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
_Outcome = TypeVar("_Outcome")


@final
class Workers:
    """A pool of threads that read, one per processor, at most 8. Without threads, the caller reads.

    Use it as a context. On Ctrl-C, or if the block raises, it cancels running reads and joins all
    threads.
    """

    def __init__(self, max_items: int = _MAX_THREADS) -> None:
        self._reading = Reading()
        self._executor = _executor(max_items)

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._reading.cancel()
        self._executor.shutdown(cancel_futures=True)

    def begin(self, work: Callable[[_Item, Reading], _Result], item: _Item) -> Future[_Result]:
        """Starts `work(item, reading)`; `reading` goes to the native reader."""
        return self._executor.submit(work, item, self._reading)

    def finish(
        self, futures: Sequence[Future[_Result]], look: Callable[[int, int], object] | None = None
    ) -> list[_Result]:
        """Waits for all futures and returns their results; `look` as in `for_each`."""
        on_wait = look and (lambda waiting: look(self._reading.num_bytes, len(futures) - len(waiting)))
        return finished(futures, on_wait)


def finished(
    futures: Sequence[Future[_Result]], look: Callable[[set[Future[_Result]]], object] | None = None
) -> list[_Result]:
    """Waits for futures and returns their results; raises the first error.

    Calls `look` about ten times a second with the unfinished futures.
    """
    return finished_as(Future.result, futures, look)


def finished_as(
    outcome: Callable[[Future[_Result]], _Outcome],
    futures: Sequence[Future[_Result]],
    look: Callable[[set[Future[_Result]]], object] | None = None,
) -> list[_Outcome]:
    """Waits like `finished`; `outcome` converts each finished future, or raises."""
    outcomes: dict[Future[_Result], _Outcome] = {}
    waiting = set(futures)
    while waiting:
        done, waiting = wait(waiting, _LOOK_S)
        done |= {future for future in waiting if future.cancelled()}  # a closing executor does not notify `wait`
        waiting -= done
        outcomes.update((future, outcome(future)) for future in done)
        if look:
            look(waiting)
    return [outcomes[future] for future in futures]


def for_each(
    items: Sequence[_Item],
    work: Callable[[_Item, Reading], _Result],
    look: Callable[[int, int], object] | None = None,
) -> list[_Result]:
    """Calls `work` on each item in threads, and returns the results in order; raises its errors.

    Calls `look` about ten times a second with the number of bytes read and of items done.
    """
    with Workers(len(items)) as workers:
        return workers.finish([workers.begin(work, item) for item in items], look)


def _executor(num_items: int) -> Executor:
    if not HAS_THREADS:
        return _CallersThread()
    return ThreadPoolExecutor(_num_threads(num_items), thread_name_prefix="kinetoscope")


def _num_threads(num_items: int) -> int:
    return max(1, min(num_processors(), num_items, _MAX_THREADS))


class _CallersThread(Executor):
    """Runs work at once."""

    def submit(self, fn: Callable[..., _Result], /, *args: Any, **kwargs: Any) -> Future[_Result]:
        future = Future[_Result]()
        try:
            future.set_result(fn(*args, **kwargs))
        except BaseException as error:  # noqa: BLE001 - the future raises it
            future.set_exception(error)
        return future
