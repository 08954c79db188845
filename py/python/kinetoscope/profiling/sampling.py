"""Starts and stops the sampling of metrics, and warns about failures."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import final

from kinetoscope._base.warnings import warn
from kinetoscope.profiling import pytorch
from kinetoscope.profiling.folder import RecordingFolder
from kinetoscope.profiling.metrics import Energy, Sampler
from kinetoscope.profiling.sensors import sensors

_INTERVAL_S = 0.1


@final
class Sampling:
    """Runs a sampler while the recording runs."""

    def __init__(self, metrics: bool | float) -> None:  # noqa: FBT001 - the parameter of `profile`
        """`metrics` is an interval in seconds, or True for 0.1.

        Raises ValueError if it is negative.
        """
        self._interval_s = _INTERVAL_S if metrics is True else float(metrics)
        if not 0 <= self._interval_s < float("inf"):
            raise ValueError(f"ks.profile: expected an interval of metrics of at least 0 seconds, found {metrics}")
        self._sampler: Sampler | None = None

    def start(self, folder: RecordingFolder, rank: int, iteration: int) -> None:
        """Starts sampling at an iteration, if metrics are enabled."""
        if not self._interval_s:
            return
        try:
            available = sensors(pytorch.device_uuid())
            if not available:
                warn("ks.profile: expected sensors for metrics, found none: pip install 'kinetoscope[metrics]'")
                return
            about: dict[str, object] = {"rank": rank, "host": platform.node()}
            sampler = Sampler(folder.metrics(rank), available, self._interval_s, about)
            sampler.start(iteration)
            self._sampler = sampler
        except Exception as error:  # noqa: BLE001 - the training must continue
            warn(f"ks.profile: metrics are not sampled: {type(error).__name__}: {error}")

    def iteration_began(self, iteration: int) -> None:
        """Records the start time of an iteration."""
        if self._sampler:
            self._sampler.iteration_began(iteration)

    def stop(self, iteration: int) -> tuple[Path, list[Energy]] | None:
        """Returns the file and the energy per iteration; None if sampling is off or failed."""
        sampler, self._sampler = self._sampler, None
        if sampler is None:
            return None
        try:
            energy = sampler.stop(iteration)
        except Exception as error:  # noqa: BLE001 - the training must continue
            warn(f"ks.profile: metrics could not be written: {type(error).__name__}: {error}")
            return None
        if error := sampler.error:
            warn(f"ks.profile: sampling of metrics stopped early: {type(error).__name__}: {error}")
        return sampler.path, energy
