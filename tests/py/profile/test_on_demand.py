"""`ks.profile.on_demand`: windows that begin when somebody asks."""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope.profiling import trigger, trigger_file
from support.recorded import iterations as recorded
from support.recorded import observed

torch = pytest.importorskip("torch")

pytestmark = [
    pytest.mark.torch,
    pytest.mark.usefixtures("nothing_left_running"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


@pytest.fixture(autouse=True)
def looks_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trigger, "_CHECK_S", 0)


def loop(prof: ks.profile, iterations: int, at: dict[int, Callable[[], object]] | None = None) -> list[list[int]]:
    """The iterations of each window, where `at` says what happens in which iteration."""
    with prof:
        for iteration in range(iterations):
            torch.ones(3).add(1)
            if at and iteration in at:
                at[iteration]()
            prof.step()
    return [recorded(trace) for trace in prof.traces]


def test_nothing_is_recorded_unless_somebody_asks(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        assert loop(ks.profile.on_demand(tmp_path), 10) == []
    assert list(tmp_path.iterdir()) == []


def test_from_another_thread(tmp_path: Path) -> None:
    def ask() -> None:
        thread = threading.Thread(target=prof.trigger)
        thread.start()
        thread.join()

    prof = ks.profile.on_demand(tmp_path, warmup=1, active=2)
    assert loop(prof, 12, {1: ask, 7: ask}) == [[3, 4], [9, 10]]


def test_whoever_asks_in_a_window_gets_the_next_one(tmp_path: Path) -> None:
    prof = ks.profile.on_demand(tmp_path, warmup=1, active=2)
    assert loop(prof, 12, {1: prof.trigger, 3: prof.trigger}) == [[3, 4], [6, 7]]


def test_no_more_often_than_wanted(tmp_path: Path) -> None:
    prof = ks.profile.on_demand(tmp_path, warmup=0, active=1, repeat=2)
    assert loop(prof, 12, {1: prof.trigger, 4: prof.trigger, 8: prof.trigger}) == [[3], [6]]
    assert [observed(trace) for trace in prof.traces] == [[2], [5]]  # in addition, as nothing warms up


@pytest.mark.parametrize(("at", "windows"), [(0, [[1]]), (1, [[1]]), (6, [[6]]), ([3, 8], [[3], [8]]), (99, [])])
def test_at_an_iteration(tmp_path: Path, at: Any, windows: list[list[int]]) -> None:
    assert loop(ks.profile.on_demand(tmp_path, at=at, active=1), 12) == windows


def test_at_an_iteration_of_a_loop_that_runs(tmp_path: Path) -> None:
    prof = ks.profile.on_demand(tmp_path, active=1)
    asked: dict[int, Callable[[], object]] = {2: lambda: prof.trigger(at=8), 9: lambda: prof.trigger(at=3)}
    assert loop(prof, 14, asked) == [[8], [11]]


def test_by_a_signal(tmp_path: Path) -> None:
    heard: list[int] = []
    signal.signal(signal.SIGUSR1, lambda number, _: heard.append(number))
    try:
        prof = ks.profile.on_demand(tmp_path, active=1, signal=signal.SIGUSR1)
        assert loop(prof, 8, {2: lambda: os.kill(os.getpid(), signal.SIGUSR1)}) == [[4]]
        signal.raise_signal(signal.SIGUSR1)
        assert heard == [signal.SIGUSR1] * 2  # what was there before heard both, and is there again
        assert prof.recordings == prof.recordings[:1]
    finally:
        signal.signal(signal.SIGUSR1, signal.SIG_DFL)


def test_a_signal_on_another_thread_is_refused_before_the_loop(tmp_path: Path) -> None:
    errors: list[Exception] = []

    def start() -> None:
        try:
            ks.profile.on_demand(tmp_path, signal=signal.SIGUSR1).start()
        except ValueError as error:
            errors.append(error)

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    assert len(errors) == 1
    assert loop(ks.profile.on_demand(tmp_path, active=1, at=2), 5) == [[2]]


def test_by_touching_a_file(tmp_path: Path) -> None:
    file = tmp_path / "PROFILE"
    file.touch()  # was there before: asks for nothing

    def touch() -> None:
        os.utime(file, ns=(0, time.time_ns() + 10**9))

    prof = ks.profile.on_demand(tmp_path / "traces", active=1, file=file)
    assert loop(prof, 12, {2: touch, 7: file.unlink}) == [[4]]


def test_by_a_file_that_says_when(tmp_path: Path) -> None:
    file = tmp_path / "PROFILE"
    prof = ks.profile.on_demand(tmp_path / "traces", active=1, file=file)
    assert loop(prof, 12, {2: lambda: file.write_text("9\n")}) == [[9]]


def test_a_file_that_asks_for_too_much_starts_a_window_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "PROFILE"
    prof = ks.profile.on_demand(tmp_path / "digits", active=1, file=file)
    assert len(loop(prof, 8, {2: lambda: file.write_text("1" * 10_000)})) == 1
    file.unlink()
    prof = ks.profile.on_demand(tmp_path / "pipe", active=1, file=file)
    with pytest.warns(RuntimeWarning, match="the request was ignored: expected a file, found something else"):
        assert loop(prof, 8, {2: lambda: os.mkfifo(file)}) == []
    file.unlink()
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    monkeypatch.setattr(trigger_file, "_is_trusted", lambda owner: owner == os.geteuid())
    prof = ks.profile.on_demand(tmp_path / "other", active=1, file=file)
    with pytest.warns(RuntimeWarning, match="expected a file of this user, found one of user"):
        assert loop(prof, 8, {2: lambda: file.write_text("5")}) == []


def test_after_a_slow_step(tmp_path: Path) -> None:
    def step() -> None:
        time.sleep(0.01)

    def slow() -> None:
        time.sleep(0.5)

    steps: dict[int, Callable[[], object]] = dict.fromkeys(range(30), step)
    prof = ks.profile.on_demand(tmp_path, active=1, slow_step=10)
    # those of the first steps have no median to compare with
    assert loop(prof, 30, {**steps, 3: slow, 20: slow}) == [[22]]


def test_options_are_those_of_profile(tmp_path: Path) -> None:
    prof = ks.profile.on_demand(tmp_path, at=1, active=1, rank=3, with_stack=True, execution_trace=False)
    loop(prof, 4)
    assert [path.name for path in prof.files] == ["kineto_trace_3.json.gz"]
    with pytest.raises(TypeError, match="no_such"):
        ks.profile.on_demand(tmp_path, no_such=1)


@pytest.mark.parametrize("wrong", [{"active": 0}, {"warmup": -1}, {"repeat": -1}, {"slow_step": 0.5}])
def test_what_is_no_window(tmp_path: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected active="):
        ks.profile.on_demand(tmp_path, **wrong)


def test_what_is_no_iteration_is_told_to_whoever_asks_and_not_to_the_loop(tmp_path: Path) -> None:
    prof = ks.profile.on_demand(tmp_path, active=1)
    wrong: Any = "7"

    def ask() -> None:
        with pytest.raises(TypeError):
            prof.trigger(at=wrong)

    assert loop(prof, 5, {1: ask, 2: prof.trigger}) == [[4]]
    with pytest.raises(TypeError):
        ks.profile.on_demand(tmp_path, at=[wrong])


def test_a_schedule_cannot_be_asked(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="on_demand"):
        ks.profile(tmp_path).trigger()


def test_a_recording_that_ends_on_another_thread_lets_the_next_one_start(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGUSR1)
    prof = ks.profile.on_demand(tmp_path, signal=signal.SIGUSR1)
    prof.start()
    other = threading.Thread(target=prof.stop)
    other.start()
    other.join()
    try:
        with ks.profile(tmp_path / "next"):
            pass
    finally:
        signal.signal(signal.SIGUSR1, before)
