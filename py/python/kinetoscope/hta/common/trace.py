"""The traces of a job as frames, one per rank, with a shared symbol table and clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pandas

from kinetoscope._analysis.result import answered_of_job
from kinetoscope._base.warnings import warn
from kinetoscope.hta.common.trace_file import create_rank_to_trace_dict, get_trace_files
from kinetoscope.hta.common.trace_filter import CPUOperatorFilter, GPUKernelFilter
from kinetoscope.hta.common.trace_parser import MetaData, MetaDataKey, parse_trace_dataframe, parse_trace_dict, parsed
from kinetoscope.hta.common.trace_symbol_table import TraceSymbolTable, decode_symbol_id_to_symbol_name
from kinetoscope.hta.configs.default_values import DEFAULT_TRACE_DIR
from kinetoscope.hta.configs.parser_config import ParserConfig
from kinetoscope.hta.frame import with_links
from kinetoscope.hta.last_step import within_steps_of_mtia, without_last_step
from kinetoscope.hta.rank_files import RankFile, files_at, files_in_folder, files_of, read_all
from kinetoscope.hta.recorded_file import clock_ns
from kinetoscope.hta.row_links import (
    add_fwd_bwd_links,
    add_iteration,
    get_cpu_gpu_correlation,
    transform_correlation_to_index,
)
from kinetoscope.hta.utils.utils import get_mp_pool_size, normalize_path
from kinetoscope.hta.written import document_of, write_document

if TYPE_CHECKING:
    from kinetoscope import trace as recorded
    from kinetoscope._analysis.result import AnalysisResult
    from kinetoscope._analysis.selection import Selection

__all__ = [
    "DEFAULT_TRACE_DIR",
    "PHASE_COUNTER",
    "PHASE_FLOW_END",
    "PHASE_FLOW_START",
    "CPUOperatorFilter",
    "GPUKernelFilter",
    "MetaData",
    "ParserConfig",
    "Trace",
    "TraceSymbolTable",
    "add_fwd_bwd_links",
    "add_iteration",
    "create_rank_to_trace_dict",
    "decode_symbol_id_to_symbol_name",
    "get_cpu_gpu_correlation",
    "get_mp_pool_size",
    "get_trace_files",
    "normalize_path",
    "parse_trace_dataframe",
    "parse_trace_dict",
    "parse_trace_file",
    "trace_event_timestamp_to_unixtime_ns",
    "transform_correlation_to_index",
]

PHASE_COUNTER: str = "C"
PHASE_FLOW_START: str = "s"
PHASE_FLOW_END: str = "f"

_NS = 1000
_ENCODED = ("cat", "name")
_SUFFIXES = (".gz", ".json")


def trace_event_timestamp_to_unixtime_ns(trace_event_ts_us: float, trace_metadata: MetaData) -> int:
    """Converts a timestamp of a file (µs) to Unix time in ns.

    Raises KeyError if the metadata lacks `baseTimeNanoseconds`.
    """
    if (base_ns := trace_metadata.get("baseTimeNanoseconds")) is None:
        raise KeyError("expected baseTimeNanoseconds in the metadata of the trace, found none: its clock is unknown")
    return int(trace_event_ts_us * _NS) + base_ns


def parse_trace_file(
    trace_file_path: str, cfg: ParserConfig | None = None
) -> tuple[MetaData, pandas.DataFrame, TraceSymbolTable]:
    """Reads a trace file like `parse_trace_dataframe`, and adds links between rows.

    The added columns are `index_correlation`, `iteration` and `end`.

    Raises ValueError for a name that does not end in `.gz` or `.json`.
    """
    if not trace_file_path.endswith(_SUFFIXES):
        raise ValueError(f"expected a file name that ends in '.gz' or 'json', found {trace_file_path}")
    return _parsed_with_links(RankFile(trace_file_path).read(), cfg or ParserConfig.get_default_cfg())


def _parsed_with_links(trace: recorded.Trace, cfg: ParserConfig) -> tuple[MetaData, pandas.DataFrame, TraceSymbolTable]:
    metadata, frame, symbols = parsed(trace, cfg)
    return metadata, with_links(frame, trace, symbols), symbols


class Trace:
    """Finds the trace files of a job; `load_traces` reads them into frames.

    `trace_files` maps ranks to paths, or lists paths; the default is all traces in `trace_dir`.
    Relative paths start from `trace_dir`. Raises MissingTraceError (a ValueError) if one of
    `trace_files` does not exist.
    """

    # defaults for objects whose frames a caller sets directly
    _recorded: Mapping[int, recorded.Trace] = MappingProxyType({})
    _clocks: Mapping[int, int] = MappingProxyType({})

    def __init__(
        self,
        trace_files: Mapping[int, str] | Sequence[str] | None = None,
        trace_dir: str = DEFAULT_TRACE_DIR,
        parser_config: ParserConfig | None = None,
    ) -> None:
        self.is_parsed = False
        """Whether the frames have been read."""
        self.trace_path = normalize_path(trace_dir)
        """The folder of the traces."""
        self.parser_config = parser_config or ParserConfig.get_default_cfg()
        """The arguments that become columns."""
        self.traces: dict[int, pandas.DataFrame] = {}
        """The frame of each rank."""
        self.symbol_table = TraceSymbolTable()
        """The symbols that the ids in `name` and `cat` refer to."""
        self.meta_data: dict[int, MetaData] = {}
        """The header of each rank's file, and `device_type`."""
        self.min_ts = 0
        """Time 0 of the frames: start of the job's first event.

        The unit is µs, on the clock of the first rank's file.
        """
        files = self._found(trace_files)
        self.trace_files = {rank: file.path for rank, file in files.items()}
        """The trace file of each rank."""
        self._files = {file.path: file for file in files.values()}
        self._recorded = {}
        self._clocks = {}
        self._parts: dict[int, Selection] = {}

    # --- reading ----------------------------------------------------------------------------------

    def load_traces(
        self,
        include_last_profiler_step: bool | None = False,
        use_multiprocessing: bool = True,
        use_memory_profiling: bool = True,
    ) -> None:
        """Reads all ranks and aligns them to one clock.

        Drops the last of several steps unless `include_last_profiler_step` is true.

        Warns and does nothing if the traces have been read already. The other arguments are those
        of `parse_traces`.
        """
        if self.is_parsed:
            warn("the traces are loaded already: make a new Trace to load them again")
            return
        self.parse_traces(use_multiprocessing=use_multiprocessing, use_memory_profiling=use_memory_profiling)
        self.align_and_filter_trace(include_last_profiler_step)
        for rank, frame in self.traces.items():
            self.traces[rank] = frame.set_axis(frame["index"].array, axis="index")
        self.is_parsed = True

    def parse_single_rank(self, rank: int) -> None:
        """Reads one rank; an unknown rank has no effect."""
        if rank in self.trace_files:
            self.parse_multiple_ranks([rank])

    def parse_multiple_ranks(
        self, ranks: list[int], use_multiprocessing: bool = True, use_memory_profiling: bool = True
    ) -> None:
        """Reads ranks into frames of all events, with times on the clocks of their files.

        Skips ranks without events, with a warning. Raises KeyError for an unknown rank.
        `use_multiprocessing` and `use_memory_profiling` have no effect: threads read the files.
        """
        paths = [self.trace_files[rank] for rank in ranks]
        files = [self._files.setdefault(path, RankFile(path)) for path in paths]
        for rank, trace in zip(ranks, read_all(files), strict=True):
            self._add(rank, trace)

    def parse_traces(
        self, max_ranks: int = -1, use_multiprocessing: bool = True, use_memory_profiling: bool = True
    ) -> None:
        """Reads the first `max_ranks` ranks (default: all) with `parse_multiple_ranks`.

        If there are no ranks, warns and leaves `is_parsed` false.
        """
        ranks = sorted(self.trace_files)[: len(self.trace_files) if max_ranks == -1 else max_ranks]
        self.is_parsed = bool(ranks)
        if ranks:
            self.parse_multiple_ranks(ranks, use_multiprocessing, use_memory_profiling)
        else:
            warn("expected at least one rank to read, found none: check trace_files, trace_dir and max_ranks")

    def align_and_filter_trace(self, include_last_profiler_step: bool | None = False) -> None:
        """Shifts all ranks to a common time 0, and drops the last of several steps.

        Time 0 is the start of the first event of all ranks. If there are several steps, also drops
        device work whose launch is not in the frame. `include_last_profiler_step` keeps all host
        rows. MTIA traces keep all steps.
        """
        if not self.traces:
            return
        self._align_all_ranks()
        self._filter_irrelevant_gpu_kernels(include_last_profiler_step)

    # --- frames -----------------------------------------------------------------------------------

    def get_ranks(self) -> list[int]:
        """Returns the ranks, ascending."""
        return sorted(self.traces)

    def get_trace(self, rank: int) -> pandas.DataFrame:
        """Returns the frame of a rank itself, not a copy.

        Raises ValueError for an unknown rank.
        """
        if rank not in self.traces:
            raise ValueError(f"expected one of the ranks {self.get_ranks()}, found {rank}")
        return self.traces[rank]

    def recorded(self, rank: int) -> recorded.Trace:
        """Returns the trace behind a rank's frame. Raises ValueError for an unknown rank."""
        self.get_trace(rank)
        return self._recorded[rank]

    def analyze(self, rank: int, name: str, **options: Any) -> AnalysisResult:
        """Runs an analysis on the events in a rank's frame."""
        return self.recorded(rank).analyze(name, **{**options, **self._parts[rank], "observed": True})

    def analyze_job(self, name: str, **options: Any) -> AnalysisResult:
        """Runs an analysis on all ranks together."""
        traces = [(rank, self.recorded(rank)._native) for rank in self.get_ranks()]  # noqa: SLF001 - the package's own
        return answered_of_job(traces, name, {"observed": True, **options})

    def is_cut(self, rank: int) -> bool:
        """Returns whether the last step of a rank was dropped."""
        return bool(self._parts[rank])

    def get_all_traces(self) -> dict[int, pandas.DataFrame]:
        """Returns the frames by rank."""
        return self.traces

    def get_iterations(self, rank: int | None = None) -> list[int]:
        """Returns the steps of a rank (default: the first); empty for an unknown rank."""
        frame = self.traces.get(self._get_first_rank(rank))
        if frame is None or "iteration" not in frame:
            return []
        return sorted(int(number) for number in frame["iteration"].unique() if number >= 0)

    def get_trace_duration(self, rank: int | None = None) -> int:
        """Returns the time from the first to the last start in a rank (default: the first), in µs.

        Raises ValueError for an unknown rank.
        """
        starts = self.get_trace(self._get_first_rank(rank))["ts"]
        return starts.max() - starts.min()

    def get_trace_start_unixtime_ns(self, rank: int) -> int:
        """Returns the start of the first event of all ranks, as Unix time in ns.

        Raises ValueError for an unknown rank, KeyError if the rank's file lacks
        `baseTimeNanoseconds`.
        """
        if rank not in self.traces:
            raise ValueError(f"No trace found for rank {rank}: expected one of {self.get_ranks()}")
        return trace_event_timestamp_to_unixtime_ns(self.origin_us(rank), self.meta_data[rank])

    @property
    def origin_ns(self) -> int:
        """Returns time 0 of the frames on the clock of `recorded`, in ns."""
        return self.min_ts * _NS + self._clocks.get(self._get_first_rank(), 0)

    def origin_us(self, rank: int) -> int:
        """Returns time 0 of the frames on the clock of a rank's file, in µs."""
        return self.min_ts - self._shift(rank)

    def get_device_type(self) -> str:
        """Returns the `device_type` of the first rank's metadata, or `UNKNOWN`."""
        return self.meta_data[next(iter(self.traces))].get(str(MetaDataKey.DEVICE_TYPE), "UNKNOWN")

    def decode_symbol_ids(self, use_shorten_name: bool = True) -> None:
        """Adds `s_name` and `s_cat`, the texts of `name` and `cat`, to each frame.

        Shortening removes return types and arguments.
        """
        for frame in self.traces.values():
            decode_symbol_id_to_symbol_name(frame, self.symbol_table, use_shorten_name)

    # --- files ------------------------------------------------------------------------------------

    def get_raw_trace_for_one_rank(self, rank: int = 0) -> dict[str, Any]:
        """Reads the file of a rank as JSON. Raises ValueError for an unknown rank."""
        if rank not in self.trace_files:
            raise ValueError(f"expected one of the ranks {sorted(self.trace_files)}, found {rank}")
        path = self.trace_files[rank]
        return parse_trace_dict(path) if path.endswith(_SUFFIXES) else document_of(self, rank)

    def write_raw_trace(self, output_file: str, trace_contents: dict[str, Any]) -> None:
        """Writes a trace as JSON, compressed if the name ends in `.gz`."""
        write_document(trace_contents, Path(output_file))

    def convert_time_series_to_events(
        self, series: pandas.DataFrame, counter_name: str, counter_col: str
    ) -> list[dict[str, Any]]:
        """Builds a counter event for each row, on the clock of the trace's file.

        `series` has the columns `pid`, `ts` (µs) and `counter_col`, and may have `name` and `id`.
        Warns and returns no events if a column is missing.
        """
        required = ["pid", "ts", counter_col]
        if missing := [column for column in required if column not in series]:
            warn(f"expected the columns {required}, found none named {missing[0]}: no counter is made")
            return []
        events = pandas.DataFrame(series[required[:2]])
        events["ts"] += self.min_ts
        events["args"] = [{counter_name: value} for value in series[counter_col].tolist()]
        events["ph"] = PHASE_COUNTER
        events["name"] = series.get("name", counter_name)
        if "id" in series:
            events["id"] = series["id"]
        return events.to_dict("records")

    @staticmethod
    def flow_event(
        id: int,  # noqa: A002 - HTA's name
        pid: int,
        tid: int,
        ts: int,
        is_start: bool,
        name: str,
        cat: str,
        args: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Builds one end of a flow; `ts` is in µs on the clock of the target file."""
        event: dict[str, Any] = {"ph": PHASE_FLOW_START if is_start else PHASE_FLOW_END, "id": id, "pid": pid}
        event |= {"tid": tid, "ts": ts, "cat": cat, "name": name}
        if args is not None:
            event["args"] = args
        return event if is_start else event | {"bp": "e"}

    # --- parts ------------------------------------------------------------------------------------

    def _found(self, given: object) -> dict[int, RankFile]:
        if given is None:
            return files_in_folder(self.trace_path)
        if isinstance(given, Mapping):
            return files_of({rank: self._place(path) for rank, path in given.items()})
        if isinstance(given, Sequence):
            return files_at([self._place(path) for path in given])
        warn(f"expected trace_files as a mapping or a list of paths, found {type(given).__name__}: nothing is read")
        return {}

    def _place(self, path: str) -> str:
        """Resolves a path relative to the folder."""
        if path.startswith(("/", "~", self.trace_path)):
            return str(Path(path).expanduser())
        return str(Path(self.trace_path, path))

    def _add(self, rank: int, trace: recorded.Trace) -> None:
        metadata, frame, symbols = _parsed_with_links(trace, self.parser_config)
        if frame.empty:
            warn(f"skipped rank {rank}: {self.trace_files[rank]} has no events with a category and a duration")
            self.traces.pop(rank, None)
            return
        self.symbol_table.add_symbols(symbols.get_sym_table())
        index = self.symbol_table.get_sym_index()
        ids = pandas.Series([index[symbol] for symbol in symbols.get_sym_table()], dtype="int64")
        for column in _ENCODED:
            frame[column] = ids.loc[frame[column]].array
        self.traces[rank], self.meta_data[rank] = frame, metadata
        # new objects: a copy of this one shares the old ones
        self._parts = {**self._parts, rank: {}}
        self._recorded = {**self._recorded, rank: trace}
        self._clocks = {**self._clocks, rank: clock_ns(trace)}

    def _align_all_ranks(self) -> None:
        starts = [frame["ts"].min().item() + self._shift(rank) for rank, frame in self.traces.items() if len(frame)]
        self.min_ts = min(starts, default=0)
        for rank, frame in self.traces.items():
            for column in ("ts", "end"):
                if column in frame:
                    frame[column] -= self.origin_us(rank)

    def _shift(self, rank: int) -> int:
        """Returns how far a rank's file clock is ahead of the first rank's, in µs."""
        first = self._clocks.get(self._get_first_rank(), 0)
        return (self._clocks.get(rank, first) - first) // _NS

    def _filter_irrelevant_gpu_kernels(self, include_last_profiler_step: bool | None = False) -> None:
        has_steps = len(self.symbol_table.get_profiler_step_ids()) > 1
        is_mtia = self.get_device_type() == "MTIA"
        for rank, frame in self.traces.items() if has_steps else ():
            if is_mtia:
                self.traces[rank] = within_steps_of_mtia(frame, self.symbol_table)
            else:
                self.traces[rank] = without_last_step(
                    frame, self.symbol_table, has_last_step=bool(include_last_profiler_step)
                )
        is_cut = has_steps and not is_mtia and not include_last_profiler_step
        self._parts = {rank: _before_last_step(self._recorded.get(rank)) if is_cut else {} for rank in self.traces}

    def _get_first_rank(self, rank: int | None = None) -> int:
        return next(iter(self.get_ranks()), -1) if rank is None else rank


def _before_last_step(trace: recorded.Trace | None) -> Selection:
    """Selects host events before the last step, and the device work that they launched."""
    starts = [] if trace is None else [start for (start,) in trace.iterations.select("start_ns").rows()]
    return {"end_ns": max(starts), "clip": False} if starts else {}
