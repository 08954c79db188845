"""Which rank of the job this process is."""

from __future__ import annotations

import os
import sys

_ENVIRONMENT = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK")


def current_rank() -> int:
    """The rank that torch.distributed has, else the one that torchrun, SLURM or MPI put in the environment, else 0."""
    rank = _distributed_rank()
    return rank if rank is not None else _environment_rank()


def _distributed_rank() -> int | None:
    # looked up, not imported: a process that never imported torch.distributed has no rank there
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    return int(distributed.get_rank())


def _environment_rank() -> int:
    for name in _ENVIRONMENT:
        value = os.environ.get(name, "")
        if value.isdecimal():
            return int(value)
    return 0
