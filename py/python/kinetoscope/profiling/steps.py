"""Loops that step by themselves, and recordings in coroutines."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterable, AsyncIterator, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from types import TracebackType
from typing import Any, Generic, TypeVar, final

from kinetoscope._base import lazy

_Batch = TypeVar("_Batch")


class Loops:
    """Runs a recording around a loop or in a coroutine, by `with` and `step` of `profile`."""

    _folder: Any
    _meter: Any
    _plan: Any
    _profiler: Any
    __enter__: Any
    __exit__: Any
    step: Any

    def steps(self, loader: Iterable[_Batch] | AsyncIterable[_Batch]) -> Steps[_Batch]:
        """Yields the batches of a loader, and ends an iteration after each.

        `for batch in prof.steps(loader)` takes any loader, `async for` also an asynchronous one.
        Starts the recording unless it is running; in this case, also stops it after the loop.
        """
        return Steps(self, loader)

    async def __aenter__(self) -> lazy.Self:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, where)

    @property
    def _lacks_step(self) -> bool:
        """Whether a schedule waits for a first `step`, after a block without an exception."""
        is_waiting = self._plan.is_scheduled and self._profiler.current_action.name != "RECORD_AND_SAVE"
        return is_waiting and not self._meter.has_iterations and sys.exc_info()[0] is None

    def _whole_loop(self) -> AbstractContextManager[object]:
        """Records the block, unless the recording is running."""
        own: Any = self
        return nullcontext() if self._folder else own


@final
class Steps(Generic[_Batch]):
    """Batches whose iterations are those of a recording."""

    def __init__(self, prof: Loops, loader: Iterable[_Batch] | AsyncIterable[_Batch]) -> None:
        self._prof = prof
        self._loader: Any = loader

    def __iter__(self) -> Iterator[_Batch]:
        """Raises TypeError for an asynchronous loader."""
        if isinstance(self._loader, AsyncIterable) and not isinstance(self._loader, Iterable):
            raise TypeError("ks.profile: expected an ordinary loader, found an asynchronous one: use `async for`")
        return self._batches()

    def _batches(self) -> Generator[_Batch]:
        with self._prof._whole_loop():  # noqa: SLF001 - its own
            for batch in self._loader:
                yield batch
                self._prof.step()

    def __aiter__(self) -> AsyncIterator[_Batch]:
        return _AsyncSteps(self._prof, self._loader)

    def __len__(self) -> int:
        """Number of batches. Raises TypeError if the loader does not know it."""
        return len(self._loader)

    def __repr__(self) -> str:
        return f"<steps of {self._prof!r}>"


@final
class _AsyncSteps(Generic[_Batch]):
    """Batches for `async for`.

    An asynchronous generator would stop the recording too late after `break`: at a later turn of
    the event loop.
    """

    def __init__(self, prof: Loops, loader: Any) -> None:
        self._source = aiter(loader) if isinstance(loader, AsyncIterable) else _Turns(iter(loader))
        self._iterations = _iterations(prof)
        self._has_started = False

    def __aiter__(self) -> AsyncIterator[_Batch]:
        return self

    async def __anext__(self) -> _Batch:
        try:
            self._iterations.send(True if self._has_started else None)
        except StopIteration:
            raise StopAsyncIteration from None
        self._has_started = True
        try:
            return await anext(self._source)
        except StopAsyncIteration:
            with suppress(StopIteration):
                self._iterations.send(False)
            raise
        except BaseException as error:
            self._iterations.throw(error)
            raise


def _iterations(prof: Loops) -> Generator[None, bool | None]:
    """Yields at the start of each iteration. Sending True starts the next one, False ends all."""
    with prof._whole_loop():  # noqa: SLF001 - its own
        while (yield):
            prof.step()


@final
class _Turns:
    """An ordinary iterator for `async for`."""

    def __init__(self, iterator: Iterator[Any]) -> None:
        self._iterator = iterator

    async def __anext__(self) -> Any:
        try:
            return next(self._iterator)
        except StopIteration:
            raise StopAsyncIteration from None
