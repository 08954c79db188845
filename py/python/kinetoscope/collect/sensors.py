"""What can be measured of devices and of the host. Libraries are asked for what they have; the rest is left out."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any, Protocol, final

Values = dict[str, float]
"""Columns that say their units: `power_w`, `memory_used_bytes`; `energy_j` counts from any zero."""


class Sensor(Protocol):
    """Something that is asked from time to time."""

    name: str

    def read(self) -> Values:
        """What it shows now."""
        ...


def sensors(device: str | None) -> list[Sensor]:
    """Those of the GPU that a process uses, by its UUID; of all where nobody says; and of the host."""
    found: list[Sensor] = []
    for make in (_nvidia, _amd):
        with suppress(Exception):  # no library, no driver, no device: each says so in its own way
            found += make(device)
    with suppress(ImportError):
        found.append(_Host())
    return found


def _asked(questions: dict[str, Callable[[], float]]) -> Values:
    """The answers to those questions that the device can answer."""
    values: Values = {}
    for name, ask in questions.items():
        with suppress(Exception):  # not supported by this device, or not now
            values[name] = ask()
    return values


@final
class _Nvidia:
    """Through NVML."""

    def __init__(self, nvml: Any, handle: Any, name: str) -> None:
        self.name = name
        self._nvml = nvml
        self._handle = handle

    def read(self) -> Values:
        nvml, handle = self._nvml, self._handle
        return _asked(
            {
                "busy_share": lambda: nvml.nvmlDeviceGetUtilizationRates(handle).gpu / 100,
                "memory_used_bytes": lambda: nvml.nvmlDeviceGetMemoryInfo(handle).used,
                "power_w": lambda: nvml.nvmlDeviceGetPowerUsage(handle) / 1000,
                "clock_mhz": lambda: nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM),
                "memory_clock_mhz": lambda: nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_MEM),
                "temperature_c": lambda: nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU),
                "energy_j": lambda: nvml.nvmlDeviceGetTotalEnergyConsumption(handle) / 1000,
            }
        )


def _nvidia(device: str | None) -> list[Sensor]:
    nvml = import_module("pynvml")
    nvml.nvmlInit()
    if device is not None:
        with suppress(nvml.NVMLError):
            return [_Nvidia(nvml, nvml.nvmlDeviceGetHandleByUUID(device), "GPU")]
    handles = [nvml.nvmlDeviceGetHandleByIndex(index) for index in range(nvml.nvmlDeviceGetCount())]
    return [_Nvidia(nvml, handle, f"GPU {index}") for index, handle in enumerate(handles)]


@final
class _Amd:
    """Through AMD SMI."""

    def __init__(self, smi: Any, handle: Any, name: str) -> None:
        self.name = name
        self._smi = smi
        self._handle = handle

    def read(self) -> Values:
        smi, handle = self._smi, self._handle
        edge = (smi.AmdSmiTemperatureType.HOTSPOT, smi.AmdSmiTemperatureMetric.CURRENT)
        return _asked(
            {
                "busy_share": lambda: smi.amdsmi_get_gpu_activity(handle)["gfx_activity"] / 100,
                "memory_used_bytes": lambda: smi.amdsmi_get_gpu_vram_usage(handle)["vram_used"] * (1 << 20),
                "power_w": lambda: float(smi.amdsmi_get_power_info(handle)["current_socket_power"]),
                "clock_mhz": lambda: smi.amdsmi_get_clock_info(handle, smi.AmdSmiClkType.GFX)["clk"] + 0,
                "temperature_c": lambda: smi.amdsmi_get_temp_metric(handle, *edge) + 0,
                "energy_j": lambda: _amd_joules(smi.amdsmi_get_energy_count(handle)),
            }
        )


def _amd_joules(count: dict[str, float]) -> float:
    """The resolution is in microjoules."""
    return count["energy_accumulator"] * count["counter_resolution"] / 1e6


def _amd(_: str | None) -> list[Sensor]:
    smi = import_module("amdsmi")
    smi.amdsmi_init()
    return [_Amd(smi, handle, f"GPU {index}") for index, handle in enumerate(smi.amdsmi_get_processor_handles())]


@final
class _Host:
    """Through psutil: the machine, and this process on it."""

    name = "host"

    def __init__(self) -> None:
        import psutil

        self._psutil = psutil
        self._process = psutil.Process()
        self.read()  # shares of processors are those since the last time

    def read(self) -> Values:
        psutil, process = self._psutil, self._process
        return _asked(
            {
                "cpu_share": lambda: psutil.cpu_percent() / 100,
                "memory_used_bytes": lambda: psutil.virtual_memory().used,
                "process_cpu_share": lambda: process.cpu_percent() / 100,
                "process_memory_bytes": lambda: process.memory_info().rss,
            }
        )
