"""Reads one path with one library in this process, and prints the costs as JSON.

    python benches/once.py kinetoscope|hta PATH [TIMES]

Imports no other file of this folder, because it also runs in HTA's environment. The seconds exclude
imports. The bytes include them; `start_bytes` is the memory before reading.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def main(library: str, path: str, times: int) -> None:
    """Reads so many times and prints the seconds of each, the peak, and what was read."""
    read, count, package = READERS[library]()
    start_bytes = peak_bytes()
    seconds: list[float] = []
    processor_seconds: list[float] = []
    num_events = 0
    for _ in range(times):
        start, start_of_work = time.perf_counter(), time.process_time()
        answer = read(path)
        seconds.append(time.perf_counter() - start)
        processor_seconds.append(time.process_time() - start_of_work)
        num_events = count(answer)
        del answer
    memory = {"start_bytes": start_bytes, "peak_bytes": peak_bytes()}
    about = {"num_events": num_events, "version": version(package)}
    print(json.dumps({"seconds": seconds, "processor_seconds": processor_seconds, **memory, **about}))


Reader = tuple[Callable[[str], Any], Callable[[Any], int], str]
"""Reads a path; counts the events; names the package."""


def kinetoscope() -> Reader:
    """Reads a file or a folder with this package."""
    library = import_module("kinetoscope")

    def read(path: str) -> Any:
        return library.read_dir(path) if Path(path).is_dir() else library.read(path)

    def count(answer: Any) -> int:
        traces = answer if isinstance(answer, library.TraceSet) else [answer]
        return sum(trace.num_events for trace in traces)

    return read, count, "kinetoscope"


def hta() -> Reader:
    """Reads a file with Holistic Trace Analysis."""
    library = import_module("hta.trace_analysis")

    def read(path: str) -> Any:
        return library.TraceAnalysis(trace_files={0: path})

    return read, lambda answer: len(answer.t.get_trace(0)), "traceinsight"  # the name under which HTA 0.6 is published


READERS = {"kinetoscope": kinetoscope, "hta": hta}


def version(package: str) -> str:
    """Of an installed package. What it imports would count, were it imported before."""
    return import_module("importlib.metadata").version(package)


def peak_bytes() -> int:
    """Returns the peak memory of this process, or of its largest child."""
    unit = 1 if sys.platform == "darwin" else 1024
    return max(_own_peak(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) * unit


def _own_peak() -> int:
    """Returns the peak in the unit of the system, without that of the parent if possible."""
    status = Path("/proc/self/status")
    lines = status.read_text(encoding="ascii").splitlines() if status.exists() else []
    own = (int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
    return next(own, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 1)  # noqa: PLR2004 - the third is optional
