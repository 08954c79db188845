"""Implements `kinetoscope.replay`: runs the operators of a trace again."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from kinetoscope._base import text
from kinetoscope.replaying.operators.coverage import (
    OperatorSample,
    library_counts,
    library_notes,
    operator_samples,
    plan_notes,
    recorded_memory,
)
from kinetoscope.replaying.operators.device_choice import replaced_device
from kinetoscope.replaying.operators.launches import launch_notes, launch_samples, launches_graphs
from kinetoscope.replaying.operators.names import expect_operators
from kinetoscope.replaying.operators.node_tree import tree_notes
from kinetoscope.replaying.operators.options import OperatorOptions, Replacement, validated
from kinetoscope.replaying.operators.ordinary_times import ordinary_times
from kinetoscope.replaying.operators.regions import region_notes
from kinetoscope.replaying.operators.result import OperatorReplay
from kinetoscope.replaying.operators.saved_values import SavedValues, saved_values
from kinetoscope.replaying.operators.storage import StoragePlan, storage_plan
from kinetoscope.replaying.operators.unit import NOT_ALLOWED, Unit, UnitKind, units
from kinetoscope.replaying.result import Replay
from kinetoscope.replaying.source import Reader, readers
from kinetoscope.replaying.world import World, world
from kinetoscope.trace import Trace
from kinetoscope.trace_set import TraceSet

if TYPE_CHECKING:
    from pathlib import Path

    from kinetoscope.replaying.operators.engine import Engine
    from kinetoscope.replaying.operators.machine import Machine

_MAX_SHOWN = 3


def replay(  # noqa: PLR0913 - the options of the command
    job: TraceSet | Trace | str | os.PathLike[str],
    mode: str = "full",
    *,
    dry_run: bool = False,
    device: str | None = None,
    subgraph: str | None = None,
    node_id: int | None = None,
    skip: Sequence[str] = (),
    namespaces: Sequence[str] = (),
    kernel_sources: bool = False,
    max_memory_bytes: int | None = None,
    warmup_iter: int = 2,
    num_replays: int = 5,
    replace: Mapping[str, Replacement] | None = None,
    backend: str | None = None,
    timeout: float = 300.0,
    profile: str | os.PathLike[str] | None = None,
) -> OperatorReplay | Replay:
    """Runs the operators of an Execution Trace again, without the program, and measures them.

    Tensors get their recorded shapes, types, strides and storages; they are freed after their last
    use. The operators of forward pass, backward pass and optimizer run in the order in which they
    started. Operators that fail here are left out of the further passes and counted.

    ::

        result = ks.replay("trace", dry_run=True)     # coverage and memory; needs no torch
        result = ks.replay("trace", profile="again")
        ks.diff("trace", "again")

    With communications, every process of a job of torchrun, SLURM or MPI must call this function,
    one per recorded rank. A single process replays rank 0 without communications.

    Args:
        job: a trace, a folder, or the result of `ks.read_dir`.
        mode: `"full"`; `"compute"` without communications; `"comms"` for `replay_comms`.
        dry_run: runs nothing and needs no torch. Covers all ranks.
        device: replaces the recorded device, such as `"cpu"` or `"cuda:1"`.
        subgraph: name of an annotation: replays only the operators inside.
        node_id: id of a node: replays only the operators inside.
        skip: names of operators to leave out, with the parts of composed ones. Their results are
            made without running them.
        namespaces: further libraries whose operators may run. Import the library first.
        kernel_sources: runs generated kernels from the sources beside the trace. These are Python
            code: use it only for traces that you trust.
        max_memory_bytes: refuses a replay or an operator that needs more memory. Default: the free
            memory.
        warmup_iter: number of passes without measuring.
        num_replays: number of measured passes.
        replace: functions to run instead of operators, by name, such as `{"aten::bmm": bmm}`. A
            pass before the measured ones compares their results with those of the operators. Inputs
            are random values of both signs, and those of the step. `OperatorReplay.checks` has the
            outcome. Tolerances are relative; see docs/replay.md. Errors of a function are raised
            unchanged.
        backend: `gloo` or `nccl`, for communications.
        timeout: timeout in seconds of each communication.
        profile: a folder for a recording of the replay with `ks.profile`: of an observed pass, then
            of the measured ones. Each operator has an annotation around it, `replay of node N`,
            with the id of its recorded node.

    Raises:
        ValueError: an option is invalid, or names no operator that runs as a whole. Or the trace
            has no Execution Trace, or needs too much memory.
        DisagreementError: communications of the ranks mismatch.
        ImportError: torch is missing.
    """
    folder = None if profile is None else os.fspath(profile)
    values = (mode, dry_run, device, subgraph, node_id, skip, namespaces, kernel_sources, max_memory_bytes)
    options = validated(OperatorOptions(*values, warmup_iter, num_replays, replace, backend, timeout, folder))
    if mode == "comms":
        return _comms(job, options)
    return replay_operators(readers(job), options)


def _comms(job: TraceSet | Trace | str | os.PathLike[str], options: OperatorOptions) -> Replay:
    from kinetoscope.replaying.replay import replay_comms

    return replay_comms(
        job,
        backend=options.backend,
        device=options.device,
        dry_run=options.dry_run,
        warmup_iter=options.warmup_iter,
        num_replays=options.num_replays,
        timeout=options.timeout,
        profile=options.profile,
    )


def replay_operators(sources: Sequence[Reader], options: OperatorOptions) -> OperatorReplay:
    """Replays operators with validated options."""
    if options.dry_run:
        return _dry(sources, options)
    place = world()
    if place.size > 1 and options.mode != "compute":
        from kinetoscope.replaying.operators.together import Together

        with Together(sources, options, place) as together:
            return _replayed(sources[place.rank](), options, place, together)
    if place.rank >= len(sources):
        raise ValueError(f"expected traces of {text.plural(place.size, 'rank')}, found {len(sources)}")
    return _replayed(sources[place.rank](), options, place, None)


def _dry(sources: Sequence[Reader], options: OperatorOptions) -> OperatorReplay:
    samples: list[OperatorSample] = []
    notes: list[str] = []
    planned: dict[str, int] = {}
    names: set[str] = set()
    skipped: set[str] = set()
    presumed: Counter[str] = Counter()
    would_run = 0
    for rank, source in enumerate(sources):
        trace = source()
        found = units(trace, options.choice)
        names.update(unit.name for unit in found)
        skipped.update(name for unit in found for name in unit.names)
        plan = storage_plan(found)
        reasons = _reasons(trace, found)
        would_run += sum(reasons.get(at, NOT_ALLOWED) == NOT_ALLOWED for at in range(len(found)))
        found, time_notes = ordinary_times(trace, found)
        launches = launch_samples(trace, found, options.choice)
        samples += operator_samples(found, reasons, launches=launches)
        presumed.update(library_counts(found, reasons))
        if rank == 0:
            planned = plan.peak_bytes
            device_of = partial(replaced_device, options.device, planned)
            notes += [*tree_notes(trace), *_regions(trace, options, launches), *time_notes]
            notes += [*plan_notes(plan, device_of), *recorded_memory(trace)]
    expect_operators(options.skip, skipped)
    expect_operators(options.replace or {}, names)
    notes = [*launch_notes(samples), *notes]
    num_calls = sum(sample.num_calls for sample in samples if sample.is_operator)
    if would_run > sum(sample.num_run for sample in samples):
        notes.insert(0, f"{would_run / num_calls:.1%} with kernel_sources, which runs the sources beside the trace")
    result = OperatorReplay(samples, 0, len(sources), [*notes, *library_notes(presumed)])
    result.planned_bytes = planned
    return result


def _reasons(trace: Trace, found: Sequence[Unit]) -> dict[int, str]:
    """Returns why units do not run, by their index."""
    reasons = {at: unit.reason for at, unit in enumerate(found) if unit.reason}
    kernels = {at: unit for at, unit in enumerate(found) if unit.kind == UnitKind.KERNEL}
    if kernels:
        from kinetoscope.replaying.operators.kernel import KernelSources

        sources = KernelSources(trace, (unit.kernel_file for unit in kernels.values()))
        for at, unit in kernels.items():
            if unit.reason in {"", NOT_ALLOWED} and (lack := sources.lack(unit)):
                reasons[at] = lack
    return reasons


def _regions(trace: Trace, options: OperatorOptions, launches: Sequence[OperatorSample]) -> list[str]:
    """Describes compiled regions without kernels, unless graphs of the device may have them."""
    return [] if launches_graphs(launches) else region_notes(trace, options.choice)


def _replayed(trace: Trace, options: OperatorOptions, place: World, together: Any) -> OperatorReplay:
    from kinetoscope.profiling.rank import local_rank
    from kinetoscope.replaying.operators.engine import Engine, EngineParts
    from kinetoscope.replaying.operators.machine import Machine
    from kinetoscope.replaying.operators.replaced import Replacements

    found = units(trace, options.choice)
    if together is None:  # with other ranks, an operator of one of them is valid
        expect_operators(options.skip, {name for unit in found for name in unit.names})
    plan = storage_plan(found)
    machine = Machine(options.device, [life.first.device for life in plan.lives], local_rank())
    limit = _expect_memory(machine, plan, options)
    kernels = _kernels(trace, found, options)
    replaced = Replacements(machine, options.replace or {}, {unit.name for unit in found})
    if together is not None:
        together.choose([unit for unit in found if unit.kind == UnitKind.COMMUNICATION])
    saved = saved_values(trace, found)
    parts = EngineParts(kernels, saved, replaced, None if together is None else together.communicate, limit)
    engine = Engine(machine, found, plan, parts)
    engine.make_inputs()
    machine.reset_peak()
    times, steps, files = _passes(engine, options, together)
    reasons = {at: each.reason for at, each in enumerate(engine.prepared) if each.reason}
    with_times, time_notes = ordinary_times(trace, found)
    launches = launch_samples(trace, found, options.choice)
    samples = operator_samples(with_times, reasons, times, launches)
    of_trace = [*plan_notes(plan, lambda name: str(machine.device(name))), *recorded_memory(trace)]
    notes = [
        *tree_notes(trace),
        *_regions(trace, options, launches),
        *time_notes,
        *machine.notes,
        *_saved_notes(saved),
        *of_trace,
        *_mismatches(engine),
        *_other_types(engine),
    ]
    if together is not None:
        samples = together.gathered(samples)
        notes = [*together.notes, *notes]
    notes = [*launch_notes(samples), *notes]
    result = OperatorReplay(samples, place.rank, place.size, notes)
    result.step_ns, result.profile, result.checks = steps, files, replaced.lines
    result.operators_ns = [sum(took.values()) for took in times]
    result.planned_bytes = plan.peak_bytes
    result.peak_bytes = machine.peak_bytes() or engine.peak_bytes
    return result


def _expect_memory(machine: Machine, plan: StoragePlan, options: OperatorOptions) -> int | None:
    """Returns the maximum of memory. Raises ValueError if the plan needs more."""
    needed = sum(plan.peak_bytes.values())
    limit = machine.free_bytes() if options.max_memory_bytes is None else options.max_memory_bytes
    if limit is not None and needed > limit:
        raise ValueError(
            f"expected a trace that needs {text.size(limit)} at most, found one that needs {text.size(needed)}: "
            "replay a part (subgraph, node_id), or raise max_memory_bytes"
        )
    return limit


def _kernels(trace: Trace, found: Sequence[Unit], options: OperatorOptions) -> dict[int, Callable[..., Any]]:
    """Returns generated kernels by the id of their node. Runs their sources if that is allowed."""
    if not options.kernel_sources or not any(unit.kind == UnitKind.KERNEL for unit in found):
        return {}
    from kinetoscope.replaying.operators.kernel import loaded_kernels

    return loaded_kernels(trace, found)


def _passes(
    engine: Engine, options: OperatorOptions, together: Any
) -> tuple[list[Mapping[int, int]], list[int], list[Path]]:
    def once(*, is_annotated: bool = False) -> dict[int, int]:
        engine.make_inputs()
        if together is not None:
            together.begin_pass()
        found = engine.measured(is_annotated=is_annotated)
        if together is not None:
            together.end_pass()
        return found

    if together is not None:
        together.begin_pass()
    engine.check()
    if together is not None:
        together.end_pass()
    for _ in range(options.warmup_iter):
        once()
    times: list[Mapping[int, int]] = []
    steps: list[int] = []
    if options.profile is None:
        for _ in range(options.num_replays):
            times.append(once())
            steps.append(engine.step_ns)
        return times, steps, []
    from kinetoscope.profiling.profiler import profile

    # the first pass warms the profiler up, the second one has the observer, which slows it down
    others = 2
    with profile(
        options.profile, wait=0, warmup=others, active=options.num_replays, repeat=1, profile_memory=True
    ) as prof:
        for _ in range(others + options.num_replays):
            times.append(once(is_annotated=True))
            steps.append(engine.step_ns)
            prof.step()
    return times[others:], steps[others:], list(prof.files)


def _saved_notes(saved: SavedValues) -> list[str]:
    number = sum(map(len, saved.values()))
    return [f"took saved values of {text.plural(number, 'argument')}"] if number else []


def _mismatches(engine: Engine) -> list[str]:
    if not engine.mismatches:
        return []
    names = sorted({engine.prepared[at].unit.name for at in engine.mismatches})
    shown = ", ".join(names[:_MAX_SHOWN])
    more = f" and {len(names) - _MAX_SHOWN} more" if len(names) > _MAX_SHOWN else ""
    calls = text.plural(len(engine.mismatches), "call")
    return [f"{calls} of {shown}{more} made results with another shape or layout: replaced by recorded ones"]


def _other_types(engine: Engine) -> list[str]:
    """Describes results of other types than recorded, by operator."""
    found = Counter((engine.prepared[at].unit.name, *types) for at, types in engine.other_types.items())
    return [
        f"{text.plural(count, 'call')} of {name} made {made.removeprefix('torch.')} where {recorded} is recorded"
        for (name, made, recorded), count in sorted(found.items())
    ]
