"""Columns of kernels, events and communications that name limits and queues."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest

pytestmark = pytest.mark.unit

H100 = {
    "id": 0,
    "name": "NVIDIA H100 80GB HBM3",
    "numSms": 132,
    "computeMajor": 9,
    "computeMinor": 0,
    "warpSize": 32,
    "maxThreadsPerMultiprocessor": 2048,
    "regsPerMultiprocessor": 65536,
    "sharedMemPerMultiprocessor": 233472,
}
T4 = H100 | {"name": "Tesla T4", "computeMajor": 7, "computeMinor": 5, "maxThreadsPerMultiprocessor": 1024}
ROUNDED = 0.5001
"""Kineto writes whole percents."""


def event(name: str, args: dict[str, Any]) -> dict[str, Any]:
    own = {"device": 0, "stream": 7, **args}
    return {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": 0, "dur": 5, "args": own}


def read(device: dict[str, Any], *events: dict[str, Any]) -> ks.Trace:
    return ks.read(json.dumps({"deviceProperties": [device], "traceEvents": events}).encode())


def limits(device: dict[str, Any], threads: int, registers: int | None, shared: int, blocks: int = 100_000) -> Any:
    args = {"block": [threads, 1, 1], "grid": [blocks, 1, 1], "shared memory": shared}
    args |= {} if registers is None else {"registers per thread": registers}
    trace = read(device, event("k", args))
    (row,) = trace.kernels().select("theoretical_occupancy", "occupancy_limit").rows()
    return row


def test_the_scarcest_resource_limits() -> None:
    assert limits(H100, 256, 16, 0) == (100, "threads")
    assert limits(H100, 128, 32, 0) == (100, "threads, registers")
    assert limits(H100, 128, 255, 0) == (12.5, "registers")
    assert limits(H100, 128, 32, 100_000) == (12.5, "shared memory")
    assert limits(H100, 32, 16, 0) == (50, "blocks")
    assert limits(T4, 32, 16, 0) == (50, "blocks")
    assert limits(H100, 40, 16, 0) == (100, "threads, blocks")  # a part of a warp counts as one


def test_registers_are_given_to_warps_in_units() -> None:
    """65 registers of 32 threads take 2304, so that a quarter of the file holds 7 warps, not 7.9."""
    assert limits(H100, 32, 65, 0) == (pytest.approx(100 * 28 / 64), "registers")


def test_too_few_blocks_are_limited_by_the_grid() -> None:
    assert limits(H100, 256, 16, 0, blocks=132) == (100, "grid")


@pytest.mark.parametrize("missing", ["regsPerMultiprocessor", "computeMajor", "warpSize"])
def test_unknown_limits_are_null(missing: str) -> None:
    device = {key: value for key, value in H100.items() if key != missing}
    assert limits(device, 256, 16, 0) == (None, None)


def test_unknown_needs_and_devices_are_null() -> None:
    assert limits(H100, 256, None, 0) == (None, None)
    assert limits(H100, 4096, 16, 0) == (None, None)
    assert limits(H100 | {"computeMajor": 99}, 256, 16, 0) == (None, None)
    assert limits(H100 | {"name": "AMD Instinct MI300X"}, 256, 16, 0) == (None, None)


@pytest.mark.parametrize("value", [-1, 2**62, 0])
def test_invented_numbers_do_no_harm(value: int) -> None:
    assert limits(H100, value, value, value)[0] in {None, 100}
    assert limits({**H100, "warpSize": value, "maxThreadsPerMultiprocessor": value}, 256, 16, 0) is not None


def test_recorded_limits_come_first() -> None:
    facts = {"activeBlocksPerMultiprocessor": 3, "limitingFactors": "WARPS|REGS", "blockLimitRegs": 3}
    facts |= {"blockLimitSharedMem": 100, "blockLimitWarps": 3}
    trace = read(H100, event("k", {"block": [512, 1, 1], "grid": [800, 1, 1], "occupancy": facts}))
    assert trace.kernels().select("theoretical_occupancy", "occupancy_limit").rows() == [(75, "threads, registers")]
    assert json.loads(trace.events["args"][0])["occupancy"] == facts


def estimates(path: Path) -> Iterator[tuple[float, int]]:
    """Computed and recorded occupancy of kernels with enough blocks to fill the device."""
    trace = ks.read(path, False)
    table = trace.kernels().select("theoretical_occupancy", "occupancy_limit", "longest_id")
    recorded = dict(trace.events.select("id", "occupancy"))
    for percent, limit, longest in table:
        if limit not in {None, "grid"} and recorded[longest]:  # 0 stands for unknown
            yield percent, recorded[longest]


def test_the_formula_is_that_of_the_profiler(data: Path) -> None:
    found = list(estimates(data / "transformer_cuda/kineto_trace_0.json.gz"))
    assert len(found) > 5
    assert [pair for pair in found if abs(pair[0] - pair[1]) > ROUNDED] == []


@pytest.mark.shared
def test_the_formula_is_that_of_the_profiler_on_other_devices(shared: Path) -> None:
    """V100, A100, H100 and RTX 2080 Ti."""
    names = ("*kineto/samples*", "linear_kineto.json.gz", "nccl_data.json.gz", "*rank-0.Apr_03*", "*_owlv2-large*")
    paths = sorted(path for name in names for path in shared.rglob(name) if path.name.endswith(".json.gz"))
    found = [pair for path in paths for pair in estimates(path)]
    assert len(found) > 50
    assert [pair for pair in found if abs(pair[0] - pair[1]) > ROUNDED] == []


def test_the_queue_of_the_hardware() -> None:
    trace = read(
        H100,
        event("queue of a database", {"queue": 3}),
        event("channel", {"channel": 5, "channel_type": 1}),
        event("first channel", {"channel": 0, "channel_type": 1}),
        event("no channel", {"channel": 0, "channel_type": 0}),
        event("unknown", {}),
        {"ph": "X", "cat": "cpu_op", "name": "host", "pid": 1, "tid": 1, "ts": 0, "dur": 5, "args": {"queue": 4}},
    )
    found = dict(trace.events.select("name", "hardware_queue"))
    known = {"queue of a database": 3, "channel": 5, "first channel": 0}
    assert found == known | dict.fromkeys(["no channel", "unknown", "host"])
    assert json.loads(dict(trace.events.select("name", "args"))["queue of a database"])["queue"] == 3


def test_the_queue_of_a_database_of_rocm(data: Path) -> None:
    trace = ks.read(data / "synthetic_rocm/rocprofv3_results.db")
    assert isinstance(trace, ks.Trace)
    on_device = trace.events.select("category", "hardware_queue").rows()
    assert {queue is not None for category, queue in on_device if category == "kernel"} == {True}


def test_the_number_of_a_communication() -> None:
    args = {"Collective name": "allreduce", "Process Group Name": "0", "Group size": 2, "dtype": "Float"}
    call = {"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 1, "tid": 1, "dur": 5}
    events = [
        call | {"ts": 10 * at, "args": args | ({} if number is None else {"Comms Id": number})}
        for at, number in enumerate([10159970886766084423, 12, 0, None])
    ]
    trace = ks.read(json.dumps(events).encode())
    assert trace.collectives()["comms_id"] == [10159970886766084423, 12, None, None]
