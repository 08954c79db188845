"""Writes the first inputs of the fuzz targets: `fuzz_seeds.py CORPUS [FOLDER]`.

They are small parts of the fixtures, the shapes of the growth tests, and all small JSON files of
FOLDER. Large inputs slow the search down.
"""

from __future__ import annotations

import gzip
import json
import lzma
import random
import sqlite3
import sys
import tempfile
from pathlib import Path
from typing import Any

from support.mutant_files import (
    DATA,
    FIXTURES,
    FLIGHT,
    GRAPH,
    document,
    opened,
    saved,
    sections,
    tarred,
    zipped,
)
from support.shapes import SHAPES

MOST_BYTES = 16_384
DATABASES = ("rocm/rocprofv3_results.db", "rocm/trace.rpd", "msprof/ascend_pytorch_profiler_3.db")
ELEMENTS = 12


def packed(value: Any) -> bytes:
    """Writes JSON without blanks."""
    return json.dumps(value, separators=(",", ":")).encode()


def beginnings(name: str, key: str) -> list[bytes]:
    """Parts of a fixture: some elements from the start, from the middle, and a few of all."""
    whole: dict[str, Any] = document(name)
    elements: list[Any] = whole[key]
    middle, every = len(elements) // 2, max(len(elements) // ELEMENTS, 1)
    parts = [elements[:ELEMENTS], elements[middle : middle + ELEMENTS], elements[::every][:ELEMENTS]]
    return [packed(whole | {key: part}) for part in parts]


def small_database() -> bytes:
    """The export of Nsight Systems in small pages, with a few rows of each table."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "small.sqlite"
        path.write_bytes((DATA / "synthetic_nsight/nsys_0.sqlite").read_bytes())
        database = sqlite3.connect(path)
        tables = [name for (name,) in database.execute("select name from sqlite_master where type = 'table'")]
        for table in tables:
            if table != "StringIds":
                some = f'(select rowid from "{table}" limit 8)'  # noqa: S608 - names of our fixture
                database.execute(f'delete from "{table}" where rowid not in {some}')  # noqa: S608 - as above
        database.commit()
        database.execute("pragma page_size = 512")
        database.execute("vacuum")
        database.close()
        return path.read_bytes()


def seeds(folder: Path | None) -> dict[str, list[bytes]]:
    """The inputs of each target."""
    dice = random.Random(0)
    kineto = [part for name in FIXTURES for part in beginnings(f"{name}/kineto_trace_0.json.gz", "traceEvents")]
    execution = [part for name in FIXTURES for part in beginnings(f"{name}/torch_et_0.json.gz", "nodes")]
    shapes = [make(3) for make in SHAPES.values()]
    given = [path.read_bytes() for path in sorted(folder.rglob("*.json"))] if folder else []
    pairs = [b"\0".join(both) for both in zip(kineto, execution, strict=True)]
    files = {"kineto_trace_0.json": kineto[0], "kineto_trace_1.json.gz": gzip.compress(kineto[1])}
    timeline = packed([part[:20] for part in document("memory_cpu/memory_timeline.json")])
    snapshots = [
        b"".join(len(text).to_bytes(4, "little") + text for text in sections(saved(name))) for name in FIXTURES
    ]
    containers = [(DATA / f"containers/trace.json.{ending}").read_bytes() for ending in ("xz", "zst")]
    metrics = (DATA / "transformer_cuda/metrics_0.jsonl").read_bytes().splitlines(keepends=True)
    return {
        "json": [*kineto[:3], *execution[:3], *shapes],
        "kineto": [*kineto, *shapes, *given, *containers, *map(gzip.compress, shapes[:3]), lzma.compress(shapes[0])],
        "execution": [*execution, *shapes],
        "analyze": [*kineto, *pairs, *execution, *shapes, *given],
        "scene": [dice.randbytes(6 * (1 + number % 40)) for number in range(200)],
        "snapshot": snapshots,
        "chakra": [(DATA / "synthetic_chakra/rank.0.et").read_bytes(), packed(GRAPH)],
        "pickle": [
            *((DATA / "synthetic_memory/memory_snapshot.pickle").read_bytes(), timeline, packed(FLIGHT)),
            *(path.read_bytes() for path in sorted((DATA / "flight_ranks/hook").iterdir())),
            opened(DATA / "memory_cpu/memory_timeline.raw.json.gz"),
        ],
        "metrics": [b"".join(metrics[:4]).replace(b"1795347452", b"0000000001")],
        "archive": [zipped(files), *(tarred(files, mode) for mode in ("w", "w:gz", "w:xz"))],
        "database": [small_database(), *((DATA / f"synthetic_{name}").read_bytes() for name in DATABASES)],
        "perfetto": [opened(DATA / "synthetic_perfetto/trace.pftrace")],
        "xspace": [opened(DATA / "jax_cuda/recorder.xplane.pb.gz")],
    }


def main(corpus: Path, folder: Path | None = None) -> None:
    """Writes the inputs of all targets that are small enough."""
    for target, inputs in seeds(folder).items():
        place = corpus / target
        place.mkdir(parents=True, exist_ok=True)
        for number, content in enumerate(inputs):
            if len(content) <= MOST_BYTES * (4 if target in {"database", "snapshot", "archive", "xspace"} else 1):
                (place / f"seed-{number}").write_bytes(content)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
