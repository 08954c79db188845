"""The metrics of a recording: when they are sampled, and what is told when they are not."""

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
    """Between the start and the end of a loop, a sampler."""

    def __init__(self, metrics: bool | float) -> None:  # noqa: FBT001 - the parameter of `profile`
        """ValueError for a number of seconds that is none."""
        self._interval_s = _INTERVAL_S if metrics is True else float(metrics)
        if not 0 <= self._interval_s < float("inf"):
            raise ValueError(f"ks.profile: expected metrics of at least 0 seconds, found {metrics}")
        self._sampler: Sampler | None = None

    def start(self, folder: RecordingFolder, rank: int, iteration: int) -> None:
        """Begins with this iteration, if metrics are wanted."""
        if not self._interval_s:
            return
        try:
            found = sensors(pytorch.device_uuid())
            if not found:
                warn("ks.profile: nothing to sample: metrics need nvidia-ml-py, amdsmi or psutil")
                return
            about: dict[str, object] = {"rank": rank, "host": platform.node()}
            sampler = Sampler(folder.metrics(rank), found, self._interval_s, about)
            sampler.start(iteration)
            self._sampler = sampler
        except Exception as error:  # noqa: BLE001 - whatever it is, the training goes on
            warn(f"ks.profile: metrics are not sampled: {type(error).__name__}: {error}")

    def iteration_began(self, iteration: int) -> None:
        """Called by the loop."""
        if self._sampler:
            self._sampler.iteration_began(iteration)

    def stop(self, iteration: int) -> tuple[Path, list[Energy]] | None:
        """The finished file, and how much energy each iteration took; None where nothing was sampled or written."""
        sampler, self._sampler = self._sampler, None
        if sampler is None:
            return None
        try:
            energy = sampler.stop(iteration)
        except Exception as error:  # noqa: BLE001 - as above
            warn(f"ks.profile: metrics could not be written: {type(error).__name__}: {error}")
            return None
        if error := sampler.trouble:
            warn(f"ks.profile: the sampling of metrics has ended early: {type(error).__name__}: {error}")
        return sampler.path, energy
