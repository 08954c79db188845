"""The frame that HTA makes of a trace: its columns, units and defaults, from our tables."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import pandas
import pyarrow

if TYPE_CHECKING:
    from kinetoscope.hta.common.trace_symbol_table import TraceSymbolTable
    from kinetoscope.trace import Trace

_NS = 1000
_MISSING = -1
_MISSING_TEXT = "-1"
_COUNTERS = "cuda_profiler_range"
_EVENTS = (
    *("id", "name", "category", "process", "thread", "start_ns", "dur_ns", "iteration", "launch"),
    *("correlation_id", "external_id", "bytes", "bandwidth_gbps", "input_shapes", "input_types", "input_strides"),
    *("collective", "in_elems", "out_elems", "dtype", "group_size", "args"),
)
# What the table has no column for, by its key in the file; with what HTA has where it is missing.
_ARGS: dict[str, Any] = {
    "stream": _MISSING,
    "wait_on_stream": _MISSING,
    "wait_on_cuda_event_record_corr_id": _MISSING,
    "Python id": _MISSING,
    "Python parent id": _MISSING,
    "Rank": _MISSING,
    "In split size": "[]",
    "Out split size": "[]",
}
_ASKED = re.compile(f'"({"|".join(_ARGS)})":')


def frame_of(trace: Trace) -> pandas.DataFrame:
    """A row for each event that has a category, labelled by its place in the file; times in µs since 1970.

    `name` and `cat` are categoricals of texts.
    """
    events = trace.events.select(*_EVENTS).to_arrow().combine_chunks()
    times = _times(events)
    args = _args(events)
    frame = pandas.DataFrame(
        {
            "index": _integers(events["id"]),
            "cat": _categories(events["category"]),
            "name": _categories(events["name"]),
            "pid": _numbers(events["process"]),
            "tid": _numbers(events["thread"]),
            **times,
            "stream": [_integer(row.get("stream")) for row in args],
            "correlation": _integers(events["correlation_id"]),
            "bytes": _integers(events["bytes"]),
            "memory_bw_gbps": events["bandwidth_gbps"].fill_null(0.0).to_pandas(),
            "wait_on_stream": _arg(args, "wait_on_stream"),
            "wait_on_cuda_event_record_corr_id": _arg(args, "wait_on_cuda_event_record_corr_id"),
            "input_dims": _values(events["input_shapes"]),
            "input_type": _values(events["input_types"]),
            "input_strides": _values(events["input_strides"]),
            "external_id": _integers(events["external_id"]),
            "python_id": _arg(args, "Python id"),
            "python_parent_id": _arg(args, "Python parent id"),
            "collective_name": events["collective"].fill_null("").to_pandas(),
            "in_msg_nelems": _integers(events["in_elems"], 0),
            "out_msg_nelems": _integers(events["out_elems"], 0),
            "msg_dtype": events["dtype"].fill_null("").to_pandas(),
            "group_size": _integers(events["group_size"], 0),
            "process_rank": _arg(args, "Rank"),
            "in_split_size": _arg(args, "In split size"),
            "out_split_size": _arg(args, "Out split size"),
            **_counters(events, args),
            "iteration": _integers(events["iteration"]),
        }
    ).set_index("index", drop=False)
    frame.index.name = None
    partners = _partners(frame, events["launch"])
    frame.insert(len(frame.columns) - 1, "index_correlation", partners)
    frame["end"] = frame["ts"] + frame["dur"]
    return _smallest(_without_spans(frame))


def is_on_device(frame: pandas.DataFrame, symbols: TraceSymbolTable) -> pandas.Series:
    """What HTA takes for device work: rows with a stream and a correlation, and waits."""
    waits = symbols.get_sym_index().get("cuda_sync", _MISSING)
    return ((frame["stream"] >= 0) & (frame["correlation"] >= 0)) | (frame["cat"] == waits)


def _without_spans(frame: pandas.DataFrame) -> pandas.DataFrame:
    """Without the profiler's own span and what has no category; nor are their symbols left."""
    kept = frame[frame["cat"].notna() & (frame["cat"] != "Trace")].copy()
    for column in ("cat", "name"):
        kept[column] = kept[column].cat.remove_unused_categories()
    return kept


