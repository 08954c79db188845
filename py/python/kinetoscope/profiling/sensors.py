"""What can be measured of devices and of the host. Libraries are asked for what they have; the rest is left out."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from math import isfinite
from typing import Any, final

Values = dict[str, float]
"""Columns that say their units: `power_w`, `memory_used_bytes`; `energy_j` counts from any zero."""


@final
class Sensor:
    """Something that is asked from time to time, and by which questions."""

    def __init__(self, name: str, questions: dict[str, Callable[[], Any]]) -> None:
        self.name = name
        self._questions = questions

    def read(self) -> Values:
        """The answers to those that it can answer now."""
        values: Values = {}
        for name, ask in self._questions.items():
            with suppress(Exception):  # not supported by this device, not now, or no number
                value = float(ask())
                if isfinite(value):
                    values[name] = value
        return values


def sensors(device: str | None) -> list[Sensor]:
    """Those of the GPU that a process uses, by its UUID; of all where nobody says; and of the host."""
    found: list[Sensor] = []
    for make in (_nvidia, _amd):
        with suppress(Exception):  # no library, no driver, no device: each says so in its own way
            found += make(device)
    with suppress(ImportError):
        found.append(_host())
    return found


def _of_nvml(nvml: Any, handle: Any, name: str) -> Sensor:
    questions: dict[str, Callable[[], Any]] = {
        "busy_share": lambda: nvml.nvmlDeviceGetUtilizationRates(handle).gpu / 100,
        "memory_used_bytes": lambda: nvml.nvmlDeviceGetMemoryInfo(handle).used,
        "power_w": lambda: nvml.nvmlDeviceGetPowerUsage(handle) / 1000,
        "clock_mhz": lambda: nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM),
        "memory_clock_mhz": lambda: nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_MEM),
        "temperature_c": lambda: nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU),
        "energy_j": lambda: nvml.nvmlDeviceGetTotalEnergyConsumption(handle) / 1000,
    }
    return Sensor(name, questions)


def _nvidia(device: str | None) -> list[Sensor]:
    nvml = import_module("pynvml")
    nvml.nvmlInit()
    if device is not None:
        with suppress(nvml.NVMLError):
            return [_of_nvml(nvml, nvml.nvmlDeviceGetHandleByUUID(device), "GPU")]
    handles = [nvml.nvmlDeviceGetHandleByIndex(index) for index in range(nvml.nvmlDeviceGetCount())]
    return [_of_nvml(nvml, handle, f"GPU {index}") for index, handle in enumerate(handles)]


def _of_amd(smi: Any, handle: Any, name: str) -> Sensor:
    edge = (smi.AmdSmiTemperatureType.HOTSPOT, smi.AmdSmiTemperatureMetric.CURRENT)
    questions: dict[str, Callable[[], Any]] = {
        "busy_share": lambda: smi.amdsmi_get_gpu_activity(handle)["gfx_activity"] / 100,
        "memory_used_bytes": lambda: smi.amdsmi_get_gpu_vram_usage(handle)["vram_used"] * (1 << 20),
        "power_w": lambda: smi.amdsmi_get_power_info(handle)["current_socket_power"],
        "clock_mhz": lambda: smi.amdsmi_get_clock_info(handle, smi.AmdSmiClkType.GFX)["clk"],
        "temperature_c": lambda: smi.amdsmi_get_temp_metric(handle, *edge),
        "energy_j": lambda: _amd_joules(smi.amdsmi_get_energy_count(handle)),
    }
    return Sensor(name, questions)


def _amd_joules(count: dict[str, float]) -> float:
    """The resolution is in microjoules."""
    return count["energy_accumulator"] * count["counter_resolution"] / 1e6


def _amd(_: str | None) -> list[Sensor]:
    smi = import_module("amdsmi")
    smi.amdsmi_init()
    return [_of_amd(smi, handle, f"GPU {index}") for index, handle in enumerate(smi.amdsmi_get_processor_handles())]


def _host() -> Sensor:
    """Through psutil: the machine, and this process on it."""
    import psutil

    process = psutil.Process()
    questions: dict[str, Callable[[], Any]] = {
        "cpu_share": lambda: psutil.cpu_percent() / 100,
        "memory_used_bytes": lambda: psutil.virtual_memory().used,
        "process_cpu_share": lambda: process.cpu_percent() / 100,
        "process_memory_bytes": lambda: process.memory_info().rss,
    }
    host = Sensor("host", questions)
    host.read()  # shares of processors are those since the last time
    return host
