"""Metrics that `ks.profile` samples beside a recording, and how they come back as counters."""

from __future__ import annotations

import itertools
import json
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope.profiling import sensors
from kinetoscope.profiling.metrics import Sampler
from kinetoscope.profiling.sensors import Sensor

torch = pytest.importorskip("torch")

pytestmark = [
    pytest.mark.torch,
    pytest.mark.usefixtures("nothing_left_running"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def loop(prof: ks.profile, iterations: int) -> None:
    for _ in range(iterations):
        torch.ones(3).add(1)
        time.sleep(0.03)
        prof.step()


def counted(trace: ks.Trace) -> dict[tuple[str, str], list[float]]:
    found: dict[tuple[str, str], list[float]] = {}
    for name, series, value in trace.counters.select("name", "series", "value").rows():
        found.setdefault((name, series), []).append(value)
    return found


def joules(name: str, *, has_counter: bool) -> Sensor:
    """A device that takes 50 W, and says so in one of two ways."""
    return Sensor(name, {"energy_j": lambda: time.time() * 50} if has_counter else {"power_w": lambda: 50})


# --- the host -----------------------------------------------------------------------------------------------------


def test_metrics_of_the_host_are_counters_of_the_trace(tmp_path: Path) -> None:
    with ks.profile(tmp_path, wait=1, active=3, metrics=0.01) as prof:
        loop(prof, 5)
    written = lines(tmp_path / "metrics_0.jsonl")
    assert (written[0]["kinetoscope_metrics"], written[0]["rank"], written[0]["interval_s"]) == (1, 0, 0.01)
    assert len(written) > 8
    found = counted(prof.trace)
    assert {series for name, series in found if name == "host"} == {
        *("cpu_share", "memory_used_bytes", "process_cpu_share", "process_memory_bytes")
    }
    assert len(found["host", "process_memory_bytes"]) > 3
    assert all(10**7 < value < 10**12 for value in found["host", "process_memory_bytes"])
    times = [at for (at,) in prof.trace.counters.select("time_ns").rows()]
    starts = prof.trace.events.select("start_ns").rows()
    assert min(starts)[0] <= min(times) <= max(times) <= max(starts)[0] + 10**9
    assert counted(ks.read_dir(tmp_path)[0]) == found


def test_metrics_stand_at_the_start_of_a_window_that_is_shorter_than_their_interval(tmp_path: Path) -> None:
    with ks.profile(tmp_path, active=1, repeat=2, metrics=60) as prof:
        loop(prof, 3)
    assert [len(counted(trace)["host", "cpu_share"]) for trace in prof.traces] == [1, 1]


def test_metrics_are_in_snapshots_and_reports(tmp_path: Path) -> None:
    with ks.profile(tmp_path, metrics=0.01) as prof:
        loop(prof, 3)
    prof.trace.save(tmp_path / "copy.kscope")
    assert counted(ks.read(tmp_path / "copy.kscope")) == counted(prof.trace)


def test_a_recording_without_metrics_takes_away_those_of_an_earlier_one(tmp_path: Path) -> None:
    with ks.profile(tmp_path, metrics=0.01) as prof:
        loop(prof, 1)
    with ks.profile(tmp_path) as prof:
        loop(prof, 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kineto_trace_0.json.gz", "torch_et_0.json.gz"]
    assert counted(prof.trace) == {}


def test_a_block_that_is_entered_again_goes_on_with_the_file(tmp_path: Path) -> None:
    prof = ks.profile(tmp_path, metrics=0.01)
    for _ in range(2):
        with prof:
            loop(prof, 2)
    assert [("kinetoscope_metrics" in line) for line in lines(tmp_path / "metrics_0.jsonl")].count(True) == 1
    assert all(counted(trace) for trace in prof.traces)


def test_another_file_of_that_name_is_let_be(tmp_path: Path) -> None:
    with ks.profile(tmp_path) as prof:
        loop(prof, 1)
    (tmp_path / "metrics_0.jsonl").write_text("no metrics")
    assert ks.read(prof.files[0]).num_events


def test_they_are_found_at_an_address(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    with ks.profile(tmp_path, metrics=0.01) as prof:
        loop(prof, 2)
    memory = fsspec.filesystem("memory")
    try:
        prof.gather("memory://sampled")
        assert counted(ks.read("memory://sampled/kineto_trace_0.json.gz")) == counted(prof.trace) != {}
        assert counted(ks.read_dir("memory://sampled")[0]) == counted(prof.trace)
        memory.pipe("/sampled/metrics_0.jsonl", b"another file of that name")
        assert counted(ks.read("memory://sampled/kineto_trace_0.json.gz")) == {}
    finally:
        memory.rm("/sampled", recursive=True)


def test_they_are_gathered(tmp_path: Path) -> None:
    with ks.profile(tmp_path / "here", metrics=0.01) as prof:
        loop(prof, 1)
    assert [Path(path).name for path in prof.gather(tmp_path / "there")] == [
        *("kineto_trace_0.json.gz", "metrics_0.jsonl", "torch_et_0.json.gz")
    ]


# --- what goes wrong ----------------------------------------------------------------------------------------------


def test_nothing_to_sample_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for library in ("pynvml", "amdsmi", "psutil"):
        monkeypatch.setitem(sys.modules, library, None)
    with pytest.warns(RuntimeWarning, match=r"pip install 'kinetoscope\[metrics\]'"):
        with ks.profile(tmp_path, metrics=True) as prof:
            loop(prof, 1)
    assert len(prof.files) == 2


def test_a_sensor_that_fails_does_not_harm_the_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> list[Any]:
        raise RuntimeError("no driver")

    monkeypatch.setattr("kinetoscope.profiling.sampling.sensors", fail)
    with pytest.warns(RuntimeWarning, match="metrics are not sampled.*no driver"):
        with ks.profile(tmp_path, metrics=True) as prof:
            loop(prof, 1)
    assert len(prof.files) == 2


def test_odd_values_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers: list[Any] = ["N/A", None, {"value": 1}, float("nan"), "12.5"]
    powers = itertools.chain(answers, itertools.repeat(answers[-1]))
    odd = Sensor("odd", {"power_w": lambda: next(powers), "clock_mhz": lambda: 7})
    monkeypatch.setattr("kinetoscope.profiling.sampling.sensors", lambda _: [odd])
    with ks.profile(tmp_path, metrics=0.01) as prof:
        loop(prof, 4)
    shown = [line["args"] for line in lines(tmp_path / "metrics_0.jsonl") if "args" in line]
    assert [values for values in shown if "power_w" not in values] == [{"clock_mhz": 7}] * 4
    assert shown[4] == {"power_w": 12.5, "clock_mhz": 7}


def fail(*_: object) -> None:
    raise OSError(28, "No space left on device")


def test_sampling_that_ends_early_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prof = ks.profile(tmp_path, metrics=0.01)
    prof.start()
    monkeypatch.setattr(Sampler, "_count", fail)
    loop(prof, 3)
    with pytest.warns(RuntimeWarning, match="sampling of metrics stopped early.*No space"):
        prof.stop()
    assert [path.name for path in sorted(tmp_path.iterdir())] == [
        *("kineto_trace_0.json.gz", "metrics_0.jsonl", "torch_et_0.json.gz")
    ]


def test_a_file_of_metrics_that_cannot_be_finished_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sampler, "_energy", fail)
    with pytest.warns(RuntimeWarning, match="metrics could not be written.*No space"):
        with ks.profile(tmp_path, metrics=0.01) as prof:
            loop(prof, 2)
    assert len(prof.files) == 2
    assert not (tmp_path / "metrics_0.jsonl").exists()


def test_metrics_without_a_window_do_not_take_the_place_of_an_earlier_recordings(tmp_path: Path) -> None:
    with ks.profile(tmp_path, metrics=0.01) as prof:
        loop(prof, 1)
    before = (tmp_path / "metrics_0.jsonl").read_bytes()
    with pytest.warns(RuntimeWarning, match="nothing was recorded"):
        with ks.profile(tmp_path, wait=9, active=1, metrics=0.01) as prof:
            loop(prof, 2)
    assert (tmp_path / "metrics_0.jsonl").read_bytes() == before


# --- energy -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("has_counter", [True, False])
def test_energy_of_iterations(tmp_path: Path, *, has_counter: bool) -> None:
    sampler = Sampler(tmp_path / "m.jsonl", [joules("GPU", has_counter=has_counter)], 0.01, {})
    sampler.start(0)
    for iteration in range(1, 3):
        time.sleep(0.1 * iteration)
        sampler.iteration_began(iteration)
    energy = sampler.stop(3)
    assert [row.iteration for row in energy] == [0, 1, 2]
    for row in energy[:2]:
        assert row.energy_j["GPU"] == pytest.approx(50 * (row.end_ns - row.start_ns) / 1e9, rel=0.1)
    assert [line for line in lines(tmp_path / "m.jsonl") if "iteration" in line] == [row._asdict() for row in energy]


def test_energy_of_a_recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kinetoscope.profiling.sampling.sensors", lambda _: [joules("GPU", has_counter=True)])
    with ks.profile(tmp_path, wait=1, active=1, metrics=0.01) as prof:
        loop(prof, 3)
    assert [row.iteration for row in prof.energy] == [0, 1, 2, 3]
    assert all(0.5 < row.energy_j["GPU"] < 50 for row in prof.energy[:3])


# --- devices ------------------------------------------------------------------------------------------------------


def unsupported(*_: object) -> float:
    raise RuntimeError("not supported")


def test_what_nvml_says(monkeypatch: pytest.MonkeyPatch) -> None:
    nvml = SimpleNamespace(
        NVMLError=KeyError,
        NVML_CLOCK_SM=1,
        NVML_CLOCK_MEM=2,
        NVML_TEMPERATURE_GPU=0,
        nvmlInit=lambda: None,
        nvmlDeviceGetCount=lambda: 2,
        nvmlDeviceGetHandleByIndex=lambda index: index,
        nvmlDeviceGetHandleByUUID={"GPU-abc": "mine"}.__getitem__,
        nvmlDeviceGetUtilizationRates=lambda _: SimpleNamespace(gpu=93),
        nvmlDeviceGetMemoryInfo=lambda _: SimpleNamespace(used=7),
        nvmlDeviceGetPowerUsage=lambda _: 350_500,
        nvmlDeviceGetClockInfo=lambda _, clock: 1000 * clock,
        nvmlDeviceGetTemperature=unsupported,
        nvmlDeviceGetTotalEnergyConsumption=lambda _: 2500,
    )
    monkeypatch.setitem(sys.modules, "pynvml", nvml)
    monkeypatch.setitem(sys.modules, "psutil", None)
    expected = {"busy_share": 0.93, "memory_used_bytes": 7, "power_w": 350.5, "energy_j": 2.5}
    expected |= {"clock_mhz": 1000, "memory_clock_mhz": 2000}
    assert [(sensor.name, sensor.read()) for sensor in sensors.sensors("GPU-abc")] == [("GPU", expected)]
    assert [sensor.name for sensor in sensors.sensors("GPU-other")] == ["GPU 0", "GPU 1"]
    assert [sensor.name for sensor in sensors.sensors(None)] == ["GPU 0", "GPU 1"]


def test_what_amdsmi_says(monkeypatch: pytest.MonkeyPatch) -> None:
    smi = SimpleNamespace(
        AmdSmiTemperatureType=SimpleNamespace(HOTSPOT=1),
        AmdSmiTemperatureMetric=SimpleNamespace(CURRENT=0),
        AmdSmiClkType=SimpleNamespace(GFX=0),
        amdsmi_init=lambda: None,
        amdsmi_get_processor_handles=lambda: ["a"],
        amdsmi_get_gpu_activity=lambda _: {"gfx_activity": 50},
        amdsmi_get_gpu_vram_usage=lambda _: {"vram_used": 3},
        amdsmi_get_power_info=lambda _: {"current_socket_power": "N/A"},
        amdsmi_get_clock_info=lambda *_: {"clk": 2100},
        amdsmi_get_temp_metric=lambda *_: 61,
        amdsmi_get_energy_count=lambda _: {"energy_accumulator": 4_000_000, "counter_resolution": 15.3},
    )
    monkeypatch.setitem(sys.modules, "amdsmi", smi)
    monkeypatch.setitem(sys.modules, "psutil", None)
    (sensor,) = sensors.sensors(None)
    assert sensor.read() == {
        "busy_share": 0.5,
        "memory_used_bytes": 3 << 20,
        "clock_mhz": 2100,
        "temperature_c": 61,
        "energy_j": pytest.approx(61.2),
    }


@pytest.mark.parametrize("interval", [-1.0, float("nan"), float("inf")])
def test_an_interval_that_is_none_is_refused(tmp_path: Path, interval: float) -> None:
    with pytest.raises(ValueError, match="at least 0 seconds"):
        ks.profile(tmp_path, metrics=interval)
