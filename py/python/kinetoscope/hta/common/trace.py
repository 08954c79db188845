"""The traces of a job as frames: one for each rank, one table of symbols and one clock for all."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas

from kinetoscope.answer import answered_of_job
from kinetoscope.cache import cache_folder
from kinetoscope.file import file_at_path
from kinetoscope.hta.common.trace_symbol_table import TraceSymbolTable, decode_symbol_id_to_symbol_name
from kinetoscope.hta.frame import frame_of, is_on_device
from kinetoscope.hta.written import document_of, write_document
from kinetoscope.job import read_dir
from kinetoscope.load import Options, load
from kinetoscope.notice import warn
from kinetoscope.workers import for_each

if TYPE_CHECKING:
    from kinetoscope import trace as recorded
    from kinetoscope.answer import Answer
    from kinetoscope.wanted import Wanted

DEFAULT_TRACE_DIR = str(Path(tempfile.gettempdir(), "trace"))
_ENCODED = ("cat", "name")


class _File(NamedTuple):
    rank: int | None
    path: str
    trace: recorded.Trace


class Trace:
    """Reads the files of a job; `load_traces` makes the frames of them."""

    def __init__(
        self, trace_files: Mapping[int, str] | Sequence[str] | None = None, trace_dir: str = DEFAULT_TRACE_DIR
    ) -> None:
        self.trace_path = str(Path(trace_dir).expanduser())
        """The folder of the traces."""
        files = _files_in(self.trace_path) if trace_files is None else self._files_of(trace_files)
        by_rank = _by_rank(files)
        self._recorded = {rank: file.trace for rank, file in by_rank.items()}
        self._parts: dict[int, Wanted] = {}
        self.trace_files = {rank: file.path for rank, file in by_rank.items()}
        """The Kineto trace of each rank."""
        self.meta_data: dict[int, dict[str, Any]] = {rank: trace.metadata for rank, trace in self._recorded.items()}
        """What each file says about itself."""
        self.traces: dict[int, pandas.DataFrame] = {}
        """The frame of each rank."""
        self.symbol_table = TraceSymbolTable()
        """What the numbers in `name` and `cat` stand for."""
        self.min_ts = 0
        """When the first event of all ranks began, in µs since 1970; `ts` counts from there."""
        self.is_parsed = False
        """Whether the frames are there."""

    def load_traces(self, include_last_profiler_step: bool | None = False) -> None:
        """Makes the frames. The last of several steps is left out, unless asked for: it may be cut off."""
        self.parse_traces()
        self.align_and_filter_trace(include_last_profiler_step)

    def parse_traces(
        self, max_ranks: int = -1, use_multiprocessing: bool = True, use_memory_profiling: bool = True
    ) -> None:
        """Makes the frames of the first `max_ranks` ranks, or of all; whole, with times in µs since 1970.

        `use_multiprocessing` and `use_memory_profiling` are taken and do nothing.
        """
        ranks = list(self._recorded)[: max_ranks if max_ranks >= 0 else None]
        self.traces = {rank: frame_of(self._recorded[rank]) for rank in ranks}
        for rank, frame in self.traces.items():
            for column in _ENCODED:
                self.symbol_table.add_symbols(frame[column].cat.categories)
            self.traces[rank] = self._encoded(frame)
        self._parts = {rank: {} for rank in ranks}
        self.is_parsed = True

    def align_and_filter_trace(self, include_last_profiler_step: bool | None = False) -> None:
        """Has `ts` count from the first event of all ranks; leaves out the last of several steps, unless asked for."""
        steps = {rank: _steps(self._recorded[rank]) for rank in self.traces}
        has_steps = len({number for numbers in steps.values() for number in numbers}) > 1
        self.min_ts = min((int(frame["ts"].min()) for frame in self.traces.values() if len(frame)), default=0)
        for rank, frame in self.traces.items():
            for column in ("ts", "end"):
                frame[column] -= self.min_ts
            if has_steps:
                on_device = is_on_device(frame, self.symbol_table)
                is_whole = bool(include_last_profiler_step)
                self.traces[rank] = _complete(frame, on_device, steps[rank], is_whole=is_whole)
            is_cut = has_steps and not include_last_profiler_step
            self._parts[rank] = _before_last_step(self._recorded[rank]) if is_cut else {}

    def get_ranks(self) -> list[int]:
        """The ranks, ascending."""
        return sorted(self.traces)

    def get_trace(self, rank: int) -> pandas.DataFrame:
        """The frame of a rank, which may be changed. ValueError when there is none."""
        if rank not in self.traces:
            raise ValueError(f"expected one of the ranks {self.get_ranks()}, found {rank}")
        return self.traces[rank]

    def recorded(self, rank: int) -> recorded.Trace:
        """The trace that a rank's frame is made of. ValueError when there is none."""
        self.get_trace(rank)
        return self._recorded[rank]

    def analyze(self, rank: int, name: str, **options: Any) -> Answer:
        """What an analysis answers about those events of a rank that are in its frame."""
        return self.recorded(rank).analyze(name, **options, **self._parts[rank])

    def analyze_job(self, name: str, **options: Any) -> Answer:
        """What an analysis answers about all ranks together."""
        traces = [(rank, self.recorded(rank)._native) for rank in self.get_ranks()]  # noqa: SLF001 - the package's own
        return answered_of_job(traces, name, options)

    def is_cut(self, rank: int) -> bool:
        """Whether the last step of a rank was left out."""
        return bool(self._parts[rank])

    def get_trace_df(self, rank: int) -> pandas.DataFrame:
        """As `get_trace`."""
        return self.get_trace(rank)

    def get_all_traces(self) -> dict[int, pandas.DataFrame]:
        """The frames by rank."""
        return self.traces

    def get_iterations(self, rank: int | None = None) -> list[int]:
        """The steps that a rank's events are in; by default those of the first rank."""
        frame = self.get_trace(self.get_ranks()[0] if rank is None else rank)
        return sorted(int(number) for number in frame["iteration"].unique() if number >= 0)

    def get_trace_duration(self, rank: int) -> int:
        """From the first start of a rank's events to the last start, in µs."""
        starts = self.get_trace(rank)["ts"]
        return int(starts.max() - starts.min())

    def get_trace_start_unixtime_ns(self, rank: int) -> int:
        """When the first event of all ranks began. ValueError when there is no such rank."""
        self.get_trace(rank)
        return self.min_ts * 1000

    def get_raw_trace_for_one_rank(self, rank: int) -> dict[str, Any]:
        """The file of a rank as JSON has it. ValueError when there is no such rank."""
        return document_of(self, rank)

    def write_raw_trace(self, output_file: str, trace_contents: dict[str, Any]) -> None:
        """Writes a file as JSON, compressed where its name ends in `.gz`."""
        write_document(trace_contents, Path(output_file))

    def decode_symbol_ids(self, use_shorten_name: bool = True) -> None:
        """Adds `s_name` and `s_cat` to every frame: the texts, without types and arguments unless told otherwise."""
        for frame in self.traces.values():
            decode_symbol_id_to_symbol_name(frame, self.symbol_table, use_shorten_name)

    def _encoded(self, frame: pandas.DataFrame) -> pandas.DataFrame:
        """Texts as their ids."""
        index = self.symbol_table.get_sym_index()
        for column in _ENCODED:
            ids = [index[symbol] for symbol in frame[column].cat.categories]
            frame[column] = frame[column].cat.rename_categories(ids).astype("int64")
        return frame

    def _files_of(self, given: Mapping[int, str] | Sequence[str]) -> list[_File]:
        ranks = list(given) if isinstance(given, Mapping) else [None] * len(given)
        paths = [self._place(path) for path in (given.values() if isinstance(given, Mapping) else given)]
        options = Options(None, cache_folder(None))
        traces = for_each(paths, lambda path, reading: load(file_at_path(path), None, options, reading))
        return [
            _File(trace.rank if rank is None else rank, path, trace)
            for rank, path, trace in zip(ranks, paths, traces, strict=True)
        ]

    def _place(self, path: str) -> str:
        """A file of the folder, unless it is said where it is."""
        if path.startswith(("/", "~", self.trace_path)):
            return str(Path(path).expanduser())
        return str(Path(self.trace_path, path))


