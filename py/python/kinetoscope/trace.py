"""The trace of one rank."""

from __future__ import annotations

import os
from functools import cached_property

from kinetoscope import _native
from kinetoscope._analysis.benchmarks import Benchmarks
from kinetoscope._analysis.files_beside import FilesBeside
from kinetoscope._analysis.methods import Analyses
from kinetoscope._base import lazy
from kinetoscope._base.integer import integer
from kinetoscope._base.system import num_processors
from kinetoscope._export.analysis_files import AnalysisFiles
from kinetoscope._export.trace_files import TraceFiles


class Trace(Analyses, FilesBeside, Benchmarks, TraceFiles, AnalysisFiles):
    """A Kineto trace, an Execution Trace, or both, linked. Returned by `kinetoscope.read`.

    Tables are Arrow tables (see `Table`); times are integer nanoseconds. The `id` of an event is
    its position in the file's `traceEvents`.

    A method that fails to write a file leaves the previous file at that path unchanged.
    """

    # Methods import at the call: most programs use few of them.

    def __init__(self, native: _native.Trace, source: str | None = None, execution_source: str | None = None) -> None:
        self._native = native
        self.source = source
        """Path or name of the file that was read; None for bytes."""
        self.execution_source = execution_source
        """Path of the Execution Trace that was read with it."""
        self.original_ids: memoryview | None = None
        """For a trace made by `trim`: the previous id of each element. Otherwise None."""

    @classmethod
    def from_snapshot(cls, snapshot: bytes) -> Trace:
        """Unpacks a trace from `snapshot`. Raises TraceError for another format or version."""
        return cls(_native.Trace.from_snapshot(snapshot, max_threads=num_processors()))

    def relink(self, *, iteration: int | None = None) -> Trace:
        """Returns the same trace with nodes linked by names and shapes alone.

        For two files that were not recorded together, or if one file covers one iteration of many
        in the other. Ignores process ids and record ids, so it also links files of two runs of one
        program; `read` does not.

        `iteration` selects the iteration to link to; default: the best fit, as in `read`.
        `coverage["windows"]` lists all iterations that fit, by `ProfilerStep#n`, or from 0 without
        steps.

        Raises TraceError if the iteration does not fit; the message lists how well others fit.
        Raises TraceError if the Kineto trace or the Execution Trace is missing.
        """
        number = integer(iteration, "the number of an iteration")
        return Trace(self._native.relink(number), self.source, self.execution_source)

    def captured(self, capture: Trace) -> lazy.Table:
        """Links kernels of CUDA and HIP graphs to the calls that captured them in another trace.

        `ks.read(…, capture=)` gives the same facts to the kernels themselves. One row per kernel:
        `id` in this trace; `captured_launch`, `captured_operator`, `operator_name` and `module` in
        `capture`; `captured_by` and `capture_confidence`. Raises TypeError for another type.
        """
        from kinetoscope.table import Table

        native = getattr(capture, "_native", None)
        if not isinstance(native, _native.Trace):
            raise TypeError(f"expected the Trace of the capture, found {type(capture).__name__}")
        return Table(self._native.captured(native))

    # --- tables ----------------------------------------------------------------------------------

    def table(self, name: str) -> lazy.Table:
        """Returns a table by name, as the properties below. Raises KeyError for an unknown name."""
        from kinetoscope.table import Table

        return Table(self._native.table(name))

    @cached_property
    def events(self) -> lazy.Table:
        """Events with a duration, in file order: `ph` X, and pairs of `ph` B and E."""
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
        """Ends of the arrows in the file (`ph` s, t, f)."""
        return self.table("flows")

    @cached_property
    def nodes(self) -> lazy.Table:
        """Nodes of the Execution Trace, each with its event."""
        return self.table("nodes")

    @cached_property
    def tensors(self) -> lazy.Table:
        """Tensors of the Execution Trace: one row per input or output of a node."""
        return self.table("tensors")

    @cached_property
    def dependencies(self) -> lazy.Table:
        """Data dependencies of the Execution Trace: one row per producer and reader."""
        return self.table("dependencies")

    @cached_property
    def process_groups(self) -> lazy.Table:
        """Process groups of both files with their `ranks`; empty `ranks` means all ranks."""
        return self.table("process_groups")

    @cached_property
    def iterations(self) -> lazy.Table:
        """Iterations: `ProfilerStep#n`, or steps of a serving engine or trainer (`marker`)."""
        return self.table("iterations")

    @cached_property
    def links(self) -> lazy.Table:
        """Links between events: the matching key (`method`), and a confidence from 0 to 1."""
        return self.table("links")

    def collectives(self) -> lazy.Table:
        """Communications between ranks, one row each; waits have no rows.

        Joins the Execution Trace and the Kineto trace: `sources` lists `node`, `host` or `device`.
        Fields that neither file contains are null. `start_ns`, `dur_ns`, `algorithm_gbps` and
        `bus_gbps` (GB/s) are those of the device events or of the backend's thread.
        `wait_event_id` is the event that waits for the communication.
        """
        return self.table("collectives")

    @cached_property
    def health(self) -> lazy.Table:
        """Tolerated defects: kind, count, first place, and the reader's action.

        Rows of severity `note` are not defects: events without duration, partial overlaps, launches
        without device work.
        """
        return self.table("health")

    def sql(self, query: str, /, **tables: object) -> lazy.Table:
        """Runs a SQL query over the tables of the trace, with DuckDB.

        ::

            trace.sql("select name, sum(dur_ns) as ns from events group by 1 order by 2")
            trace.sql("select class, sum(total_ns) from k group by 1", k=trace.kernels()).to_pandas()

        `tables` adds tables by name: analysis results, DataFrames, or any object that DuckDB reads.
        The query cannot read files. Raises ImportError without DuckDB, and ValueError for a query
        that DuckDB rejects.
        """
        from kinetoscope._export.sql import sql

        own = {name: self.table(name) for name in self._native.table_names()}
        return sql(query, {name: [(table, {})] for name, table in {**own, **tables}.items()})

    # --- properties ------------------------------------------------------------------------------

    @property
    def num_events(self) -> int:
        """Number of rows of `events`."""
        return self._native.num_events

    @property
    def rank(self) -> int | None:
        """Rank in the file (`distributedInfo`); None if the file has none."""
        return self._native.rank

    @cached_property
    def metadata(self) -> dict[str, lazy.Any]:
        """Headers of the files, unchanged."""
        return _json(self._native.metadata_json)

    @cached_property
    def coverage(self) -> lazy.Coverage:
        """Counts of linked events and nodes, by matching key, and of unlinked ones, by reason.

        * `nodes`: nodes of the Execution Trace with a host event
        * `operators`: host operators and annotations with a node
        * `device_events`: kernels, copies and fills with a launch
        * `device_owners`: kernels, copies and fills with an operator or annotation
        * `graph_work`: those of CUDA and HIP graphs with a known capture, or a label of their own

        Each has `count`, `num_linked`, `linked` (counts by method) and `unlinked` (by reason; see
        `reasons`). `confidence` rates the links between nodes and operators. `windows` lists the
        iterations that fit if one file covers only a part of the other (see `relink`).
        """
        from kinetoscope._analysis.coverage import Coverage

        return Coverage(_json(self._native.coverage_json))

    @cached_property
    def comm_groups(self) -> dict[str, list[int]]:
        """Ranks of each process group by its name; groups of unknown ranks are left out."""
        return _json(self._native.comm_groups_json())

    @cached_property
    def origin_ns(self) -> int:
        """Start of the trace: its first timestamp. The viewer counts from here."""
        return int(self.query({"type": "overview"}).data["origin_ns"])

    @property
    def title(self) -> str:
        """File name without the folder; `trace` for bytes."""
        return os.path.basename(self.source) if self.source else "trace"

    # --- analyses --------------------------------------------------------------------------------

    def analyze(self, name: str, **request: lazy.Any) -> lazy.AnalysisResult:
        """Runs an analysis by its name; see `Analyses` for options and selection."""
        from kinetoscope._analysis.result import answered

        return answered(self._native, name, request)

    def summary(self, start_ns: int | None = None, end_ns: int | None = None, *, limit: int = 20) -> lazy.Summary:
        """Summarizes time by kind, iterations, operators, kernels and health.

        `start_ns` and `end_ns` restrict it to a range; `limit` restricts operators and kernels.
        """
        from kinetoscope._analysis.summary import Summary

        return Summary(self.query({"type": "summary", "limit": limit} | self._range(start_ns, end_ns)).data, self.title)

    def _range(self, start_ns: int | None, end_ns: int | None) -> dict[str, int]:
        """Returns the bounds of a request, in ns since `origin_ns`."""
        bounds = {"start": start_ns, "end": end_ns}
        return {key: value - self.origin_ns for key, value in bounds.items() if value is not None}

    def query(self, request: dict[str, lazy.Any]) -> lazy.protocol.QueryResult:
        """Sends a request of the viewer protocol to the core; docs/protocol.md lists the requests.

        Times are ns since `origin_ns`. Raises TraceError for an unknown request.
        """
        from kinetoscope._analysis import protocol

        return protocol.ask(self._native, request)

    def picture(self, width: int = 900, *, start_ns: int | None = None, end_ns: int | None = None) -> str:
        """Draws the timeline, or a range of it, as SVG; `width` in pixels."""
        svg = str(self.query({"type": "picture", "width": width} | self._range(start_ns, end_ns)).data["svg"])
        # The core draws for pages of HTML; files and images need the namespace.
        return svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)

    def snapshot(self) -> bytes:
        """Packs the trace for the viewer. Only the same version reads it."""
        return self._native.snapshot()

    def save(self, path: str | os.PathLike[str]) -> lazy.Path:
        """Writes the snapshot to a file, such as `run.kscope`; `kinetoscope.read` loads it fast.

        Only the same version of the format reads it, so keep the original files. Raises OSError if
        the file cannot be written.
        """
        from kinetoscope._io.atomic import write_bytes

        return write_bytes(path, self.snapshot())

    def export(self, path: str | os.PathLike[str], table: str = "events") -> lazy.Path:
        """Writes a table to `.parquet`, `.arrow` (Arrow IPC), `.csv`, `.jsonl` or `.json`.

        Parquet and Arrow files contain the version of the tables (`kinetoscope_schema_version`) and
        the units of the columns. Raises KeyError for an unknown table, ValueError for another
        extension, ImportError if pyarrow is needed and missing, and OSError if the file cannot be
        written.
        """
        from kinetoscope._export.tables import export

        return export(self.parts(table), path)

    def parts(self, table: str) -> list[lazy.Part]:
        """Returns the tables that `export` writes."""
        from kinetoscope._export.tables import Part

        return [Part(self.table(table), {})]

    def to_et_plus(self, path: str | os.PathLike[str], *, like_chakra: bool = False) -> lazy.EtPlusFile:
        """Writes the Execution Trace with times and device work from the Kineto trace (ET+).

        The format is that of chakra_trace_link; gzip if `path` ends in `.gz`. `sync_dep` of a node
        lists the device work that it waited for. `like_chakra=True` reproduces that program
        exactly, including its errors; docs/et-plus.md lists the differences. Otherwise times are
        those of an iteration without the observer, if one has the same calls.

        Returns the numbers of linked and omitted nodes. Raises TraceError without an Execution
        Trace, and OSError if the file cannot be written.
        """
        from kinetoscope._export.et_plus import write_et_plus

        return write_et_plus(self, path, like_chakra=like_chakra)

    def to_param_comms(self, path: str | os.PathLike[str]) -> lazy.Path:
        """Writes the communications for PARAM (`comm_replay --trace-type basic`), as a JSON list.

        Process groups come first, then communications and waits in call order. Each wait has the
        `req` and `pg_id` of its communication, if known. Sizes and splits count elements. Issues a
        RuntimeWarning if communications are left out: their name, host call, size or type is not
        recorded, or they raised an error. Raises OSError if the file cannot be written.
        """
        from kinetoscope._export.param import write_param_comms

        return write_param_comms(self._native, path)

    def to_chakra(self, path: str | os.PathLike[str]) -> lazy.Chakra:
        """Writes an MLCommons Chakra graph (`.et`) for simulators, and its process groups.

        Returns the written graph; its class describes the format, its `health` counts omissions and
        simplifications. `TraceSet.to_chakra` also compares the ranks. Known process groups are
        written to `comm_group.json` in the same folder. Times are those of an iteration without the
        observer, if one has the same calls. Raises UnsupportedTraceError without an Execution
        Trace, and OSError if a file cannot be written.
        """
        from kinetoscope.chakra import write_rank

        return write_rank(self, path)

    # --- editing ---------------------------------------------------------------------------------

    def edit(
        self,
        *,
        iteration: int | None = None,
        subtree: int | None = None,
        upgrade: bool = False,
        anonymise: bool = False,
    ) -> Trace:
        """Returns a trace of selected and edited nodes, without events.

        Options apply in this order:

        * `iteration`: keeps the nodes from `ProfilerStep#n` to the next. Without such nodes, keeps
          the nodes between the first and the last one that is linked to the iteration, and their
          ancestors
        * `subtree`: keeps the node with this id and its descendants
        * `upgrade`: converts nodes to the newest schema (1.1.1)
        * `anonymise`: replaces names and texts that are not PyTorch's own with pseudonyms

        Roots and process groups always stay. Write the result with `to_execution_trace`. Raises
        TraceError without an Execution Trace, or if it lacks the iteration or node.
        """
        numbers = (
            integer(iteration, "the number of an iteration"),
            integer(subtree, "the id of a node", is_signed=False),
        )
        return Trace(self._native.edit(*numbers, upgrade, anonymise), self.source)

    # --- sharing ---------------------------------------------------------------------------------

    def trim(
        self, start_ns: int | None = None, end_ns: int | None = None, **part: lazy.Unpack[lazy.NamedPart]
    ) -> Trace:
        """Cuts out the events that overlap a range (ns); returns a new trace.

        `part` (see `NamedPart`) gives the range from its first time to its last.

        Events stay whole. Their links stay, too: launches and their device work, forward and
        backward partners, awaited events, and owners. Each stream also keeps its last event before
        the range and its first after it, with launches. The Execution Trace keeps the nodes of
        these events and their ancestors.

        `id` is the position in the file that `to_chrome` writes; `original_ids` has the ids in this
        trace. `metadata` records the origin of the part. A report of the part covers only the
        range, with the same figures as this trace for `start_ns=` and `end_ns=`.

        Raises TraceError if the trace lacks the part, or if none is given.
        """
        from kinetoscope._analysis.request import written

        integer(part.get("iteration"), "the number of an iteration")
        bounds = {"start_ns": integer(start_ns, "nanoseconds"), "end_ns": integer(end_ns, "nanoseconds")}
        native, ids = self._native.trim(written({**bounds, **part}))
        cut = Trace(native, self.source, self.execution_source)
        cut.original_ids = memoryview(ids).cast("I")
        return cut

    def redact(self, *, keep_modules: bool = False, strict: bool = False) -> Trace:
        """Returns the trace without private texts; pseudonyms replace them.

        Every text that is not known as public is private. Numbers, shapes, types, times and links
        stay, and public names of operators, calls, kernels and devices. Pseudonyms replace Python
        functions, files and stacks, private operators, annotations, processes and groups. Headers
        keep only how the trace was recorded: no hosts, users or jobs. `keep_modules` keeps the
        class names of `nn.Module`. `health` and `metadata` count the replaced texts.

        Kernels keep their names, unless a path is in them. `strict` also replaces kernels that no
        known library has, and private types in the names of others.
        """
        from kinetoscope._load.redaction import redacted

        return redacted([self], keep_modules=keep_modules, level="strict" if strict else "names")[0]

    def shrink(self, max_bytes: int) -> Trace:
        """Returns the trace with fewer details, so that `snapshot()` has at most `max_bytes` bytes.

        Removes only as much as needed, in this order: arrows that repeat a launch, Python calls
        without operators, arguments without a column, instants. Then Python calls other than
        modules, nodes, all Python calls, and host calls without device work, shortest first.
        `health` counts each removal. Raises TraceError if the rest is still larger.
        """
        limit = max(integer(max_bytes, "a number of bytes") or 0, 0)
        return Trace(self._native.shrink(limit), self.source, self.execution_source)

    # --- display ---------------------------------------------------------------------------------

    def timeline(self, height: int = 560) -> lazy.Timeline:
        """Shows the interactive timeline in a notebook; `height` in pixels. Needs anywidget."""
        from kinetoscope._notebook.widget import Timeline

        return Timeline(self.on_screen(), height=height)

    def on_screen(self) -> list[lazy.session.Part]:
        """Returns the parts of a timeline: the trace and its companions."""
        from kinetoscope._analysis.session import Part, with_companions

        return with_companions([Part(self)])

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        title: str | None = None,
        redact: bool | str = False,
        max_size: int | str | None = None,
        static: bool = False,
    ) -> lazy.Path:
        """Writes one HTML file with summary and timeline; returns its path.

        The file works offline. `static=True` leaves out the timeline and all scripts: some 100 kB.
        `redact=True` or `"strict"` removes private texts first (see `redact`). `max_size` in bytes,
        or a string such as `"10MB"`, removes details until the file fits (see `shrink`); the page
        lists the removals. Raises ValueError if no page is that small, and OSError if the file
        cannot be written.
        """
        from kinetoscope._load.redaction import redacted
        from kinetoscope._report.page import write_report

        trace = redacted([self], level=redact)[0] if redact else self
        return write_report([(self.rank, trace)], path, title or trace.title, max_size, static=static)

    def render_static(self, height: int = 640) -> lazy.Static:
        """Returns the report in a frame for a notebook cell; it works without a kernel.

        The notebook stores the trace, so the report survives reopening, `nbconvert` and mail.
        `height` in pixels. Without scripts, or in an untrusted notebook, a picture replaces it.
        """
        from kinetoscope._report.page import report_page
        from kinetoscope._report.static import Static

        page = report_page([(self.rank, self)], self.title)
        return Static(page, self.picture(), self.title, height)

    def __repr__(self) -> str:
        return repr(self.summary())

    def _repr_html_(self) -> str:
        return self._repr_mimebundle_()["text/html"]

    def _repr_mimebundle_(self, **_options: lazy.Any) -> dict[str, str]:
        """Plain text, and HTML without scripts: summary and picture of the timeline."""
        from kinetoscope._report.html import trace_html

        summary = self.summary()
        return {"text/plain": repr(summary), "text/html": trace_html(self, summary)}


def _json(text: str) -> lazy.Any:
    from kinetoscope._base.json_text import parsed

    return parsed(text)
