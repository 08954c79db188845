"""The critical path through all ranks, on other people's jobs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import kinetoscope as ks
import pytest
from kinetoscope._analysis.result import AnalysisResult, answered_of_job

pytestmark = pytest.mark.shared

TORCHREC = "facebookresearch__torchrec/examples/golden_training"
SLEEPER = f"{TORCHREC}/trace/sst_sleep_pl_dense_after_backward_2"
RESNET = f"{TORCHREC}/log/resnet18"
DLRM = "facebookresearch__param/et_replay/tests/inputs/dlrm_kineto.tar.gz"
WORK = ("kernel", "copy", "fill")
NODES = ("operator", "launch", "sync", *WORK)
SECOND_NS = 1_000_000_000


class Extent(NamedTuple):
    """When a rank's events begin and end, on the clock of the first trace, and the work of its busiest stream."""

    start: int
    end: int
    stream_ns: int


def extents(job: ks.TraceSet) -> dict[int, Extent]:
    ahead = dict(job.clock_offsets.select("rank", "offset_ns").rows())
    found = {}
    for trace in job:
        events = [row for row in trace.events.select("kind", "start_ns", "dur_ns", "stream").rows() if row[0] in NODES]
        streams: dict[int, int] = {}
        for kind, _, dur, stream in events:
            streams[stream] = streams.get(stream, 0) + dur * (kind in WORK)
        first, last = min(start for _, start, _, _ in events), max(start + dur for _, start, dur, _ in events)
        off = ahead[trace.rank]
        found[trace.rank] = Extent(first - off, last - off, max(streams.values()))
    return found


def steps(answer: AnalysisResult) -> list[tuple[Any, ...]]:
    return answer.select("rank", "start_ns", "dur_ns", "kind", "id", "name").rows()


@pytest.mark.parametrize("of", [SLEEPER, RESNET, DLRM])
def test_the_path_of_a_job_is_a_path_through_all_of_it(shared: Path, of: str) -> None:
    """From the first event of a rank to the last of all; what that rank did before its first event, nobody recorded."""
    job = ks.read_dir(shared / of)
    ranks, path = extents(job), steps(job.job_critical_path())
    ends = [start + dur for _, start, dur, *_ in path]
    assert all(dur >= 0 for _, _, dur, *_ in path)
    assert ends[:-1] == [start for _, start, *_ in path[1:]]
    assert path[0][1] == ranks[path[0][0]].start
    assert ends[-1] == max(rank.end for rank in ranks.values()) == ranks[path[-1][0]].end
    length = sum(dur for _, _, dur, *_ in path)
    assert length <= ends[-1] - min(rank.start for rank in ranks.values())
    assert length >= max(rank.stream_ns for rank in ranks.values())


@pytest.mark.parametrize("of", [SLEEPER, RESNET, DLRM])
def test_what_is_told_of_ranks_and_bounds_adds_up_to_the_path(shared: Path, of: str) -> None:
    answer = ks.read_dir(shared / of).job_critical_path()
    path = steps(answer)
    by_rank = answer.tables["job_critical_path_ranks"]
    told = dict(by_rank.select("rank", "path_ns").rows())
    assert told == {rank: sum(dur for at, _, dur, *_ in path if at == rank) for rank in told}
    assert sum(told.values()) == sum(dur for _, _, dur, *_ in path)
    bounds = [name for name in by_rank.columns if name.endswith("_ns") and name != "path_ns"]
    assert [sum(row) for row in by_rank.select(*bounds).rows()] == [ns for (ns,) in by_rank.select("path_ns").rows()]


@pytest.mark.parametrize("of", [SLEEPER, RESNET, DLRM])
@pytest.mark.parametrize("order", [list.reverse, lambda ranks: ranks.insert(0, ranks.pop())])
def test_the_order_of_the_ranks_does_not_matter(shared: Path, of: str, order: Callable[[list[Any]], None]) -> None:
    """But for the clock: times are those of the first trace."""
    job = ks.read_dir(shared / of)
    ranks = [(trace.rank, trace._native) for trace in job]
    before, after = (steps(answered_of_job(those, "job_critical_path", {})) for those in (ranks, turned(ranks, order)))
    assert [(rank, kind, event) for rank, _, _, kind, event, _ in before] == [
        (rank, kind, event) for rank, _, _, kind, event, _ in after
    ]
    spread = 2 * max(ns for (ns,) in job.clock_offsets.select("spread_ns").rows())
    lengths = [sum(dur for _, _, dur, *_ in path) for path in (before, after)]
    assert abs(lengths[0] - lengths[1]) <= spread


def turned(ranks: Sequence[Any], order: Callable[[list[Any]], None]) -> list[Any]:
    turned = list(ranks)
    order(turned)
    return turned


def test_a_sleep_of_one_rank_lies_wholly_on_its_part(shared: Path) -> None:
    """Four ranks, of which rank 2 sleeps for a second in each of three iterations; the others wait for it."""
    job = ks.read_dir(shared / SLEEPER)
    answer = job.job_critical_path()
    slept = [(rank, dur) for rank, _, dur, *_ in steps(answer) if dur > SECOND_NS / 2]
    assert [rank for rank, _ in slept] == [2, 2, 2]
    assert all(SECOND_NS <= dur < 1.01 * SECOND_NS for _, dur in slept)
    told = answer.tables["job_critical_path_ranks"].select("rank", "path_ns", "communication_ns").rows()
    assert sum(ns for _, _, ns in told) < 0.01 * SECOND_NS
    assert sum(ns for rank, ns, _ in told if rank != 2) < 0.1 * SECOND_NS
