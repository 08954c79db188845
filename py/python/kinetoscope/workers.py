"""Threads that read: all at once, seen from the one that waits for them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

from kinetoscope._native import Reading

_MAX_THREADS = 8
_LOOK_S = 0.1

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def for_each(
    items: Sequence[_Item],
    work: Callable[[_Item, Reading], _Result],
    look: Callable[[int, int], object] | None = None,
) -> list[_Result]:
    """What `work` gives for each item, in their order; as many at a time as there are processors.

    `work` gets the `Reading` to pass to the native reader. `look` is called about ten times a second with the number of
    bytes read and of items done. On Ctrl-C, or when `work` raises, the reads that are under way are cancelled: no
    thread is left when this returns or raises.
    """
    reading = Reading()
    threads = ThreadPoolExecutor(_num_threads(len(items)), thread_name_prefix="kinetoscope")
    try:
        futures = [threads.submit(work, item, reading) for item in items]
        waiting = set(futures)
        while waiting:
            done, waiting = wait(waiting, _LOOK_S)
            for future in done:
                future.result()
            if look:
                look(reading.num_bytes, len(futures) - len(waiting))
        return [future.result() for future in futures]
    except BaseException:
        reading.cancel()
        raise
    finally:
        threads.shutdown(cancel_futures=True)


def num_processors() -> int:
    """The processors that this process may use, where the system says which."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _num_threads(num_items: int) -> int:
    return max(1, min(num_processors(), num_items, _MAX_THREADS))
