"""What one rank recorded, read and linked."""

from __future__ import annotations

import os
from functools import cached_property

from kinetoscope import _native
from kinetoscope.analyses import Analyses
from kinetoscope.processors import num_processors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from kinetoscope import seam
    from kinetoscope.answer import Answer
    from kinetoscope.chakra import Chakra
    from kinetoscope.export import Part
    from kinetoscope.linked import Linked
    from kinetoscope.summary import Summary
    from kinetoscope.table import Table
    from kinetoscope.widget import Timeline


class Trace(Analyses):
    """A Kineto trace, an Execution Trace, or both, linked. Made by `kinetoscope.read`.

    The tables are Arrow tables (see `Table`). An event is known by its `id`, its position in the file's `traceEvents`.
    """

    # Each method imports what it needs: who reads a trace asks for some of this, hardly ever for all.

    def __init__(self, native: _native.Trace, source: str | None = None, execution_source: str | None = None) -> None:
        self._native = native
        self.source = source
        """The path or name of what was read; None when it came as bytes."""
        self.execution_source = execution_source
        """The path of the Execution Trace that was read with it."""

    @classmethod
    def from_snapshot(cls, snapshot: bytes) -> Trace:
        """The trace that `snapshot` packed. TraceError when it is of another version, or none."""
        return cls(_native.Trace.from_snapshot(snapshot, max_threads=num_processors()))

    def linked_to(self, iteration: int | None = None) -> Trace:
        """The same trace with its nodes linked by names and shapes alone: to this iteration, or to the best.

        For files that were not recorded at the same time, or of which one covers a single iteration of the other's
        many. `read` chooses the first of the iterations that fit best; `coverage["windows"]` lists all that fit, by the
        number of their `ProfilerStep#n`, or from 0 where there are none. What is known of processes and record ids is
        left out of account, so this links files of two runs of one program, too, which `read` does not.

        TraceError, which names the iterations that fit, when this one does not, or none does.
        """
        return Trace(self._native.linked_to(iteration), self.source, self.execution_source)

    def captured(self, capture: Trace) -> Table:
        """The kernels of CUDA and HIP graphs that ran in this trace, each with the call that captured it in another.

        A graph's kernels have one launch and no operator of their own. One row each: `id` here; `captured_launch`,
        `captured_operator`, `operator_name` and `module` in `capture`. They are found by the names of kernels that the
        captured launches have (`kernel`, which profilers of ROCm write), in their order; a graph of which not all are
        found has no rows.
        """
        from kinetoscope.table import Table

        return Table(self._native.captured(capture._native))

    # --- tables ---------------------------------------------------------------------------------------------------

    def table(self, name: str) -> Table:
        """A table by its name; the properties below are the same. KeyError when there is no such table."""
        from kinetoscope.table import Table

        return Table(self._native.table(name))

    @cached_property
    def events(self) -> Table:
        """What has a duration: complete events (`ph` X), and pairs of begin and end. In the file's order."""
        return self.table("events")

    @cached_property
    def instants(self) -> Table:
        """Points in time (`ph` i)."""
        return self.table("instants")

    @cached_property
    def counters(self) -> Table:
        """Values over time (`ph` C)."""
        return self.table("counters")

    @cached_property
    def flows(self) -> Table:
        """Ends of the arrows that the file draws (`ph` s, t, f)."""
        return self.table("flows")

    @cached_property
    def nodes(self) -> Table:
        """Vertices of the Execution Trace, with the event each was."""
        return self.table("nodes")

    @cached_property
    def tensors(self) -> Table:
        """Uses of tensors in the Execution Trace: one row for each that goes into a node or comes out of it."""
        return self.table("tensors")

    @cached_property
    def dependencies(self) -> Table:
        """Data dependencies in the Execution Trace: one row for each node that reads what another one computed."""
        return self.table("dependencies")

    @cached_property
    def process_groups(self) -> Table:
        """Which ranks talk to each other, as either file says it; `ranks` is empty for all."""
        return self.table("process_groups")

    @cached_property
    def iterations(self) -> Table:
        """Steps of the training (`ProfilerStep#n`)."""
        return self.table("iterations")

    @cached_property
    def links(self) -> Table:
        """Edges between events, with the key that matched (`how`) and a confidence from 0 to 1."""
        return self.table("links")

    def collectives(self) -> Table:
        """Communications between ranks, one row each, from the Execution Trace, the Kineto trace, or both joined.

        `sources` says which of the recordings know of it: `node`, `host`, `device`. What they do not say is null. Times
        and bandwidths (`start_ns`, `dur_ns`, `algorithm_gbps`, `bus_gbps`) are those of its device events, or of the
        backend's own thread; `wait` is the event that waits for it. Waits are no rows.
        """
        return self.table("collectives")

    @cached_property
    def health(self) -> Table:
        """Every kind of defect that was survived, with its count, the first place, and what was done. Best without any.

        The rows of severity `note` are no defects: events of no duration, partial overlaps, launches of nothing.
        """
        return self.table("health")

    # --- what it is -----------------------------------------------------------------------------------------------

    @property
    def num_events(self) -> int:
        """How many rows `events` has."""
        return self._native.num_events

    @property
    def rank(self) -> int | None:
        """The rank that the file tells (`distributedInfo`), None when it tells none."""
        return self._native.rank

    @cached_property
    def metadata(self) -> dict[str, Any]:
        """The headers of the files, as they are."""
        return _json(self._native.metadata_json)

    @cached_property
    def coverage(self) -> dict[str, Any]:
        """How much was linked, by the key that matched, and why the rest was not.

        `nodes` are those of the Execution Trace with their event on the host, `operators` the host's operators and
        annotations with their node, `device_events` kernels, copies and fills with their launch, `device_owners` the
        same with the operator or annotation that owns them. Each has `count` and `num_linked`; `linked`, the counts by
        `how`; and `unlinked`, the counts by the reason, which `reasons` says in words.

        `confidence` is that of the links between nodes and operators, and `windows` lists the iterations that fit where
        one file covers only a part of what the other does (see `linked_to`).
        """
        return _json(self._native.coverage_json)

    @cached_property
    def comm_groups(self) -> dict[str, list[int]]:
        """The ranks of each process group by its name, of those whose ranks are known."""
        return _json(self._native.comm_groups_json())

    @cached_property
    def origin_ns(self) -> int:
        """The trace's start: the first time in it, as the tables count time. The viewer counts from here."""
        return int(self.query({"type": "overview"}).data["origin_ns"])

    @property
    def title(self) -> str:
        """The file's name, without its folder."""
        return os.path.basename(self.source) if self.source else "trace"

    # --- answers --------------------------------------------------------------------------------------------------

    def analyze(self, name: str, **request: Any) -> Answer:
        """An analysis by its name, with its options and the part of the trace to look at."""
        from kinetoscope.answer import answered

        return answered(self._native, name, request)

    def summary(self, start_ns: int | None = None, end_ns: int | None = None, *, limit: int = 20) -> Summary:
        """Time by kind, iterations, operators, kernels, health; of a range, in ns as in the tables, when given.

        Of operators and kernels it has at most `limit` each, those of the most time.
        """
        from kinetoscope.summary import Summary

        bounds = {"start": start_ns, "end": end_ns}
        since_origin = {key: value - self.origin_ns for key, value in bounds.items() if value is not None}
        return Summary(self.query({"type": "summary", "limit": limit} | since_origin).data, self.title)

    def query(self, request: dict[str, Any]) -> seam.Answer:
        """Asks the core what the viewer asks it; ARCHITECTURE.md lists the requests.

        Its times are ns since `origin_ns`. TraceError for a request that it does not know.
        """
        from kinetoscope import seam

        return seam.ask(self._native, request)

    def picture(self, width: int = 900) -> str:
        """The timeline at a glance, as SVG of this width in pixels."""
        return self._native.picture(width)

    def snapshot(self) -> bytes:
        """The trace, packed for the viewer. Readable by this version only: to keep a trace, keep its files."""
        return self._native.snapshot()

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the snapshot to a file, `run.kscope` for example, which `kinetoscope.read` loads faster than the JSON.

        Everything that was read is in it, nodes too; but only this version of the format is read: keep the files that
        it was made of. OSError when it cannot be written, and then `path` holds what it held before.
        """
        from pathlib import Path

        from kinetoscope.whole import written_whole

        target = Path(path)
        with written_whole(target) as temporary:
            temporary.write_bytes(self.snapshot())
        return target

    def export(self, path: str | os.PathLike[str], table: str = "events") -> Path:
        """Writes a table to a file: Parquet, Arrow IPC, CSV or JSON lines (`.parquet`, `.arrow`, `.csv`, `.jsonl`).

        The schema says the version of the tables (`kinetoscope_schema_version`) and the units of the columns; CSV and
        JSON have no place for them. KeyError when there is no such table, ValueError for another ending, ImportError
        without pyarrow where it is needed; OSError when the file cannot be written, and then `path` holds what it held
        before.
        """
        from kinetoscope.export import export

        return export(self.parts(table), path)

    def parts(self, table: str) -> list[Part]:
        """What `export` writes."""
        from kinetoscope.export import Part

        return [Part(self.table(table), {})]

    def to_chrome(self, path: str | os.PathLike[str]) -> Path:
        """Writes the Kineto trace as Chrome's JSON, for other viewers; compressed when `path` ends in `.gz`.

        It reads back to equal tables with equal ids. Nodes are not in it. OSError when it cannot be written, and then
        `path` holds what it held before.
        """
        from pathlib import Path

        from kinetoscope.whole import written_whole

        target = Path(path)
        with written_whole(target) as temporary:
            self._native.write_chrome(str(temporary), target.suffix == ".gz")
        return target

    def to_execution_trace(self, path: str | os.PathLike[str]) -> Path:
        """Writes the Execution Trace's JSON as it was read: keys, types, digits; compressed when `path` ends in `.gz`.

        TraceError when the trace has no Execution Trace; OSError when it cannot be written, and then `path` holds what
        it held before.
        """
        from pathlib import Path

        from kinetoscope.whole import written_whole

        target = Path(path)
        with written_whole(target) as temporary:
            self._native.write_execution(str(temporary), target.suffix == ".gz")
        return target

    def to_linked(self, path: str | os.PathLike[str], *, like_chakra: bool = False) -> Linked:
        """Writes the Execution Trace with times and device work from the Kineto trace (ET+), as chakra_trace_link does.

        Compressed when `path` ends in `.gz`. `sync_dep` of a node lists the device work that it waited for.
        `like_chakra` decides and formats as that program does even where it is wrong; ARCHITECTURE.md lists the
        differences. Says what was linked and what was left out. TraceError when the trace has no Execution Trace;
        OSError when it cannot be written, and then `path` holds what it held before.
        """
        from kinetoscope.linked import write_linked

        return write_linked(self._native, path, like_chakra=like_chakra)

    def to_param_comms(self, path: str | os.PathLike[str]) -> Path:
        """Writes the communications as PARAM replays them (`comm_replay --trace-type basic`): a JSON list.

        Process groups come first, then communications and waits in the order of their calls, each wait with the `req`
        and the `pg_id` of what it waits for, where that is known. RuntimeWarning when communications are left out
        because nothing names them or their call is not in the window. OSError when the file cannot be written, and then
        `path` holds what it held before.
        """
        import warnings
        from pathlib import Path

        from kinetoscope.whole import written_whole

        target = Path(path)
        with written_whole(target) as temporary:
            _, num_left_out = self._native.write_param_comms(str(temporary))
        if num_left_out:
            note = f"{num_left_out} communications are left out of {target.name}: no name or no call was recorded"
            warnings.warn(note, RuntimeWarning, stacklevel=2)
        return target

    def to_chakra(self, path: str | os.PathLike[str]) -> Chakra:
        """Writes the graph that simulators read (MLCommons Chakra, `.et`), and the process groups beside it.

        Returns what was written: its class says what that is, and its `health` what was left out. The groups are
        `comm_group.json` in the same folder, where there are any. UnsupportedTraceError without an Execution Trace,
        OSError when a file cannot be written, and then it holds what it held before.
        """
        from pathlib import Path

        from kinetoscope.chakra import Chakra, write_groups

        target = Path(path)
        chakra = Chakra(self._native.chakra(), str(target))
        chakra.save(target)
        if self.comm_groups:
            write_groups(target.parent, self.comm_groups)
        return chakra

    # --- the Execution Trace, edited ---

    def edit(
        self,
        *,
        iteration: int | None = None,
        subtree: int | None = None,
        upgrade: bool = False,
        anonymise: bool = False,
    ) -> Trace:
        """A trace of the nodes alone, without events: what is asked for of them, in this order.

        `iteration` keeps the nodes from `ProfilerStep#n` up to the next; `subtree` the node with this id and all below
        it; both the roots and the process groups, too. `upgrade` lays nodes out as the newest schema (1.1.1) has them,
        `anonymise` puts pseudonyms in the place of names and texts that are not PyTorch's own. TraceError when there
        is no Execution Trace, no such iteration, or no such node. `to_execution_trace` writes the result.
        """
        return Trace(self._native.edit(iteration, subtree, upgrade, anonymise), self.source)

    # --- looks ----------------------------------------------------------------------------------------------------

    def timeline(self, height: int = 560) -> Timeline:
        """The interactive timeline, for the output of a notebook's cell; `height` in pixels. Needs anywidget."""
        from kinetoscope.widget import Timeline

        return Timeline(self, height=height)

    def report(self, path: str | os.PathLike[str], *, title: str | None = None) -> Path:
        """Writes one HTML file with the summary, readable with scripts off, and the timeline; returns its path.

        The file needs nothing but itself: it opens from disk and without a network. OSError when it cannot be written.
        """
        from kinetoscope.report import write_report

        return write_report(self, path, title or self.title)

    def __repr__(self) -> str:
        return repr(self.summary())

    def _repr_html_(self) -> str:
        from kinetoscope.html import trace_html

        return trace_html(self)


def _json(text: str) -> Any:
    import json

    return json.loads(text)
