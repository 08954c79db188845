"""Threads that read: all at once, seen from the one that waits for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TypeVar, final

from kinetoscope._base.processors import num_processors
from kinetoscope._native import Reading

_MAX_THREADS = 8
_LOOK_S = 0.1

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
_Outcome = TypeVar("_Outcome")


@final
class Workers:
    """Threads that read, as many as there are processors, seen from the one that waits for them.

    A context: on Ctrl-C, or when the block raises, the reads that are under way are cancelled, and no thread is left.
    """

    def __init__(self, max_items: int = _MAX_THREADS) -> None:
        self._reading = Reading()
        self._threads = ThreadPoolExecutor(_num_threads(max_items), thread_name_prefix="kinetoscope")

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._reading.cancel()
        self._threads.shutdown(cancel_futures=True)

    def begin(self, work: Callable[[_Item, Reading], _Result], item: _Item) -> Future[_Result]:
        """Begins work on an item; `work` gets the `Reading` to pass to the native reader."""
        return self._threads.submit(work, item, self._reading)

    def finish(
        self, futures: Sequence[Future[_Result]], look: Callable[[int, int], object] | None = None
    ) -> list[_Result]:
        """Waits for work; raises what it raised. `look` as in `for_each`."""
        shown = look and (lambda waiting: look(self._reading.num_bytes, len(futures) - len(waiting)))
        return finished(futures, shown)


def finished(
    futures: Sequence[Future[_Result]], look: Callable[[set[Future[_Result]]], object] | None = None
) -> list[_Result]:
    """Waits for work; raises what it raised. `look` is called about ten times a second with what is not done."""
    return finished_as(Future.result, futures, look)


def finished_as(
    outcome: Callable[[Future[_Result]], _Outcome],
    futures: Sequence[Future[_Result]],
    look: Callable[[set[Future[_Result]]], object] | None = None,
) -> list[_Outcome]:
    """The same, where `outcome` says what is made of a future that is done, or raises."""
    found: dict[Future[_Result], _Outcome] = {}
    waiting = set(futures)
    while waiting:
        done, waiting = wait(waiting, _LOOK_S)
        done |= {future for future in waiting if future.cancelled()}  # of which an executor that ends tells nobody
        waiting -= done
        found.update((future, outcome(future)) for future in done)
        if look:
            look(waiting)
    return [found[future] for future in futures]


def for_each(
    items: Sequence[_Item],
    work: Callable[[_Item, Reading], _Result],
    look: Callable[[int, int], object] | None = None,
) -> list[_Result]:
    """What `work` gives for each item, in their order; as many at a time as there are processors.

    `look` is called about ten times a second with the number of bytes read and of items done. Raises what `work` does.
    """
    with Workers(len(items)) as workers:
        return workers.finish([workers.begin(work, item) for item in items], look)


def _num_threads(num_items: int) -> int:
    return max(1, min(num_processors(), num_items, _MAX_THREADS))
