"""Traces as JSON documents, and Execution Traces in the layouts of older torch versions."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

SLOTS = ("inputs", "outputs")

Document = dict[str, Any]


def document(path: Path) -> Document:
    content = path.read_bytes()
    return json.loads(gzip.decompress(content) if path.suffix == ".gz" else content)


def without_strides(execution: Document) -> Document:
    """The same in the layout of 1.0.2 to 1.1.0."""
    nodes = [
        node | {slot: {key: node[slot][key] for key in ("values", "shapes", "types")} for slot in SLOTS}
        for node in execution["nodes"]
    ]
    return execution | {"schema": "1.0.2-chakra.0.0.4", "nodes": nodes}


def flat(execution: Document) -> Document:
    """The same in the layout of 1.0.1."""
    nodes: list[Document] = []
    for node in execution["nodes"]:
        attrs = {attr["name"]: attr["value"] for attr in node["attrs"][:7]}
        values = {
            f"{slot}{kind}": node[f"{slot}s"][key]
            for slot in ("input", "output")
            for kind, key in (("s", "values"), ("_shapes", "shapes"), ("_types", "types"))
        }
        nodes.append({"name": node["name"], "id": node["id"], "parent": node["ctrl_deps"]} | attrs | values)
    return execution | {"schema": "1.0.1", "nodes": nodes}


LAYOUTS = {"1.1.1": lambda execution: execution, "1.0.2": without_strides, "1.0.1": flat}
