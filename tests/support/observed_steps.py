"""A written recording of iterations, of which the observer of the Execution Trace saw one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import kinetoscope as ks

NOTHING: dict[str, list[Any]] = {"values": [], "shapes": [], "types": [], "strides": []}


def _node(at: int, name: str, record_id: int, size: int) -> dict[str, Any]:
    tensor = {"values": [[7, 8, 0, size, 4, "cpu"]], "shapes": [[size]], "types": ["Tensor(float)"], "strides": [[1]]}
    schema = {"name": "op_schema", "type": "string", "value": f"{name}(Tensor self) -> Tensor"}
    attrs = [schema, {"name": "rf_id", "type": "uint64", "value": record_id}]
    return {"id": at, "name": name, "ctrl_deps": 1, "attrs": attrs, "inputs": tensor, "outputs": tensor}


def written(folder: Path, *iterations: list[tuple[str, int, int]], observed: int = 0) -> ks.Trace:
    """Writes iterations of calls: name, size and duration in µs. The observer runs in one."""
    events: list[dict[str, Any]] = []
    root = {"id": 1, "name": "[pytorch|profiler|execution_trace|process]", "ctrl_deps": 1, "attrs": []}
    nodes: list[dict[str, Any]] = [{**root, "inputs": NOTHING, "outputs": NOTHING}]
    common = {"ph": "X", "pid": 1, "tid": 1}
    for number, calls in enumerate(iterations):
        start = 1000 * number
        step = {"cat": "user_annotation", "name": f"ProfilerStep#{number}", "ts": start, "dur": 900}
        events.append({**common, **step})
        for place, (name, size, dur) in enumerate(calls):
            record_id = 10 + place if number == observed else 0
            arguments = {"Input Dims": [[size]], "Input type": ["float"], "Record function id": record_id}
            event = {"cat": "cpu_op", "name": name, "ts": start + 10 + 50 * place, "dur": dur, "args": arguments}
            events.append({**common, **event})
            if number == observed:
                nodes.append(_node(2 + place, name, record_id, size))
    (folder / "kineto_trace_0.json").write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    (folder / "torch_et_0.json").write_text(json.dumps({"schema": "1.1.1-chakra.0.0.4", "pid": 1, "nodes": nodes}))
    return ks.read_dir(folder)[0]
