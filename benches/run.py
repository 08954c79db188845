"""Measures the cases below and writes benches/RESULTS.md.

    python benches/run.py [PART-OF-A-CASE'S-NAME...]

With names only those cases are measured, and nothing is written.
"""

from __future__ import annotations

import sys
from pathlib import Path

import analyses
import beside_hta
import collect
import document
import frames
import length
import linking
import memory
import packets
import ranks
import replays
import scale_out
import snapshot
import speed
import web
from case import Case, Experiment, Measured, Skipped, about_one, at_least, at_most
from document import Row
from fresh import apart
from inputs import prepare
from machine import conditions
from shares import parts

RESULTS = Path(__file__).with_name("RESULTS.md")

MORE = "% of the iteration more than torch's"

EXPERIMENTS = [
    Experiment(
        speed.measure,
        [
            Case("JSON bytes → trace with links, one thread", at_most(0.35, 0.15, "× `orjson.loads`")),
            Case("the same from gzip, one thread", at_most(2.0, 1.0, "× `gzip.decompress`")),
            Case("the same from gzip, all processors", at_most(2.0, 1.0, "× `gzip.decompress`")),
        ],
    ),
    Experiment(
        memory.measure,
        [
            Case("1 GB of JSON: peak memory", at_most(0.6, 0.4, "× the JSON")),
            Case("1 GB of JSON in gzip: peak memory", at_most(0.6, 0.4, "× the JSON")),
        ],
    ),
    Experiment(
        length.measure,
        [Case("1 GB of JSON: time for each event", about_one(0.15, "× that of 56 MB"))],
    ),
    Experiment(
        packets.measure,
        [Case("packets of Perfetto → trace with links, one thread", at_most(1.0, None, "× protobuf's parser"))],
    ),
    Experiment(
        packets.measure_long,
        [
            Case("1 GB of packets: speed on 2 processors", at_least(300, None, "MB/s")),
            Case("1 GB of packets: peak memory", at_most(0.5, None, "× the packets")),
        ],
    ),
    Experiment(
        beside_hta.measure,
        [
            Case("beside HTA: time", at_least(20, 60, "× faster")),
            Case("beside HTA: peak memory", at_most(0.1, None, "× HTA's")),
        ],
    ),
    Experiment(
        beside_hta.measure_long,
        [
            Case("1 GB of JSON, beside HTA: time", at_least(20, 60, "× faster")),
            Case("1 GB of JSON, beside HTA: peak memory", at_most(0.1, None, "× HTA's")),
        ],
    ),
    Experiment(
        snapshot.measure,
        [Case("a snapshot", at_least(5, None, "× faster than its JSON"))],
    ),
    Experiment(
        linking.measure,
        [
            Case("a pair of 67 000 nodes: read, linked, written as ET+", at_most(2.0, 1.0, "s")),
            Case("the same ten times as long: time for each node", at_most(1.5, 1.15, "× that of the pair")),
        ],
    ),
    Experiment(
        analyses.measure,
        [
            Case("an analysis, the slowest", at_most(60, None, "ms")),
            Case("all analyses, one after another", at_most(500, None, "ms")),
        ],
    ),
    Experiment(
        analyses.measure_long,
        [Case("1 GB of JSON: time of all analyses for each event", at_most(1.15, None, "× that of 56 MB"))],
    ),
    Experiment(
        analyses.measure_beside,
        [Case(f"{name}, beside HTA", at_least(100, None, "× faster")) for name in analyses.BESIDE],
    ),
    Experiment(
        collect.measure,
        [
            Case("`step()` of `ks.profile` in an iteration that is recorded", at_most(3, None, MORE)),
            Case("`step()` of `ks.profile` in one that is not", at_most(3, None, MORE)),
        ],
    ),
    Experiment(
        collect.measure_distortion,
        [
            Case("an iteration that `ks.profile` records: additions", at_most(1.05, None, "× torch.profiler's")),
            Case("an iteration that `ks.profile` records: a layer", at_most(1.05, None, "× torch.profiler's")),
        ],
    ),
    Experiment(
        replays.measure,
        [
            Case(f"a pass of `ks.replay`: {name}", at_most(1.25, None, "× the program's step"))
            for name in replays.ONE_PROCESS
        ],
    ),
    Experiment(
        replays.measure_ranks,
        [Case("a pass of `ks.replay`: two ranks", at_most(1.25, None, "× the program's step"))],
    ),
    Experiment(
        web.measure_node,
        [Case("WebAssembly in Node", at_least(0.35, 0.6, "× native speed"))],
    ),
    Experiment(
        web.measure_analyses,
        [Case("all analyses in WebAssembly, in Node", at_most(3, None, "× native time"))],
    ),
    Experiment(
        web.measure_chromium,
        [Case("WebAssembly in Chromium", at_least(0.35, 0.6, "× native speed"))],
    ),
    Experiment(
        frames.measure,
        [Case("a frame of the timeline, one million events: 95 of 100", at_most(16, 8, "ms of the processor"))],
    ),
    Experiment(
        ranks.measure,
        [Case("8 ranks in a folder on 2 processors", at_least(1.6, None, "× faster than on 1"))],
    ),
    Experiment(
        ranks.measure_archive,
        [Case("8 ranks in an archive on 2 processors", at_least(1.6, None, "× faster than on 1"))],
    ),
    Experiment(
        scale_out.measure,
        [
            Case("1,024 ranks by an executor: time for each", about_one(0.25, "× that of 64")),
            Case("1,024 ranks by an executor: the largest process", at_most(2, None, "GiB")),
        ],
    ),
    Experiment(
        scale_out.measure_report,
        [
            Case("the report of 1,024 ranks: time for each", about_one(0.25, "× that of 64")),
            Case("the report of 1,024 ranks: the largest process", at_most(2, None, "GiB")),
            Case("the report of 1,024 ranks: the page", at_most(5, None, "MB")),
        ],
    ),
]


def main(wanted: list[str]) -> None:
    """Measures, each experiment in a process of its own."""
    about = conditions()
    apart(prepare)
    chosen = [experiment for experiment in EXPERIMENTS if not wanted or _is_wanted(experiment, wanted)]
    rows = [row for experiment in chosen for row in _rows(experiment)]
    if not wanted:
        print(document.write(RESULTS, about, rows, parts()))


def _is_wanted(experiment: Experiment, wanted: list[str]) -> bool:
    return any(name in case.name for case in experiment.cases for name in wanted)


def _rows(experiment: Experiment) -> list[Row]:
    try:
        outcomes: list[Measured] | list[str] = apart(experiment.measure)
    except Skipped as skipped:
        outcomes = [str(skipped)] * len(experiment.cases)
    rows = [Row(case, outcome) for case, outcome in zip(experiment.cases, outcomes, strict=True)]
    for row in rows:
        print(f"{row.case.name}: {row.outcome}", flush=True)
    return rows


if __name__ == "__main__":
    main(sys.argv[1:])
