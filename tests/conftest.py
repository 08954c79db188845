"""What the tests share: the repository's fixtures, and the folder of other people's traces where it is there."""

from __future__ import annotations

import importlib
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import kinetoscope as ks
import pytest

# A machine that runs two tests at a time is slow now and then.
hypothesis.settings.register_profile("patient", deadline=None)
hypothesis.settings.load_profile("patient")

# A shell lets what it starts in the background ignore Ctrl-C, and the tests of Ctrl-C inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

REPOSITORY = Path(__file__).resolve().parents[1]
DATA = REPOSITORY / "tests/data"


@pytest.fixture(scope="session")
def data() -> Path:
    return DATA


@pytest.fixture(scope="session")
def shared() -> Path:
    folder = Path(os.environ.get("KINETOSCOPE_SHARED") or REPOSITORY.parent / "shared") / "data"
    if not folder.is_dir():
        pytest.skip(f"no folder of real traces at {folder}")
    return folder


@pytest.fixture(scope="session")
def transformer() -> ks.Trace:
    return ks.read(DATA / "transformer_cpu/kineto_trace_0.json.gz")


@pytest.fixture(scope="session")
def cuda() -> ks.Trace:
    return ks.read(DATA / "synthetic_cuda/kineto_trace_0.json.gz")


@pytest.fixture(scope="session")
def hostile() -> ks.Trace:
    return ks.read(DATA / "hostile/kineto_trace_0.json.gz")


@pytest.fixture
def nothing_left_running() -> Iterator[None]:
    """After a test that records: torch's profiler has stopped, its observer is gone, and no thread of ours writes."""
    torch: Any = importlib.import_module("torch")  # the question below is not exported from it

    yield
    assert not torch.autograd._profiler_enabled()
    assert [thread.name for thread in threading.enumerate() if "writer" in thread.name] == []
    observer = torch.profiler.ExecutionTraceObserver().register_callback(os.devnull)
    assert observer.is_registered, "an Execution Trace observer was left registered"
    observer.unregister_callback()
