"""`ks.profile` does what `torch.profiler.profile` does: the same windows, and all of its methods."""

from __future__ import annotations

import inspect
import itertools
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from support.recorded import iterations
from support.versions import needs_torch

torch = pytest.importorskip("torch")

# torch warns about schedules without warmup, ours about loops that end before the window
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore::UserWarning", "ignore::RuntimeWarning")]

MAX_STEPS = 12
NUM_SAMPLED = 400
LEAST_METHODS = 12
Log = list[tuple[int, str]]


def work() -> None:
    torch.ones(8, 8).matmul(torch.ones(8, 8))


# --- windows ------------------------------------------------------------------------------------------------------


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Log:
    """What torch's profiler would have done, and in which iteration. Nothing is recorded."""
    kept: Log = []

    def noted(name: str) -> Callable[[Any], None]:
        return lambda self: kept.append((self.step_num, name))

    for name in ("prepare_trace", "start_trace", "stop_trace"):
        monkeypatch.setattr(torch.profiler.profile, name, noted(name))
    monkeypatch.setattr(
        torch.profiler.profile, "export_chrome_trace", lambda _, path: Path(path).write_text('{"traceName": 0}')
    )
    return kept


def schedules() -> list[dict[str, Any]]:
    """Every one whose first cycle ends within twelve iterations."""
    names = ("wait", "warmup", "active", "skip_first", "repeat", "skip_first_wait")
    known = [name for name in names if name in parameters(torch.profiler.schedule)]
    counts = itertools.product(range(5), range(5), range(1, 6), range(4), range(3), range(2))
    return [dict(zip(known, values, strict=False)) for values in counts if sum(values[:4]) <= MAX_STEPS]


def drive(prof: Any, num_steps: int, log: Log) -> Log:
    log.clear()
    with prof:
        for _ in range(num_steps):
            prof.step()
    return list(log)


def noting(log: Log) -> Callable[[Any], None]:
    return lambda prof: log.append((prof.step_num, "ready"))


def test_windows_are_those_of_torch(tmp_path: Path, log: Log) -> None:
    every = schedules()
    assert len(every) > 1000
    for counts in random.Random(0).sample(every, NUM_SAMPLED):
        num_steps = random.Random(str(counts)).randrange(MAX_STEPS + 1)
        schedule = torch.profiler.schedule(**counts)
        expected = drive(torch.profiler.profile(schedule=schedule, on_trace_ready=noting(log)), num_steps, log)
        options: dict[str, Any] = {"on_trace_ready": noting(log), "check": False, "execution_trace": False}
        assert drive(ks.profile(tmp_path, **counts, **options), num_steps, log) == expected, counts
        assert drive(ks.profile(tmp_path, schedule=schedule, **options), num_steps, log) == expected, counts


def test_actions_are_those_of_torch() -> None:
    for counts in schedules():
        theirs, ours = torch.profiler.schedule(**counts), ks.profile(**counts, execution_trace="same").schedule
        assert [ours(step) for step in range(MAX_STEPS)] == [theirs(step) for step in range(MAX_STEPS)], counts


def test_the_last_warm_up_is_recorded_too() -> None:
    """The observed iteration comes before the active ones, which are those of torch if there is a warm-up."""
    for counts in schedules():
        theirs = torch.profiler.schedule(**{**counts, "warmup": max(1, counts["warmup"])})
        by_counts, by_schedule = ks.profile(**counts).schedule, ks.profile(schedule=theirs).schedule
        for step in range(MAX_STEPS):
            is_observed = theirs(step).name == "WARMUP" and theirs(step + 1).name != "WARMUP"
            expected = torch.profiler.ProfilerAction.RECORD if is_observed else theirs(step)
            assert (by_counts(step), by_schedule(step)) == (expected, expected), (counts, step)


