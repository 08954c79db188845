"""Devices that stand for the recorded ones."""

from __future__ import annotations

import re
from collections.abc import Iterable

_KINDS = ("cpu", "cuda", "hip", "hpu", "maia", "mps", "mtia", "npu", "privateuseone", "vulkan", "xla", "xpu")
"""Kinds of devices that torch has, or that libraries add to it."""
_DEVICE = re.compile(rf"({'|'.join(_KINDS)})(:[0-9]{{1,4}})?")


def expect_device(name: str) -> None:
    """Raises ValueError for a text that names no device of torch. Does not look for the device."""
    if not _DEVICE.fullmatch(str(name)):
        raise ValueError(f"expected a device such as cpu or cuda:1, found {name}")


def moves_host(device: str | None, recorded: Iterable[str]) -> bool:
    """Whether a chosen device replaces the host: the trace has no other device."""
    return device is not None and {name.partition(":")[0] for name in recorded} == {"cpu"}


def replaced_device(device: str | None, recorded: Iterable[str], name: str) -> str:
    """Returns the device that the option of a replay puts in the place of a recorded one."""
    if device is None or (name.startswith("cpu") and not moves_host(device, recorded)):
        return name
    return device
