"""A Chakra trace: the graph of one rank as simulators read it."""

from __future__ import annotations

import json
import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from kinetoscope._io.atomic import write_bytes, write_whole
from kinetoscope.table import Table
from kinetoscope.tables import Tables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kinetoscope.trace import Trace

GROUPS = "comm_group.json"
"""Where simulators look for process groups."""


class Chakra(Tables):
    """The nodes of a Chakra trace (`.et`, protobuf) and what they wait for.

    ::

        chakra = ks.read("rank.0.et")
        chakra.nodes.to_polars()            # times in ns, though the file has whole microseconds
        chakra.dependencies.to_polars()     # source and target are ids of nodes
        chakra.metadata                     # {"version": …, "attrs": [{"name", "type", "value"}, …]}
        ks.read_dir("traces")[0].to_chakra("rank.0.et")

    What `Trace.to_chakra` writes has a node for each node of the Execution Trace and for each event of a device:

    * Ids ascend with time, and no node waits for one of a larger id.
    * Times are rounded to microseconds; the attributes `start_ns`, `duration_ns` (time in none of the nodes inside, as
      `duration_micros`) and `inclusive_ns` are exact.
    * A node waits for the one around it or that enqueued it (`ctrl_deps`, and for device events `data_deps`), for what
      its thread or stream did before, for whoever computed its tensors, for its forward node, and for what another
      thread did last where its own began or had paused (`data_deps`).
    * A communication is the kernel that did it, or else the host's record of it, and never `is_cpu_op`. `comm_size` has
      the bytes that go in; where several kernels did it, each has its part.
    """

    @cached_property
    def nodes(self) -> Table:
        """Nodes in the file's order; `attrs` has every attribute with its type, as JSON."""
        return self.table("nodes")

    @cached_property
    def dependencies(self) -> Table:
        """What nodes wait for: the end of another (`control`) or its result (`data`), which may not be in the file."""
        return self.table("dependencies")

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the trace to a file; compressed when `path` ends in `.gz`.

        What was read comes back byte for byte, but for what was no message, which `health` counts. OSError when it
        cannot be written, and then `path` holds what it held before.
        """
        return write_whole(path, self._native.write_chakra)[0]


def write_chakra(trace: Trace, path: str | os.PathLike[str]) -> Chakra:
    """Writes a trace as `Trace.to_chakra` does, without its process groups."""
    target = Path(path)
    chakra = Chakra(trace._native.chakra(), str(target))  # noqa: SLF001 - the core makes it of the links
    chakra.save(target)
    return chakra


def write_groups(folder: Path, groups: Mapping[str, Sequence[int]]) -> Path:
    """Writes the ranks of process groups by their names as `comm_group.json`, where simulators look for them."""
    content = json.dumps(groups, indent=2) + "\n"
    return write_bytes(folder / GROUPS, content.encode())
