"""`ks.profile` in the place of torch's profiler: attributes that are assigned, errors, and other backends."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

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


# --- what is assigned ---------------------------------------------------------------------------------------------


def test_an_assigned_handler_is_called(tmp_path: Path) -> None:
    seen: list[int] = []
    with ks.profile(tmp_path, warmup=1, active=1, repeat=3) as prof:
        loop(prof, 3)
        assert prof.on_trace_ready is None
        prof.on_trace_ready = lambda prof: seen.append(prof.step_num)
        loop(prof, 4)
    assert seen == [4, 6]


def test_an_assigned_schedule_is_followed(tmp_path: Path) -> None:
    with ks.profile(tmp_path, wait=100, active=1) as prof:
        prof.schedule = torch.profiler.schedule(wait=2, warmup=1, active=2, repeat=1)
        loop(prof, 6)
    assert iterations(prof.trace) == [3, 4]
    assert observed(prof.trace) == [2]


def test_an_assigned_schedule_may_be_the_one_before_or_call_it(tmp_path: Path) -> None:
    for number, wrap in enumerate((lambda before: before, partial)):
        with ks.profile(tmp_path / str(number), wait=1, warmup=1, active=2) as prof:
            prof.schedule = wrap(prof.schedule)
            loop(prof, 5)
        assert iterations(prof.trace) == [2, 3]
        assert observed(prof.trace) == [1]


def test_an_assigned_observer_takes_the_place_of_the_own(tmp_path: Path) -> None:
    prof = ks.profile(tmp_path / "own", wait=1, warmup=1, active=2)
    theirs = torch.profiler.ExecutionTraceObserver().register_callback(str(tmp_path / "theirs.json"))
    prof.execution_trace_observer = theirs
    assert prof.execution_trace_observer is theirs
    with prof:
        loop(prof, 5)
    assert [path.name for path in prof.files] == ["kineto_trace_0.json.gz"]
    assert observed(ks.read(prof.files[0], et=tmp_path / "theirs.json")) == [2, 3]


def test_an_observer_of_any_class(tmp_path: Path) -> None:
    calls: list[str] = []

    class Observer:
        def __getattr__(self, name: str) -> Callable[[], None]:
            return lambda: calls.append(name)

    with ks.profile(tmp_path, warmup=1, active=2, execution_trace_observer=Observer()) as prof:
        loop(prof, 4)
    assert calls == ["start", "stop", "cleanup"]


@needs_torch(7, "torch ignores the variable")
def test_the_observer_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENABLE_PYTORCH_EXECUTION_TRACE", "1")
    with ks.profile(tmp_path, warmup=1, active=2) as prof:
        loop(prof, 4)
    written = Path(prof.execution_trace_observer.get_output_file_path())
    assert observed(ks.read(prof.files[0], et=written)) == [1, 2]
    written.unlink()


@pytest.mark.parametrize(("use_cuda", "expected"), [(False, {"CPU"}), (True, {"CPU", "CUDA"})])
def test_use_cuda_is_deprecated(use_cuda: Any, expected: set[str]) -> None:
    with pytest.warns(FutureWarning, match="use_cuda is deprecated: pass activities="):
        prof = ks.profile(use_cuda=use_cuda)
    assert {activity.name for activity in prof.activities} == expected


# --- errors -------------------------------------------------------------------------------------------------------


def test_windows_go_on_after_a_handler_that_raised(tmp_path: Path) -> None:
    ready: list[int] = []

    def handler(prof: Any) -> None:
        ready.append(prof.step_num)
        if len(ready) == 1:
            raise ZeroDivisionError("mine")

    with ks.profile(tmp_path, active=1, warmup=1, repeat=3, on_trace_ready=handler) as prof:
        loop(prof, 1)
        with pytest.raises(ZeroDivisionError, match="mine"):
            loop(prof, 1)
        loop(prof, 5)
    assert ready == [2, 4, 6]
    assert [iterations(trace) for trace in prof.traces] == [[1], [3], [5]]


def test_windows_go_on_after_a_schedule_that_raised(tmp_path: Path) -> None:
    plan, failed = torch.profiler.schedule(wait=1, warmup=1, active=2, repeat=1), []

    def schedule(step: int) -> Any:
        if step == 1 and not failed:
            failed.append(step)
            raise ZeroDivisionError("mine")
        return plan(step)

    with ks.profile(tmp_path, schedule=schedule) as prof:
        with pytest.raises(ZeroDivisionError, match="mine"):
            loop(prof, 1)
        loop(prof, 6)
    assert iterations(prof.trace)[-1] == 3


@pytest.mark.skipif(not hasattr(torch.profiler.ProfilerAction, "DEVICE_STOPPED"), reason="an action of newer versions")
def test_a_schedule_may_not_stop_devices(tmp_path: Path) -> None:
    action = torch.profiler.ProfilerAction
    with pytest.raises(ValueError, match="DEVICE_STOPPED"):
        ks.profile(tmp_path, schedule=lambda _: action.DEVICE_STOPPED)
    with ks.profile(tmp_path, schedule=lambda step: action.DEVICE_STOPPED if step == 1 else action.RECORD) as prof:
        with pytest.raises(ValueError, match="DEVICE_STOPPED"):
            prof.step()


def test_an_old_torch_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "__version__", "2.3.1+cu121")
    with pytest.raises(ImportError, match=r"expected PyTorch 2.4 or newer, found 2.3.1\+cu121: pip install --upgrade"):
        ks.profile(tmp_path)


# --- a backend that compresses, and writes later ------------------------------------------------------------------


@pytest.mark.parametrize("is_late", [False, True])
def test_a_backend_that_writes_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_late: Any) -> None:
    """As with CuspyConfig: the file is `<path>.gz`, and may be there only after `wait_for_exports`."""
    late: list[tuple[Path, bytes]] = []
    export = torch.profiler.profile.export_chrome_trace

    def packed(self: Any, path: str) -> None:
        file = Path(f"{path}.gz")
        export(self, str(file))
        if is_late:
            late.append((file, file.read_bytes()))
            file.unlink()

    def wait(_: Any) -> None:
        while late:
            path, content = late.pop()
            path.write_bytes(content)

    monkeypatch.setattr(torch.profiler.profile, "export_chrome_trace", packed)
    monkeypatch.setattr(torch.profiler.profile, "wait_for_exports", wait, raising=False)
    with ks.profile(tmp_path, warmup=1, active=1, repeat=2) as prof:
        loop(prof, 5)
    assert [iterations(trace) for trace in prof.traces] == [[1], [3]]


def test_a_backend_that_writes_nothing_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.profiler.profile, "export_chrome_trace", lambda *_: None)
    prof = ks.profile(tmp_path, warmup=1, active=1)
    with pytest.warns(RuntimeWarning, match="expected torch to write the window, found no file"), prof:
        loop(prof, 3)
    assert prof.files == []


def test_options_of_another_backend_are_passed_through() -> None:
    config = pytest.importorskip("torch.profiler.profiler").__dict__.get("CuspyConfig")
    if config is None:
        pytest.skip("this torch has no CuspyConfig")
    activity = torch.profiler.ProfilerActivity
    cuspy = config(enable_cuda_sync_events=True, enable_graph_dependencies=False)
    of_cuda = torch.profiler.profiler.ProfilerActivityConfig(profiler_configs=[cuspy])
    prof = ks.profile(activities=[activity.CPU, {activity.CUDA: of_cuda}])
    assert prof._profiler._cuspy_config is cuspy
    assert prof.activity_configs == {activity.CUDA: of_cuda}
