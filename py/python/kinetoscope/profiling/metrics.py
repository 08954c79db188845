"""Samples metrics of devices and the host into `metrics_<rank>.jsonl`.

The first line is a header. The following lines are samples: counter events in Chrome's format, with
`ts` in microseconds since 1970, as in Kineto traces. The last lines are the energy per iteration.
"""

from __future__ import annotations

import json
import threading
from bisect import bisect_right
from collections import deque
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from time import time_ns
from typing import NamedTuple, final

from kinetoscope.profiling.sensors import Sensor, Values

_MAX_KEPT = 1_000_000
"""Maximum number of samples and iterations for energy: a day at ten samples per second."""


class Energy(NamedTuple):
    """Energy of one iteration."""

    iteration: int
    start_ns: int
    end_ns: int
    energy_j: dict[str, float]
    """Joules by device."""


@final
class Sampler:
    """A thread that samples sensors into a file."""

    def __init__(self, path: Path, sensors: Sequence[Sensor], interval_s: float, about: dict[str, object]) -> None:
        self.path = path
        self._sensors = sensors
        self._interval_s = interval_s
        self._has_ended = threading.Event()
        self._joules: dict[str, deque[tuple[int, float]]] = {}
        self._steps: deque[tuple[int, int]] = deque(maxlen=_MAX_KEPT)
        is_new = not path.exists()
        self._file = path.open("a", encoding="utf-8")
        if is_new:
            self._write({"kinetoscope_metrics": 1, **about, "interval_s": interval_s})
        self.error: Exception | None = None
        """Error that stopped the sampling early, if any."""
        self._thread = threading.Thread(target=self._run, name="kinetoscope-metrics", daemon=True)

    def start(self, iteration: int) -> None:
        """Starts at an iteration, with a first sample: a short recording has one, too."""
        self._sample()
        self.iteration_began(iteration)
        self._thread.start()

    def iteration_began(self, iteration: int) -> None:
        """Records the start time of an iteration. Fast, because the loop calls it."""
        self._steps.append((iteration, time_ns()))

    def stop(self, iteration: int) -> list[Energy]:
        """Completes the file and returns the energy per iteration.

        Raises OSError if a write fails.
        """
        self.iteration_began(iteration)
        self._has_ended.set()
        if self._thread.is_alive():
            self._thread.join()
        with self._file:
            self._try_sample()
            energy = self._energy()
            for row in energy:
                self._write(row._asdict())
        return energy

    def _run(self) -> None:
        while not self._has_ended.wait(self._interval_s):
            self._try_sample()

    def _try_sample(self) -> None:
        """Samples once. An error stops the sampling, not the training."""
        if self.error:
            return
        try:
            self._sample()
        except Exception as error:  # noqa: BLE001 - reported when the recording ends
            self.error = error
            self._has_ended.set()

    def _sample(self) -> None:
        for sensor in self._sensors:
            values, time = sensor.read(), time_ns()
            self._count(sensor.name, time, values)
            event = {"ph": "C", "name": sensor.name, "pid": "metrics", "tid": 0}
            shown = {name: round(value, 6) for name, value in values.items() if name != "energy_j"}
            # a float cannot hold nanoseconds since 1970
            line = f'{json.dumps(event)[:-1]}, "ts": {time // 1000}.{time % 1000:03}, "args": {json.dumps(shown)}}}\n'
            self._file.write(line)

    def _count(self, name: str, time: int, values: Values) -> None:
        """Adds energy in joules: the device counter, or power × time since the last sample."""
        samples = self._joules.setdefault(name, deque(maxlen=_MAX_KEPT))
        if "energy_j" in values:
            samples.append((time, values["energy_j"]))
        elif "power_w" in values:
            last, joules = samples[-1] if samples else (time, 0.0)
            samples.append((time, joules + values["power_w"] * (time - last) / 1e9))

    def _energy(self) -> list[Energy]:
        curves = {name: list(samples) for name, samples in self._joules.items() if samples}
        if not curves:
            return []
        reached = [(step, {name: _at(step[1], curve) for name, curve in curves.items()}) for step in self._steps]
        return [
            Energy(iteration, start, end, {name: round(after[name] - before[name], 6) for name in curves})
            for ((iteration, start), before), ((_, end), after) in pairwise(reached)
        ]

    def _write(self, line: dict[str, object]) -> None:
        self._file.write(json.dumps(line) + "\n")


def _at(time: int, curve: list[tuple[int, float]]) -> float:
    """Interpolates the value at a time."""
    after = bisect_right(curve, time, key=lambda point: point[0])
    if after in {0, len(curve)}:
        return curve[min(after, len(curve) - 1)][1]
    (start, low), (end, high) = curve[after - 1 : after + 1]
    return low + (high - low) * (time - start) / (end - start)
