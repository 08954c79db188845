"""Operators are those of `prof.key_averages()`, for loops recorded here: calls, host time, host time of their own.

Torch sums the time of a call inside one of the same name twice (`aten::arange`), which is counted once here.

What else differs: ranges that the user or the optimizer named are annotations here, and so are the steps, which torch
calls `ProfilerStep*`. A call that is all there is inside one of the same name (`aten::mul` of a number) is a call of
its own here, while torch counts both as one.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import kinetoscope as ks
import pytest

torch: Any = pytest.importorskip("torch")

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")]

NUM_STEPS = 3
US = 1000
SLACK_US = 1


def recorded(step: Callable[[], None], **options: Any) -> Any:
    schedule = torch.profiler.schedule(wait=0, warmup=1, active=NUM_STEPS, repeat=1)
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities, schedule=schedule, **options) as prof:
        for _ in range(NUM_STEPS + 1):
            step()
            prof.step()
    return prof


def trace_of(prof: Any, folder: Path) -> ks.Trace:
    path = folder / "trace.json"
    prof.export_chrome_trace(str(path))
    return ks.read(path)


def mlp() -> Callable[[], None]:
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)

    def step() -> None:
        optimizer.zero_grad()
        model(torch.randn(4, 8)).square().mean().backward()
        optimizer.step()

    return step


def transformer() -> Callable[[], None]:
    layer = torch.nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)

    def step() -> None:
        with torch.profiler.record_function("forward"):
            with torch.profiler.record_function("layer"):
                out = layer(torch.randn(2, 5, 16))
        with torch.profiler.record_function("backward"):
            out.sum().backward()

    return step


class Calls(NamedTuple):
    num_calls: int
    total_ns: int
    self_ns: int

    def plus(self, num_calls: int, total_ns: int, self_ns: int) -> Calls:
        return Calls(self.num_calls + num_calls, self.total_ns + total_ns, self.self_ns + self_ns)


def folded(trace: ks.Trace, ours: dict[Any, Calls], *columns: str) -> dict[Any, Calls]:
    """Ours by these columns, as torch counts calls that are all there is inside one of the same name."""
    texts = [column for column in columns if column != "name"]
    rows = trace.events.select("id", "parent_id", "name", "dur_ns", "self_ns", *texts).rows()
    events = {row[0]: (*row[1:5], (row[2], *map(shape_of, row[5:]))) for row in rows}
    groups = dict(trace.events.select("id", "name").rows())
    if texts:  # operators are grouped by types, too
        grouped = trace.events.select("id", "name", "input_shapes", "input_types").rows()
        groups = {event: tuple(group) for event, *group in grouped}
    num_children = Counter(parent for parent, *_ in events.values())
    for event, (parent, name, dur_ns, self_ns, key) in events.items():
        if key in ours and is_inside_same(events, groups, event):  # once here, twice in torch
            ours[key] = ours[key].plus(0, dur_ns, 0)
        if parent in events and events[parent][1] == name and num_children[parent] == 1:
            outer = events[parent][-1]
            ours[key] = ours[key].plus(-1, -dur_ns, -self_ns)
            ours[outer] = ours[outer].plus(0, 0, self_ns)
    return {key: calls for key, calls in ours.items() if calls.num_calls}


def is_inside_same(events: dict[int, Any], groups: dict[int, Any], event: int) -> bool:
    parent = events[event][0]
    while parent in events:
        if groups[parent] == groups[event]:
            return True
        parent = events[parent][0]
    return False


def assert_equal(ours: dict[Any, Calls], theirs: dict[Any, Any]) -> None:
    assert len(ours) > 10
    assert set(ours) <= set(theirs)
    for key, (num_calls, total_ns, self_ns) in ours.items():
        average = theirs[key]
        assert average.count == num_calls, key
        assert average.cpu_time_total == pytest.approx(total_ns / US, abs=SLACK_US), key
        assert average.self_cpu_time_total == pytest.approx(self_ns / US, abs=SLACK_US), key


@pytest.mark.parametrize("loop", [mlp, transformer])
def test_operators_by_name(loop: Callable[[], Callable[[], None]], tmp_path: Path) -> None:
    prof = recorded(loop())
    trace = trace_of(prof, tmp_path)
    rows = trace.operators().select("name", "count", "total_ns", "self_ns").rows()
    ours = folded(trace, {(name,): Calls(*times) for name, *times in rows}, "name")
    theirs = {average.key: average for average in prof.key_averages()}
    assert_equal(ours, {(name,): average for name, average in theirs.items()})
    others = set(theirs) - {name for name, *_ in rows}
    annotations = dict(trace.annotations().select("name", "count").rows())
    steps = [name for name in annotations if name.startswith("ProfilerStep#")]
    assert others == {"ProfilerStep*", *annotations} - set(steps)
    assert theirs["ProfilerStep*"].count == len(steps)
    assert all(theirs[name].count == annotations[name] for name in others - {"ProfilerStep*"})


def test_operators_by_shape(tmp_path: Path) -> None:
    prof = recorded(mlp(), record_shapes=True)
    trace = trace_of(prof, tmp_path)
    ours: defaultdict[Any, Calls] = defaultdict(lambda: Calls(0, 0, 0))
    rows = trace.operators(by="shape").select("name", "input_shapes", "count", "total_ns", "self_ns").rows()
    for name, shapes, *times in rows:  # calls with other types are apart here
        key = (name, shape_of(shapes))
        ours[key] = ours[key].plus(*times)
    averages = prof.key_averages(group_by_input_shape=True)
    theirs = {(average.key, str(average.input_shapes)): average for average in averages}
    assert_equal(folded(trace, ours, "name", "input_shapes"), theirs)


def shape_of(text: str | None) -> str:
    return str(json.loads(text) if text else [])
