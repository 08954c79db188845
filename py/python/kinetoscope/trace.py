"""What one rank recorded, read and linked."""

from __future__ import annotations

import os
from functools import cached_property

from kinetoscope import _native
from kinetoscope._analysis.methods import Analyses
from kinetoscope._base import lazy
from kinetoscope._base.processors import num_processors


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
        self.original_ids: memoryview | None = None
        """Of a trace that `trim` made, the id that each of its elements had; None of others."""

    @classmethod
    def from_snapshot(cls, snapshot: bytes) -> Trace:
        """The trace that `snapshot` packed. TraceError when it is of another version, or none."""
        return cls(_native.Trace.from_snapshot(snapshot, max_threads=num_processors()))

    def relink(self, *, iteration: int | None = None) -> Trace:
        """The same trace with its nodes linked by names and shapes alone: to this iteration, or to the best.

        For files that were not recorded at the same time, or of which one covers a single iteration of the other's
        many. `read` chooses the first of the iterations that fit best; `coverage["windows"]` lists all that fit, by the
        number of their `ProfilerStep#n`, or from 0 where there are none. What is known of processes and record ids is
        left out of account, so this links files of two runs of one program, too, which `read` does not.

        TraceError when the iteration does not fit, or one of the two recordings is missing; it says how well the others
        fit.
        """
        number = _number(iteration, "the number of an iteration")
        return Trace(self._native.relink(number), self.source, self.execution_source)

    def captured(self, capture: Trace) -> lazy.Table:
        """The kernels of CUDA and HIP graphs that ran in this trace, each with the call that captured it in another.

        A graph's kernels have one launch and no operator of their own. One row each: `id` here; `captured_launch`,
        `captured_operator`, `operator_name` and `module` in `capture`. They are found by the names of kernels that the
        captured launches have (`kernel`, which profilers of ROCm write), in their order; a graph of which not all are
        found has no rows.
        """
        from kinetoscope.table import Table

        native = getattr(capture, "_native", None)
        if not isinstance(native, _native.Trace):
            raise TypeError(f"expected the Trace of the capture, found {type(capture).__name__}")
        return Table(self._native.captured(native))

    # --- tables ---------------------------------------------------------------------------------------------------

    def table(self, name: str) -> lazy.Table:
        """A table by its name; the properties below are the same. KeyError when there is no such table."""
        from kinetoscope.table import Table

        return Table(self._native.table(name))

    @cached_property
    def events(self) -> lazy.Table:
        """What has a duration: complete events (`ph` X), and pairs of begin and end. In the file's order."""
        return self.table("events")

    @cached_property
    def instants(self) -> lazy.Table:
        """Points in time (`ph` i)."""
        return self.table("instants")

    @cached_property
    def counters(self) -> lazy.Table:
        """Values over time (`ph` C)."""
        return self.table("counters")

    @cached_property
    def flows(self) -> lazy.Table:
        """Ends of the arrows that the file draws (`ph` s, t, f)."""
        return self.table("flows")

    @cached_property
    def nodes(self) -> lazy.Table:
        """Vertices of the Execution Trace, with the event each was."""
        return self.table("nodes")

    @cached_property
    def tensors(self) -> lazy.Table:
        """Uses of tensors in the Execution Trace: one row for each that goes into a node or comes out of it."""
        return self.table("tensors")

    @cached_property
    def dependencies(self) -> lazy.Table:
        """Data dependencies in the Execution Trace: one row for each node that reads what another one computed."""
        return self.table("dependencies")

    @cached_property
    def process_groups(self) -> lazy.Table:
        """Which ranks talk to each other, as either file says it; `ranks` is empty for all."""
        return self.table("process_groups")

    @cached_property
    def iterations(self) -> lazy.Table:
        """Steps of the training (`ProfilerStep#n`)."""
        return self.table("iterations")

    @cached_property
    def links(self) -> lazy.Table:
        """Edges between events, with the key that matched (`how`) and a confidence from 0 to 1."""
        return self.table("links")

    def collectives(self) -> lazy.Table:
        """Communications between ranks, one row each, from the Execution Trace, the Kineto trace, or both joined.

        `sources` says which of the recordings know of it: `node`, `host`, `device`. What they do not say is null. Times
        and bandwidths (`start_ns`, `dur_ns`, `algorithm_gbps`, `bus_gbps`) are those of its device events, or of the
        backend's own thread; `wait` is the event that waits for it. Waits are no rows.
        """
        return self.table("collectives")

    @cached_property
    def health(self) -> lazy.Table:
        """Every kind of defect that was survived, with its count, the first place, and what was done. Best without any.

        The rows of severity `note` are no defects: events of no duration, partial overlaps, launches of nothing.
        """
        return self.table("health")

    def sql(self, query: str, /, **tables: object) -> lazy.Table:
        """What a query in SQL answers, by DuckDB: all tables of the trace are there by their names.

        ::

            trace.sql("select name, sum(dur_ns) as total_ns from events group by 1 order by 2 desc").to_pandas()
            trace.sql("select class, sum(total_ns) from kernels group by 1", kernels=trace.kernels())

        `tables` are further ones, answers of analyses or anything that DuckDB reads, such as DataFrames. A query reads
        these and no files. ImportError without DuckDB, ValueError for what it does not understand.
        """
        from kinetoscope._export.sql import sql

        own = {name: self.table(name) for name in self._native.table_names()}
        return sql(query, {name: [(table, {})] for name, table in {**own, **tables}.items()})

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
    def metadata(self) -> dict[str, lazy.Any]:
        """The headers of the files, as they are."""
        return _json(self._native.metadata_json)

    @cached_property
    def coverage(self) -> dict[str, lazy.Any]:
        """How much was linked, by the key that matched, and why the rest was not.

        `nodes` are those of the Execution Trace with their event on the host, `operators` the host's operators and
        annotations with their node, `device_events` kernels, copies and fills with their launch, `device_owners` the
        same with the operator or annotation that owns them. Each has `count` and `num_linked`; `linked`, the counts by
        `how`; and `unlinked`, the counts by the reason, which `reasons` says in words.

        `confidence` is that of the links between nodes and operators, and `windows` lists the iterations that fit where
        one file covers only a part of what the other does (see `relink`).
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

    def analyze(self, name: str, **request: lazy.Any) -> lazy.AnalysisResult:
        """An analysis by its name, with its options and the part of the trace to look at."""
        from kinetoscope._analysis.result import answered

        return answered(self._native, name, request)

    def summary(self, start_ns: int | None = None, end_ns: int | None = None, *, limit: int = 20) -> lazy.Summary:
        """Time by kind, iterations, operators, kernels, health; of a range, in ns as in the tables, when given.

        Of operators and kernels it has at most `limit` each, those of the most time.
        """
        from kinetoscope._analysis.summary import Summary

        bounds = {"start": start_ns, "end": end_ns}
        since_origin = {key: value - self.origin_ns for key, value in bounds.items() if value is not None}
        return Summary(self.query({"type": "summary", "limit": limit} | since_origin).data, self.title)

    def query(self, request: dict[str, lazy.Any]) -> lazy.protocol.QueryResult:
        """Asks the core what the viewer asks it; docs/protocol.md lists the requests.

        Its times are ns since `origin_ns`. TraceError for a request that it does not know.
        """
        from kinetoscope._analysis import protocol

        return protocol.ask(self._native, request)

    def picture(self, width: int = 900) -> str:
        """The timeline at a glance, as SVG of this width in pixels."""
        return self._native.picture(width)

    def snapshot(self) -> bytes:
        """The trace, packed for the viewer. Readable by this version only: to keep a trace, keep its files."""
        return self._native.snapshot()

    def save(self, path: str | os.PathLike[str]) -> lazy.Path:
        """Writes the snapshot to a file, `run.kscope` for example, which `kinetoscope.read` loads faster than the JSON.

        Everything that was read is in it, nodes too; but only this version of the format is read: keep the files that
        it was made of. OSError when it cannot be written, and then `path` holds what it held before.
        """
        from kinetoscope._io.atomic import write_bytes

        return write_bytes(path, self.snapshot())

    def export(self, path: str | os.PathLike[str], table: str = "events") -> lazy.Path:
        """Writes a table to a file: Parquet, Arrow IPC, CSV or JSON lines (`.parquet`, `.arrow`, `.csv`, `.jsonl`).

        The schema says the version of the tables (`kinetoscope_schema_version`) and the units of the columns; CSV and
        JSON have no place for them. KeyError when there is no such table, ValueError for another ending, ImportError
        without pyarrow where it is needed; OSError when the file cannot be written, and then `path` holds what it held
        before.
        """
        from kinetoscope._export.tables import export

        return export(self.parts(table), path)

    def parts(self, table: str) -> list[lazy.Part]:
        """What `export` writes."""
        from kinetoscope._export.tables import Part

        return [Part(self.table(table), {})]

    def to_chrome(self, path: str | os.PathLike[str]) -> lazy.Path:
        """Writes the Kineto trace as Chrome's JSON, for other viewers; compressed when `path` ends in `.gz`.

        It reads back to equal tables with equal ids. Nodes are not in it. OSError when it cannot be written, and then
        `path` holds what it held before.
        """
        from kinetoscope._io.atomic import write_whole

        return write_whole(path, self._native.write_chrome)[0]

    def to_execution_trace(self, path: str | os.PathLike[str]) -> lazy.Path:
        """Writes the Execution Trace's JSON as it was read: keys, types, digits; compressed when `path` ends in `.gz`.

        TraceError when the trace has no Execution Trace; OSError when it cannot be written, and then `path` holds what
        it held before.
        """
        from kinetoscope._io.atomic import write_whole

        return write_whole(path, self._native.write_execution)[0]

    def to_et_plus(self, path: str | os.PathLike[str], *, like_chakra: bool = False) -> lazy.EtPlusFile:
        """Writes the Execution Trace with times and device work from the Kineto trace (ET+), as chakra_trace_link does.

        Compressed when `path` ends in `.gz`. `sync_dep` of a node lists the device work that it waited for.
        `like_chakra` decides and formats as that program does even where it is wrong; docs/et-plus.md lists the
        differences. Says what was linked and what was left out. TraceError when the trace has no Execution Trace;
        OSError when it cannot be written, and then `path` holds what it held before.
        """
        from kinetoscope._export.et_plus import write_et_plus

        return write_et_plus(self._native, path, like_chakra=like_chakra)

    def to_param_comms(self, path: str | os.PathLike[str]) -> lazy.Path:
        """Writes the communications as PARAM replays them (`comm_replay --trace-type basic`): a JSON list.

        Process groups come first, then communications and waits in the order of their calls, each wait with the `req`
        and the `pg_id` of what it waits for, where that is known. RuntimeWarning when communications are left out
        because nothing names them or their call is not in the window. OSError when the file cannot be written, and then
        `path` holds what it held before.
        """
        from kinetoscope._base.warnings import warn
        from kinetoscope._io.atomic import write_whole

        target, counts = write_whole(path, lambda target, _: self._native.write_param_comms(target))
        if num_left_out := counts[1]:
            warn(f"{num_left_out} communications are left out of {target.name}: no name or no call was recorded")
        return target

    def to_chakra(self, path: str | os.PathLike[str]) -> lazy.Chakra:
        """Writes the graph that simulators read (MLCommons Chakra, `.et`), and the process groups beside it.

        Returns what was written: its class says what that is, and its `health` what was left out. The groups are
        `comm_group.json` in the same folder, where there are any. UnsupportedTraceError without an Execution Trace,
        OSError when a file cannot be written, and then it holds what it held before.
        """
        from pathlib import Path

        from kinetoscope.chakra import write_chakra, write_groups

        chakra = write_chakra(self, path)
        if self.comm_groups:
            write_groups(Path(path).parent, self.comm_groups)
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

        `iteration` keeps the nodes from `ProfilerStep#n` up to the next; where no node is one, those entered between
        the first and the last that are linked to events of it, with all that they are inside of. `subtree` keeps the
        node with this id and all below it; both keep the roots and the process groups, too. `upgrade` lays nodes out as
        the newest schema (1.1.1) has them, `anonymise` puts pseudonyms in the place of names and texts that are not
        PyTorch's own. TraceError when there is no Execution Trace, no such iteration, or no such node.
        `to_execution_trace` writes the result.
        """
        numbers = (
            _number(iteration, "the number of an iteration"),
            _number(subtree, "the id of a node", is_signed=False),
        )
        return Trace(self._native.edit(*numbers, upgrade, anonymise), self.source)

    # --- a part to share ---

    def trim(self, start_ns: int | None = None, end_ns: int | None = None, *, iteration: int | None = None) -> Trace:
        """What shares time with a range, in ns as in the tables, or with an iteration; a trace of its own.

        Events are kept whole, and with them what they are linked with: launches of kept device work and what kept
        launches enqueued, forward and backward partners, what was waited for, owners; and what each stream did right
        before and after, with its launch, for the gaps at the ends. So links of what is in the range are as before. Of
        the Execution Trace it keeps the nodes of these events and what those are inside of. `id` is the position in the
        file that `to_chrome` writes; `original_ids` has the ids here. TraceError when there is no such iteration, or
        neither is asked for.

        What the part was taken from is in its `metadata`, and a report of it is about the range: with the figures that
        this trace has for it (`start_ns=`, `end_ns=`), though events that reach out of it are there as a whole.
        """
        what = "nanoseconds"
        bounds = (_number(start_ns, what), _number(end_ns, what), _number(iteration, "the number of an iteration"))
        native, ids = self._native.trim(*bounds)
        part = Trace(native, self.source, self.execution_source)
        part.original_ids = memoryview(ids).cast("I")
        return part

    def redact(self, *, keep_modules: bool = False) -> Trace:
        """The trace without private texts, to be shared: pseudonyms stand for what is not known to be harmless.

        Numbers, shapes, types, times and links stay, and so do the public names of operators, calls, kernels and
        devices. Python's functions, files and stacks, private names of operators, annotations, processes and groups go,
        and of the headers all but how the trace was recorded: hosts, users, jobs. `keep_modules` keeps the names of
        `nn.Module` classes. `health` and `metadata` say how many texts went.
        """
        return redacted([self], keep_modules=keep_modules)[0]

    def shrink(self, max_bytes: int) -> Trace:
        """The trace with as much left out as it takes for `snapshot()` to have at most so many bytes.

        What goes, only as far as needed: arrows that launches draw anyway, calls of Python in which no operator ran,
        arguments without a column, points in time, calls of Python that are no modules, nodes, all calls of Python, and
        last calls on the host without device work, the shortest first. `health` counts each. TraceError when that is
        not enough.
        """
        return Trace(
            self._native.shrink(max(_number(max_bytes, "a number of bytes") or 0, 0)),
            self.source,
            self.execution_source,
        )

    # --- looks ----------------------------------------------------------------------------------------------------

    def timeline(self, height: int = 560) -> lazy.Timeline:
        """The interactive timeline, for the output of a notebook's cell; `height` in pixels. Needs anywidget."""
        from kinetoscope._notebook.widget import Timeline

        return Timeline(self, height=height)

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        title: str | None = None,
        redact: bool = False,
        max_size: int | str | None = None,
    ) -> lazy.Path:
        """Writes one HTML file with the summary, readable with scripts off, and the timeline; returns its path.

        The file needs nothing but itself: it opens from disk and without a network. Of what `trim` made it is about
        that range, and opens there. `redact` is the method of that name. `max_size`, in bytes or as `"10MB"`, leaves
        out as much as it takes for the file to be no larger (see `shrink`), and the page says what. OSError when it
        cannot be written, ValueError when no page is so small.
        """
        from kinetoscope._report.page import write_report

        trace = self.redact() if redact else self
        return write_report([(self.rank, trace)], path, title or trace.title, max_size)

    def render_static(self, height: int = 640) -> lazy.Static:
        """The report in a frame, for the output of a notebook's cell: it is alive without a kernel.

        The trace is saved with the notebook, and so survives reopening it, `nbconvert`, and being mailed; `height` in
        pixels. Where scripts are off there is a picture, and in a notebook that is not trusted, too.
        """
        from kinetoscope._report.page import report_page
        from kinetoscope._report.static import Static

        page = report_page([(self.rank, self)], self.title, [self.snapshot()])
        return Static(page, self.picture(), self.title, height)

    def __repr__(self) -> str:
        return repr(self.summary())

    def _repr_html_(self) -> str:
        from kinetoscope._report.html import trace_html

        return trace_html(self, self.summary())

    def _repr_mimebundle_(self, **_options: lazy.Any) -> dict[str, str]:
        """Text, and HTML without scripts: a summary and the timeline at a glance."""
        from kinetoscope._report.html import trace_html

        summary = self.summary()
        return {"text/plain": repr(summary), "text/html": trace_html(self, summary)}


def redacted(traces: list[Trace], *, keep_modules: bool = False) -> list[Trace]:
    """The traces without private texts, as `Trace.redact`; what is in several of them has one pseudonym in all."""
    natives = [trace._native for trace in traces]  # noqa: SLF001 - they become other traces
    return [Trace(native) for native in _native.redacted(natives, keep_modules)]


def _number(value: int | None, what: str, *, is_signed: bool = True) -> int | None:
    """TypeError for what is no integer, TraceError for one that no file has."""
    if value is None:
        return None
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"expected {what}, found {type(value).__name__}")
    number = value.__index__()
    if not (-(1 << 63) if is_signed else 0) <= number < 1 << 63:
        raise _native.TraceError(f"expected {what}, found {number}")
    return number


def _json(text: str) -> lazy.Any:
    import json

    return json.loads(text)
