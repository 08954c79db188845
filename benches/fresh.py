"""Fresh processes: what was done before has no part in their time and memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple, TypeVar

_ONCE = Path(__file__).with_name("once.py")

_Result = TypeVar("_Result")


class Read(NamedTuple):
    """Output of once.py."""

    seconds: list[float]
    processor_seconds: list[float]
    start_bytes: int
    peak_bytes: int
    num_events: int
    version: str


def read_once(library: str, path: Path, *, times: int = 1, python: str = sys.executable) -> Read:
    """Reads a path in a fresh process."""
    # -I: beside the script there is an hta.py, which is not HTA
    command = [python, "-I", str(_ONCE), library, str(path.resolve()), str(times)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own script
    if done.returncode:
        raise RuntimeError(f"{library} did not read {path}:\n{done.stderr}")
    return Read(**json.loads(done.stdout.splitlines()[-1]))


def apart(work: Callable[[], _Result]) -> _Result:
    """Calls a function in a fresh process, so that this process stays small.

    A child inherits the peak memory of its parent in the statistics of the system.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(work).result()


def processors() -> list[int]:
    """Those that this process may use."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


@contextmanager
def on(chosen: Iterable[int]) -> Generator[None]:
    """Restricts this thread and its children to processors, where the system supports it."""
    before = processors()
    if before:
        os.sched_setaffinity(0, chosen)
    try:
        yield
    finally:
        if before:
            os.sched_setaffinity(0, before)
