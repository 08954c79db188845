"""The processes that replay: which one this is, how many there are, and where they meet."""

from __future__ import annotations

import os
from typing import NamedTuple

from kinetoscope.collect.rank import current_rank, job_size

_LOCAL = ("LOCAL_RANK", "SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID")
_PORT = "29511"


class World(NamedTuple):
    """As torchrun, SLURM or MPI say it; one process alone where none of them does."""

    rank: int
    size: int


def world() -> World:
    """From the environment."""
    return World(current_rank(), job_size())


def local_rank() -> int:
    """Which process of this machine this is, so which of its GPUs it uses."""
    return next((int(value) for name in _LOCAL if (value := os.environ.get(name, "")).isdecimal()), current_rank())


def meeting_place() -> str:
    """Where the processes find each other, as torch.distributed takes it: what torchrun set, else this machine.

    MPI on several machines needs MASTER_ADDR.
    """
    address = os.environ.get("MASTER_ADDR", "127.0.0.1")
    return f"tcp://{address}:{os.environ.get('MASTER_PORT', _PORT)}"
