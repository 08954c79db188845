"""Means of counters: a planted run, what NumPy computes of the same samples, and SQL."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import kinetoscope as ks
import numpy as np
import pytest

pytestmark = pytest.mark.unit

PERIOD_NS = 100_000
NUM_KERNELS = 400


def run(seed: int = 7) -> dict[str, Any]:
    """Two devices with kernels of three names, and a counter of each, which starts late and has a gap."""
    random = np.random.default_rng(seed)
    events: list[dict[str, Any]] = []
    for device in (0, 1):
        starts = np.sort(random.integers(0, 20_000_000, NUM_KERNELS))
        durs = np.minimum(random.integers(1_000, 300_000, NUM_KERNELS), np.diff(starts, append=30_000_000))
        for start, dur in zip(starts.tolist(), durs.tolist(), strict=True):
            args = {"device": device, "stream": 7}
            event = {"ph": "X", "cat": "kernel", "name": f"k{start % 3}", "pid": device, "tid": 7, "args": args}
            events.append(event | {"ts": start / 1000, "dur": dur / 1000})
        times = 1_000_000 + PERIOD_NS * np.arange(150)
        times[90:] += 25 * PERIOD_NS
        for time in random.permutation(times).tolist():
            event = {"ph": "C", "name": "SM Active (%)", "pid": f"GPU {device} Counters", "ts": time / 1000}
            events.append(event | {"args": {"": float((time // PERIOD_NS * (17 + device)) % 101)}})
    return {"traceEvents": events}


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> ks.Trace:
    path = tmp_path_factory.mktemp("counters") / "trace.json"
    path.write_text(json.dumps(run()))
    return ks.read(path)


def expected(trace: ks.Trace, device: int, name: str) -> tuple[int, float]:
    """Sampled time and mean of a kernel, from samples that stand for a period each."""
    counters = [
        (time, value)
        for time, process, value in trace.counters.select("time_ns", "process", "value").rows()
        if process == f"GPU {device} Counters"
    ]
    times, values = (np.asarray(column) for column in zip(*sorted(counters), strict=True))
    sampled, weighted = 0, 0.0
    for start, dur, found, on in trace.events.select("start_ns", "dur_ns", "name", "device").rows():
        if (found, on) == (name, device):
            overlap = np.clip(np.minimum(start + dur, times + PERIOD_NS) - np.maximum(start, times), 0, None)
            sampled, weighted = sampled + int(overlap.sum()), weighted + float((overlap * values).sum())
    return sampled, weighted / sampled


def test_means_are_those_of_numpy(trace: ks.Trace) -> None:
    columns = ("name", "device", "sampled_ns", "mean", "unit", "count")
    found = trace.counter_means().select(*columns).rows()
    assert len(found) == 6
    assert sum(count for *_, count in found) == 2 * NUM_KERNELS
    for name, device, sampled_ns, mean, unit, _ in found:
        sampled, expected_mean = expected(trace, device, name)
        assert (sampled_ns, unit) == (sampled, "%")
        assert mean == pytest.approx(expected_mean)


def test_events_add_up_to_kernels_in_sql(trace: ks.Trace) -> None:
    pytest.importorskip("duckdb")
    each = trace.counter_means(by="event")
    query = """select name, device, sum(c.sampled_ns)::bigint, sum(c.mean * c.sampled_ns) / sum(c.sampled_ns)
        from each c join events e using (id, name, device) group by all order by all"""
    summed = trace.sql(query, each=each).rows()
    by_name = sorted(trace.counter_means().select("name", "device", "sampled_ns", "mean").rows())
    assert [row[:3] for row in summed] == [row[:3] for row in by_name]
    assert [row[3] for row in summed] == pytest.approx([row[3] for row in by_name])


def test_counters_are_listed_with_their_period(trace: ks.Trace) -> None:
    counters = trace.counter_means().tables["sampled_counters"]
    rows = counters.select("counter", "device", "num_values", "period_ns", "sampled_ns", "is_joined").rows()
    assert rows == [("SM Active (%)", device, 150, PERIOD_NS, 150 * PERIOD_NS, True) for device in (0, 1)]


def test_a_job_has_means_of_each_rank(tmp_path: Path) -> None:
    for rank in range(2):
        document = run(rank) | {"distributedInfo": {"rank": rank, "world_size": 2}}
        (tmp_path / f"rank{rank}.json").write_text(json.dumps(document))
    job = ks.read_dir(tmp_path)
    found = job.counter_means(by="device", counter="SM*").select("rank", "device", "counter").rows()
    assert sorted(found) == [(rank, device, "SM Active (%)") for rank in (0, 1) for device in (0, 1)]


def test_recorded_sensors_of_a_gpu_are_averaged(data: Path) -> None:
    trace = ks.read(data / "transformer_cuda/kineto_trace_0.json.gz")
    found = trace.counter_means(by="iteration", counter="*power_w").to_pandas()
    assert set(found["counter"]) == {"GPU · power_w"}
    assert len(found) == len(trace.iterations)
    assert found["sampled_share"].between(0.5, 1).all()
    assert found["mean"].between(found["min"], found["max"]).all()
    assert found["mean"].between(50, 800).all()


def test_a_trace_without_counters_says_so(data: Path) -> None:
    trace = ks.read(data / "graph_cuda/kineto_trace_0.json.gz")
    means = trace.counter_means()
    assert len(means) == 0
    assert "no counter was recorded" in repr(means)


def test_an_unknown_owner_is_an_error(trace: ks.Trace) -> None:
    with pytest.raises(ks.TraceError, match="by"):
        trace.counter_means(by="colour")