def _times(events: pyarrow.Table) -> dict[str, pandas.Series]:
    """In whole µs where the file has parts of them, as HTA has it: those that an event covers as a whole."""
    start, dur = events["start_ns"].to_pandas(), events["dur_ns"].to_pandas()
    ts = -(-start // _NS)
    if not (start % _NS).any():
        return {"ts": ts, "dur": dur / _NS}
    return {"ts": ts, "dur": ((start + dur) // _NS - ts).astype("float64")}


def _partners(frame: pandas.DataFrame, launch: pyarrow.ChunkedArray) -> pandas.Series:
    """The launch of a device event and the last device event of a launch; 0 where it is not in the trace, or -1."""
    partners = frame["correlation"].clip(upper=0)
    launched = launch.to_pandas(types_mapper={pyarrow.int64(): pandas.Int64Dtype()}.get)
    launched = launched.set_axis(frame.index).dropna().astype("int64")
    last = pandas.Series(launched.index, index=launched.to_numpy()).groupby(level=0).last()
    partners.loc[last.index] = last
    partners.loc[launched.index] = launched
    return partners


# --- columns ------------------------------------------------------------------------------------------------------


def _integers(column: pyarrow.ChunkedArray, missing: int = _MISSING) -> pandas.Series:
    # not safe: an id of 64 bits is -1, which is no id
    return column.cast(pyarrow.int64(), safe=False).fill_null(missing).to_pandas()


def _categories(column: pyarrow.ChunkedArray) -> pandas.Series:
    return column.dictionary_encode().to_pandas()


def _numbers(column: pyarrow.ChunkedArray) -> pandas.Series:
    """Texts, as numbers where they are such."""
    numbers = {text: int(text) if _is_integer(text) else text for text in column.unique().to_pylist()}
    return pandas.Series([numbers[text] for text in column.to_pylist()])


def _is_integer(text: str | None) -> bool:
    digits = (text or "").removeprefix("-")
    return digits.isascii() and digits.isdecimal() and (digits == "0" or digits[0] != "0")


def _values(column: pyarrow.ChunkedArray) -> pandas.Series:
    """JSON as what it says; rows of the same text share one object."""
    values = {text: _MISSING_TEXT if text is None else _value(text) for text in column.unique().to_pylist()}
    return pandas.Series([values[text] for text in column.to_pylist()], dtype=object)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:  # a text of the file
        return text


def _args(events: pyarrow.Table) -> list[dict[str, Any]]:
    """The arguments of each row; empty where none of them is asked for."""
    rows = zip(events["args"].to_pylist(), events["category"].to_pylist(), strict=True)
    return [
        json.loads(args) if args and (category == _COUNTERS or _ASKED.search(args)) else {} for args, category in rows
    ]


def _arg(args: Iterable[dict[str, Any]], key: str) -> pandas.Series:
    missing = _ARGS[key]
    return pandas.Series([row.get(key, missing) for row in args])


def _integer(value: object) -> int:
    """As HTA has it: what is no number is no stream."""
    try:
        return int(str(value))
    except ValueError:
        return _MISSING


def _counters(events: pyarrow.Table, args: list[dict[str, Any]]) -> dict[str, pandas.Series]:
    """A column for each counter of CUPTI."""
    rows = zip(args, events["category"].to_pylist(), strict=True)
    names = {name: None for row, category in rows if category == _COUNTERS for name in row}
    return {name: pandas.Series([row.get(name, _MISSING) for row in args]) for name in names}


def _smallest(frame: pandas.DataFrame) -> pandas.DataFrame:
    """Integers as narrow as their values allow, but for `ts`, which is going to be moved."""
    for name, column in frame.items():
        if column.dtype.kind == "i" and name != "ts":
            frame[name] = pandas.to_numeric(column, downcast="integer")
    return frame
