"""What lies in a folder after a window: whole files, kernels' sources, process groups; and what is told of flaws."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope.profiling import check, folder, pytorch
from kinetoscope.profiling.check import flaws
from support.recorded import iterations, loop, observed
from support.versions import needs_torch

torch = pytest.importorskip("torch")

pytestmark = [
    pytest.mark.torch,
    pytest.mark.usefixtures("nothing_left_running"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


def names(of: Path) -> list[str]:
    return sorted(path.name for path in of.iterdir())


def test_the_loop_may_change_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    with ks.profile("traces") as prof:
        torch.ones(1)
        monkeypatch.chdir("other")
    assert prof.trace.num_events
    assert names(tmp_path / "traces") == ["kineto_trace_0.json.gz", "torch_et_0.json.gz"]
    assert names(tmp_path / "other") == []


def test_the_execution_trace_is_chosen_by_known_words(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="expected execution_trace= True, False or \"same\", found 'Same'"):
        ks.profile(tmp_path, execution_trace="Same")  # pyright: ignore[reportArgumentType] - the test's subject


def test_the_files_of_a_later_recording_are_not_taken_for_its_own(tmp_path: Path) -> None:
    def recorded() -> ks.profile:
        with ks.profile(tmp_path) as prof:
            torch.ones(1)
        return prof

    first = recorded()
    num_events = first.trace.num_events
    second, third = recorded(), recorded()
    assert first.trace.num_events == num_events  # read before
    uses = (
        lambda: second.trace,
        lambda: second.export_chrome_trace(str(tmp_path / "x.json")),
        lambda: second.gather(tmp_path / "gathered"),
    )
    for use in uses:
        with pytest.raises(RuntimeError, match="removed or replaced"):
            use()
    assert third.trace.num_events
    third.files[0].unlink()
    with pytest.raises(RuntimeError, match="removed or replaced"):
        third.export_chrome_trace(str(tmp_path / "x.json"))


def expect_ctrl_c(prof: ks.profile, num_iterations: int) -> None:
    """Expects that Ctrl-C comes, and that the window before it is kept."""

    def train() -> None:
        with prof:
            loop(prof, num_iterations)

    with pytest.raises(KeyboardInterrupt):
        train()
    assert iterations(prof.trace)[:2] == [1, 2]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("where", ["step", "exit"])
def test_ctrl_c_waits_until_the_window_is_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    save = pytorch.save

    def interrupted(profiler: Any, path: Path) -> None:
        signal.raise_signal(signal.SIGINT)
        save(profiler, path)

    monkeypatch.setattr(pytorch, "save", interrupted)
    expect_ctrl_c(ks.profile(tmp_path, warmup=1, active=2 if where == "step" else 5), 3)


def test_ctrl_c_between_windows_loses_none(tmp_path: Path) -> None:
    actions = torch.profiler.schedule(wait=0, warmup=1, active=5)

    def schedule(step: int) -> Any:
        if step == 4:
            signal.raise_signal(signal.SIGINT)
        return actions(step)

    expect_ctrl_c(ks.profile(tmp_path, schedule=schedule), 8)


def test_ctrl_c_ends_a_handler_at_once(tmp_path: Path) -> None:
    reached: list[str] = []

    def handle(_: ks.profile) -> None:
        reached.append("before")
        signal.raise_signal(signal.SIGINT)
        reached.append("after")

    def train() -> None:
        with ks.profile(tmp_path, on_trace_ready=handle):
            torch.ones(1)

    with pytest.raises(KeyboardInterrupt):
        train()
    assert reached == ["before"]
    assert names(tmp_path) == ["kineto_trace_0.json.gz", "torch_et_0.json.gz"]


def test_a_second_ctrl_c_is_raised_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reached: list[str] = []

    def interrupted(*_: object) -> None:
        for at in ("first", "second"):
            signal.raise_signal(signal.SIGINT)
            reached.append(at)

    monkeypatch.setattr(pytorch, "save", interrupted)

    def train() -> None:
        with ks.profile(tmp_path):
            torch.ones(1)

    with pytest.raises(KeyboardInterrupt):
        train()
    assert reached == ["first"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def nodes(path: Path) -> list[str]:
    return [node["name"] for node in json.loads(gzip.decompress(path.read_bytes()))["nodes"]]


# --- off the loop's thread ----------------------------------------------------------------------------------------


def test_the_loop_goes_on_while_files_are_compressed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    may_go_on = threading.Event()
    compressed = folder._compressed
    monkeypatch.setattr(folder, "_compressed", lambda path: may_go_on.wait(60) and compressed(path))
    with ks.profile(tmp_path, active=1) as prof:
        loop(prof, 3)
        assert not list(tmp_path.glob("*.gz"))
        may_go_on.set()
    assert len(prof.files) == 2


def test_the_loops_thread_tells_what_failed_on_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    goes_on = threading.Event()

    def fail(_: Path) -> Path:
        goes_on.wait()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folder, "_compressed", fail)
    with ks.profile(tmp_path, active=1) as prof:
        loop(prof, 2)
        goes_on.set()
        prof._writer.wait()
        with pytest.warns(RuntimeWarning, match="could not be written.*No space") as told:
            prof.step()
    assert told[0].filename == __file__
    assert (prof.files, names(tmp_path)) == ([], [])


def test_a_file_that_a_full_disk_cut_off_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    export = torch.profiler.profile.export_chrome_trace

    def cut_off(self: Any, path: str) -> None:
        export(self, path)
        os.truncate(path, 500)

    monkeypatch.setattr(torch.profiler.profile, "export_chrome_trace", cut_off)
    with pytest.warns(RuntimeWarning, match="could not be written.*is the disk full"):
        with ks.profile(tmp_path, active=1) as prof:
            loop(prof, 2)
    assert (prof.files, names(tmp_path)) == ([], [])


def test_a_full_disk(tmp_path: Path) -> None:
    """A limit on the size of files stands for the disk: it is found before the loop, or survived in it."""
    code = (
        "import resource, sys, warnings, torch, kinetoscope as ks\n"
        "warnings.simplefilter('always')\n"
        "limit = lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))\n"
        "limit(1000)\n"
        "try: ks.profile(sys.argv[1]).start()\n"
        "except OSError as error: print('before:', error)\n"
        "limit(resource.RLIM_INFINITY)\n"
        "prof = ks.profile(sys.argv[1], active=2)\n"
        "prof.start()\n"
        "limit(5000)\n"
        "for step in range(4): torch.ones(3).add(1); prof.step()\n"
        "prof.stop()\n"
        "print('after:', prof.files)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, timeout=100)
    assert "before: [Errno 27]" in done.stdout
    assert "after: []" in done.stdout
    assert "could not be written" in done.stderr
    assert names(tmp_path) == []


def test_a_loop_that_compresses_itself_keeps_its_priority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start = threading.Thread.start

    def refused(self: threading.Thread) -> None:
        if self.name == "kinetoscope-writer":
            raise RuntimeError("can't start new thread")
        start(self)

    def record() -> None:
        with ks.profile(tmp_path) as prof:
            loop(prof, 1)
        found.append((len(prof.files), os.getpriority(os.PRIO_PROCESS, threading.get_native_id())))

    found: list[tuple[int, int]] = []
    monkeypatch.setattr(threading.Thread, "start", refused)
    other = threading.Thread(target=record)
    other.start()
    other.join()
    assert found == [(2, os.getpriority(os.PRIO_PROCESS, 0))]


def test_ctrl_c_from_outside(tmp_path: Path) -> None:
    code = (
        "import sys, torch, kinetoscope as ks\n"
        "with ks.profile(sys.argv[1], warmup=1, active=100_000) as prof:\n"
        "    for step in range(100_000):\n"
        "        torch.ones(3).add(1)\n"
        "        prof.step()\n"
        "        if step == 5: print('running', flush=True)\n"
    )
    running = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=-1, stderr=-1, text=True)
    with running:
        assert running.stdout is not None
        assert running.stdout.readline() == "running\n"
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=100)
    assert "KeyboardInterrupt" in said
    assert names(tmp_path) == ["kineto_trace_0.json.gz", "torch_et_0.json.gz"]
    assert flaws(folder.Recording(tmp_path / names(tmp_path)[0], tmp_path / names(tmp_path)[1], 0, 0)) == []


def test_ctrl_c_while_an_iteration_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    enter = torch.profiler.record_function.__enter__

    def interrupted(self: Any) -> Any:
        if self.name == "ProfilerStep#2":
            raise KeyboardInterrupt
        return enter(self)

    monkeypatch.setattr(torch.profiler.record_function, "__enter__", interrupted)
    with pytest.raises(KeyboardInterrupt), ks.profile(tmp_path, active=5) as prof:
        loop(prof, 5)
    assert [*observed(prof.trace), *iterations(prof.trace)] == [0, 1]


def test_files_are_whole_when_the_program_ends_in_a_window(tmp_path: Path) -> None:
    code = (
        "import sys, torch, kinetoscope as ks\n"
        "prof = ks.profile(sys.argv[1], active=1, repeat=0)\n"
        "prof.start()\n"
        "for _ in range(7): torch.ones(3).add(1); prof.step()\n"
        "torch.ones(3)\n"
        "sys.exit(3)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, timeout=100)
    assert done.returncode == 3
    assert len(ks.read_dir(tmp_path)) == 4
    assert not list(tmp_path.glob(".*"))


# --- beside the Execution Trace -----------------------------------------------------------------------------------


@pytest.fixture
def kernel() -> Iterator[str]:
    """The name of a module that Inductor has generated, as far as its cache knows."""
    from torch._inductor.codecache import PyCodeCache

    module = PyCodeCache.load("def triton_poi_fused_0():\n    pass\n")
    yield Path(module.__file__).name
    PyCodeCache.cache_clear()


@needs_torch(7, "the observer has no folder to compare with")
def test_sources_of_kernels(tmp_path: Path, kernel: str) -> None:
    with ks.profile(tmp_path, active=1, repeat=2) as prof:
        loop(prof, 3)
    for recording in prof.recordings:
        theirs = torch.profiler.ExecutionTraceObserver.get_resources_dir_for_et_path(str(recording.execution))
        assert str(recording.sources) == theirs
        assert recording.sources is not None
        assert "triton_poi_fused_0" in (recording.sources / kernel).read_text()
    with ks.profile(tmp_path, active=1, compress=False) as prof:
        loop(prof, 2)
    assert names(tmp_path) == ["kineto_trace_0.json", "torch_et_0.json", "torch_et_0_resources"]
    assert len(ks.read_dir(tmp_path)) == 1


def test_no_sources_without_kernels(tmp_path: Path) -> None:
    with ks.profile(tmp_path) as prof:
        loop(prof, 1)
    assert prof.recordings[0].sources is None


@needs_torch(7, "the observer does not save tensors")
def test_tensor_data_is_kept_beside_the_execution_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENABLE_PYTORCH_EXECUTION_TRACE_SAVE_INTEGRAL_TENSOR_DATA", "aten::embedding")
    embedding = torch.nn.Embedding(10, 4)
    with ks.profile(tmp_path, warmup=1, active=1, repeat=2) as prof:
        for _ in range(5):
            embedding(torch.tensor([1, 2, 3]))
            prof.step()
    for recording in prof.recordings:
        assert recording.sources is not None
        (data,) = recording.sources.glob("nid_*.dat")
        assert torch.frombuffer(bytearray(data.read_bytes()), dtype=torch.int64).tolist() == [1, 2, 3]


# --- the look at what was recorded --------------------------------------------------------------------------------


def test_a_whole_recording_has_no_flaws(tmp_path: Path) -> None:
    with ks.profile(tmp_path, warmup=1, active=2) as prof:
        loop(prof, 4)
    assert flaws(prof.recordings[0]) == []
    assert any("nodes of the Execution Trace have a known event" in found.message for found in prof.diagnosis)


def rewritten(path: Path, old: str, new: str) -> None:
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()).replace(old.encode(), new.encode())))


@pytest.mark.parametrize(
    ("file", "old", "new", "flaw"),
    [
        (0, '"Record function id"', '"other"', "has no record ids in common"),
        (1, "ProfilerStep#0", "ProfilerStep#7", "has the observed iterations 0, its Execution Trace 7"),
        (0, "{", "[", "cannot be read"),
    ],
)
def test_a_flaw_is_found(tmp_path: Path, file: int, old: str, new: str, flaw: str) -> None:
    with ks.profile(tmp_path, warmup=1, active=2) as prof:
        loop(prof, 4)
    rewritten(prof.files[file], old, new)
    assert flaw in str(flaws(prof.recordings[0]))


def test_launches_without_their_kernels_are_a_flaw(tmp_path: Path) -> None:
    with ks.profile(tmp_path, warmup=1, active=2) as prof:
        loop(prof, 4)
    rewritten(prof.files[0], "cpu_op", "cuda_runtime")
    assert flaws(prof.recordings[0]) == []
    rewritten(prof.files[0], "aten::ones", "cudaLaunchKernel")
    assert "has no device events for 6 launches: let the window last longer" in str(flaws(prof.recordings[0]))


def test_a_flaw_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    observer = torch.profiler.ExecutionTraceObserver
    monkeypatch.setattr(observer, "start", lambda self: self.unregister_callback())
    with pytest.warns(RuntimeWarning, match="has no record ids in common"):
        with ks.profile(tmp_path, warmup=1, active=1) as prof:
            loop(prof, 3)
    with ks.profile(tmp_path, warmup=1, active=1, check=False) as prof:
        loop(prof, 3)


def test_a_giant_recording_is_not_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ks.profile(tmp_path, warmup=1, active=1, compress=False) as prof:
        loop(prof, 3)
    prof.files[0].write_text("x" * 10_000)
    assert flaws(prof.recordings[0]) != []
    monkeypatch.setattr(check, "_MAX_BYTES", 5000)
    assert flaws(prof.recordings[0], 10_000) == []


def test_how_large_a_recording_is_says_torchs_file_and_not_the_end_of_the_gzip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compressed = folder._compressed

    def huge(source: Path) -> Path:
        packed = compressed(source)
        with packed.open("r+b") as file:
            file.seek(-4, os.SEEK_END)
            file.write(bytes(4))  # as of a file of 4 GiB
        return packed

    monkeypatch.setattr(torch.profiler.ExecutionTraceObserver, "start", lambda self: self.unregister_callback())
    monkeypatch.setattr(folder, "_compressed", huge)
    monkeypatch.setattr(check, "_MAX_BYTES", 1000)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with ks.profile(tmp_path, warmup=1, active=1) as prof:
            loop(prof, 3)


# --- what CUDA reports --------------------------------------------------------------------------------------------


def test_cuda_reports_waits_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[dict[str, Any]] = []
    activity = torch.profiler.ProfilerActivity
    monkeypatch.setattr(torch._C._profiler, "_ExperimentalConfig", lambda **options: made.append(options))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    pytorch.with_sync_events(None, None)
    assert made == []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    pytorch.with_sync_events("theirs", None)
    pytorch.with_sync_events(None, [activity.CPU])
    assert made == []
    for activities in (None, [activity.CPU, activity.CUDA], [activity.CPU, {activity.CUDA: ["KERNEL"]}]):
        pytorch.with_sync_events(None, activities)
    assert made == [{"enable_cuda_sync_events": True}] * 3


# --- what it costs ------------------------------------------------------------------------------------------------


def test_overhead(tmp_path: Path) -> None:
    def slowly(_: object) -> None:
        time.sleep(0.2)

    with ks.profile(tmp_path, wait=2, active=2, on_trace_ready=slowly) as prof:
        for _ in range(6):
            time.sleep(0.02)
            prof.step()
    overhead = prof.overhead
    assert 0 < overhead.own_ns < 10**9
    assert 0 < overhead.torch_ns < 10**10
    assert overhead.waiting_ns is not None
    assert overhead.recording_ns is not None
    assert 20_000_000 < overhead.waiting_ns < 200_000_000
    assert overhead.slowdown == overhead.recording_ns / overhead.waiting_ns
    assert "ms" in str(overhead)
    assert ks.profile(tmp_path).overhead.slowdown is None
