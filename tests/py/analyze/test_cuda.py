"""What PyTorch recorded on GPUs (H100, H200): everything on the device knows where it came from, and numbers agree."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest

pytestmark = pytest.mark.unit

FOLDERS = ("transformer_cuda", "graph_cuda", "compiled_cuda", "nccl_cuda", "decode_cuda")


def read(data: Path, folder: str) -> ks.Trace:
    trace = ks.read(data / folder / "kineto_trace_0.json.gz")
    assert isinstance(trace, ks.Trace)
    return trace


def rows(trace: ks.Trace, *columns: str, kind: str = "") -> list[tuple[Any, ...]]:
    found = trace.events.select("kind", *columns).rows()
    return [row[1:] for row in found if not kind or row[0] == kind]


@pytest.mark.parametrize("folder", FOLDERS)
def test_everything_is_linked(data: Path, folder: str) -> None:
    trace = read(data, folder)
    for share in ("device_events", "device_owners", "nodes", "operators"):
        found = trace.coverage[share]
        assert found["count"] > 0
        assert found["num_linked"] == found["count"], share
    assert [severity for (severity,) in trace.health.select("severity").rows() if severity == "defect"] == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_time_of_the_device_is_that_of_its_events(data: Path, folder: str) -> None:
    trace = read(data, folder)
    busy = sum(dur for kind in ("kernel", "copy", "fill") for (dur,) in rows(trace, "dur_ns", kind=kind))
    assert sum(total for (total,) in trace.kernels().select("total_ns").rows()) == busy
    kinds = {number: (kind, name) for kind, number, name in trace.events.select("kind", "id", "name").rows()}
    owned: Counter[str] = Counter()
    for kind in ("kernel", "copy", "fill"):
        for owner, dur in rows(trace, "operator_id", "dur_ns", kind=kind):
            owned[" ".join(kinds[owner])] += dur
    operators = trace.operators().select("name", "device_self_ns").rows()
    assert {f"operator {name}": time for name, time in operators if time} == {
        name: time for name, time in owned.items() if name.startswith("operator")
    }
    assert sum(owned.values()) == busy


def test_kernels_of_a_graph_are_those_of_its_replay(data: Path) -> None:
    trace = read(data, "graph_cuda")
    names = dict(rows(trace, "id", "name"))
    launches = Counter(launch for (launch,) in rows(trace, "launch_id", kind="kernel"))
    assert {names[launch] for launch in launches} == {"cudaGraphLaunch"}
    assert list(launches.values()) == [43, 43, 43]
    iterations = [number for (number,) in rows(trace, "iteration", kind="kernel")]
    assert Counter(iterations) == {2: 43, 3: 43, 4: 43}


def test_replays_run_what_was_captured(data: Path) -> None:
    """The captures are in one recording, the steps of the server in another."""
    captured = read(data, "decode_cuda")
    launched = {launch for (launch,) in rows(captured, "launch_id") if launch is not None}
    calls = [row for row in rows(captured, "id", "name", "annotation", kind="launch") if "LaunchKernel" in row[1]]
    sizes = Counter(part for launch, _, part in calls if launch not in launched)
    assert sizes == dict.fromkeys(("capture_4", "capture_2", "capture_1"), 47)
    for folder, num_replays in (("decode_cuda", 3), ("decode_cuda/serving", 6)):
        trace = read(data, folder)
        names = dict(rows(trace, "id", "name"))
        launches = Counter(launch for (launch,) in rows(trace, "launch_id", kind="kernel"))
        replays = [count for launch, count in launches.items() if names[launch] == "cudaGraphLaunch"]
        assert replays == [47] * num_replays, folder


def test_steps_of_a_server_that_the_observed_one_lacks_say_so(data: Path) -> None:
    """The observed step takes prompts. Steps that decode call other operators."""
    operators = read(data, "decode_cuda/serving").coverage["operators"]
    assert operators["linked"]["record_id"] == read(data, "decode_cuda/serving").coverage["nodes"]["count"]
    assert operators["unlinked"].keys() == {"not_observed"}


def test_kernels_of_triton_say_which_source_they_have(data: Path) -> None:
    trace = read(data, "compiled_cuda")
    nodes = trace.nodes.select("name", "kernel_backend", "kernel_file").rows()
    generated = {name: file for name, backend, file in nodes if backend == "triton"}
    launched = {name for (name,) in rows(trace, "name", kind="kernel") if name.startswith("triton_")}
    assert launched == set(generated)
    assert all(file.endswith(".py") for file in generated.values())


def test_collectives_of_one_rank(data: Path) -> None:
    """NCCL copies where nothing has to be summed up, and does nothing at all where it works in place."""
    trace = read(data, "nccl_cuda")
    found = trace.collectives().select("collective", "group_name", "is_async", "num_device_events", "in_bytes").rows()
    first = [(name, group, waited, bytes_) for name, group, waited, _, bytes_ in found[: len(found) // 2]]
    assert first == [
        ("all_reduce", "0", None, 2099200),  # the gradients of DistributedDataParallel
        ("all_reduce", "0", None, 2101248),
        ("all_reduce", "0", True, 262144),
        ("all_gather_base", "0", None, 262144),
        ("reduce_scatter_base", "0", None, 262144),
        ("all_to_allv", "0", None, 262144),
        ("broadcast", "1", None, 262144),
        ("all_reduce", "1", None, 131072),
        ("allreduce_coalesced", "0", True, 262144),
        ("coalesced", None, None, None),
        ("barrier", "0", None, 0),
    ]
    moved = Counter(name for name, _, _, num_events, _ in found if num_events)
    assert moved == {"all_gather_base": 2, "all_to_allv": 2}


def test_copies_run_beside_kernels_on_a_stream_of_their_own(data: Path) -> None:
    trace = read(data, "transformer_cuda")
    streams = {stream for (stream,) in rows(trace, "stream", kind="kernel")}
    copies = {stream for name, stream in rows(trace, "name", "stream", kind="copy") if "HtoD" in name}
    assert len(streams) == len(copies) == 1
    assert streams != copies
    waits = Counter(name for (name,) in rows(trace, "name", kind="sync"))
    assert waits == {"Event Sync": 4, "Stream Sync": 2, "Stream Wait Event": 2, "Context Sync": 1}


def test_the_peak_of_memory_is_the_allocators(data: Path) -> None:
    """The snapshot has what was asked for, the trace what the allocator gave: in steps of 512 bytes."""
    peak = dict(read(data, "transformer_cuda").memory().select("device", "peak_allocated_bytes").rows())["cuda:0"]
    snapshot = ks.read(data / "transformer_cuda/memory_snapshot.pickle.gz")
    ((requested,),) = snapshot.memory().select("peak_requested_bytes").rows()
    assert requested <= peak < requested + 512 * 200


def test_metrics_of_the_gpu_are_counters(data: Path) -> None:
    job = ks.read_dir(data / "transformer_cuda")
    assert list(job.skipped) == ["memory_snapshot.pickle.gz"]
    (trace,) = job
    series = {series for name, series in trace.counters.select("name", "series").rows() if name == "GPU"}
    assert series == {"busy_share", "clock_mhz", "memory_clock_mhz", "memory_used_bytes", "power_w", "temperature_c"}
    power = [value for at, value in trace.counters.select("series", "value").rows() if at == "power_w"]
    assert all(50 < watts < 700 for watts in power)


def test_what_slows_it_down(data: Path) -> None:
    trace = read(data, "transformer_cuda")
    found = {name for (name,) in trace.findings().select("finding").rows()}
    assert "launch_bound" in found
    assert "item_in_loop" not in found  # costs 0.01 % of the time
    assert "item_in_loop" in {name for (name,) in trace.findings(min_share=0).select("finding").rows()}