def test_a_schedule_is_asked_once_for_each_iteration() -> None:
    asked: list[int] = []
    plan = torch.profiler.schedule(wait=1, warmup=2, active=2)
    ours = ks.profile(schedule=lambda step: asked.append(step) or plan(step)).schedule
    actions = [ours(step).name for step in range(1, 10)]  # torch has asked for the first iteration
    assert ["NONE", *actions] == ["NONE", "WARMUP", "RECORD", "RECORD", "RECORD_AND_SAVE"] * 2
    assert asked == list(range(10))


@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_schedule_of_any_actions(tmp_path: Path, log: Log, length: int) -> None:
    action = torch.profiler.ProfilerAction
    actions = [action.NONE, action.WARMUP, action.RECORD, action.RECORD_AND_SAVE]
    for plan in itertools.product(actions, repeat=length):

        def schedule(step: int, plan: tuple[Any, ...] = plan) -> Any:
            return plan[step] if step < len(plan) else action.NONE

        expected = drive(torch.profiler.profile(schedule=schedule, on_trace_ready=noting(log)), 4, log)
        ours = ks.profile(tmp_path, schedule=schedule, on_trace_ready=noting(log), check=False, execution_trace=False)
        assert drive(ours, 4, log) == expected, plan


def test_a_loop_that_goes_on_after_stop_and_start(tmp_path: Path, log: Log) -> None:
    def twice(prof: Any) -> Log:
        log.clear()
        for _ in range(2):
            prof.start()
            for _ in range(3):
                prof.step()
            prof.stop()
        return list(log)

    counts: dict[str, Any] = {"wait": 1, "warmup": 1, "active": 2, "repeat": 3}
    expected = twice(torch.profiler.profile(schedule=torch.profiler.schedule(**counts), on_trace_ready=noting(log)))
    ours = ks.profile(tmp_path, **counts, on_trace_ready=noting(log), check=False, execution_trace=False)
    assert twice(ours) == expected


# --- names --------------------------------------------------------------------------------------------------------


def parameters(function: Any) -> set[str]:
    return set(inspect.signature(function).parameters) - {"self"}


def test_every_parameter_is_there() -> None:
    theirs = parameters(torch.profiler.profile.__init__) | parameters(torch.profiler.schedule)
    assert theirs <= parameters(ks.profile.__init__)


def shape(function: Any) -> list[tuple[str, Any, Any]]:
    return [(name, each.kind, each.default) for name, each in inspect.signature(function).parameters.items()]


@needs_torch(15, "other methods were there")
def test_every_method_has_the_parameters_of_torchs() -> None:
    classes = torch.profiler.profile.__mro__[:2]
    names = {name for each in classes for name in vars(each) if not name.startswith("_")}
    assert len(names) >= LEAST_METHODS
    for name in names:
        theirs, ours = shape(getattr(torch.profiler.profile, name)), shape(getattr(ks.profile, name))
        assert ours[: len(theirs)] == theirs, name  # earlier versions of torch lack the last ones
        assert inspect.getdoc(getattr(ks.profile, name)), name


def test_every_attribute_can_be_read_and_assigned() -> None:
    prof = ks.profile(execution_trace=False)
    theirs = vars(torch.profiler.profile())
    assert [name for name in theirs if not hasattr(prof, name)] == []
    prof.step_num, prof.record_shapes = 5, False
    assert (prof._profiler.step_num, prof._profiler.record_shapes) == (5, False)
    assert callable(prof._memory_profile)
    assert prof._get_distributed_info() is None
    with pytest.raises(AttributeError, match="unknown"):
        _ = prof.unknown


# --- what the methods do ------------------------------------------------------------------------------------------


@pytest.fixture
def prof(tmp_path: Path) -> ks.profile:
    """Recorded, with a metadata key of each sort, and with operators that were left out."""
    prof = ks.profile(tmp_path / "traces", profile_memory=True, with_stack=True, with_flops=True)
    prof.preset_metadata_json("preset", "[1]")
    with prof:
        prof.add_metadata("text", 'a "word"')
        prof.add_metadata_json("json", json.dumps({"a": 'b"c\\\n'}))
        work()
        if hasattr(torch.profiler.profile, "toggle_collection_dynamic"):
            prof.toggle_collection_dynamic(False, [torch.profiler.ProfilerActivity.CPU])
            torch.ones(3).sinh()
            prof.toggle_collection_dynamic(True, [torch.profiler.ProfilerActivity.CPU])
        torch.ones(3).cosh()
    return prof


