"""Recorded bandwidths of a replay with other sizes or ranks than the recording."""

from __future__ import annotations

import pytest
from kinetoscope.replaying.message import Group, Message
from kinetoscope.replaying.options import Options
from kinetoscope.replaying.plan import Plan, Step
from kinetoscope.replaying.recorded_sizes import MessageSizes, Sample, with_absent
from kinetoscope.replaying.result import Replay, samples
from kinetoscope.replaying.settle import settle

pytestmark = pytest.mark.unit

GBPS = ("recorded_algorithm_gbps", "recorded_bus_gbps")


def sample(num_bytes: int, recorded_ns: list[int], recorded: int | None = None, size: int = 1) -> Sample:
    sizes = None if recorded is None else MessageSizes(2, recorded, recorded, (None, None))
    own = MessageSizes(size, num_bytes, num_bytes, (None, None))
    return Sample("all_reduce", "0", "float", own, sizes, 1, recorded_ns, [50])


def test_bandwidths_are_those_of_the_median_call() -> None:
    result = Replay([sample(80, [200], 60), sample(80, [100], 100)], 0, 1, [])
    assert result.select("bytes", "recorded_p50_ns", *GBPS).rows() == [(80, 100, 1.0, 1.0)]
    assert result.select("algorithm_gbps", "bus_gbps").rows() == [(1.6, 0.0)]
    assert Replay([sample(80, [100], 80)], 0, 1, []).select(*GBPS).rows() == [(0.8, 0.8)]
    assert Replay([sample(80, [], 80)], 0, 1, []).select(*GBPS).rows() == [(None, None)]


def test_times_of_absent_ranks_come_to_their_row() -> None:
    found = [sample(80, [100], 80)]
    absent = [sample(80, [300, 400], size=2), sample(16, [7], size=2)]
    result = Replay(with_absent(found, absent), 0, 1, [])
    assert result.select("num_calls", "num_recorded", "recorded_p50_ns", GBPS[0]).rows() == [(1, 3, 300, 80 / 300)]
    several = [*found, sample(40, [100], 80)]
    assert with_absent(several, absent) == several, "no row is that of their communication"


def test_a_step_keeps_its_recorded_sizes() -> None:
    group = Group("0", 4, (0, 1))
    recorded = Message("all_gather_base", group, None, None, "float", 4, (4,), (16,))
    (one,) = samples(1, [Step(recorded._replace(out_elems=(8,)), recorded=recorded, dur_ns=100)], [])
    assert one.key == ("all_gather_base", "0", "float", 2, 32)
    assert one.recorded_key == ("all_gather_base", "0", "float", 4, 64)
    (same,) = samples(1, [Step(recorded._replace(group=Group("0", 2, (0, 1))))], [])
    assert same.recorded_sizes is None


def test_equal_parts_keep_the_recorded_bandwidth() -> None:
    group = Group("0", 2, (0, 1))
    plans: dict[int, Plan] = {}
    for rank, (given, taken, dur_ns) in enumerate([((3, 2), (3, 1), 100), ((1, 2), (2, 2), 300)]):
        sizes = ((sum(given),), (sum(taken),), given, taken)
        step = Step(Message("all_to_allv", group, None, None, "float", 4, *sizes), dur_ns=dur_ns)
        plans[rank] = Plan([step], [group], 2, False, [])
    settled = settle(plans, Options(rebalance="equal"))
    result = Replay([each for rank, own in settled.steps.items() for each in samples(rank, own, [])], 0, 2, [])
    # the median call took 5 elements of 4 bytes, of which 2 went to the other rank
    assert result.select("bytes", "recorded_p50_ns", *GBPS).rows() == [(16, 100, 0.2, 0.08)]
