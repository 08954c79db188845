"""Recordings in coroutines: `async with`, and `async for` over the batches of a loader."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from support.recorded import iterations

torch = pytest.importorskip("torch")

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("nothing_left_running")]


async def batches(count: int) -> AsyncIterator[int]:
    for number in range(count):
        await asyncio.sleep(0)
        yield number


async def work() -> None:
    torch.ones(3).add(1)
    await asyncio.sleep(0)


def test_async_with(tmp_path: Path) -> None:
    async def train() -> ks.profile:
        async with ks.profile(tmp_path, wait=1, active=2) as prof:
            for _ in range(5):
                await work()
                prof.step()
        return prof

    assert iterations(asyncio.run(train()).trace) == [2, 3]


def test_async_with_ends_at_an_error(tmp_path: Path) -> None:
    prof = ks.profile(tmp_path)

    async def train() -> None:
        async with prof:
            await work()
            raise LookupError

    with pytest.raises(LookupError):
        asyncio.run(train())
    assert len(prof.recordings) == 1


@pytest.mark.parametrize("loader", [batches, range], ids=["asynchronous", "ordinary"])
def test_steps_of_a_loader(tmp_path: Path, loader: Callable[[int], Any]) -> None:
    async def train(prof: ks.profile) -> list[int]:
        return [batch async for batch in prof.steps(loader(6)) if await work() is None]

    prof = ks.profile(tmp_path, wait=1, active=2)
    assert asyncio.run(train(prof)) == list(range(6))
    assert iterations(prof.trace) == [2, 3]


def test_break_ends_the_recording_at_once(tmp_path: Path) -> None:
    async def train() -> list[int]:
        prof = ks.profile(tmp_path)
        async for batch in prof.steps(batches(9)):
            await work()
            if batch == 2:
                break
        return iterations(prof.trace)

    assert asyncio.run(train()) == [1, 2]


@pytest.mark.parametrize("is_in_loader", [False, True])
def test_an_error_ends_the_recording(tmp_path: Path, *, is_in_loader: bool) -> None:
    async def failing() -> AsyncIterator[int]:
        yield 0
        yield 1
        raise LookupError

    async def train(prof: ks.profile) -> None:
        async for batch in prof.steps(failing() if is_in_loader else batches(9)):
            await work()
            if batch == 2:
                raise LookupError

    prof = ks.profile(tmp_path)
    with pytest.raises(LookupError):
        asyncio.run(train(prof))
    assert iterations(prof.trace)[0] == 1


def test_an_asynchronous_loader_needs_async_for(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="use `async for`"):
        list(ks.profile(tmp_path).steps(batches(2)))


def test_steps_know_their_number_of_batches(tmp_path: Path) -> None:
    prof = ks.profile(tmp_path)
    assert len(prof.steps([1, 2, 3])) == 3
    assert "profile" in repr(prof.steps([1]))
