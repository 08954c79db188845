"""Helpers for tests: the folder of test data, and tests that run once for each case."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any


def get_test_data_dir(*subdirs: str) -> str:
    """Returns the folder `tests/data`, or a folder in it.

    The environment variable `TEST_DATA_PREFIX_PATH` sets the parent folder, by default the current
    folder. Raises FileNotFoundError for a missing folder.
    """
    folder = Path(os.environ.get("TEST_DATA_PREFIX_PATH") or Path.cwd(), "tests", "data", *subdirs)
    if not folder.is_dir():
        raise FileNotFoundError(f"expected a folder of test data, found none at {folder}; set TEST_DATA_PREFIX_PATH")
    return str(folder)


def data_provider(
    data_function: Callable[[], Iterable[Any]],
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorates a test method to run once for each case from `data_function`.

    A case is a dictionary of keyword arguments, a tuple of positional arguments, or a single
    argument.
    """

    def decorator(test_func: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test_func)
        def wrapper(self: object, *args: Any, **kwargs: Any) -> None:
            for case in data_function():
                if isinstance(case, dict):
                    test_func(self, *args, **kwargs | case)
                elif isinstance(case, tuple):
                    test_func(self, *args, *case, **kwargs)
                else:
                    test_func(self, case)

        # a test runner would take the parameters of the method for fixtures
        del wrapper.__wrapped__
        return wrapper

    return decorator
