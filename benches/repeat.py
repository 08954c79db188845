"""Makes a long trace of a short one: the same events again and again, with times and ids moved on.

    python benches/repeat.py trace.json.gz 18 long.json

Times move by the trace's span; `correlation`, `External id`, `Record function id`, `Ev Idx` and the ids of flows by a
number larger than any in the trace, so that nothing in one repetition is linked with another.
"""

from __future__ import annotations

import gzip
import json
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

IDS = ("correlation", "External id", "Record function id", "Ev Idx", "Python id", "Python parent id")
STEP = 10_000_000


def main(source: Path, count: int, target: Path) -> None:
    """Writes `count` repetitions of the trace in `source` to `target`."""
    raw = source.read_bytes()
    text = gzip.decompress(raw) if raw.startswith(b"\x1f\x8b") else raw
    trace = json.loads(text, parse_float=Decimal)
    events = trace.pop("traceEvents")
    starts = [Decimal(event["ts"]) for event in events if event["ph"] == "X"]
    span = max(starts) - min(starts) + 1000
    with target.open("w") as out:
        header = json.dumps(trace, default=str)
        out.write(header[:-1] + (", " if trace else "") + '"traceEvents": [\n')
        for at in range(count):
            for event in events:
                if event["ph"] == "M" and at:
                    continue
                out.write(",\n" if at or event is not events[0] else "")
                out.write(json.dumps(_moved(event, at, span), default=float))
        out.write("\n]}\n")


def _moved(event: dict[str, Any], at: int, span: Decimal) -> dict[str, Any]:
    moved = dict(event)
    if "ts" in event:
        moved["ts"] = Decimal(event["ts"]) + at * span
    if event["ph"] in "stf":
        moved["id"] = int(event["id"]) + at * STEP
    if isinstance(event.get("args"), dict):
        moved["args"] = {
            key: value + at * STEP if key in IDS and value else value for key, value in event["args"].items()
        }
    return moved


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
