"""Load of other processes on the machine."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import NamedTuple

_STAT = Path("/proc/stat")


class Others(NamedTuple):
    """Seconds of all processors since boot, and of this process and its children."""

    clock: float
    all: float
    own: float

    @classmethod
    def now(cls) -> Others:
        """As the system counts; nothing where it does not say."""
        own = os.times()
        return cls(time.monotonic(), _all(), own.user + own.system + own.children_user + own.children_system)

    def processors(self) -> float:
        """How many processors other work took since then, on average."""
        now = Others.now()
        return max(0.0, (now.all - self.all) - (now.own - self.own)) / (now.clock - self.clock)


def _all() -> float:
    if not _STAT.exists():
        return 0.0
    user, nice, system, _idle, _wait, irq, softirq, steal = map(int, _STAT.read_text(encoding="ascii").split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")
