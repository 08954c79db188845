"""Data dependencies, held against a plain replay in which every piece of a storage remembers who wrote it last."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest

Row = dict[str, Any]
PARAM = "facebookresearch__param/et_replay/tests/inputs"


def rows(table: ks.Table) -> list[Row]:
    return table.to_arrow().to_pylist()


def key(tensor: Row) -> tuple[int, str]:
    """What shares memory: the storage, or the tensor alone where it has none."""
    return (tensor["storage_id"] or -1 - tensor["tensor_id"], tensor["device"])


def span(tensor: Row) -> tuple[int, int]:
    """First byte of a tensor in its storage, and the first after it."""
    shape, stride = (json.loads(tensor[name] or "null") for name in ("shape", "stride"))
    num_elems = tensor["num_elems"]
    if num_elems and shape is not None and stride is not None and len(shape) == len(stride):
        num_elems = 1 + sum((size - 1) * step for size, step in zip(shape, stride, strict=True))
    start = tensor["offset"] * tensor["elem_bytes"]
    return start, start + num_elems * tensor["elem_bytes"]


def split(declarations: str) -> list[str]:
    """The items of a schema's list."""
    items, depth = [""], 0
    for letter in declarations:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and not depth:
            items.append("")
        else:
            items[-1] += letter
    return [item.strip() for item in items if item.strip() not in ("", "*")]


class Replay:
    """All calls in the order of their ids."""

    def __init__(self, trace: ks.Trace) -> None:
        self.nodes = {node["node_id"]: node for node in sorted(rows(trace.nodes), key=lambda node: node["node_id"])}
        self.tensors: dict[tuple[int, str], list[Row]] = defaultdict(list)
        bounds: dict[tuple[int, str], set[int]] = defaultdict(set)
        for tensor in rows(trace.tensors):
            self.tensors[tensor["node_id"], tensor["role"]].append(tensor)
            bounds[key(tensor)].update(span(tensor))
        self.bounds = {storage: sorted(points) for storage, points in bounds.items()}
        self.writers: dict[tuple[tuple[int, str], int], int] = {}
        self.views: dict[int, int] = {}
        self.inside: dict[int, set[int]] = {node: {node} for node in self.nodes}
        for node in self.nodes:
            for ancestor in self.ancestors(node):
                self.inside[ancestor].add(node)

    def ancestors(self, node: int) -> Iterator[int]:
        while (parent := self.nodes[node]["parent_id"]) in self.nodes and parent != node:
            yield parent
            node = parent

    def pieces(self, tensor: Row) -> list[tuple[tuple[int, str], int]]:
        start, end = span(tensor)
        return [(key(tensor), point) for point in self.bounds[key(tensor)] if start <= point < end]

    def found(self) -> set[tuple[int, int, int, int]]:
        """Producer, consumer, place and tensor of every dependency."""
        found: set[tuple[int, int, int, int]] = set()
        for node in self.nodes:
            for tensor in self.tensors[node, "input"]:
                pieces = self.pieces(tensor)
                writers = {self.writers[piece] for piece in pieces if piece in self.writers}
                if pieces and tensor["tensor_id"] in self.views:
                    writers.add(self.views[tensor["tensor_id"]])
                found |= {(writer, node, tensor["index"], tensor["tensor_id"]) for writer in writers}
            for ended in (node, *self.ancestors(node)):
                if max(self.inside[ended]) == node:
                    self.end(ended)
        return found

    def end(self, node: int) -> None:
        arguments, _, results = (self.nodes[node]["schema"] or "").rpartition(" -> ")
        is_unknown = bool(self.nodes[node]["kernel_backend"]) and not self.nodes[node]["schema"]
        inputs = self.tensors[node, "input"]
        for tensor, declaration in self.declared(node, "inputs", split(arguments.partition("(")[2][:-1])):
            if is_unknown or "!" in declaration:
                self.write(node, tensor)
        results = results[1:-1] if results.startswith("(") else results
        for tensor, declaration in self.declared(node, "outputs", split(results)):
            is_alias = "(" in declaration and "!" not in declaration
            if not is_alias or key(tensor) not in map(key, inputs):
                self.views.pop(tensor["tensor_id"], None)
                self.write(node, tensor)
                continue
            is_known = tensor["tensor_id"] in {other["tensor_id"] for other in inputs}
            if not is_known and self.views.get(tensor["tensor_id"]) not in self.inside[node]:
                self.views[tensor["tensor_id"]] = node

    def write(self, node: int, tensor: Row) -> None:
        for piece in self.pieces(tensor):
            writer = self.writers.get(piece)
            if writer not in self.inside[node] or "empty" in self.nodes[writer]["name"]:
                self.writers[piece] = node

    def declared(self, node: int, side: str, declarations: list[str]) -> Iterator[tuple[Row, str]]:
        """The tensors of a node with what its schema says of the argument that each is in."""
        types = json.loads(self.nodes[node][side.removesuffix("s") + "_types"] or "[]")
        counts = [text.count("Tensor(") for text in types]
        places = [at for at, count in enumerate(counts) for _ in range(count)]
        tensors = self.tensors[node, side.removesuffix("s")]
        assert len(places) == len(tensors)
        for place, tensor in zip(places, tensors, strict=True):
            yield tensor, declarations[place].split("=")[0] if place < len(declarations) else ""


def check(trace: ks.Trace) -> int:
    replay = Replay(trace)
    table = rows(trace.dependencies)
    found = {(row["producer"], row["consumer"], row["index"], row["tensor_id"]) for row in table}
    assert len(found) == len(table)
    assert found == replay.found()
    for producer, consumer, _, _ in found:
        assert producer < consumer
        assert consumer not in replay.inside[producer]
    return len(found)


@pytest.mark.unit
def test_own_recordings_replay_to_the_same_dependencies(data: Path) -> None:
    for folder in ("transformer_cpu", "minimal_cpu", "mlp_gloo"):
        assert check(ks.read(data / folder / "torch_et_0.json.gz")) > 100


@pytest.mark.shared
def test_the_traces_of_others_replay_to_the_same_dependencies(shared: Path) -> None:
    names = ("1.1.0-chakra.0.0.4/resnet_2gpu_et.json.gz", "linear_et.json.gz", "va883ec1__resnet_et.json.gz")
    for name in names:
        assert check(ks.read(shared / PARAM / name)) > 900
    ranks = ks.read(shared / PARAM / "dlrm_pytorch_et.tar.gz")
    assert isinstance(ranks, ks.TraceSet)
    assert sum(check(trace) for trace in ranks) > 8000
