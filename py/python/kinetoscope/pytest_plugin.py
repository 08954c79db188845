"""Plugin of pytest: the fixture `kinetoscope_trace` records a block, and checks its budgets."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from kinetoscope._analysis.gate import Gate
    from kinetoscope.profiling.profiler import profile
    from kinetoscope.trace import Trace


class RecordedBlock:
    """A block that is recorded; its trace is there after the block."""

    def __init__(self, profiler: profile) -> None:
        self._profiler = profiler
        self._is_over = False

    def step(self) -> None:
        """Ends an iteration. Without any, and without `active`, the whole block counts as one."""
        self._profiler.step()

    @property
    def folder(self) -> Path:
        """Folder of the trace; pytest keeps those of the last three runs."""
        return self._profiler.dir

    @property
    def trace(self) -> Trace:
        """The trace. Raises RuntimeError inside of the block."""
        if not self._is_over:
            raise RuntimeError("expected the end of the block before its trace is used, found a running one")
        return self._profiler.trace

    def check(self, budget: str | Path | dict[str, Any] | None = None, **limits: Any) -> Gate:
        """Fails the test unless all budgets are kept. Arguments are those of `Trace.check`.

        Also fails without a trace, as of a loop with fewer steps than the warm-up needs.
        """
        __tracebackhide__ = True
        gate = self._measured().check(budget, **limits)
        if not gate.passed:
            pytest.fail(f"{gate}\n\ntrace: {self.folder}", pytrace=False)
        return gate

    def _measured(self) -> Trace:
        """Returns the trace. Fails the test without one, and without an iteration of true times."""
        __tracebackhide__ = True
        try:
            trace = self.trace
        except RuntimeError as error:
            raise pytest.fail.Exception(str(error), pytrace=False) from None
        observed = trace.iterations.select("is_observed").rows()
        if self._profiler.shortfall and all(is_observed for (is_observed,) in observed):
            expected = "expected an iteration without the observer of the Execution Trace, found none"
            pytest.fail(f"{expected}: {self._profiler.shortfall}", pytrace=False)
        return trace


class TraceRecorder(Protocol):
    """Type of the fixture `kinetoscope_trace`."""

    def __call__(self, **options: Any) -> AbstractContextManager[RecordedBlock]:
        """Records a block; `options` are those of `ks.profile`."""
        ...


@pytest.fixture
def kinetoscope_trace(tmp_path: Path) -> TraceRecorder:
    """Records a block with `ks.profile`, to check its trace. Needs torch.

    ::

        def test_speed(kinetoscope_trace):
            with kinetoscope_trace(warmup=2, active=10) as t:
                for batch in batches:
                    train_step(batch)
                    t.step()
            t.check(step="12 ms", forbid=["host_device_sync"])

    Arguments of the call are those of `ks.profile`; no Execution Trace is recorded by default.
    """
    number = 0

    @contextmanager
    def record(**options: Any) -> Generator[RecordedBlock]:
        nonlocal number
        from kinetoscope.profiling.profiler import profile

        number += 1
        given: dict[str, Any] = {"execution_trace": False, **options}
        with profile(tmp_path / f"kinetoscope_{number}", **given) as profiler:
            block = RecordedBlock(profiler)
            yield block
        block._is_over = True  # noqa: SLF001 - the block is of this module

    return record
