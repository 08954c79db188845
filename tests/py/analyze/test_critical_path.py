"""The critical path as Python has it; and as HolisticTraceAnalysis finds it, held against its own answers."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import kinetoscope as ks
import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from kinetoscope._analysis.result import AnalysisResult

DATA = "facebookresearch__HolisticTraceAnalysis/tests/data"
TRACES = [
    "amd_trace",
    "critical_path__alexnet",
    "critical_path__cuda_event_sync",
    "nccl_parser_config",
    "nccl_parser_config.inc",
    "ns_resolution_trace",
    "ns_resolution_trace.inc",
    "timeline_analysis",
    "trace_diff__control",
    "trace_diff__control.inc",
    "triton_example",
]
ALEXNET = "[param|pytorch.model.alex_net|0|0|0|measure|forward]"
KINDS = {
    "operator": "OPERATOR_KERNEL",
    "kernel": "OPERATOR_KERNEL",
    "dependency": "DEPENDENCY",
    "launch": "KERNEL_LAUNCH_DELAY",
    "kernel_kernel": "KERNEL_KERNEL_DELAY",
    "sync": "SYNC_DEPENDENCY",
}
BOUNDS = {
    "operator": "cpu_bound",
    "launch": "gpu_kernel_launch_overhead",
    "kernel_kernel": "gpu_kernel_kernel_overhead",
}
QUEUED = {"KERNEL_LAUNCH_DELAY", "KERNEL_KERNEL_DELAY"}
"""Which of the two holds a kernel back, HTA says by a sort that leaves events of one microsecond in any order."""


EVENTS = [
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 0.0, "dur": 5},
    {
        "ph": "X",
        "cat": "cuda_runtime",
        "name": "cudaLaunchKernel",
        "pid": 1,
        "tid": 1,
        "ts": 1.0,
        "dur": 3,
        "args": {"correlation": 7},
    },
    {
        "ph": "X",
        "cat": "kernel",
        "name": "gemm",
        "pid": 0,
        "tid": 7,
        "ts": 6.0,
        "dur": 10,
        "args": {"correlation": 7, "device": 0, "stream": 7},
    },
]


@pytest.mark.unit
def test_a_path_says_what_bounds_it_and_what_a_change_would_save(tmp_path: Path) -> None:
    (tmp_path / "trace.json").write_text(json.dumps({"traceEvents": EVENTS}))
    answer = ks.read(tmp_path / "trace.json").critical_path(what_if="gemm", factor=0.5)
    assert answer.select("start_ns", "dur_ns", "kind", "bound_by", "name", "thread", "stream").rows() == [
        (0, 1_000, "operator", "host", "aten::mm", "1", None),
        (1_000, 5_000, "launch", "launch", "gemm", None, 7),
        (6_000, 10_000, "kernel", "compute", "gemm", None, 7),
    ]
    assert answer.tables["critical_path_bound"].rows() == [
        ("compute", 10_000, 0.625),
        ("launch", 5_000, 0.3125),
        ("host", 1_000, 0.0625),
    ]
    assert answer.tables["critical_path_length"].rows() == [(16_000, 16_000, "gemm", 0.5, 1, 11_000, 5_000)]


@pytest.mark.shared
def test_every_golden_critical_path_is_found(shared: Path) -> None:
    num_compared = 0
    for name in TRACES:
        golden = json.loads((shared.parent / f"golden/hta/{name}.json").read_text())
        folder = shared / DATA / name.removesuffix(".inc").replace("__", "/")
        (file,) = (path for path in sorted(folder.iterdir()) if path.name.endswith((".json", ".json.gz")))
        trace = ks.read(file)
        for part in ("cp_full", "cp_step1", "cp_alex"):
            expected = golden.get(part, {}).get("v")
            if expected is not None:
                compare(f"{name} {part}", found(trace, part, name), expected)
                num_compared += 1
    assert num_compared == 21


def found(trace: ks.Trace, part: str, name: str) -> AnalysisResult:
    is_whole = name.endswith(".inc")
    start_ns = end_ns = None
    if part != "cp_full":
        word = "ProfilerStep" if part == "cp_step1" else ALEXNET
        rows = trace.events.select("name", "start_ns", "dur_ns").rows()
        steps = {row[0]: row[1] for row in rows if row[0].startswith("ProfilerStep")}
        named = [row for row in rows if word in row[0]]
        if not is_whole and len(steps) > 1:
            named = [row for row in named if row[1] < max(steps.values())]
        _, start_ns, dur_ns = named[min(1, len(named) - 1)]
        end_ns = start_ns + dur_ns
    return trace.critical_path(like="hta", without_last=not is_whole, start_ns=start_ns, end_ns=end_ns)


def compare(where: str, answer: AnalysisResult, expected: dict[str, Any]) -> None:
    edges = answer.tables["critical_path_edges"].select("source", "target", "kind").rows()
    assert len(answer.tables["critical_path_nodes"]) == expected["nodes"], where
    assert len({node for source, target, _ in edges for node in (source, target)}) == expected["gnodes"], where
    assert len(edges) == expected["edges"], where
    assert len(answer) + 1 == expected["cpn"], where
    ((length_ns,),) = answer.tables["critical_path_length"].select("length_ns").rows()
    assert length_ns == expected["cp_len"] * 1000, where
    kinds = Counter(KINDS[kind] for _, _, kind in edges)
    assert queued_together(kinds) == queued_together(Counter(expected["etypes"])), where
    assert shares(answer) == pytest.approx({key: value for key, value in expected["summary"].items() if value}), where


def queued_together(kinds: Counter[str]) -> dict[str, int]:
    apart = {kind: count for kind, count in kinds.items() if kind not in QUEUED}
    return {**apart, "queued": sum(kinds[kind] for kind in QUEUED)}


def shares(answer: AnalysisResult) -> dict[str, float]:
    totals: Counter[str] = Counter()
    for kind, bound, dur_ns in answer.select("kind", "bound_by", "dur_ns").rows():
        device = "gpu_communication_bound" if bound == "communication" else "gpu_compute_bound"
        totals[BOUNDS.get(kind, device if kind == "kernel" else "")] += dur_ns
    whole = sum(totals.values())
    return {key: 100 * value / whole for key, value in totals.items() if value}
