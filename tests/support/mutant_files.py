"""The files that mutants are made of: parts of the fixtures in every format that is read."""

from __future__ import annotations

import gzip
import json
import lzma
import pickle
import random
import sqlite3
import tempfile
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import kinetoscope as ks
from support.archives import tarred, zipped
from support.mutation import damaged, mutated, written
from support.shapes import SHAPES

DATA = Path(__file__).resolve().parents[1] / "data"
FIXTURES = ("hostile", "minimal_cpu", "synthetic_cuda", "nccl_cuda", "graph_cuda", "compiled_cuda", "mlp_gloo")
MOST = 60
"""Elements of a list that are kept: more of them are slow to read, and of the same kinds."""

Files = dict[str, bytes]
"""Contents by name: one file, or the files of a folder."""

FLIGHT = json.loads("""{
    "version": "2.10", "nccl_version": "2.27.3",
    "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}},
    "pg_status": {"0": {"last_enqueued_collective": 5, "last_started_collective": 5, "last_completed_collective": 4}},
    "entries": [{
        "frames": [{"name": "step", "filename": "train.py", "line": 12}], "record_id": 4, "pg_id": 0,
        "process_group": ["0", "default_pg"], "collective_seq_id": 5, "p2p_seq_id": 0, "op_id": 6,
        "profiling_name": "nccl:all_reduce", "time_created_ns": 1700000000000000000, "duration_ms": 1.5,
        "timeout_ms": 600000, "is_p2p": false, "retired": true, "state": "started", "input_sizes": [[4, 2]],
        "input_dtypes": ["Float"], "time_discovered_started_ns": null, "thread_id": 9
    }]
}""")
GRAPH = json.loads("""{"workload_graph": [
    {"Id": 1, "Name": "COMP_1", "NodeType": 4, "data_deps": [], "runtime": 5, "num_ops": 5, "tensor_size": 64},
    {"Id": 2, "Name": "COMM_2", "NodeType": 7, "data_deps": [1], "comm_type": 0, "comm_size": 64, "pg_name": "0"}
]}""")


def opened(path: Path) -> bytes:
    content = path.read_bytes()
    return gzip.decompress(content) if path.suffix == ".gz" else content


@cache
def document(name: str) -> Any:
    return json.loads(opened(DATA / name))


