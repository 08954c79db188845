"""The processes that replay: which one this is, how many there are, and where they meet."""

from __future__ import annotations

import os
from typing import NamedTuple
from zlib import crc32

from kinetoscope.profiling.rank import current_rank, job_size

_JOBS = ("SLURM_STEP_ID", "SLURM_JOB_ID", "PMIX_NAMESPACE", "PMI_JOBID")
_FIRST_PORT, _NUM_PORTS = 20_000, 10_000


class World(NamedTuple):
    """As torchrun, SLURM or MPI say it; one process alone where none of them does."""

    rank: int
    size: int


def world() -> World:
    """From the environment."""
    return World(current_rank(), job_size())


def meeting_place() -> str:
    """Where the processes find each other, as torch.distributed takes it: what torchrun set, else this machine.

    MPI on several machines needs MASTER_ADDR. The port is one for each job that MPI or SLURM names.
    """
    job = " ".join(os.environ.get(name, "") for name in _JOBS)
    port = os.environ.get("MASTER_PORT", str(_FIRST_PORT + crc32(job.encode()) % _NUM_PORTS))
    return f"tcp://{os.environ.get('MASTER_ADDR', '127.0.0.1')}:{port}"
