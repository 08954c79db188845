"""Devices that stand for the recorded ones."""

from __future__ import annotations

from collections.abc import Iterable


def moves_host(device: str | None, recorded: Iterable[str]) -> bool:
    """Whether a chosen device replaces the host: the trace has no other device."""
    return device is not None and {name.partition(":")[0] for name in recorded} == {"cpu"}


def replaced_device(device: str | None, recorded: Iterable[str], name: str) -> str:
    """Returns the device that the option of a replay puts in the place of a recorded one."""
    if device is None or (name.startswith("cpu") and not moves_host(device, recorded)):
        return name
    return device
