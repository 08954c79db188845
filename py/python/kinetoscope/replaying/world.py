"""Rank, number of processes and address of a replay, from environment variables."""

from __future__ import annotations

import os
from typing import NamedTuple
from zlib import crc32

from kinetoscope.profiling.rank import current_rank, job_size

_JOBS = ("SLURM_STEP_ID", "SLURM_JOB_ID", "PMIX_NAMESPACE", "PMI_JOBID")
_FIRST_PORT, _NUM_PORTS = 20_000, 10_000


class World(NamedTuple):
    """Rank and number of processes of torchrun, SLURM or MPI; rank 0 of 1 without them."""

    rank: int
    size: int


def world() -> World:
    """Returns the world of this process."""
    return World(current_rank(), job_size())


def meeting_place(host: str | None = None, port: int | None = None) -> str:
    """Returns the address for `init_process_group`: that of torchrun, else this machine.

    `host` and `port` replace both. MPI on several machines requires MASTER_ADDR. Each job of MPI or
    SLURM has its own port.
    """
    job = " ".join(os.environ.get(name, "") for name in _JOBS)
    default = os.environ.get("MASTER_PORT", str(_FIRST_PORT + crc32(job.encode()) % _NUM_PORTS))
    return f"tcp://{host or os.environ.get('MASTER_ADDR', '127.0.0.1')}:{default if port is None else port}"
