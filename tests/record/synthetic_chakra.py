"""Generates tests/data/synthetic_chakra: the Chakra trace of one rank of an imagined job, two layers with a collective.

python tests/record/synthetic_chakra.py
"""

from __future__ import annotations

from pathlib import Path

from protobuf import Node, attribute, metadata, stream

FILE = Path(__file__).resolve().parents[1] / "data/synthetic_chakra/rank.0.et"
COMP, SEND, COLL = 4, 5, 7
START_US = 1_750_000_000_000_000


def operator(number: int, name: str, parent: int, start: int, dur: int) -> Node:
    """A node of the host."""
    attrs = [attribute("is_cpu_op", "bool", value=True), attribute("stream", "int64", 0)]
    inputs = ("[[1, 2]]", "[[128, 64]]", "['Tensor(float)']")
    data = [number - 2] if number > 3 else []
    return Node(number, name, COMP, [parent], data, START_US + start, dur, inputs, attrs)


def collective(number: int, parent: int, start: int, dur: int) -> Node:
    """An all-reduce on a stream of its own."""
    attrs = [
        attribute("is_cpu_op", "bool", value=False),
        attribute("stream", "int64", 20),
        attribute("comm_type", "int64", 0),
        attribute("comm_size", "int64", 128 * 64 * 4),
        attribute("pg_name", "string", "0", doc="the default group"),
    ]
    name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
    return Node(number, name, COLL, [parent], [parent], START_US + start, dur, (), attrs)


def main() -> None:
    """Writes the file."""
    about = [
        attribute("schema", "string", "1.1.1-chakra.0.0.4"),
        attribute("pid", "uint64", 4242),
        attribute("start_ts", "uint64", START_US),
    ]
    nodes = [
        operator(2, "aten::linear", 1, 0, 40),
        operator(3, "aten::addmm", 2, 5, 30),
        collective(4, 3, 20, 55),
        operator(5, "aten::linear", 1, 50, 38),
        operator(6, "aten::addmm", 5, 54, 30),
        collective(7, 6, 80, 61),
        Node(
            8,
            "nccl:send 0->1",
            SEND,
            [6],
            [7],
            attrs=[attribute("comm_size", "int64", 4), attribute("comm_dst", "int32", 1)],
        ),
    ]
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_bytes(stream(metadata(attrs=about), *(node.encoded() for node in nodes)))
    print(FILE.name, FILE.stat().st_size)


if __name__ == "__main__":
    main()