def _files_in(folder: str) -> list[_File]:
    members = [(member, member.pair.kineto) for member in read_dir(folder).members]
    return [_File(member.rank, str(Path(folder, name)), member.trace) for member, name in members if name]


def _by_rank(files: Iterable[_File]) -> dict[int, _File]:
    """Files of unknown rank get the first numbers that are free; a second file of a rank is left out."""
    found: dict[int, _File] = {}
    for file in sorted(files, key=lambda file: file.rank is None):
        rank = next(free for free in itertools.count() if free not in found) if file.rank is None else file.rank
        if found.setdefault(rank, file) is not file:
            warn(f"{file.path} was left out: {found[rank].path} is of rank {rank}, too")
    return dict(sorted(found.items()))


def _steps(trace: recorded.Trace) -> dict[int, int]:
    """The event of each step."""
    return dict(trace.iterations.select("iteration", "event_id").rows())


def _before_last_step(trace: recorded.Trace) -> Wanted:
    """What begins before the last step, and the device work that this launched."""
    starts = [start for (start,) in trace.iterations.select("start_ns").rows()]
    return {"end_ns": max(starts), "whole": True} if starts else {}


def _complete(
    frame: pandas.DataFrame, on_device: pandas.Series, steps: Mapping[int, int], *, is_whole: bool
) -> pandas.DataFrame:
    """What the host did before the last step, or all of it, and the device work that this launched."""
    starts: pandas.Series = frame.loc[frame.index.isin(list(steps.values())), "ts"]
    if starts.empty:
        return frame
    is_before = frame["ts"] < starts.max()
    host: pandas.DataFrame = frame.loc[~on_device & (is_before | is_whole)]
    launches = host["correlation"][host["correlation"] >= 0]
    device: pandas.DataFrame = frame.loc[on_device & frame["correlation"].isin(launches)]
    return pandas.concat([device, host])
