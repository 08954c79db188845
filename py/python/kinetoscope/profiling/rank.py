"""Which rank of the job this process is, and whether it is one to record."""

from __future__ import annotations

import os
from collections.abc import Callable, Container

from kinetoscope.profiling import pytorch

_RANKS = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK")
_SIZES = ("WORLD_SIZE", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE")

_LOCAL = ("LOCAL_RANK", "SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID")

Ranks = Container[int] | Callable[[int], bool] | None
"""Some ranks, or a function that says of a rank whether it is meant; None for all."""


def current_rank() -> int:
    """The rank that torch.distributed has, else the one that torchrun, SLURM or MPI put in the environment, else 0."""
    distributed = pytorch.distributed()
    return _said(_RANKS, 0) if distributed is None else int(distributed.get_rank())


def local_rank() -> int:
    """Which process of this machine this is, as they say it; else as `current_rank`."""
    return _said(_LOCAL, current_rank())


def job_size() -> int:
    """How many processes torchrun, SLURM or MPI say that there are."""
    return _said(_SIZES, 1)


def is_among(rank: int, ranks: Ranks) -> bool:
    """Whether a rank is one of those that are meant."""
    if ranks is None:
        return True
    return rank in ranks if isinstance(ranks, Container) else bool(ranks(rank))


def _said(names: tuple[str, ...], otherwise: int) -> int:
    """The number in the first of these variables that has one."""
    return next((int(value) for name in names if (value := os.environ.get(name, "")).isdecimal()), otherwise)
