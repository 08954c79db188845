"""Hides messages of torch that need no action, because notebooks show them in red.

* Kineto reports a missing GPU as errors on machines that have none.
* The observer of the Execution Trace reports each start and stop as warnings.
* torch 2.10 and 2.11 warn that a window has no events of earlier ones. Here, each has its own file.

The C++ libraries read their environment variables when torch is loaded, which is too early. So this
module sets the libraries' own variables, only for the calls that print these messages.
"""

from __future__ import annotations

import ctypes
import os
import sys
import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from kinetoscope._base.system import library_name


class _Level(NamedTuple):
    """The minimum severity of the messages that a library prints."""

    library: str
    symbol: str
    variable: str
    """The user's choice in the environment, which takes precedence."""
    quiet: int


_KINETO = _Level("torch_cpu", "_ZN9libkineto6Logger14severityLevel_E", "KINETO_LOG_LEVEL", 6)
_C10 = _Level("c10", "FLAGS_caffe2_log_level", "TORCH_CPP_LOG_LEVEL", 2)
_EARLIER_WINDOWS = r"Warning: Profiler clears events at the end of each cycle"


@contextmanager
def without_kineto(*, has_device: bool) -> Generator[None]:
    """Hides messages of Kineto in the block, unless the machine has a GPU."""
    with _raised(_KINETO, is_needed=not has_device):
        yield


@contextmanager
def without_warnings() -> Generator[None]:
    """Hides warnings of the C++ libraries in the block. Errors stay, and warnings of Python."""
    with _raised(_C10):
        yield


@contextmanager
def _raised(level: _Level, *, is_needed: bool = True) -> Generator[None]:
    value = _value(level) if is_needed and level.variable not in os.environ else None
    if value is None:
        yield
        return
    before, value.value = value.value, max(value.value, level.quiet)
    try:
        yield
    finally:
        value.value = before


@cache
def _value(level: _Level) -> Any:
    """Returns the variable of a library; None for a build of torch without it."""
    folder = Path(str(sys.modules["torch"].__file__)).parent / "lib"
    with suppress(OSError, ValueError):
        return ctypes.c_int.in_dll(ctypes.CDLL(str(folder / library_name(level.library))), level.symbol)
    return None


@cache
def quiet(base: Any, has_device: Callable[[], bool]) -> Any:
    """Returns a subclass of torch's profiler that starts and stops windows quietly."""
    if not isinstance(base, type):
        return base

    class QuietProfile(base):  # pyright: ignore[reportUntypedBaseClass] - torch is not imported here
        def prepare_trace(self) -> None:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message=_EARLIER_WINDOWS)
                super().prepare_trace()

        def start_trace(self) -> None:
            with without_kineto(has_device=has_device()):
                super().start_trace()

        def stop_trace(self) -> None:
            with without_kineto(has_device=has_device()):
                super().stop_trace()

    return QuietProfile
