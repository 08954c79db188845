"""Times analyses of a loaded trace in HTA's environment; prints seconds as JSON."""

from __future__ import annotations

import json
import logging
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO

logging.disable(logging.CRITICAL)


def main(path: str) -> None:
    """Reads the trace and asks."""
    from hta.trace_analysis import TraceAnalysis  # pyright: ignore[reportMissingImports] - of another environment

    analysis = TraceAnalysis(trace_files={0: path}, trace_dir="/", include_last_profiler_step=True)
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(StringIO()):
        found = {
            "critical path": _timed(lambda: analysis.critical_path_analysis(0, "", None)),
            "frequent sequences": _timed(
                lambda: analysis.get_frequent_cuda_kernel_sequences("aten::linear", folder, rank=0)
            ),
            "launch delays": _timed(lambda: analysis.get_cuda_kernel_launch_stats(ranks=[0], visualize=False)),
            "ATen delays": _timed(lambda: analysis.get_aten_op_kernels_and_delay(ranks=[0])),
        }
    print(json.dumps(found))


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    main(sys.argv[1])
