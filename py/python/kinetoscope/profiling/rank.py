"""Rank of this process, from torch.distributed or environment variables."""

from __future__ import annotations

import os
from collections.abc import Callable, Container
from operator import index
from typing import Any, SupportsIndex

from kinetoscope.profiling import pytorch

_RANKS = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK")
_SIZES = ("WORLD_SIZE", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE")

_LOCAL = ("LOCAL_RANK", "SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "MV2_COMM_WORLD_LOCAL_RANK")

Ranks = Container[int] | Callable[[int], bool] | None
"""Selected ranks: a container, a predicate, or None for all."""


def current_rank() -> int:
    """Returns the rank of torch.distributed, else of torchrun, SLURM or MPI, else 0."""
    distributed = pytorch.distributed()
    return _number_from(_RANKS, 0) if distributed is None else int(distributed.get_rank())


def valid_rank(rank: Any) -> int | None:
    """Returns the rank. Raises ValueError for what is none."""
    if rank is None:
        return None
    if not isinstance(rank, SupportsIndex) or index(rank) < 0:
        raise ValueError(f"ks.profile: expected rank= of at least 0, found {rank!r}")
    return index(rank)


def local_rank() -> int:
    """Returns the rank on this machine, from torchrun, SLURM or MPI, else `current_rank`."""
    return _number_from(_LOCAL, current_rank())


def job_size() -> int:
    """Returns the number of processes of torchrun, SLURM or MPI, else 1."""
    return _number_from(_SIZES, 1)


def is_among(rank: int, ranks: Ranks) -> bool:
    """Whether a rank is selected."""
    if ranks is None:
        return True
    return rank in ranks if isinstance(ranks, Container) else bool(ranks(rank))


def _number_from(names: tuple[str, ...], default: int) -> int:
    """Returns the number in the first environment variable that has one, else `default`."""
    return next((int(value) for name in names if (value := os.environ.get(name, "")).isdecimal()), default)
