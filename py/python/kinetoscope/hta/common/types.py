"""Types of devices and copies, and the patterns that group events by name and category."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas


class DeviceType(Enum):
    """Device type of events."""

    UNKNOWN = 0
    CPU = 1
    GPU = 2
    ALL = 3


def infer_device_type(df: pandas.DataFrame) -> DeviceType:
    """Returns the device type of the events of one thread or stream.

    Device work has positive numbers in `stream`, or 0 in `pid` or `tid`; host events have -1 in
    `stream`.
    """
    if "stream" not in df.columns:
        return DeviceType.UNKNOWN
    on_device = (df["stream"] > 0).all()
    if {"pid", "tid"} <= set(df.columns):
        on_device = on_device or (df["pid"] == 0).all() or (df["tid"] == 0).all()
    if on_device:
        return DeviceType.GPU
    return DeviceType.CPU if (df["stream"] == -1).all() else DeviceType.UNKNOWN


class MemcpyType(Enum):
    """Direction of a copy: between devices, device to host, or host to device."""

    DTOD = 0
    DTOH = 1
    HTOD = 2
    UNKNOWN = 3


MEMCPY_TYPE_TO_STR: dict[MemcpyType, str] = {
    MemcpyType.DTOD: "memcpy_dtod",
    MemcpyType.DTOH: "memcpy_dtoh",
    MemcpyType.HTOD: "memcpy_htod",
    MemcpyType.UNKNOWN: "memcpy_type_unknown",
}


@dataclass
class GroupingPattern:
    """Pattern that selects names, or with `inverse_match` all other names."""

    pattern: re.Pattern[str]
    """Regular expression; a match starts at the beginning of the name."""
    inverse_match: bool = False
    """Whether to select the names without a match."""
    group_name: str = ""
    """Label of the group."""

    def match(self, name: str) -> bool:
        """Returns whether the group contains a name."""
        return (self.pattern.match(name) is not None) != self.inverse_match

    def __hash__(self) -> int:
        return hash((self.pattern.pattern, self.pattern.flags, self.inverse_match))


def to_grouping_pattern(
    pattern: str | list[str] | re.Pattern[str] | GroupingPattern,
    group_name: str | None = None,
    inverse_match: bool | None = None,
) -> GroupingPattern:
    """Builds a GroupingPattern from a regular expression, or from several alternatives.

    Returns an existing GroupingPattern unchanged. Raises ValueError for other types.
    """
    if isinstance(pattern, GroupingPattern):
        return pattern
    if isinstance(pattern, list):
        pattern = "|".join(f"({alternative})" for alternative in pattern)
    try:
        compiled = re.compile(pattern)
    except TypeError as error:
        expected = "str, list, re.Pattern or GroupingPattern"
        found = type(pattern).__name__
        raise ValueError(f"Unsupported pattern type: expected {expected}, found {found}") from error
    return GroupingPattern(compiled, bool(inverse_match), group_name or "")


def _group(group_name: str, *alternatives: str, inverse_match: bool = False) -> GroupingPattern:
    return GroupingPattern(re.compile("|".join(alternatives)), inverse_match, group_name)


# the names of kernels
ProfilerStepGroupingPattern = _group("Profiler Step", r"^ProfilerStep#(\d+)")
MemoryKernelGroupingPattern = _group("Memory", "(^(hip)?Memcpy)", "(^(hip)?Memset)", "(^dma)")
MTIAMemoryKernelGroupingPattern = _group("MTIA Memory", "(^dma)")
CommunicateKernelGroupingPattern = _group("Communicate", "(^nccl.*)", "(^hip)", "(^hccl)", "(.*ncclKernel.*)")
ComputeKernelGroupingPattern = _group(
    "Compute",
    *("(^nccl)", "(.*Memcpy)", "(.*Memset)", "(.*dma)", "(^.*Sync)", "(^Stream Wait Event)", "(cuda.*LaunchKernel)"),
    *("(^runFunction)", "(^hip)", "(^job_exe)", "(^packet)", "(^pe_exe)", "(^cpum_exe_subgraph)", "(^hccl)"),
    "(^collective_subgraph_execution)",
    inverse_match=True,
)
KERNEL_LAUNCH_CATEGORY_PATTERN = _group("Kernel Launch", "(cuda.*LaunchKernel)", "(cuLaunchKernel)", "(^runFunction)")

# the categories of events
KERNEL_CATEGORY_PATTERN = _group("GPU Kernels", "(kernel)", "(gpu_mem.+)", "(mtia_ccp_events)")
CPU_OP_CATEGORY_PATTERN = _group("CPU Ops", "(cpu_op)", "(user_annotation)")
DEVICE_RUNTIME_CATEGORY_PATTERN = _group("Device Runtimes", "(cuda_runtime)", "(mtia_runtime)")
MEMORY_CATEGORY_PATTERN = _group("Memory", "(gpu_mem.+)", "(mtia_ccp_events)")
_DEVICE = ("(.*kernel)", "(^gpu_mem)", "(^mtia_ccp_events)", "(^cuda_sync)")
GPU_EVENT_CATEGORY_PATTERN = _group("GPU Events", *_DEVICE)
CPU_EVENTS_CATEGORY_PATTERN = _group("CPU Events", "(cpu_op)", "(user_annotation)", "(^(.+)_runtime)")
CPU_AND_GPU_EVENTS_CATEGORY_PATTERN = _group(
    "CPU/GPU Events", "(cpu_op)", "(user_annotation)", "(cuda_runtime)", *_DEVICE
)
PYTHON_FUNCTION_PATTERN = _group("Python Functions", "(python_function)")
ALL_CATEGORY_PATTERN = _group("All", ".*")
CUDA_SYNC_PATTERN = _group("CUDA Sync", "(cuda_sync)")

common_grouping_patterns: dict[str, GroupingPattern] = {
    "memory_kernels": MemoryKernelGroupingPattern,
    "compute_kernels": ComputeKernelGroupingPattern,
    "communicate_kernels": CommunicateKernelGroupingPattern,
}
"""Patterns of kernels by the kind of work."""
