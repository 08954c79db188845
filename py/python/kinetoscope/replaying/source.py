"""Reads the trace of each rank on demand."""

from __future__ import annotations

import os
from collections.abc import Callable

from kinetoscope.trace import Trace
from kinetoscope.trace_set import TraceSet

Reader = Callable[[], Trace]


def readers(job: TraceSet | Trace | str | os.PathLike[str]) -> list[Reader]:
    """Returns one function per rank, from rank 0, that reads its trace.

    If no file has a rank, the order of the files counts. Raises ValueError if ranks are missing.
    """
    if isinstance(job, (str, os.PathLike)):
        job = _job_at(job)
    if not isinstance(job, TraceSet):
        trace = job
        return [lambda: trace]
    members = job.members
    if all(member.rank is None for member in members):
        return [lambda member=member: member.trace for member in members]
    first = {member.rank: member for member in reversed(members)}
    ranks = sorted(rank for rank in first if rank is not None)
    if ranks != list(range(len(ranks))):
        raise ValueError(f"expected a trace of every rank from 0 on, found ranks {ranks}")
    return [lambda member=first[rank]: member.trace for rank in ranks]


def _job_at(path: str | os.PathLike[str]) -> TraceSet | Trace:
    from kinetoscope._load.job import read_dir
    from kinetoscope._load.read import read

    if os.path.isfile(path):  # noqa: PTH113 - a path or a URL
        found = read(path)
        if isinstance(found, (Trace, TraceSet)):
            return found
        raise ValueError(f"expected a trace, found {path}")
    job = read_dir(path, eager=False, progress=False)
    return job.load() if len(job) == 1 else job  # a single file may hold all ranks
