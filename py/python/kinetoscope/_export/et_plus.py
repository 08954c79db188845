"""Writer of ET+: the Execution Trace with times and device work from the Kineto trace."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kinetoscope._export.clean_times import with_clean_times
from kinetoscope._io.atomic import write_atomic

if TYPE_CHECKING:
    from kinetoscope.trace import Trace


class EtPlusFile(NamedTuple):
    """A file that `Trace.to_et_plus` wrote."""

    path: Path
    num_nodes: int
    """Number of nodes of the Execution Trace."""
    num_linked: int
    """Number of these nodes with times."""
    num_device_events: int
    """Number of kernels, copies and fills that were added as nodes."""
    num_left_out: int
    """Number of kernels, copies and fills that were omitted: their node is unknown."""
    num_observed: int
    """Number of nodes with times of an iteration with the observer, which slows the host."""

    def __str__(self) -> str:
        observed = f" ({self.num_observed:,} of them in an observed iteration: too long)" if self.num_observed else ""
        return (
            f"{self.path}: {self.num_linked:,} of {self.num_nodes:,} nodes with times{observed}, "
            f"{self.num_device_events:,} device events added, {self.num_left_out:,} left out"
        )


def write_et_plus(trace: Trace, path: str | os.PathLike[str], *, like_chakra: bool) -> EtPlusFile:
    """Writes the file under a temporary name, then renames it; see `Trace.to_et_plus`."""
    native = (trace if like_chakra else with_clean_times([trace])[0])._native  # noqa: SLF001 - the core writes it
    target, counts = write_atomic(path, lambda target, gzip: native.write_et_plus(target, gzip, like_chakra))
    return EtPlusFile(target, *counts)
