"""What else a window meets: other threads and profilers, forks, `on_trace_ready` that stops. Some would crash torch."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path

import kinetoscope as ks
import pytest
from support.recorded import iterations, loop, observed
from support.versions import needs_torch

torch = pytest.importorskip("torch")

pytestmark = [
    pytest.mark.torch,
    pytest.mark.usefixtures("nothing_left_running"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


def elsewhere(run: Callable[[], object]) -> list[str]:
    """What was told on another thread that runs this."""

    def watch() -> None:
        run()

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", RuntimeWarning)
        thread = threading.Thread(target=watch, name="other")
        thread.start()
        thread.join()
    return [str(warning.message) for warning in told if warning.category is RuntimeWarning]


def test_a_step_on_another_thread_does_nothing(tmp_path: Path) -> None:
    with ks.profile(tmp_path, active=3) as prof:
        loop(prof, 1)
        (told,) = elsewhere(lambda: loop(prof, 5))
        assert told.endswith("belongs to the thread MainThread: step() has no effect here")
        loop(prof, 3)
    assert iterations(prof.trace) == [1, 2, 3]


def test_a_stop_on_another_thread_waits_for_the_next_step(tmp_path: Path) -> None:
    prof = ks.profile(tmp_path, active=9)
    prof.start()
    loop(prof, 2)
    (told,) = elsewhere(prof.stop)
    assert "ends at its next step()" in told
    loop(prof, 5)
    assert [*observed(prof.trace), *iterations(prof.trace)] == [0, 1, 2]
    with ks.profile(tmp_path / "next") as following:
        loop(following, 1)
    assert len(following.files) == 2


def test_a_loop_on_another_thread_is_recorded_there(tmp_path: Path) -> None:
    with ks.profile(tmp_path, wait=1, active=2) as prof:
        assert elsewhere(lambda: loop(prof, 5)) == []
    assert iterations(prof.trace) == [2, 3]


@needs_torch(12, "torch cannot record again in this process")
def test_a_window_whose_thread_has_ended_is_told_to_be_lost(tmp_path: Path) -> None:
    prof = ks.profile(tmp_path)
    assert elsewhere(prof.start) == []
    with pytest.warns(RuntimeWarning, match="stopping failed.*belongs to the thread other"):
        prof.stop()
    assert list(tmp_path.iterdir()) == []
    with ks.profile(tmp_path) as prof:
        loop(prof, 1)
    assert len(prof.files) == 2


@needs_torch(7, "a hidden folder stays")
def test_a_window_that_another_thread_has_open_at_the_end_of_the_program(tmp_path: Path) -> None:
    code = (
        "import sys, threading, torch, kinetoscope as ks\n"
        "prof, begun = ks.profile(sys.argv[1]), threading.Event()\n"
        "def run(): prof.start(); begun.set(); threading.Event().wait()\n"
        "threading.Thread(target=run, daemon=True).start()\n"
        "begun.wait()\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert "stopping failed" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks on this system")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("steps", [0, 1, 9])
def test_a_fork_leaves_the_recording_to_its_parent(tmp_path: Path, steps: int) -> None:
    with ks.profile(tmp_path, warmup=1, active=2) as prof:
        loop(prof, 2)
        if (child := os.fork()) == 0:
            torch.ones(3).sinh()
            loop(prof, steps)
            prof.stop()
            os._exit(0)
        assert os.waitpid(child, 0) == (child, 0)
        loop(prof, 2)
    assert iterations(prof.trace) == [1, 2]
    nodes = prof.trace.coverage["nodes"]
    assert nodes["linked"] == {"record_id": nodes["count"]}
    assert not [name for (name,) in prof.trace.nodes.select("name").rows() if name == "aten::sinh"]
    assert len(list(tmp_path.iterdir())) == 2


@needs_torch(12, "torch cannot record again in this process")
def test_a_profiler_of_torch_within_a_window_takes_it_away_and_not_the_training(tmp_path: Path) -> None:
    def run() -> None:
        with prof:
            with torch.profiler.profile() as other:
                loop(other, 1)
            loop(prof, 6)

    prof = ks.profile(tmp_path, active=2, repeat=2)
    with pytest.warns(RuntimeWarning, match="one that another profiler has ended"):
        run()
    assert iterations(prof.trace) == [4, 5]
    assert len(prof.files) == 2


def test_on_trace_ready_may_stop(tmp_path: Path) -> None:
    seen: list[list[int]] = []

    def ready(prof: ks.profile) -> None:
        prof.stop()
        seen.append(iterations(prof.trace))

    with ks.profile(tmp_path, active=1, repeat=3, on_trace_ready=ready) as prof:
        loop(prof, 3)
        assert not torch.autograd._profiler_enabled()
        loop(prof, 2)
    assert seen == [[1]]
    assert len(prof.files) == 2


def test_on_trace_ready_may_stop_when_the_block_ends(tmp_path: Path) -> None:
    with ks.profile(tmp_path, on_trace_ready=lambda prof: prof.stop()) as prof:
        loop(prof, 1)
    assert len(prof.files) == 2
