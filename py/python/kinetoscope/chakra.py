"""A Chakra trace: the graph of one rank as simulators read it."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from kinetoscope.tables import Tables
from kinetoscope.whole import written_whole

if TYPE_CHECKING:
    from kinetoscope.table import Table


class Chakra(Tables):
    """The nodes of a Chakra trace (`.et`, protobuf) and what they wait for.

    ::

        chakra = ks.read("rank.0.et")
        chakra.nodes.to_polars()            # times in ns, though the file has whole microseconds
        chakra.dependencies.to_polars()     # source and target are ids of nodes
        chakra.metadata                     # {"version": …, "attrs": [{"name", "type", "value"}, …]}
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
        target = Path(path)
        with written_whole(target) as temporary:
            self._native.write_chakra(str(temporary), target.suffix == ".gz")
        return target
