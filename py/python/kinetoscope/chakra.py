"""Chakra traces: the graph of one rank, for simulators."""

from __future__ import annotations

import json
import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from kinetoscope._base.warnings import warn
from kinetoscope._io.atomic import write_atomic, write_bytes
from kinetoscope.table import Table
from kinetoscope.tables import Tables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kinetoscope._export.job_groups import JobPlace
    from kinetoscope.trace import Trace
    from kinetoscope.trace_set import TraceSet

GROUPS = "comm_group.json"
"""File name under which simulators expect process groups."""


class Chakra(Tables):
    """Nodes and dependencies of a Chakra trace (`.et`, protobuf).

    ::

        chakra = ks.read("rank.0.et")
        chakra.nodes.to_polars()            # times in ns; the file stores whole microseconds
        chakra.dependencies.to_polars()     # source and target are ids of nodes
        chakra.metadata                     # {"version": …, "attrs": [{"name", "type", "value"}, …]}
        ks.read_dir("traces")[0].to_chakra("rank.0.et")

    `Trace.to_chakra` writes one node per node of the Execution Trace and per device event:

    * Ids ascend with time. No node depends on a node with a larger id.
    * `duration_micros` and `duration_ns` exclude nested nodes; `inclusive_ns` includes them. Times
      in microseconds are rounded. The attributes `start_ns`, `duration_ns` and `inclusive_ns` are
      exact.
    * `ctrl_deps` of a host node: the node around it. Device events list their enqueuing node in
      `data_deps` as well.
    * `data_deps`: the previous node of the thread or stream, the producers of the inputs, and the
      forward node. They also hold the last node of another thread before this thread began or
      resumed.
    * A communication is its kernel, or its host record if it has no kernel. It never has
      `is_cpu_op`. `comm_size` is the input size in bytes; several kernels share it.
    * An exchange with unequal parts has the bytes that leave the rank, and its parts in
      `in_split_size` and `out_split_size`. A call of one rank alone is a computation.
    * `health` counts what the graph simplifies.
    """

    @cached_property
    def nodes(self) -> Table:
        """Nodes in file order; `attrs` holds every attribute with its type, as JSON."""
        return self.table("nodes")

    @cached_property
    def dependencies(self) -> Table:
        """Dependencies between nodes: on the end of a node (`control`) or on its result (`data`).

        The awaited node may be missing from the file.
        """
        return self.table("dependencies")

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the trace to a file; gzip if `path` ends in `.gz`.

        Contents that were read are written byte for byte, without invalid messages, which `health`
        counts. If the file cannot be written, raises OSError and leaves the previous file
        unchanged.
        """
        return write_atomic(path, self._native.write_chakra)[0]


def write_chakra(trace: Trace, path: str | os.PathLike[str], place: JobPlace | None = None) -> Chakra:
    """Writes a trace as `Trace.to_chakra` does, without its process groups.

    Its place in a job tells groups that no file names.
    """
    target = Path(path)
    chakra = Chakra(trace._native.chakra(place), str(target))  # noqa: SLF001 - the core builds the graph
    chakra.save(target)
    return chakra


def write_rank(trace: Trace, path: str | os.PathLike[str]) -> Chakra:
    """Writes a trace and its process groups as `Trace.to_chakra` does."""
    from kinetoscope._export.clean_times import with_clean_times

    chakra = write_chakra(with_clean_times([trace])[0], path)
    if trace.comm_groups:
        write_groups(Path(path).parent, trace.comm_groups)
    return chakra


def expect_agreement(job: TraceSet, *, allow_mismatches: bool) -> None:
    """Raises DisagreementError if ranks of a job lack calls of others; warns if that is allowed."""
    from kinetoscope.replaying.agree import DisagreementError
    from kinetoscope.replaying.compare import compare_ranks

    comparison = compare_ranks(job)
    if comparison.mismatch and not allow_mismatches:
        hint = "nothing was written: use allow_mismatches (--allow-mismatches) to write the graphs anyway"
        raise DisagreementError(f"{comparison.mismatch}; {hint}")
    for note in (comparison.mismatch, comparison.note):
        if note:
            warn(note)


def write_job(job: TraceSet, path: Path, *, allow_mismatches: bool) -> list[Chakra]:
    """Writes the traces of a job as `TraceSet.to_chakra` does."""
    from kinetoscope._export.clean_times import with_clean_times
    from kinetoscope._export.job_groups import job_places
    from kinetoscope._export.names import ranked
    from kinetoscope._io.paths import with_suffix_of_rank

    expect_agreement(job, allow_mismatches=allow_mismatches)
    ranks, traces = zip(*ranked(job), strict=True)
    traces = with_clean_times(traces)
    places = job_places(job, traces)
    graphs = [
        write_chakra(trace, with_suffix_of_rank(path, f".{rank}"), place)
        for rank, trace, place in zip(ranks, traces, places, strict=True)
    ]
    groups = job_groups(job)
    if groups:
        write_groups(path.parent, groups)
    return graphs


def job_groups(found: TraceSet | Trace) -> dict[str, list[int]]:
    """Returns the ranks of the process groups of all traces, by name."""
    from kinetoscope.trace import Trace

    traces, num_ranks = ([found], None) if isinstance(found, Trace) else (list(found), len(found.ranks))
    groups: dict[str, list[int]] = {}
    for trace in traces:
        groups |= json.loads(trace._native.comm_groups_json(num_ranks or None))  # noqa: SLF001 - the core knows them
    return groups


def write_groups(folder: Path, groups: Mapping[str, Sequence[int]]) -> Path:
    """Writes process groups, a list of ranks by name, to `comm_group.json` in `folder`."""
    content = json.dumps(groups, indent=2) + "\n"
    return write_bytes(folder / GROUPS, content.encode())
