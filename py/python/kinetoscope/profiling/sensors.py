"""What can be measured of devices and of the host. Libraries are asked for what they have; the rest is left out."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import import_module
from math import isfinite
from typing import Any, NamedTuple, final

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


class Vendor(NamedTuple):
    """The library through which devices of a vendor are asked."""

    module: str
    start: Callable[[Any], object]
    handles: Callable[[Any], list[Any]]
    """One handle per device, from the library."""
    by_uuid: Callable[[Any, str], Any] | None
    """The handle of one device. `None` if the library has none by UUID."""
    questions: dict[str, Callable[[Any, Any], Any]]
    """Columns, each with its question to the library about a handle."""


NVIDIA = Vendor(
    module="pynvml",
    start=lambda nvml: nvml.nvmlInit(),
    handles=lambda nvml: [nvml.nvmlDeviceGetHandleByIndex(index) for index in range(nvml.nvmlDeviceGetCount())],
    by_uuid=lambda nvml, uuid: nvml.nvmlDeviceGetHandleByUUID(uuid),
    questions={
        "busy_share": lambda nvml, handle: nvml.nvmlDeviceGetUtilizationRates(handle).gpu / 100,
        "memory_used_bytes": lambda nvml, handle: nvml.nvmlDeviceGetMemoryInfo(handle).used,
        "power_w": lambda nvml, handle: nvml.nvmlDeviceGetPowerUsage(handle) / 1000,
        "clock_mhz": lambda nvml, handle: nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM),
        "memory_clock_mhz": lambda nvml, handle: nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_MEM),
        "temperature_c": lambda nvml, handle: nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU),
        "energy_j": lambda nvml, handle: nvml.nvmlDeviceGetTotalEnergyConsumption(handle) / 1000,
    },
)


def _amd_joules(count: dict[str, float]) -> float:
    """The resolution is in microjoules."""
    return count["energy_accumulator"] * count["counter_resolution"] / 1e6


AMD = Vendor(
    module="amdsmi",
    start=lambda smi: smi.amdsmi_init(),
    handles=lambda smi: smi.amdsmi_get_processor_handles(),
    by_uuid=None,
    questions={
        "busy_share": lambda smi, handle: smi.amdsmi_get_gpu_activity(handle)["gfx_activity"] / 100,
        "memory_used_bytes": lambda smi, handle: smi.amdsmi_get_gpu_vram_usage(handle)["vram_used"] * (1 << 20),
        "power_w": lambda smi, handle: smi.amdsmi_get_power_info(handle)["current_socket_power"],
        "clock_mhz": lambda smi, handle: smi.amdsmi_get_clock_info(handle, smi.AmdSmiClkType.GFX)["clk"],
        "temperature_c": lambda smi, handle: smi.amdsmi_get_temp_metric(
            handle, smi.AmdSmiTemperatureType.HOTSPOT, smi.AmdSmiTemperatureMetric.CURRENT
        ),
        "energy_j": lambda smi, handle: _amd_joules(smi.amdsmi_get_energy_count(handle)),
    },
)

VENDORS = (NVIDIA, AMD)
"""Vendors whose devices have sensors. The names in traces are in the core."""


def sensors(device: str | None) -> list[Sensor]:
    """Those of the GPU that a process uses, by its UUID; of all where nobody says; and of the host."""
    found: list[Sensor] = []
    for vendor in VENDORS:
        with suppress(Exception):  # no library, no driver, no device: each says so in its own way
            found += _of_vendor(vendor, device)
    with suppress(ImportError):
        found.append(_host())
    return found


def _of_vendor(vendor: Vendor, device: str | None) -> list[Sensor]:
    library = import_module(vendor.module)
    vendor.start(library)

    def sensor(name: str, handle: Any) -> Sensor:
        return Sensor(name, {column: partial(ask, library, handle) for column, ask in vendor.questions.items()})

    if device is not None and vendor.by_uuid is not None:
        with suppress(Exception):  # a device of another vendor, or one that the library does not see
            return [sensor("GPU", vendor.by_uuid(library, device))]
    return [sensor(f"GPU {index}", handle) for index, handle in enumerate(vendor.handles(library))]


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
