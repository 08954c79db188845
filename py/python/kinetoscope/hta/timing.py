"""Durations of functions."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

PROFILE_TIMES: dict[str, float] = {}
"""Duration in seconds of the last call of each `timeit` function, by function name."""

P = ParamSpec("P")
R = TypeVar("R")


def timeit(func: Callable[P, R]) -> Callable[P, R]:
    """Decorates a function: each call stores its duration, in seconds, in `PROFILE_TIMES`."""

    @wraps(func)
    def timed(*args: P.args, **kwargs: P.kwargs) -> R:
        start = time.perf_counter()
        result = func(*args, **kwargs)
        PROFILE_TIMES[func.__name__] = time.perf_counter() - start
        return result

    return timed
