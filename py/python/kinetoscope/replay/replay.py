"""`replay_comms`: from the traces of a job to what its communications take here."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kinetoscope._base import text
from kinetoscope.replay.options import Options, expect_sound
from kinetoscope.replay.plan import Plan, Step, plan_of
from kinetoscope.replay.result import Replay, samples
from kinetoscope.replay.settle import settle
from kinetoscope.replay.source import Reader, readers
from kinetoscope.replay.world import World, world
from kinetoscope.trace import Trace
from kinetoscope.trace_set import TraceSet

if TYPE_CHECKING:
    from pathlib import Path

    from kinetoscope.replay.backend import Backend

_SHOWN = 4


class CheckError(ValueError):
    """What came out of communications is not what had to."""


def replay_comms(  # noqa: PLR0913 - those of the command, by their names
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
) -> Replay:
    """Replays the communications of recorded ranks on torch.distributed, and says what they took.

    Called by every process of a job that torchrun, SLURM or MPI started, as many as were recorded; each reads the trace
    of its rank. `job` is what `ks.read_dir` gives, or the folder. Process groups are made as recorded; then every
    collective, send and receive is done in its order, with its sizes, types and parts, waited for where it was.

    * `backend` is `gloo` or `nccl`, `device` `cpu` or `cuda`; by default gloo on the host.
    * `dry_run` runs nothing and needs no torch: one process reads all ranks, compares them and says what would be done.
    * `warmup_iter` passes are not measured, `num_replays` are.
    * `allow_ops` are names to replay alone (`all_reduce`); `max_msg_cnt` ends each rank's plan after so many
      communications; a message of more than `max_msg_bytes` is an error.
    * `use_timestamp` begins each when it was, from the first on; for that a Kineto trace has to be there.
    * `rebalance="equal"` makes all parts of exchanges of uneven ones as large as the mean.
    * `blocking` waits for every collective at once, also where it was not.
    * `shrink` does with fewer processes than were recorded: what is between those. `notes` says what changed.
    * `check` fills messages with numbers and looks at what comes out, in one more pass. CheckError when it is wrong.
    * `timeout` in seconds: what is not met by then is a TimeoutError.
    * `profile` is a folder for the replay's own trace, recorded with `ks.profile`.

    Before anything runs the ranks compare what they will do: DisagreementError, on all of them, when they would wait
    for each other without end. ValueError for files that do not tell what is needed; ImportError without torch.
    """
    options = expect_sound(
        Options(
            backend,
            device,
            dry_run,
            warmup_iter,
            num_replays,
            allow_ops,
            max_msg_cnt,
            max_msg_bytes,
            use_timestamp,
            rebalance,
            blocking,
            shrink,
            check,
            timeout,
            None if profile is None else os.fspath(profile),
        )
    )
    return replay(readers(job), options)


def replay(sources: Sequence[Reader], options: Options) -> Replay:
    """The same, with options that are sound."""
    if options.dry_run:
        return _dry(sources, options)
    from kinetoscope.replay.backend import Backend

    backend = Backend(world(), options)
    try:
        return _replayed(backend, sources, options)
    finally:
        backend.end()


def _dry(sources: Sequence[Reader], options: Options) -> Replay:
    size = world().size
    size = min(size, len(sources)) if options.shrink and size > 1 else len(sources)
    settled = settle({rank: _plan(sources, World(rank, size), options) for rank in range(size)}, options)
    found = [sample for rank, steps in settled.steps.items() for sample in samples(rank, steps, [])]
    return Replay(found, 0, size, settled.notes)


def _plan(sources: Sequence[Reader], place: World, options: Options) -> Plan:
    if place.rank >= len(sources):
        raise ValueError(f"expected traces of {text.plural(place.size, 'rank')}, found {len(sources)}")
    plan = plan_of(sources[place.rank](), options, place.size)
    plan = plan._replace(size=max(plan.size, len(sources)))
    if options.use_timestamp and plan.steps and all(step.start_ns is None for step in plan.steps):
        raise ValueError("expected a Kineto trace beside the Execution Trace for use_timestamp, found no times")
    return plan


def _replayed(backend: Backend, sources: Sequence[Reader], options: Options) -> Replay:
    settled = settle(_all_plans(backend, sources, options), options)
    steps = settled.steps[backend.rank]
    backend.make_groups(settled.groups)
    if options.check:
        _check(backend, steps, options)
    passes, files = _passes(backend, steps, options)
    found = backend.at_first(samples(backend.rank, steps, passes))
    result = Replay([sample for those in found for sample in those], backend.rank, backend.size, settled.notes)
    result.profile = files
    return result


def _all_plans(backend: Backend, sources: Sequence[Reader], options: Options) -> Mapping[int, Plan]:
    """Of all ranks; an error that one has in reading is an error of all, or they would wait for it."""
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
        raise ValueError("; ".join(f"rank {rank}: {why}" for rank, why in list(failed.items())[:_SHOWN]))
    return {**dict(enumerate(plans)), backend.rank: mine}  # pyright: ignore[reportReturnType] - none is a text


def _bare(steps: Sequence[Step]) -> list[Step]:
    """What other ranks need to know: one object for all that are equal, which pickle sends once."""
    seen: dict[Step, Step] = {}
    bare = (step._replace(start_ns=None, dur_ns=None) for step in steps)
    return [seen.setdefault(step, step) for step in bare]


def _check(backend: Backend, steps: Sequence[Step], options: Options) -> None:
    from kinetoscope.replay.runner import Runner

    runner = Runner(backend, steps, options, checks=True)
    runner.run()
    wrong = [line for lines in backend.all(runner.wrong[:_SHOWN]) for line in lines]
    if wrong:
        raise CheckError(f"replayed contents are wrong: {'; '.join(wrong[:_SHOWN])}")


def _passes(backend: Backend, steps: Sequence[Step], options: Options) -> tuple[list[Mapping[int, int]], list[Path]]:
    from kinetoscope.replay.runner import Runner

    def once(_: int) -> Mapping[int, int]:
        backend.meet()
        return Runner(backend, steps, options).run()

    for number in range(options.warmup_iter):
        once(number)
    if options.profile is None:
        return [once(number) for number in range(options.num_replays)], []
    from kinetoscope.profiling.profiler import profile

    passes: list[Mapping[int, int]] = []
    with profile(options.profile, wait=0, warmup=1, active=options.num_replays, repeat=1) as prof:
        for number in range(1 + options.num_replays):
            passes.append(once(number))
            prof.step()
    return passes[1:], list(prof.files)
