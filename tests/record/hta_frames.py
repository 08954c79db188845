"""Records the shape of every frame that HTA's analyses return for HTA's own files: columns, kinds of values, rows.

    $(scripts/hta.sh) tests/record/hta_frames.py ../shared/data

writes tests/golden/hta/frames.json. tests/py/hta/test_frame_shapes.py holds kinetoscope.hta against it.
"""

from __future__ import annotations

import importlib
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).resolve().parents[1] / "golden/hta/frames.json"
FOLDER = "facebookresearch__HolisticTraceAnalysis/tests/data"
_KINDS = {"i": "integer", "u": "integer", "f": "float", "b": "boolean"}

Calls = dict[str, Callable[[], Any]]


def files(shared: Path) -> list[Path]:
    """Finds the Kineto traces of HTA's tests."""
    found = sorted((shared / FOLDER).rglob("*.json*"))
    return [path for path in found if not path.name.endswith("_et.json.gz") and not path.name.startswith("v05")]


def analyses(analyzer: Any, folder: str) -> Calls:
    """Names the calls that return frames; what one adds to the trace's frame, the next may see."""
    rank = next(iter(analyzer.t.traces), 0)
    quiet = {"visualize": False}
    return {
        "frame": lambda: analyzer.t.get_trace(rank),
        "counters": lambda: analyzer.get_cupti_counter_data_with_operators([rank]),
        "temporal": lambda: analyzer.get_temporal_breakdown(**quiet),
        "overlap": lambda: analyzer.get_comm_comp_overlap(**quiet),
        "kernels": lambda: analyzer.get_gpu_kernel_breakdown(**quiet),
        "all_kernels": lambda: analyzer.get_gpu_kernel_breakdown(num_kernels=1000, **quiet),
        "device_annotations": lambda: analyzer.get_gpu_user_annotation_breakdown(**quiet),
        "host_annotations": lambda: analyzer.get_gpu_user_annotation_breakdown(use_gpu_annotation=False, **quiet),
        "annotated": lambda: analyzer.get_gpu_kernels_with_user_annotations(rank),
        "idle": lambda: analyzer.get_idle_time_breakdown([rank], show_idle_interval_stats=True, **quiet),
        "launches": lambda: analyzer.get_cuda_kernel_launch_stats([rank], **quiet),
        "queues": lambda: analyzer.get_queue_length_time_series([rank]),
        "queue_summary": lambda: analyzer.get_queue_length_summary([rank]),
        "bandwidth": lambda: analyzer.get_memory_bw_time_series([rank]),
        "bandwidth_summary": lambda: analyzer.get_memory_bw_summary([rank]),
        "sequences": lambda: analyzer.get_frequent_cuda_kernel_sequences("aten::linear", folder, rank=rank),
    }


def shapes(root: str, path: Path, *, is_whole: bool) -> dict[str, Any]:
    """Describes the answer of each analysis, or the error that is raised."""
    kind = importlib.import_module(f"{root}.trace_analysis").TraceAnalysis
    with tempfile.TemporaryDirectory() as folder:
        try:
            analyzer = kind(trace_files={0: str(path)}, trace_dir="", include_last_profiler_step=is_whole)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is recorded
            return {"load": type(error).__name__}
        return {name: _answered(call) for name, call in analyses(analyzer, folder).items()}


def _answered(call: Callable[[], Any]) -> Any:
    try:
        return shape(call())
    except Exception as error:  # noqa: BLE001 - as above
        return f"raises {type(error).__name__}"


def shape(value: Any) -> Any:
    """Describes a frame by rows and columns; what holds frames by theirs."""
    if hasattr(value, "columns"):
        columns = [[_name(name), _kind(value.dtypes.iloc[at])] for at, name in enumerate(value.columns)]
        return {"rows": len(value), "columns": columns}
    if isinstance(value, dict):
        return [shape(item) for item in value.values()]
    if isinstance(value, (list, tuple)):
        return [shape(item) for item in value]
    return type(value).__name__


def _name(column: Any) -> str:
    return "_".join(column) if isinstance(column, tuple) else str(column)


def _kind(dtype: Any) -> str:
    return _KINDS.get(getattr(dtype, "kind", "O"), "other")


if __name__ == "__main__":
    shared = Path(sys.argv[1]).resolve()
    recorded = {
        str(path.relative_to(shared / FOLDER)): {
            "cut": shapes("hta", path, is_whole=False),
            "whole": shapes("hta", path, is_whole=True),
        }
        for path in files(shared)
    }
    GOLDEN.write_text(json.dumps(recorded, indent=0, sort_keys=True) + "\n", encoding="utf-8")
    print(f"{GOLDEN}: {len(recorded)} files")
