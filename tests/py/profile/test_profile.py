"""`ks.profile`: what it records, under which names, and what it leaves behind when the loop does not end as planned."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from support.recorded import document, iterations, launch, observed, steps

torch = pytest.importorskip("torch")

# torch warns about schedules without warmup and about events of earlier cycles
pytestmark = [
    pytest.mark.torch,
    pytest.mark.usefixtures("nothing_left_running"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]

WINDOW: dict[str, Any] = {"wait": 1, "warmup": 1, "active": 2}


@pytest.fixture(scope="module")
def train() -> Callable[[], None]:
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step() -> None:
        optimizer.zero_grad()
        model(torch.randn(4, 8)).square().mean().backward()
        optimizer.step()

    return step


def loop(prof: ks.profile, train: Callable[[], None], iterations: int) -> None:
    for _ in range(iterations):
        train()
        prof.step()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def record_ids(path: Path) -> dict[int, str]:
    content = document(path)
    if "traceEvents" in content:
        return {
            e["args"]["Record function id"]: e["name"]
            for e in content["traceEvents"]
            if "Record function id" in e.get("args", {})
        }
    pairs = (
        (attr["value"], node["name"]) for node in content["nodes"] for attr in node["attrs"] if attr["name"] == "rf_id"
    )
    return {value: name for value, name in pairs if value}


# --- the window ---------------------------------------------------------------------------------------------------


def test_the_last_warm_up_is_observed(tmp_path: Path, train: Callable[[], None]) -> None:
    with ks.profile(tmp_path, **WINDOW) as prof:
        loop(prof, train, 6)
    assert names(tmp_path) == ["kineto_trace_0.json.gz", "torch_et_0.json.gz"]
    assert [path.name for path in prof.files] == names(tmp_path)
    assert steps(prof.files[0]) == {"ProfilerStep#1", "ProfilerStep#2", "ProfilerStep#3"}
    assert steps(prof.files[1]) == {"ProfilerStep#1"}


def test_record_ids_match(tmp_path: Path, train: Callable[[], None]) -> None:
    with ks.profile(tmp_path, **WINDOW) as prof:
        loop(prof, train, 4)
    events, nodes = map(record_ids, prof.files)
    events.pop(0)  # of the iterations that were not observed
    assert len(events) > 25
    assert {record: nodes[record] for record in events} == events


def test_the_whole_block_without_a_schedule(tmp_path: Path, train: Callable[[], None]) -> None:
    with ks.profile(tmp_path) as prof:
        train()
    assert steps(prof.files[0]) == steps(prof.files[1]) == {"ProfilerStep#0"}
    assert any(event["name"] == "aten::addmm" for event in document(prof.files[0])["traceEvents"])


def test_each_cycle_has_its_own_files(tmp_path: Path, train: Callable[[], None]) -> None:
    with ks.profile(tmp_path, **WINDOW, repeat=2) as prof:
        loop(prof, train, 12)
    assert names(tmp_path) == [
        "kineto_trace_0.1.json.gz", "kineto_trace_0.json.gz", "torch_et_0.1.json.gz", "torch_et_0.json.gz",
    ]  # fmt: skip
    assert [steps(recording.kineto) for recording in prof.recordings] == [
        {"ProfilerStep#1", "ProfilerStep#2", "ProfilerStep#3"},
        {"ProfilerStep#5", "ProfilerStep#6", "ProfilerStep#7"},
    ]
    assert [steps(execution) for execution in prof.files[1::2]] == [{"ProfilerStep#1"}, {"ProfilerStep#5"}]


def test_repeats_until_the_end_when_asked_to(tmp_path: Path, train: Callable[[], None]) -> None:
    with ks.profile(tmp_path, warmup=1, active=1, repeat=0) as prof:
        loop(prof, train, 6)
    assert [recording.cycle for recording in prof.recordings] == [0, 1, 2]


def test_a_new_recording_replaces_the_last_one(tmp_path: Path, train: Callable[[], None]) -> None:
    (tmp_path / "kineto_trace_1.json.gz").write_bytes(b"another rank")
    with ks.profile(tmp_path, warmup=1, active=1, repeat=3) as prof:
        loop(prof, train, 6)
    with ks.profile(tmp_path, warmup=1, active=1, execution_trace=False, compress=False) as prof:
        loop(prof, train, 3)
    assert names(tmp_path) == ["kineto_trace_0.json", "kineto_trace_1.json.gz"]


def test_own_schedule(tmp_path: Path, train: Callable[[], None]) -> None:
    action = torch.profiler.ProfilerAction
    plan = [action.NONE, action.RECORD_AND_SAVE]
    with ks.profile(tmp_path, schedule=lambda step: plan[step] if step < 2 else action.NONE) as prof:
        loop(prof, train, 4)
    assert steps(prof.files[0]) == {"ProfilerStep#1"}


def test_options_reach_torch(tmp_path: Path, train: Callable[[], None]) -> None:
    with ks.profile(tmp_path, with_stack=True, profile_memory=True) as prof:
        train()
    content = document(prof.files[0])
    assert (content["with_stack"], content["profile_memory"], content["record_shapes"]) == (1, 1, 1)
    assert any(event.get("cat") == "python_function" for event in content["traceEvents"])
    assert any(event["name"] == "[memory]" for event in content["traceEvents"])


def test_the_header_tells_where_the_file_came_from(tmp_path: Path, train: Callable[[], None]) -> None:
    with ks.profile(tmp_path, rank=3) as prof:
        train()
    content = document(prof.files[0])
    assert content["kinetoscope"] == {"version": ks.__version__, "torch": torch.__version__, "rank": 3}
    assert content["traceName"] == str(tmp_path / "kineto_trace_3.json.gz")


def test_kineto_alone(tmp_path: Path, train: Callable[[], None]) -> None:
    with ks.profile(tmp_path, execution_trace=False) as prof:
        train()
    assert names(tmp_path) == ["kineto_trace_0.json.gz"]
    assert prof.recordings[0].execution is None


# --- loops that do not end as planned -----------------------------------------------------------------------------


def fail_in_the_window(prof: ks.profile, train: Callable[[], None], fail: Callable[[], object]) -> None:
    with prof:
        loop(prof, train, 4)
        train()
        fail()


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt, SystemExit])
def test_an_error_in_the_window_leaves_what_was_recorded(
    tmp_path: Path, train: Callable[[], None], error: type[BaseException]
) -> None:
    def fail() -> None:
        raise error

    prof = ks.profile(tmp_path, wait=1, active=100)
    with pytest.raises(error):
        fail_in_the_window(prof, train, fail)
    assert names(tmp_path) == ["kineto_trace_0.json.gz", "torch_et_0.json.gz"]
    assert {"ProfilerStep#1", "ProfilerStep#4"} <= steps(prof.files[0])
    assert steps(prof.files[1]) == {"ProfilerStep#1"}
    assert set(record_ids(prof.files[0])) - {0} == set(record_ids(prof.files[1]))


def test_ctrl_c(tmp_path: Path, train: Callable[[], None]) -> None:
    prof = ks.profile(tmp_path, active=100)
    with pytest.raises(KeyboardInterrupt):
        fail_in_the_window(prof, train, lambda: signal.raise_signal(signal.SIGINT))
    assert len(prof.files) == 2


def test_break(tmp_path: Path, train: Callable[[], None]) -> None:
    with ks.profile(tmp_path, wait=1, active=100) as prof:
        for iteration in range(100):
            train()
            prof.step()
            if iteration == 3:
                break
    assert "ProfilerStep#3" in steps(prof.files[0])


@pytest.mark.parametrize("options", [{"wait": 2, "active": 2}, {"active": 3}])
def test_a_loop_without_a_step_is_told(tmp_path: Path, train: Callable[[], None], options: dict[str, Any]) -> None:
    with pytest.warns(RuntimeWarning, match=r"without prof\.step\(\): call it at the end of each iteration"):
        with ks.profile(tmp_path, **options):
            train()


@pytest.mark.parametrize("options", [{}, {"active": 1, "execution_trace": False}, {"active": 1}])
def test_a_block_needs_no_step(tmp_path: Path, train: Callable[[], None], options: dict[str, Any]) -> None:
    with pytest.raises(LookupError), ks.profile(tmp_path / "raises", active=3):
        raise LookupError  # no warning, either
    with ks.profile(tmp_path, **options) as prof:
        train()
        if options == {"active": 1}:
            prof.step()
    assert prof.recordings


@pytest.mark.parametrize("num_steps", [1, 2])
def test_a_loop_that_ends_before_the_window_is_told(tmp_path: Path, train: Callable[[], None], num_steps: int) -> None:
    with pytest.warns(RuntimeWarning, match=f"nothing was recorded.*iteration {num_steps}"):
        with ks.profile(tmp_path, wait=2, warmup=1, active=2) as prof:
            loop(prof, train, num_steps)
    assert names(tmp_path) == []
    with pytest.raises(RuntimeError, match="expected a recorded window"):
        _ = prof.trace


def test_stopped_by_the_end_of_the_program(tmp_path: Path) -> None:
    code = f"import torch, kinetoscope as ks; ks.profile({str(tmp_path)!r}).start(); torch.ones(3).add(1)"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    assert names(tmp_path) == ["kineto_trace_0.json.gz", "torch_et_0.json.gz"]


def test_start_and_stop_by_hand(tmp_path: Path, train: Callable[[], None]) -> None:
    prof = ks.profile(tmp_path, active=1)
    with pytest.raises(RuntimeError, match=r"expected start\(\) before step\(\)"):
        prof.step()
    prof.start()
    loop(prof, train, 3)
    prof.stop()
    prof.stop()
    prof.step()
    assert len(prof.files) == 2


def test_a_block_can_be_entered_again(tmp_path: Path, train: Callable[[], None]) -> None:
    prof = ks.profile(tmp_path)
    for _ in range(2):
        with prof:
            train()
    assert [recording.cycle for recording in prof.recordings] == [0, 1]
    assert len(names(tmp_path)) == 4


def test_a_second_loop_after_the_last_window_is_told(tmp_path: Path, train: Callable[[], None]) -> None:
    def loop() -> None:
        with prof:
            for _ in range(5):
                train()
                prof.step()

    prof = ks.profile(tmp_path, wait=1, warmup=1, active=2)
    loop()
    with pytest.warns(RuntimeWarning, match="ended in iteration 10, after the last window: create a profile for each"):
        loop()
    assert len(prof.recordings) == 1


# --- never in the way of the training -----------------------------------------------------------------------------


def test_one_at_a_time(tmp_path: Path, train: Callable[[], None]) -> None:
    with ks.profile(tmp_path / "outer") as outer:
        train()
        with pytest.raises(RuntimeError, match=r"no other recording in this process, found .*outer"):
            ks.profile(tmp_path / "inner").start()
        train()
    assert len(outer.files) == 2
    assert not (tmp_path / "inner").exists()


def test_next_to_a_running_torch_profiler(tmp_path: Path, train: Callable[[], None]) -> None:
    with torch.profiler.profile() as running:
        with pytest.raises(RuntimeError, match="found one of torch"):
            ks.profile(tmp_path).start()
        train()
    assert len(running.events()) > 10
    with ks.profile(tmp_path) as prof:
        train()
    assert len(prof.files) == 2


def test_next_to_another_observer(tmp_path: Path, train: Callable[[], None]) -> None:
    other = torch.profiler.ExecutionTraceObserver().register_callback(str(tmp_path / "other.json"))
    with pytest.raises(RuntimeError, match="another ExecutionTraceObserver registered"):
        ks.profile(tmp_path / "own").start()
    with ks.profile(tmp_path / "own", execution_trace=False) as prof:
        train()
    assert prof.recordings[0].execution is None
    assert other.is_registered
    other.unregister_callback()
    with ks.profile(tmp_path / "own") as prof:
        train()
    assert prof.recordings[0].execution is not None


def test_another_process_that_writes_the_same_files_is_told(tmp_path: Path, train: Callable[[], None]) -> None:
    with ks.profile(tmp_path, active=1) as prof:  # an earlier one is nothing to tell of
        loop(prof, train, 1)
    code = (
        "import sys, torch, kinetoscope as ks\n"
        "with ks.profile(sys.argv[1], active=1) as prof: torch.ones(3).add(1); prof.step()\n"
    )
    prof = ks.profile(tmp_path, active=1, repeat=2)
    prof.start()
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, capture_output=True)

    def go_on() -> None:
        loop(prof, train, 3)
        prof.stop()

    with pytest.warns(RuntimeWarning, match=r"replaced kineto_trace_0\.json\.gz of another process"):
        go_on()
    assert len(prof.traces) == 2


def test_an_unwritable_folder_is_found_before_the_loop(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        ks.profile(tmp_path / "file" / "folder").start()


def test_a_full_disk_is_found_before_the_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space"):
        ks.profile(tmp_path).start()
    assert names(tmp_path) == []


def test_a_failed_write_is_a_warning(
    tmp_path: Path, train: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.warns(RuntimeWarning, match="could not be written.*No space left"):
        with ks.profile(tmp_path, active=1) as prof:
            loop(prof, train, 3)
    assert (prof.files, names(tmp_path)) == ([], [])


def test_a_failing_profiler_is_a_warning(tmp_path: Path, train: Callable[[], None]) -> None:
    def fail() -> None:
        raise RuntimeError("out of order")

    prof = ks.profile(tmp_path, wait=1, active=1)
    prof._profiler.step = fail
    with pytest.warns(RuntimeWarning, match=r"recording failed.*out of order"), prof:
        loop(prof, train, 3)
    with ks.profile(tmp_path) as prof:
        train()
    assert len(prof.files) == 2


def test_errors_of_the_callback_are_the_callers(tmp_path: Path, train: Callable[[], None]) -> None:
    def fail(_: object) -> None:
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"), ks.profile(tmp_path, active=1, on_trace_ready=fail) as prof:
        loop(prof, train, 3)
    assert len(prof.files) == 2


def test_an_error_of_the_block_is_the_one_to_see(tmp_path: Path, train: Callable[[], None]) -> None:
    def fail(_: object) -> None:
        raise ZeroDivisionError("the callback's")

    def fail_too() -> None:
        raise LookupError("the block's")

    prof = ks.profile(tmp_path, on_trace_ready=fail)
    with pytest.warns(RuntimeWarning, match="the callback's"), pytest.raises(LookupError, match="the block's"):
        fail_in_the_window(prof, train, fail_too)


@pytest.mark.parametrize(
    "wrong",
    [
        *({"active": 0}, {"wait": 1}, {"active": 1, "wait": -1}, {"schedule": lambda _: None, "active": 1}),
        *({"active": 1.5}, {"active": "2"}, {"schedule": 3}, {"schedule": lambda _: None}, {"schedule": lambda _: 1}),
        *({"on_trace_ready": 5}, {"rank": "a"}, {"rank": -1}),
    ],
)
def test_an_argument_that_is_none(tmp_path: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"ks\.profile: (expected|wait= needs active=)"):
        ks.profile(tmp_path, **wrong)


def test_an_option_that_this_torch_does_not_know(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = torch.profiler.profile

    class Old(known):
        def __init__(
            self, *, schedule: Any = None, on_trace_ready: Any = None, execution_trace_observer: Any = None
        ) -> None:
            super().__init__(
                schedule=schedule, on_trace_ready=on_trace_ready, execution_trace_observer=execution_trace_observer
            )

    monkeypatch.setattr(torch.profiler, "profile", Old)
    with pytest.raises(ValueError, match="found with_flops"):
        ks.profile(tmp_path, record_shapes=False, with_flops=True)
    with ks.profile(tmp_path, record_shapes=False) as prof:
        torch.ones(3)
    assert len(prof.files) == 2


# --- what torch's profiler offers ---------------------------------------------------------------------------------


def test_the_callback_gets_the_profile_with_its_files(tmp_path: Path, train: Callable[[], None]) -> None:
    seen: list[Any] = []

    def ready(prof: Any) -> None:
        prof.export_chrome_trace(str(tmp_path / f"copy{len(seen)}.json"))
        prof.export_chrome_trace(str(tmp_path / f"copy{len(seen)}.json.gz"))
        seen.append((len(prof.files), prof.step_num, prof.key_averages().total_average().count > 0))

    with ks.profile(tmp_path / "traces", active=1, repeat=2, on_trace_ready=ready) as prof:
        loop(prof, train, 5)
    assert seen == [(2, 2, True), (4, 4, True)]
    original = document(prof.recordings[0].kineto)
    assert document(tmp_path / "copy0.json") == document(tmp_path / "copy0.json.gz") == original


def test_tensorboard_handler(tmp_path: Path, train: Callable[[], None]) -> None:
    handler = torch.profiler.tensorboard_trace_handler(str(tmp_path / "board"), "worker", use_gzip=True)
    with ks.profile(tmp_path / "traces", active=1, on_trace_ready=handler) as prof:
        loop(prof, train, 2)
    assert [re.sub(r"\d+", "n", name) for name in names(tmp_path / "board")] == ["worker.n.pt.trace.json.gz"]


def test_no_such_attribute(tmp_path: Path) -> None:
    with pytest.raises(AttributeError):
        _ = ks.profile(tmp_path).no_such_thing


# --- ranks --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variable", ["RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK"])
def test_rank_from_the_launcher(
    tmp_path: Path, train: Callable[[], None], monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "5")
    with ks.profile(tmp_path):
        train()
    assert names(tmp_path) == ["kineto_trace_5.json.gz", "torch_et_5.json.gz"]


def test_two_ranks_on_gloo(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        "import gc, sys, torch, torch.distributed as dist, kinetoscope as ks\n"
        "import torch.distributed.nn; from torch.nn.parallel import DistributedDataParallel\n"
        "dist.init_process_group('gloo')\n"
        "model = DistributedDataParallel(torch.nn.Linear(4, 2))\n"
        "with ks.profile(sys.argv[1], warmup=1, active=1) as prof:\n"
        "    for _ in range(3):\n"
        "        model(torch.ones(2, 4)).sum().backward()\n"
        "        prof.step()\n"
        "del model; gc.collect(); dist.destroy_process_group()\n"  # no thread may outlive the interpreter
    )
    folder = tmp_path / "traces"
    launch(script, folder)
    expected = ["kineto_trace_0.json.gz", "kineto_trace_1.json.gz", "torch_et_0.json.gz", "torch_et_1.json.gz"]
    assert names(folder) == expected
    for rank in range(2):
        assert document(folder / f"kineto_trace_{rank}.json.gz")["distributedInfo"]["rank"] == rank
        nodes = document(folder / f"torch_et_{rank}.json.gz")["nodes"]
        assert any(node["name"] == "## process_group:init ##" for node in nodes)
        assert observed(ks.read(folder / f"kineto_trace_{rank}.json.gz")) == [0]


# --- reading back -------------------------------------------------------------------------------------------------


def test_the_trace_is_linked(tmp_path: Path, train: Callable[[], None]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with ks.profile(tmp_path, warmup=1, active=1, repeat=2) as prof:
            loop(prof, train, 5)
    assert [(observed(trace), iterations(trace)) for trace in prof.traces] == [([0], [1]), ([2], [3])]
    assert prof.trace is prof.traces[1]
    operators = [row for row in prof.trace.events.select("kind", "node_id").rows() if row[0] == "operator"]
    assert operators
    assert all(node is not None for _, node in operators)
