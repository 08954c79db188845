"""Sensors of devices and the host, through nvidia-ml-py, amdsmi and psutil if installed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import import_module
from math import isfinite
from typing import Any, NamedTuple, final

Values = dict[str, float]
"""Values by name with unit: `power_w`, `memory_used_bytes`. `energy_j` has an arbitrary zero."""


@final
class Sensor:
    """A source of values: a name, and one function per value."""

    def __init__(self, name: str, readers: dict[str, Callable[[], Any]]) -> None:
        self.name = name
        self._readers = readers

    def read(self) -> Values:
        """Returns the values that are available now."""
        values: Values = {}
        for name, read in self._readers.items():
            with suppress(Exception):  # unsupported or temporarily unavailable
                value = float(read())
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
    readers: dict[str, Callable[[Any, Any], Any]]
    """Columns, each with its question to the library about a handle."""


NVIDIA = Vendor(
    module="pynvml",
    start=lambda nvml: nvml.nvmlInit(),
    handles=lambda nvml: [nvml.nvmlDeviceGetHandleByIndex(index) for index in range(nvml.nvmlDeviceGetCount())],
    by_uuid=lambda nvml, uuid: nvml.nvmlDeviceGetHandleByUUID(uuid),
    readers={
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
    """Converts a counter with a resolution in microjoules to joules."""
    return count["energy_accumulator"] * count["counter_resolution"] / 1e6


AMD = Vendor(
    module="amdsmi",
    start=lambda smi: smi.amdsmi_init(),
    handles=lambda smi: smi.amdsmi_get_processor_handles(),
    by_uuid=None,
    readers={
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
    """Returns sensors of the GPU with this UUID, or of all GPUs for None, and of the host."""
    found: list[Sensor] = []
    for vendor in VENDORS:
        with suppress(Exception):  # each library has its own error for a missing driver or device
            found += _of_vendor(vendor, device)
    with suppress(ImportError):
        found.append(_host())
    return found


def _of_vendor(vendor: Vendor, device: str | None) -> list[Sensor]:
    library = import_module(vendor.module)
    vendor.start(library)

    def sensor(name: str, handle: Any) -> Sensor:
        return Sensor(name, {column: partial(ask, library, handle) for column, ask in vendor.readers.items()})

    if device is not None and vendor.by_uuid is not None:
        with suppress(Exception):  # a device of another vendor, or one that the library does not see
            return [sensor("GPU", vendor.by_uuid(library, device))]
    return [sensor(f"GPU {index}", handle) for index, handle in enumerate(vendor.handles(library))]


def _host() -> Sensor:
    """Returns the sensor of the machine and this process."""
    import psutil

    process = psutil.Process()
    readers: dict[str, Callable[[], Any]] = {
        "cpu_share": lambda: psutil.cpu_percent() / 100,
        "memory_used_bytes": lambda: psutil.virtual_memory().used,
        "process_cpu_share": lambda: process.cpu_percent() / 100,
        "process_memory_bytes": lambda: process.memory_info().rss,
    }
    host = Sensor("host", readers)
    host.read()  # psutil measures CPU shares since the previous call
    return host
