"""Helpers for tests of Chakra graphs: small traces, and the graph in another form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import kinetoscope as ks
from protobuf import Message, decoded

METADATA, COMP, SEND, RECV, COLL = 1, 4, 5, 6, 7


def graph(trace: ks.Trace, folder: Path) -> list[Message]:
    """The nodes of the file that is written, as another reader sees them."""
    trace.to_chakra(folder / "rank.et")
    return decoded((folder / "rank.et").read_bytes())[1:]


def attrs(node: Message) -> dict[str, Any]:
    return {attribute.name: attribute.value for attribute in node.attrs}


def rows(table: ks.Table) -> list[dict[str, Any]]:
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows()]


def small(kernels: list[dict[str, Any]], comms: list[dict[str, Any]]) -> ks.Trace:
    """A rank in which every recorded communication launches one kernel."""
    events: list[dict[str, Any]] = []
    nodes: list[dict[str, Any]] = [et_node(1, 1, "[pytorch|profiler|execution_trace|process]", [])]
    nodes.append(et_node(2, 1, "[pytorch|profiler|execution_trace|thread]", []))
    for at, (kernel, comm) in enumerate(zip(kernels, comms, strict=True)):
        record, start = at + 10, 100 * at
        own = {"pid": 1, "tid": 1, "args": {"Record function id": record, "External id": record}}
        events.append({"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "ts": start, "dur": 20.5} | own)
        launch = {"args": {"correlation": record}, "pid": 1, "tid": 1}
        events.append(
            {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": start + 1, "dur": 2} | launch
        )
        args = {"device": 0, "stream": 7, "correlation": record} | kernel.get("args", {})
        place = {"pid": 0, "tid": 7, "ts": start + 5, "dur": 0.4}
        events.append({"ph": "X", "cat": "kernel", "name": kernel["name"], "args": args} | place)
        nodes.append(et_node(record, 2, "record_param_comms", comm["inputs"], comm.get("attrs", {}), record))
    groups = [{"pg_name": "5", "pg_size": 2, "ranks": [3, 8]}]
    kineto = {"distributedInfo": {"rank": 3, "world_size": 16, "pg_config": groups}, "traceEvents": events}
    execution = {"schema": "1.1.1-chakra.0.0.4", "pid": 1, "nodes": nodes}
    return ks.read(json.dumps(kineto).encode(), json.dumps(execution).encode())


def et_node(
    number: int, parent: int, name: str, inputs: list[Any], more: dict[str, Any] | None = None, record: int = 0
) -> dict[str, Any]:
    attributes = {"rf_id": record, "fw_parent": 0, "seq_id": -1, "scope": 0, "tid": 1, "fw_tid": 0, "op_schema": ""}
    types = [
        "Tensor(float)"
        if isinstance(value, list) and len(value) == 6
        else "String"
        if isinstance(value, str)
        else "Int"
        for value in inputs
    ]
    return {
        "id": number,
        "name": name,
        "ctrl_deps": parent,
        "inputs": {"values": inputs, "shapes": [[] for _ in inputs], "types": types},
        "outputs": {"values": [], "shapes": [], "types": []},
        "attrs": [{"name": key, "type": "", "value": value} for key, value in (attributes | (more or {})).items()],
    }


TENSOR = [1, 2, 0, 1000, 4, "cuda:0"]


def comm(name: str, rank: int = 0, seq: int = 9) -> dict[str, Any]:
    attributes = {"collective_name": name, "pg_name": "5", "pg_size": 2, "dtype": "Float", "in_msg_nelems": 1000}
    return {"inputs": [TENSOR, seq, ["5", "some"], rank, name, [], []], "attrs": attributes}
