"""Builds HTA's frame of a trace from the trace's tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas
import pyarrow
import pyarrow.compute

from kinetoscope.hta.arguments import columns_for, columns_of, integers
from kinetoscope.hta.configs.env_options import disable_ns_rounding
from kinetoscope.hta.recorded_file import clock_ns, has_events_alone
from kinetoscope.hta.utils.utils import normalize_gpu_stream_numbers

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from kinetoscope.hta.common.trace_symbol_table import TraceSymbolTable
    from kinetoscope.hta.configs.parser_config import ParserConfig
    from kinetoscope.trace import Trace

_compute: Any = pyarrow.compute  # typed Any: pyarrow generates the functions at import
_NS = 1000
_MISSING = -1
_EVENTS = ("id", "name", "category", "process", "thread", "start_ns", "dur_ns")
_OWN_COLUMNS = ("index", "cat", "name", "pid", "tid", "ts", "dur", "end")
_SPAN = "Trace"
_WAITS = ("Event Sync", "Context Sync")
_HOST_OPERATOR = "cpu_op"


def event_frame(trace: Trace, config: ParserConfig, skipped: Collection[str] = ()) -> pandas.DataFrame:
    """Builds a row for each event with a category, labelled by its position in the file.

    Times are in µs on the file's clock.

    `cat` and `name` are categoricals of texts. `config` selects the arguments that become columns.
    The profiler's own span and the categories `skipped` have no rows.
    """
    everything = trace.events.select(*dict.fromkeys((*_EVENTS, *columns_for(config)))).to_arrow().combine_chunks()
    is_row = _is_row(everything["category"].combine_chunks(), [_SPAN, *skipped])
    events = everything.filter(is_row)
    is_kept = is_row.to_numpy(zero_copy_only=False)
    times = {name: column.loc[is_kept].reset_index(drop=True) for name, column in _times(trace, everything).items()}
    arguments = columns_of(trace, events, config)
    columns = {
        "index": integers(events["id"]),
        "cat": _categories(events["category"]),
        "name": _categories(events["name"]),
        **{name: _numbers(everything[of]).loc[is_kept].array for name, of in (("pid", "process"), ("tid", "thread"))},
        **times,
        **{name: column for name, column in arguments.items() if name not in _OWN_COLUMNS},
    }
    frame = pandas.DataFrame(columns).set_index("index", drop=False)
    frame.index.name = None
    if "stream" in frame:
        normalize_gpu_stream_numbers(frame)
    return _narrowed(frame, set(frame.columns) - {"ts", "end"})


def with_links(frame: pandas.DataFrame, trace: Trace, symbols: TraceSymbolTable) -> pandas.DataFrame:
    """Adds `index_correlation`, `iteration` and, if missing, `end` to a frame.

    The column `cat` holds symbol ids.
    """
    events = trace.events.select("id", "launch_id", "iteration").to_pandas().set_index("id").loc[frame.index]
    launches = events["launch_id"][events["launch_id"].isin(frame.index)].astype("int64")
    frame["index_correlation"] = _partners(frame, launches)
    iterations = events["iteration"].astype("Int64").fillna(_MISSING).astype("int64")
    if "stream" in frame:
        is_on_host = (frame["stream"] < 0) | (frame["cat"] == symbols.get_sym_index().get(_HOST_OPERATOR, _MISSING))
        iterations = iterations.where(is_on_host | frame.index.isin(launches.index), _MISSING)
    frame["iteration"] = iterations
    if "end" not in frame:
        frame["end"] = frame["ts"] + frame["dur"]
    return _narrowed(frame, ("index_correlation", "iteration"))


def is_on_device(frame: pandas.DataFrame, symbols: TraceSymbolTable) -> pandas.Series:
    """Returns which rows are device work for HTA.

    Device work has a stream and a correlation, or is a wait without a stream.
    """
    ids = symbols.get_sym_index()
    waits = [ids[name] for name in _WAITS if name in ids]
    return ((frame["stream"] >= 0) & (frame["correlation"] >= 0)) | frame["name"].isin(waits)


def _is_row(categories: pyarrow.Array, left_out: Sequence[str]) -> pyarrow.Array:
    is_left_out = _compute.is_in(categories, value_set=pyarrow.array(left_out, categories.type))
    return _compute.and_not(_compute.is_valid(categories), is_left_out)


def _times(trace: Trace, events: pyarrow.Table) -> dict[str, pandas.Series]:
    """Returns starts, durations and ends in µs.

    If the file has fractions of a µs, rounds to the whole µs that an event covers entirely.
    """
    start, dur = events["start_ns"].to_pandas() - clock_ns(trace), events["dur_ns"].to_pandas()
    if not (start % _NS).any():
        return {"ts": start // _NS, "dur": _duration(trace, dur / _NS)}
    if disable_ns_rounding():
        return {"ts": start / _NS, "dur": dur / _NS}
    ts, end = -(-start // _NS), (start + dur) // _NS
    return {"ts": ts, "dur": (dur := _duration(trace, (end - ts).astype("float64"))), "end": ts + dur}


def _duration(trace: Trace, dur: pandas.Series) -> pandas.Series:
    """Converts durations to integers if all elements of the file have whole µs.

    Otherwise durations stay floats, as pandas reads the file.
    """
    is_whole = bool((dur % 1 == 0).all())
    return dur.astype("int64") if is_whole and has_events_alone(trace) else dur


def _partners(frame: pandas.DataFrame, launches: pandas.Series) -> pandas.Series:
    """Returns the launch of each device event, and the last device event of each launch.

    The value is 0 if the partner is not in the trace, and -1 without a correlation.
    """
    partners = frame["correlation"].clip(upper=0) if "correlation" in frame else pandas.Series(_MISSING, frame.index)
    partners = partners.astype("int64")
    last = pandas.Series(launches.index, index=launches.to_numpy()).groupby(level=0).last()
    partners.loc[last.index] = last
    partners.loc[launches.index] = launches
    return partners


# --- columns --------------------------------------------------------------------------------------


def _categories(column: pyarrow.ChunkedArray) -> pandas.Series:
    return column.dictionary_encode().to_pandas()


def _numbers(column: pyarrow.ChunkedArray) -> pandas.Series:
    """Converts numeric texts to numbers."""
    numbers = {text: int(text) if _is_integer(text) else text for text in column.unique().to_pylist()}
    return pandas.Series([numbers[text] for text in column.to_pylist()])


def _is_integer(text: str | None) -> bool:
    digits = (text or "").removeprefix("-")
    return digits.isascii() and digits.isdecimal() and (digits == "0" or digits[0] != "0")


def _narrowed(frame: pandas.DataFrame, columns: Iterable[str]) -> pandas.DataFrame:
    """Stores integers in the smallest type that holds them."""
    for name in columns:
        if frame[name].dtype.kind == "i":
            frame[name] = pandas.to_numeric(frame[name], downcast="integer")
    return frame
