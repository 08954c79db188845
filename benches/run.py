"""Compares `kinetoscope.read` with `orjson.loads` on the same bytes, in pairs, and writes benches/RESULTS.md.

python benches/run.py [TRACE...]
"""

from __future__ import annotations

import argparse
import gzip
import os
import platform
import statistics
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import kinetoscope as ks
import orjson

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("KINETOSCOPE_SHARED", ROOT.parent / "shared/data"))
LARGE = SHARED / "AMD-AGI__TraceLens/tests/traces/h100/google_owlv2-large-patch14-ensemble__1016001.json.gz"


class Pairs(NamedTuple):
    """Seconds of the same pairs: ours and theirs, taken one after the other."""

    ours: list[float]
    theirs: list[float]

    @property
    def ratio(self) -> float:
        """How many times faster ours is: the median over the pairs, so that a machine that slows down slows both."""
        return statistics.median(their / our for our, their in zip(self.ours, self.theirs, strict=True))


class Result(NamedTuple):
    """One trace, measured."""

    name: str
    json_bytes: int
    num_events: int
    plain: Pairs
    packed: Pairs


def main() -> None:
    """Measures each trace and writes the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("traces", nargs="*", type=Path, metavar="TRACE")
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "benches/RESULTS.md")
    options = parser.parse_args()
    results = [measure(path, options.pairs) for path in options.traces or default_traces()]
    text = document(results, options.pairs)
    print(text)
    options.output.write_text(text, encoding="utf-8")


def default_traces() -> list[Path]:
    """The largest fixture; and the large trace where there is one."""
    fixtures = (ROOT / "tests/data").glob("*/kineto_trace_*.json.gz")
    largest = max(fixtures, key=lambda path: path.stat().st_size)
    return [largest, LARGE] if LARGE.exists() else [largest]


def measure(path: Path, num_pairs: int) -> Result:
    """Times both readers on the JSON and on the file as it is."""
    packed = path.read_bytes()
    plain = gzip.decompress(packed) if path.suffix == ".gz" else packed
    unpack = gzip.decompress if path.suffix == ".gz" else bytes
    return Result(
        name="/".join(path.parts[-2:]),
        json_bytes=len(plain),
        num_events=ks.read(plain).num_events,
        plain=time_pairs(lambda: ks.read(plain), lambda: orjson.loads(plain), num_pairs),
        packed=time_pairs(lambda: ks.read(packed), lambda: orjson.loads(unpack(packed)), num_pairs),
    )


def time_pairs(ours: Callable[[], Any], theirs: Callable[[], Any], num_pairs: int) -> Pairs:
    """Alternates the two, after one untimed pair; which goes first changes with each pair."""
    pairs = Pairs([], [])
    for index in range(num_pairs + 1):
        steps = [(ours, pairs.ours), (theirs, pairs.theirs)]
        for step, seconds in steps if index % 2 else reversed(steps):
            start = time.perf_counter()
            answer = step()
            took = time.perf_counter() - start
            del answer  # freeing it is not reading it
            if index:
                seconds.append(took)
    return pairs


def document(results: list[Result], num_pairs: int) -> str:
    """The results as Markdown."""
    lines = [
        "# Reading, measured",
        "",
        "`make bench` writes this file: `kinetoscope.read` (columns and links) against `orjson.loads` (Python objects)",
        f"on the same bytes, {num_pairs} alternating pairs after one to warm up. The seconds are medians, and so is",
        "*times faster*, over the pairs.",
        "",
        f"{datetime.now(timezone.utc):%Y-%m-%d}, {versions()}, {machine()}",
        "",
        "| trace | JSON | events | from | kinetoscope | orjson | times faster |",
        "|---|---:|---:|---|---:|---:|---:|",
    ]
    for result in results:
        size = f"{result.json_bytes / 1e6:.1f} MB"
        for source, pairs in (("JSON", result.plain), ("gzip", result.packed)):
            ours, theirs = statistics.median(pairs.ours), statistics.median(pairs.theirs)
            lines.append(
                f"| {result.name} | {size} | {result.num_events} | {source} "
                f"| {ours:.4f} s | {theirs:.4f} s | {pairs.ratio:.2f} |"
            )
    return "\n".join(lines) + "\n"


def versions() -> str:
    """What was measured."""
    return f"kinetoscope {ks.__version__}, orjson {orjson.__version__}, Python {platform.python_version()}"


def machine() -> str:
    """What it was measured on."""
    cpuinfo = Path("/proc/cpuinfo")
    models = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.exists() else []
    model = next((line.split(":", 1)[1].strip() for line in models if line.startswith("model name")), "unknown CPU")
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores of {model}"


if __name__ == "__main__":
    main()
