"""Implements `replay_comms`: reads the traces of a job, replays and measures communications."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kinetoscope._base import text
from kinetoscope.replaying.absent import absent_samples
from kinetoscope.replaying.options import Options, validated
from kinetoscope.replaying.plan import Plan, Step, plan_of
from kinetoscope.replaying.recorded_sizes import with_absent
from kinetoscope.replaying.result import Replay, samples
from kinetoscope.replaying.settle import settle
from kinetoscope.replaying.source import Reader, readers
from kinetoscope.replaying.world import World, world
from kinetoscope.trace import Trace
from kinetoscope.trace_set import TraceSet

if TYPE_CHECKING:
    from pathlib import Path

    from kinetoscope.replaying.backend import Backend

_SHOWN = 4


class CheckError(ValueError):
    """The results of communications are wrong."""


def replay_comms(  # noqa: PLR0913 - the options of the command
    job: TraceSet | Trace | str | os.PathLike[str],
    *,
    backend: str | None = None,
    device: str | None = None,
    dry_run: bool = False,
    warmup_iter: int = 2,
    num_replays: int = 5,
    allow_ops: Sequence[str] | None = None,
    max_msg_cnt: int | None = None,
    max_msg_bytes: int = 4 << 30,
    use_timestamp: bool = False,
    rebalance: str | None = None,
    blocking: bool = False,
    shrink: bool = False,
    check: bool = False,
    timeout: float = 300.0,
    profile: str | os.PathLike[str] | None = None,
    profiler_num_replays: int | None = None,
    profiler_num_replays_start: int = 0,
    init_method: str | None = None,
    init_only: bool = False,
    use_one_trace: bool = False,
) -> Replay:
    """Replays recorded communications with torch.distributed, and measures them.

    Every process of a job of torchrun, SLURM or MPI must call this function, one per recorded rank.
    Each process reads the trace of its rank, and creates the recorded process groups. Then it runs
    each collective, send and receive in the recorded order, with the recorded sizes, types, parts
    and waits. The ranks compare their plans before they start.

    Args:
        job: a folder, or the result of `ks.read_dir`.
        backend: `gloo` or `nccl`. Defaults to gloo, or to nccl with `device="cuda"`.
        device: memory of the messages, `cpu` or `cuda`. Defaults to cuda for nccl, else to cpu.
        dry_run: runs nothing and needs no torch. One process reads and compares all ranks.
        warmup_iter: number of passes without measuring.
        num_replays: number of measured passes.
        allow_ops: names of the only communications to replay, such as `all_reduce`.
        max_msg_cnt: maximum number of communications of each rank; 0 means no limit.
        max_msg_bytes: maximum size of a message in bytes; a larger one is an error.
        use_timestamp: starts each communication at its recorded time after the first. Requires
            Kineto traces.
        rebalance: `"equal"` sets all parts of uneven exchanges to their mean size.
        blocking: waits for each collective at once, even if the recording did not.
        shrink: uses fewer processes than recorded ranks, and replays the communications among
            them. `Replay.notes` lists the changes.
        check: fills messages with numbers and verifies the results, in an additional pass.
        timeout: timeout in seconds of each communication.
        profile: a folder for a recording of the replay with `ks.profile`.
        profiler_num_replays: number of measured passes to record. Default: all.
        profiler_num_replays_start: number of measured passes before the recorded ones.
        init_method: address for `torch.distributed.init_process_group`, such as
            `tcp://host:29500`. Default: that of torchrun, else MASTER_ADDR and MASTER_PORT.
        init_only: compares the plans and creates the process groups, but replays nothing.
        use_one_trace: every rank replays the first trace. Ranks in it must fit all.

    Raises:
        DisagreementError: plans mismatch or would deadlock; raised on all ranks before the replay.
        CheckError: `check` found a wrong result.
        TimeoutError: a communication did not complete in time.
        ValueError: an option is invalid, or the traces lack required data.
        ImportError: torch is missing.
    """
    folder = None if profile is None else os.fspath(profile)
    choice = (allow_ops, max_msg_cnt, max_msg_bytes, use_timestamp, rebalance, blocking, shrink, check)
    recording = (folder, profiler_num_replays, profiler_num_replays_start)
    passes = (backend, device, dry_run, warmup_iter, num_replays)
    options = validated(Options(*passes, *choice, timeout, *recording, init_method, init_only, use_one_trace))
    return replay(readers(job), options)


def replay(sources: Sequence[Reader], options: Options) -> Replay:
    """Replays with validated options."""
    if options.use_one_trace and sources:
        sources = [sources[0]] * max(len(sources), world().size)
    if options.dry_run:
        return _dry(sources, options)
    from kinetoscope.replaying.backend import Backend

    backend = Backend(world(), options)
    try:
        return _replayed(backend, sources, options)
    finally:
        backend.end()


def _dry(sources: Sequence[Reader], options: Options) -> Replay:
    size = world().size
    size = min(size, len(sources)) if options.shrink and size > 1 else len(sources)
    settled = settle({rank: _plan(sources, World(rank, size), options) for rank in range(size)}, options)
    measured = [sample for rank, steps in settled.steps.items() for sample in samples(rank, steps, [])]
    absent = absent_samples(sources, _absent(sources, World(0, 1), size, options), options)
    return Replay(with_absent(measured, absent), 0, size, settled.notes, is_run=False)


def _plan(sources: Sequence[Reader], place: World, options: Options) -> Plan:
    if place.rank >= len(sources):
        raise ValueError(f"expected traces of {text.plural(place.size, 'rank')}, found {len(sources)}")
    plan = plan_of(sources[place.rank](), options, place.size)
    plan = plan._replace(size=max(plan.size, len(sources)))
    if options.use_timestamp and plan.steps and all(step.start_ns is None for step in plan.steps):
        raise ValueError("expected a Kineto trace beside the Execution Trace for use_timestamp, found no times")
    return plan


def _replayed(backend: Backend, sources: Sequence[Reader], options: Options) -> Replay:
    settled = settle(all_plans(backend, sources, options), options)
    steps = settled.steps[backend.rank]
    backend.make_groups(settled.groups)
    if options.check:
        _check(backend, steps, options)
    passes, files = ([], []) if options.init_only else _passes(backend, steps, options)
    share = _absent(sources, World(backend.rank, backend.size), backend.size, options)
    own = (samples(backend.rank, steps, passes), absent_samples(sources, share, options))
    measured = backend.gather_at_first(own)
    found, absent = ([sample for of_rank in measured for sample in of_rank[at]] for at in range(2))
    result = Replay(with_absent(found, absent), backend.rank, backend.size, settled.notes, is_run=not options.init_only)
    result.profile = files
    return result


def _absent(sources: Sequence[Reader], place: World, present: int, options: Options) -> range:
    """Returns the ranks that do not replay, of which a process reads its share."""
    if not options.shrink or options.use_one_trace:
        return range(0)
    return range(present + place.rank, len(sources), place.size)


def all_plans(backend: Backend, sources: Sequence[Reader], options: Options) -> Mapping[int, Plan]:
    """Exchanges the plans of all ranks. Raises an error of one rank on all, to avoid a deadlock."""
    mine: Plan | str
    error: Exception | None = None
    try:
        mine = _plan(sources, World(backend.rank, backend.size), options)
    except (ValueError, OSError) as caught:
        mine, error = str(caught), caught
    plans = backend.all(mine if isinstance(mine, str) else mine._replace(steps=_bare(mine.steps)))
    if error is not None:
        raise error
    failed = {rank: plan for rank, plan in enumerate(plans) if isinstance(plan, str)}
    if failed:
        raise ValueError("; ".join(f"rank {rank}: {error}" for rank, error in list(failed.items())[:_SHOWN]))
    return {**dict(enumerate(plans)), backend.rank: mine}  # pyright: ignore[reportReturnType] - no plan is a text here


def _bare(steps: Sequence[Step]) -> list[Step]:
    """Removes times and shares equal steps, so that pickle sends each of them once."""
    seen: dict[Step, Step] = {}
    bare = (step._replace(start_ns=None, dur_ns=None, node_id=None) for step in steps)
    return [seen.setdefault(step, step) for step in bare]


def _check(backend: Backend, steps: Sequence[Step], options: Options) -> None:
    from kinetoscope.replaying.runner import Runner

    runner = Runner(backend, steps, options, checks=True)
    runner.run()
    wrong = [line for lines in backend.all(runner.wrong[:_SHOWN]) for line in lines]
    if wrong:
        raise CheckError(f"expected correct results of the replay, found: {'; '.join(wrong[:_SHOWN])}")


def _passes(backend: Backend, steps: Sequence[Step], options: Options) -> tuple[list[Mapping[int, int]], list[Path]]:
    from kinetoscope.replaying.runner import Runner

    def once(_: int) -> Mapping[int, int]:
        backend.meet()
        return Runner(backend, steps, options).run()

    for number in range(options.warmup_iter):
        once(number)
    if options.profile is None:
        return [once(number) for number in range(options.num_replays)], []
    from kinetoscope.profiling.profiler import profile

    passes: list[Mapping[int, int]] = []
    start = options.profiler_num_replays_start
    active = options.profiler_num_replays or options.num_replays - start
    with profile(options.profile, wait=start, warmup=1, active=active, repeat=1, execution_trace="same") as prof:
        for number in range(1 + options.num_replays):
            passes.append(once(number))
            prof.step()
    return passes[1:], list(prof.files)
