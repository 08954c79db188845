"""Metrics of devices and of the host, sampled beside a recording: `metrics_<rank>.jsonl`.

A line is a sample, as the counter event that it is in Chrome's format (`ts` in microseconds since 1970, as Kineto's
times are); the first one says what the file is, the last ones how much energy each iteration took.
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
"""Samples and iterations for the energy of each: a day of samples, ten a second."""


class Energy(NamedTuple):
    """What an iteration took."""

    iteration: int
    start_ns: int
    end_ns: int
    energy_j: dict[str, float]
    """Joules, by device."""


@final
class Sampler:
    """A thread that reads sensors, now and then, into a file."""

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
        self.trouble: Exception | None = None
        """What has ended the sampling before its time."""
        self._thread = threading.Thread(target=self._run, name="kinetoscope-metrics", daemon=True)

    def start(self, iteration: int) -> None:
        """Begins with this iteration, and with a sample: a short recording has one, too."""
        self._sample()
        self.iteration_began(iteration)
        self._thread.start()

    def iteration_began(self, iteration: int) -> None:
        """Called by the loop, so it does no more than look at the clock."""
        self._steps.append((iteration, time_ns()))

    def stop(self, iteration: int) -> list[Energy]:
        """The file is complete; how much energy each iteration took. OSError when not all of it could be written."""
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
        """A full disk, or whatever a sensor does, ends the sampling, not the training."""
        if self.trouble:
            return
        try:
            self._sample()
        except Exception as error:  # noqa: BLE001 - it is told when the recording ends
            self.trouble = error
            self._has_ended.set()

    def _sample(self) -> None:
        for sensor in self._sensors:
            values, time = sensor.read(), time_ns()
            self._count(sensor.name, time, values)
            event = {"ph": "C", "name": sensor.name, "pid": "metrics", "tid": 0}
            shown = {name: round(value, 6) for name, value in values.items() if name != "energy_j"}
            # digits, since a float has too few of them for nanoseconds since 1970
            line = f'{json.dumps(event)[:-1]}, "ts": {time // 1000}.{time % 1000:03}, "args": {json.dumps(shown)}}}\n'
            self._file.write(line)

    def _count(self, name: str, time: int, values: Values) -> None:
        """Joules so far: those that the device counts, or its power over the time since the last sample."""
        kept = self._joules.setdefault(name, deque(maxlen=_MAX_KEPT))
        if "energy_j" in values:
            kept.append((time, values["energy_j"]))
        elif "power_w" in values:
            last, joules = kept[-1] if kept else (time, 0.0)
            kept.append((time, joules + values["power_w"] * (time - last) / 1e9))

    def _energy(self) -> list[Energy]:
        courses = {name: list(kept) for name, kept in self._joules.items() if kept}
        if not courses:
            return []
        reached = [(step, {name: _at(step[1], course) for name, course in courses.items()}) for step in self._steps]
        return [
            Energy(iteration, start, end, {name: round(after[name] - before[name], 6) for name in courses})
            for ((iteration, start), before), ((_, end), after) in pairwise(reached)
        ]

    def _write(self, line: dict[str, object]) -> None:
        self._file.write(json.dumps(line) + "\n")


def _at(time: int, course: list[tuple[int, float]]) -> float:
    """The value at a time, between those before and after it."""
    after = bisect_right(course, time, key=lambda point: point[0])
    if after in {0, len(course)}:
        return course[min(after, len(course) - 1)][1]
    (start, low), (end, high) = course[after - 1 : after + 1]
    return low + (high - low) * (time - start) / (end - start)