def test_metadata(prof: ks.profile) -> None:
    metadata = prof.trace.metadata["kineto"]
    assert (metadata["preset"], metadata["text"], metadata["json"]) == ([1], "a 'word'", {"a": "b'c/ "})


def test_metadata_that_is_no_json_does_not_spoil_the_file(tmp_path: Path) -> None:
    with ks.profile(tmp_path) as prof:
        with pytest.warns(RuntimeWarning, match="expected JSON as metadata 'wrong'"):
            prof.add_metadata_json("wrong", "{")
        work()
    assert prof.trace.num_events


@needs_torch(5, "collection cannot be toggled")
def test_collection_is_toggled(prof: ks.profile) -> None:
    names = {name for (name,) in prof.trace.events.select("name").rows()}
    assert ("aten::matmul" in names, "aten::sinh" in names, "aten::cosh" in names) == (True, False, True)


def test_events_and_averages(prof: ks.profile) -> None:
    assert any(event.name == "aten::mm" for event in prof.events())
    averages = prof.key_averages(group_by_input_shape=True)
    assert "aten::mm" in averages.table(sort_by="self_cpu_time_total")
    assert sum(row.flops for row in averages if row.key == "aten::mm") == 2 * 8**3


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_exports(prof: ks.profile, tmp_path: Path) -> None:
    prof.export_chrome_trace(str(tmp_path / "chrome.json"))
    prof.export_stacks(str(tmp_path / "stacks.txt"))
    prof.export_memory_timeline(str(tmp_path / "memory.json"), device="cpu")
    assert "traceEvents" in json.loads((tmp_path / "chrome.json").read_text())
    assert (tmp_path / "stacks.txt").exists()
    assert len(json.loads((tmp_path / "memory.json").read_text())) == 2


@needs_torch(7, "there are no overload names")
def test_activities_and_configurations(tmp_path: Path) -> None:
    from torch._C._profiler import _ExperimentalConfig

    config = _ExperimentalConfig(capture_overload_names=True)
    cpu = torch.profiler.ProfilerActivity.CPU
    with ks.profile(tmp_path, activities=iter([cpu]), experimental_config=config, acc_events=True) as prof:
        torch.ones(3).add(1)
    assert prof.activities == {cpu}
    assert prof.experimental_config is config
    assert any(event.overload_name == "Tensor" for event in prof.events())


@needs_torch(6, "there are no trace ids")
def test_trace_ids(tmp_path: Path) -> None:
    ids: list[str] = []
    prof = ks.profile(tmp_path, warmup=1, active=1, repeat=2, custom_trace_id_callback=lambda: "abc")
    prof.on_trace_ready = lambda prof: ids.append(prof.get_trace_id())
    prof.set_custom_trace_id_callback(lambda: "def")
    with prof:
        for step in range(5):
            work()
            prof.step()
            if step == 0:
                prof.set_custom_trace_id_callback(lambda: "ghi")
    assert ids == ["def", "ghi"]


def test_defaults_may_be_spelled_out(prof: ks.profile, tmp_path: Path) -> None:
    prof.export_chrome_trace(str(tmp_path / "a.json"), False)
    prof.export_chrome_trace(str(tmp_path / "b.json"), False, None, "none", 7)
    prof.export_chrome_trace(
        str(tmp_path / "c.json"), use_python_export=False, cuda_graph_annotations=None, graph_lanes="none"
    )
    (text,) = {path.read_bytes() for path in tmp_path.glob("?.json")}
    assert b"aten::matmul" in text


