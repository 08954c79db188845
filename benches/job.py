"""A job of any size from the eight ranks of a real one, with own clocks; one is late."""

from __future__ import annotations

import gzip
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from inputs import ARCHIVE, CACHE

STRAGGLER = 41
"""The rank that comes late, of 64 or more."""
LATE_US = 20_000
"""How late it comes, and how much longer the others wait."""
_SKEW_US = 7_919
"""How much further each clock is than that of the rank before, over a second."""
_CALL = 2
"""Which of the communications it comes late to."""
_TIME = re.compile(rb'"ts":(\d+)')


class Base(NamedTuple):
    """A rank's trace, cut where its times and its rank stand."""

    pieces: list[bytes]
    times: list[int]
    label: bytes


def write(num_ranks: int) -> Path:
    """Writes the files of a job, once; FileNotFoundError where the real one is not at hand."""
    folder = CACHE / f"job_{num_ranks}"
    done = folder / ".done"
    if not done.exists():
        folder.mkdir(parents=True, exist_ok=True)
        texts = list(_texts())
        waiting = [_base(text, is_late=False) for text in texts]
        late = _base(texts[STRAGGLER % len(texts)], is_late=True)
        for rank in range(num_ranks):
            base = late if rank == STRAGGLER else waiting[rank % len(texts)]
            text = _of_rank(base, rank, num_ranks)
            (folder / f"kineto_trace_{rank}.json.gz").write_bytes(gzip.compress(text, 1, mtime=0))
        done.touch()
    return folder


def _texts() -> Iterator[bytes]:
    with tarfile.open(ARCHIVE) as archive:
        for member in sorted(archive.getmembers(), key=lambda member: member.name):
            if file := archive.extractfile(member):
                yield file.read()


def _base(text: bytes, *, is_late: bool) -> Base:
    """Delays the late rank from its call on. Others run the call longer and shift the rest."""
    document = orjson.loads(text)
    events = document["traceEvents"]
    call, run = _communication(events)
    since = call["ts"] if is_late else run["ts"] + 1
    for event in events:
        if event.get("ts", 0) >= since:
            event["ts"] += LATE_US
        elif event.get("ts", since) + event.get("dur", 0) > since:
            event["dur"] += LATE_US
    text = orjson.dumps(document)
    found = list(_TIME.finditer(text))
    edges = [0, *(edge for match in found for edge in match.span(1)), len(text)]
    pieces = [text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]
    return Base(pieces, [int(match[1]) for match in found], orjson.dumps(document["distributedInfo"]))


def _communication(events: list[dict[str, Any]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The call, and what ran for it."""
    runs = [event for event in events if event.get("name", "").startswith("ncclKernel")]
    run = sorted(runs, key=lambda run: run["ts"])[_CALL]
    before = [event for event in events if event.get("name") == "record_param_comms" and event["ts"] <= run["ts"]]
    return max(before, key=lambda call: call["ts"]), run


def _of_rank(base: Base, rank: int, num_ranks: int) -> bytes:
    ahead = rank * _SKEW_US % 1_000_000
    times = [b"%d" % (time + ahead) for time in base.times]
    text = b"".join(part for pair in zip(base.pieces, [*times, b""], strict=True) for part in pair)
    label = {"backend": "nccl", "rank": rank, "world_size": num_ranks}
    return text.replace(base.label, orjson.dumps(label), 1)
