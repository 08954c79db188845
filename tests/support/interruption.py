"""Interrupts all that can be done with a trace of N launches: `interruption.py N`.

Prints the seconds until each ended, as JSON.
"""

from __future__ import annotations

import json
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import kinetoscope as ks
import pandas as pd
from support.growth import work
from support.shapes import launched, steps
from support.shapes import trace as trace_of

AFTER_S = 0.05
"""Seconds of work before the interruption."""


class Interruption(Exception):  # noqa: N818 - it is no error
    """Stands for Ctrl-C."""


def waits(operations: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Returns the seconds from the interruption of each operation to its end.

    Leaves out those that end before the interruption.
    """
    is_armed = False

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        if is_armed:
            raise Interruption

    found: dict[str, float] = {}
    signal.signal(signal.SIGALRM, interrupt)
    for name, function in operations.items():
        sent = time.monotonic() + AFTER_S
        try:
            try:
                is_armed = True
                signal.setitimer(signal.ITIMER_REAL, AFTER_S)
                function()
            finally:
                is_armed = False
                signal.setitimer(signal.ITIMER_REAL, 0)
        except Interruption:
            found[name] = time.monotonic() - sent
        except (ks.TraceError, ValueError):
            pass  # some exports refuse some traces
    return found


def main() -> None:
    n = int(sys.argv[1])
    content = trace_of([*steps(10, lambda at: at * n, lambda _: n), *launched(n)])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        path.write_bytes(content)
        found = waits({"read": lambda: ks.read(path)})
        trace = ks.read(path, ranks="merge")
        more: dict[str, Callable[[], object]] = {
            "rows": trace.events.rows,
            "summary": lambda: str(trace),
            "relink": lambda: trace.relink(iteration=0),
            "pandas": lambda: pd.DataFrame(trace.events.to_pandas()),
            "timeline": lambda: ks.read(path).timeline(),
        }
        found |= waits({**work(trace, Path(folder)), **more})
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