@needs_torch(15, "torch exports in C++ alone")
def test_torch_writes_what_only_torch_can(prof: ks.profile, tmp_path: Path) -> None:
    prof.export_chrome_trace(str(tmp_path / "python.json"), True)
    prof.export_chrome_trace(str(tmp_path / "lanes.json"), True, {1: {"name": "a"}}, "all", 8)
    assert b"aten::matmul" in (tmp_path / "python.json").read_bytes()
    with pytest.raises(ValueError, match="graph_lanes"):
        prof.export_chrome_trace(str(tmp_path / "wrong.json"), graph_lanes="unknown")


def test_an_option_that_torch_lacks_is_named(prof: ks.profile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def written(_: Any, path: str) -> None:
        Path(path).touch()

    monkeypatch.setattr(torch.profiler.profile, "export_chrome_trace", written)
    with pytest.raises(ValueError, match=r"expected options of torch .*, found use_python_export"):
        prof.export_chrome_trace(str(tmp_path / "a.json"), use_python_export=True)


def test_a_window_by_the_low_level_methods(tmp_path: Path) -> None:
    prof = ks.profile(tmp_path / "traces")
    prof.prepare_trace()
    prof.start_trace()
    work()
    prof.stop_trace()
    prof.export_chrome_trace(str(tmp_path / "a.json"))
    assert "aten::matmul" in (tmp_path / "a.json").read_text()
    assert any(event.name == "aten::matmul" for event in prof.events())
    assert not (tmp_path / "traces").exists()


def test_a_window_that_was_not_recorded_cannot_be_exported(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="expected a recorded window to export, found none"):
        ks.profile(tmp_path).export_chrome_trace(str(tmp_path / "a.json"))


# --- the examples of torch.profiler's documentation ---------------------------------------------------------------


def test_the_documented_block(tmp_path: Path) -> None:
    with ks.profile(
        tmp_path,
        activities=[torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA],
    ) as p:
        work()
    assert "aten::matmul" in p.key_averages().table(sort_by="self_cuda_time_total", row_limit=-1)


def test_the_documented_schedule(tmp_path: Path) -> None:
    tables: list[str] = []

    def trace_handler(prof: Any) -> None:
        tables.append(prof.key_averages().table(sort_by="self_cuda_time_total", row_limit=-1))
        prof.export_chrome_trace(str(tmp_path / f"test_trace_{prof.step_num}.json"))

    with ks.profile(
        tmp_path / "own",
        activities=[torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA],
        schedule=torch.profiler.schedule(wait=1, warmup=1, active=2, repeat=1),
        on_trace_ready=trace_handler,
    ) as p:
        for _ in range(6):
            work()
            p.step()
    assert ["aten::matmul" in table for table in tables] == [True]
    assert iterations(ks.read(tmp_path / "test_trace_4.json")) == [2, 3]


def test_the_documented_handler_for_tensorboard(tmp_path: Path) -> None:
    with ks.profile(
        tmp_path / "own",
        schedule=torch.profiler.schedule(wait=1, warmup=1, active=2, repeat=1),
        on_trace_ready=torch.profiler.tensorboard_trace_handler(str(tmp_path / "log")),
    ) as p:
        for _ in range(6):
            work()
            p.step()
    (file,) = (tmp_path / "log").glob("*.pt.trace.json")
    assert iterations(ks.read(file)) == [2, 3]


def test_the_documented_observer(tmp_path: Path) -> None:
    path = tmp_path / "execution_trace.json"
    with ks.profile(
        tmp_path / "own",
        schedule=torch.profiler.schedule(wait=1, warmup=1, active=2, repeat=1),
        execution_trace_observer=torch.profiler.ExecutionTraceObserver().register_callback(str(path)),
    ) as p:
        for _ in range(6):
            work()
            p.step()
    assert [file.name for file in p.files] == ["kineto_trace_0.json.gz"]
    linked = ks.read(p.files[0], et=path)
    assert any(node is not None for (node,) in linked.events.select("node_id").rows())
