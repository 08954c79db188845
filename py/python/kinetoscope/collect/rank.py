"""Which rank of the job this process is, and whether it is one to record."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Container

_ENVIRONMENT = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK")

Ranks = Container[int] | Callable[[int], bool] | None
"""Some ranks, or a function that says of a rank whether it is meant; None for all."""


def current_rank() -> int:
    """The rank that torch.distributed has, else the one that torchrun, SLURM or MPI put in the environment, else 0."""
    rank = _distributed_rank()
    return rank if rank is not None else _environment_rank()


def is_among(rank: int, ranks: Ranks) -> bool:
    """Whether a rank is one of those that are meant."""
    if ranks is None:
        return True
    return rank in ranks if isinstance(ranks, Container) else bool(ranks(rank))


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