def part_of(dice: random.Random, name: str) -> Any:
    """A fixture in JSON with some of its events or nodes."""
    whole: dict[str, Any] = dict(document(name))
    for key in ("traceEvents", "nodes"):
        elements: list[Any] = whole.get(key, [])
        start = dice.choice([0, dice.randrange(len(elements) + 1)])
        some = dice.sample(elements, min(MOST // 2, len(elements))) if dice.random() < 0.3 else []
        if elements:
            whole[key] = elements[start : start + MOST] + some
    return whole


# --- one maker per format -------------------------------------------------------------------------


def kineto(dice: random.Random) -> Files:
    found = part_of(dice, f"{dice.choice(FIXTURES)}/kineto_trace_0.json.gz")
    return {"trace.json": written(mutated(dice, found))}


def shape(dice: random.Random) -> Files:
    found = json.loads(SHAPES[dice.choice(list(SHAPES))](dice.choice([1, 3, 9])))
    return {"trace.json": written(mutated(dice, found))}


def execution(dice: random.Random) -> Files:
    return {"et.json": written(mutated(dice, part_of(dice, f"{dice.choice(FIXTURES)}/torch_et_0.json.gz")))}


def pair(dice: random.Random) -> Files:
    fixture = dice.choice(FIXTURES)
    found = {
        name: part_of(dice, f"{fixture}/{name}_0.json.gz")
        if dice.random() < 0.5
        else document(f"{fixture}/{name}_0.json.gz")
        for name in ("kineto_trace", "torch_et")
    }
    changed = dice.choice([["kineto_trace"], ["torch_et"], list(found)])
    return {f"{name}_0.json": written(mutated(dice, found[name]) if name in changed else found[name]) for name in found}


def folder(dice: random.Random) -> Files:
    """The files of a job of two ranks, the first with metrics."""
    found: Files = {}
    for rank in range(2):
        trace = part_of(dice, f"mlp_gloo/kineto_trace_{rank}.json.gz")
        found[f"kineto_trace_{rank}.json"] = written(mutated(dice, trace) if dice.random() < 0.7 else trace)
    lines = (DATA / "transformer_cuda/metrics_0.jsonl").read_bytes().splitlines()[:9]
    head, *samples = [written(mutated(dice, json.loads(line))) for line in lines]
    found["metrics_0.jsonl"] = b"\n".join([head if dice.random() < 0.1 else lines[0], *samples])
    return found


def archive(dice: random.Random) -> Files:
    files = folder(dice)
    del files["metrics_0.jsonl"]
    whole = zipped(files) if dice.random() < 0.5 else tarred(files, dice.choice(["w", "w:gz", "w:xz"]))
    return {"job.tar": damaged(dice, whole) if dice.random() < 0.7 else whole}


def chakra(dice: random.Random) -> Files:
    return {"rank.0.et": damaged(dice, (DATA / "synthetic_chakra/rank.0.et").read_bytes())}


def graph(dice: random.Random) -> Files:
    return {"graph.json": written(mutated(dice, GRAPH))}


def flight(dice: random.Random) -> Files:
    return {"flight.json": written(mutated(dice, FLIGHT))}


def pickled_flight(dice: random.Random) -> Files:
    return {"flight.pickle": pickled(dice, FLIGHT)}


def memory_snapshot(dice: random.Random) -> Files:
    found = pickle.loads((DATA / "synthetic_memory/memory_snapshot.pickle").read_bytes())  # noqa: S301 - our fixture
    return {"memory.pickle": pickled(dice, found)}


def memory_snapshot_in_json(dice: random.Random) -> Files:
    found = pickle.loads((DATA / "synthetic_memory/memory_snapshot.pickle").read_bytes())  # noqa: S301 - our fixture
    return {"memory.json": written(mutated(dice, json.loads(json.dumps(found))))}


def memory_timeline(dice: random.Random) -> Files:
    return {"timeline.json": written(mutated(dice, document("memory_cpu/memory_timeline.json")))}


def raw_memory_timeline(dice: random.Random) -> Files:
    found = document("memory_cpu/memory_timeline.raw.json.gz")[:MOST]
    return {"timeline.raw.json": written(mutated(dice, found))}


def nsight(dice: random.Random) -> Files:
    """An export with odd cells, or with damaged pages."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "report.sqlite"
        path.write_bytes((DATA / "synthetic_nsight/nsys_0.sqlite").read_bytes())
        if dice.random() < 0.8:
            change_cells(dice, path)
        content = path.read_bytes()
    return {"report.sqlite": damaged(dice, content) if dice.random() < 0.4 else content}


def rocm(dice: random.Random) -> Files:
    """A database of ROCm with damaged bytes."""
    name = dice.choice(["rocprofv3_results.db", "trace.rpd"])
    return {name: damaged(dice, (DATA / "synthetic_rocm" / name).read_bytes())}


def change_cells(dice: random.Random, path: Path) -> None:
    database = sqlite3.connect(path)
    tables = [name for (name,) in database.execute("select name from sqlite_master where type = 'table'")]
    for _ in range(dice.choice([1, 3, 9])):
        table = dice.choice(tables)
        column = dice.choice([row[1] for row in database.execute(f'pragma table_info("{table}")')])
        value = dice.choice([None, 0, -1, 1 << 31, (1 << 63) - 1, -(1 << 63), 1e308, "", "a", b"\xff" * 9, "9" * 40])
        where = f"where rowid % {dice.choice([1, 2, 5])} = 0"
        update = f'update "{table}" set "{column}" = ? {where}'  # noqa: S608 - names of our fixture
        delete = f'delete from "{table}" {where} and ? is not 0'  # noqa: S608 - as above
        try:
            database.execute(dice.choice([update, update, delete]), (value,))
        except sqlite3.Error:  # a constraint of the table
            continue
    database.commit()
    database.close()


def snapshot(dice: random.Random) -> Files:
    """A snapshot whose columns are changed below valid checksums, or one with damaged bytes."""
    whole = saved(dice.choice(FIXTURES))
    if dice.random() < 0.2:
        return {"run.kscope": damaged(dice, whole)}
    texts = sections(whole)
    which = dice.randrange(len(texts))
    texts[which] = damaged(dice, texts[which])
    return {"run.kscope": whole[:8] + b"".join(map(section, texts))}


@cache
def saved(fixture: str) -> bytes:
    return ks.read(DATA / fixture / "kineto_trace_0.json.gz").snapshot()


def sections(whole: bytes) -> list[bytes]:
    """The texts of a snapshot: each has two lengths, a checksum and its bytes, perhaps deflated."""
    texts, at = [], 8
    while at < len(whole):
        length, size = (int.from_bytes(whole[at + part : at + part + 8], "little") for part in (0, 8))
        body = whole[at + 20 : at + 20 + size]
        texts.append(body if length == size else zlib.decompress(body, wbits=-15))
        at += 20 + size
    return texts


def section(text: bytes) -> bytes:
    length = len(text).to_bytes(8, "little")
    return length + length + zlib.crc32(text).to_bytes(4, "little") + text


MAKERS: tuple[Callable[[random.Random], Files], ...] = (
    *(kineto, kineto, kineto, kineto, shape, shape, shape, execution, execution, pair, pair, pair),
    *(folder, archive, chakra, graph, flight, pickled_flight, memory_snapshot, memory_snapshot_in_json),
    *(memory_timeline, raw_memory_timeline, nsight, nsight, rocm, snapshot, snapshot),
)


# --- containers -----------------------------------------------------------------------------------


def pickled(dice: random.Random, value: Any) -> bytes:
    """A pickle of a changed value, or a changed pickle."""
    protocol = dice.randrange(2, 6)
    try:
        plain = json.loads(written(mutated(dice, json.loads(json.dumps(value)))), strict=False)
    except (ValueError, RecursionError):  # a change that JSON alone can have
        plain = value
    content = pickle.dumps(plain, protocol=protocol)
    return damaged(dice, content) if plain is value or dice.random() < 0.3 else content


def packed(dice: random.Random, content: bytes) -> bytes:
    """The content, now and then compressed, cut or damaged."""
    kind = dice.randrange(20)
    if kind < 2:
        content = damaged(dice, content)
    if kind in {1, 3}:
        content = dice.choice([gzip.compress, lzma.compress])(content)
    return damaged(dice, content) if kind in {3, 4} else content
