"""Arguments of events as columns of a frame."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas
import pyarrow
import pyarrow.compute

from kinetoscope.hta.configs.default_values import AttributeSpec, ValueType
from kinetoscope.hta.configs.event_args_yaml_parser import v1_0_0

if TYPE_CHECKING:
    from kinetoscope.hta.configs.parser_config import ParserConfig
    from kinetoscope.trace import Trace

    Convert = Callable[[pyarrow.ChunkedArray, Any], pandas.Series]
    # maps rows with arguments to their arguments by key
    _Arguments = dict[int, dict[str, Any]]

_compute: Any = pyarrow.compute  # typed Any: pyarrow generates the functions at import
_COUNTERS = "cuda_profiler_range"
_MISSING = -1


def columns_of(trace: Trace, events: pyarrow.Table, config: ParserConfig) -> dict[str, pandas.Series]:
    """Builds a column for each argument that `config` selects, and for each CUPTI counter.

    `events` are rows of the trace's table, with the columns `id`, `category` and the
    result of `columns_for`.
    """
    if config.parse_all_args:
        given = _all_arguments(trace, events)
        found = pandas.Series(list(given.values()), dtype=object)
        specs = config.infer_attribute_specs(found, config.get_all_available_args())
        return {spec.name: _spread(given, spec, len(events)) for spec in specs.values()}
    specs = config.get_args()
    rest = _other_arguments(events, [spec.raw_name for spec in specs if spec.raw_name not in _HELD])
    return {spec.name: _column(events, rest, spec) for spec in specs} | _counters(events, rest)


def columns_for(config: ParserConfig) -> list[str]:
    """Returns the columns of the table of events that hold the arguments which `config` selects."""
    if config.parse_all_args:
        return []
    return sorted({_HELD[spec.raw_name][0] for spec in config.get_args() if spec.raw_name in _HELD} | {"args"})


def integers(column: pyarrow.ChunkedArray, default: Any = _MISSING) -> pandas.Series:
    """Converts integers; `default` takes the place of nulls."""
    if not isinstance(default, int):
        return _objects(column.to_pylist(), default)
    # unsafe cast: unsigned 64-bit ids overflow to -1, which means no id
    return column.cast(pyarrow.int64(), safe=False).fill_null(default).to_pandas()


# --- one argument ---------------------------------------------------------------------------------


def _column(events: pyarrow.Table, rest: _Arguments, spec: AttributeSpec) -> pandas.Series:
    if spec.raw_name not in _HELD:
        return _spread(rest, spec, len(events))
    held_by, convert = _HELD[spec.raw_name]
    return convert(events[held_by], spec.default_value)


def _spread(given: _Arguments, spec: AttributeSpec, num_rows: int) -> pandas.Series:
    values = [spec.default_value] * num_rows
    for place, arguments in given.items():
        if spec.raw_name in arguments:
            values[place] = arguments[spec.raw_name]
    return pandas.Series(values)


def _floats(column: pyarrow.ChunkedArray, default: Any) -> pandas.Series:
    return column.to_pandas().fillna(default)


def _whole_floats(column: pyarrow.ChunkedArray, default: Any) -> pandas.Series:
    """Converts floats to integers if all values are whole numbers."""
    values = _floats(column, default)
    is_whole = values.dtype.kind == "f" and bool((values % 1 == 0).all())
    return values.astype("int64") if is_whole else values


def _texts(column: pyarrow.ChunkedArray, default: Any) -> pandas.Series:
    return column.fill_null(default).to_pandas() if isinstance(default, str) else _objects(column.to_pylist(), default)


def _json_values(column: pyarrow.ChunkedArray, default: Any) -> pandas.Series:
    """Parses JSON texts; rows with the same text share one object."""
    values = {text: default if text is None else _json_value(text) for text in column.unique().to_pylist()}
    return pandas.Series([values[text] for text in column.to_pylist()], dtype=object)


def _json_value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:  # a text in the file
        return text


def _objects(values: Iterable[Any], default: Any) -> pandas.Series:
    return pandas.Series([default if value is None else value for value in values])


# --- all arguments of an event --------------------------------------------------------------------


def _other_arguments(events: pyarrow.Table, keys: Sequence[str]) -> _Arguments:
    """Returns the arguments without a column in the table.

    Only rows with one of `keys`, and counters, have an entry.
    """
    is_asked = _compute.equal(events["category"], _COUNTERS)
    if keys:
        pattern = f'"({"|".join(map(re.escape, keys))})":'
        is_asked = _compute.or_kleene(is_asked, _compute.match_substring_regex(events["args"], pattern))
    is_asked = _compute.and_(is_asked.fill_null(False), events["args"].is_valid())
    places = _compute.indices_nonzero(is_asked)
    texts = events["args"].take(places).to_pylist()
    return {place: json.loads(text) for place, text in zip(places.to_pylist(), texts, strict=True)}


def _all_arguments(trace: Trace, events: pyarrow.Table) -> _Arguments:
    """Returns the arguments exactly as in the file."""
    with tempfile.TemporaryDirectory() as folder:
        elements = json.loads(trace.to_chrome(Path(folder, "trace.json")).read_bytes())["traceEvents"]
    found = enumerate(elements[event].get("args") for event in events["id"].to_pylist())
    return {place: arguments for place, arguments in found if isinstance(arguments, dict)}


def _counters(events: pyarrow.Table, rest: _Arguments) -> dict[str, pandas.Series]:
    categories = events["category"].to_pylist()
    counted = {place: arguments for place, arguments in rest.items() if categories[place] == _COUNTERS}
    specs = {
        name: AttributeSpec(name, name, ValueType.Int, _MISSING, v1_0_0) for row in counted.values() for name in row
    }
    return {name: _spread(counted, spec, len(events)) for name, spec in specs.items()}


_HELD: dict[str, tuple[str, Convert]] = {
    **dict.fromkeys(("External id", "external id"), ("external_id", integers)),
    "correlation": ("correlation_id", integers),
    "Record function id": ("record_id", integers),
    "Sequence number": ("seq_num", integers),
    "bytes": ("bytes", integers),
    "registers per thread": ("registers", integers),
    "shared memory": ("shared_memory_bytes", integers),
    "In msg nelems": ("in_elems", integers),
    "Out msg nelems": ("out_elems", integers),
    "Group size": ("group_size", integers),
    "memory bandwidth (GB/s)": ("bandwidth_gbps", _floats),
    "est. achieved occupancy %": ("occupancy", _whole_floats),
    **dict.fromkeys(("Input Dims", "Input dims"), ("input_shapes", _json_values)),
    "Input type": ("input_types", _json_values),
    "Input Strides": ("input_strides", _json_values),
    "Concrete Inputs": ("concrete_inputs", _json_values),
    "grid": ("grid", _json_values),
    "block": ("block", _json_values),
    "Collective name": ("collective", _texts),
    "dtype": ("dtype", _texts),
    "Process Group Name": ("group_name", _texts),
}
"""Column of the event table, and its conversion to a frame's column, by argument."""
