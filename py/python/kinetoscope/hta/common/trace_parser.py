"""Readers of trace files: frames and metadata."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy
import pandas

from kinetoscope._load.read import read
from kinetoscope.hta.common.trace_file import read_trace
from kinetoscope.hta.common.trace_symbol_table import TraceSymbolTable
from kinetoscope.hta.configs.default_values import AttributeSpec, ValueType
from kinetoscope.hta.configs.env_options import disable_ns_rounding
from kinetoscope.hta.configs.parser_config import DEFAULT_PARSE_VERSION, ParserBackend, ParserConfig
from kinetoscope.hta.frame import event_frame
from kinetoscope.hta.rank_files import RankFile
from kinetoscope.hta.utils.utils import get_value_from_dict, normalize_gpu_stream_numbers

if TYPE_CHECKING:
    import io

    from kinetoscope.trace import Trace

__all__ = [
    "DEFAULT_PARSE_VERSION",
    "IJSON_INSTRS",
    "AttributeSpec",
    "MetaData",
    "MetaDataKey",
    "ParserBackend",
    "ParserConfig",
    "TraceSymbolTable",
    "ValueType",
    "get_default_trace_parsing_backend",
    "get_value_from_dict",
    "infer_gpu_type",
    "normalize_gpu_stream_numbers",
    "parse_metadata_ijson",
    "parse_trace_dataframe",
    "parse_trace_dict",
    "round_down_time_stamps",
    "set_default_trace_parsing_backend",
]

MetaData: TypeAlias = dict[str, Any]

IJSON_INSTRS = "Traces are read natively: ijson and yajl are not needed."
"""A note on HTA's readers."""

_ENCODED = ("cat", "name")
_LAUNCHES = {
    "cudaLaunchKernel": "NVIDIA GPU",
    "hipLaunchKernel": "AMD GPU",
    "runFunction - job_prep_and_submit_for_execution": "MTIA",
}
_default_backend: list[ParserBackend] = [ParserBackend.JSON]


class MetaDataKey(enum.Enum):
    """Keys that reading adds to the metadata of a trace."""

    DEVICE_TYPE = "device_type"

    def __str__(self) -> str:
        return self.value


def set_default_trace_parsing_backend(parser_backend: ParserBackend) -> None:
    """Sets the backend of configurations without one.

    The backend decides whether `skip_event_types` applies.
    """
    _default_backend[0] = parser_backend


def get_default_trace_parsing_backend() -> ParserBackend:
    """Returns the backend of configurations without one, initially `JSON`."""
    return _default_backend[0]


def infer_gpu_type(metadata: MetaData | None = None, name_set: dict[str, int] | None = None) -> str:
    """Infers the device type from the backend in the metadata, else from the launch names.

    Returns `MTIA`, `NVIDIA GPU`, `AMD GPU` or `UNKNOWN GPU`. The keys of `name_set` are event
    names.
    """
    if "mtia:hccl" in str(get_value_from_dict(metadata, "distributedInfo.backend")):
        return "MTIA"
    return next((device for launch, device in _LAUNCHES.items() if launch in (name_set or {})), "UNKNOWN GPU")


def parse_trace_dict(trace_file_path: str) -> dict[str, Any]:
    """Reads a trace file as JSON.

    Raises ValueError for a name that does not end in `.json` or `.gz`.
    """
    return read_trace(trace_file_path)


def parse_trace_dataframe(
    trace_file_path: str, cfg: ParserConfig
) -> tuple[MetaData, pandas.DataFrame, TraceSymbolTable]:
    """Reads a trace file: its metadata, a row for each event, and the symbol table.

    `name` and `cat` hold ids of the symbol table.

    Times are in µs on the file's clock. Raises TraceError or OSError if the file cannot be read,
    ValueError for an unknown backend.
    """
    return parsed(RankFile(trace_file_path).read(), cfg)


def parse_metadata_ijson(fh: io.BufferedIOBase) -> MetaData:
    """Reads the metadata of a trace from an open binary file.

    Lists and objects inside objects are None, as in HTA.
    """
    header: MetaData = read(fh, et=False).metadata["kineto"]
    return {key: _shallow(value) for key, value in header.items()}


def round_down_time_stamps(df: pandas.DataFrame) -> None:
    """Rounds `ts`, `dur` and `end` to the whole µs that each event covers entirely.

    Does nothing if `ts` holds integers, or if HTA_DISABLE_NS_ROUNDING is set.
    """
    if df["ts"].dtype.kind != "f" or disable_ns_rounding():
        return
    df["end"] = _whole(df["ts"] + df["dur"], numpy.floor)
    df["ts"] = _whole(df["ts"], numpy.ceil)
    df["dur"] = df["end"] - df["ts"]


def parsed(trace: Trace, cfg: ParserConfig) -> tuple[MetaData, pandas.DataFrame, TraceSymbolTable]:
    """Converts a trace to the result of `parse_trace_dataframe`."""
    backend = ParserBackend(cfg.parser_backend or get_default_trace_parsing_backend())
    # HTA's reader of whole files skips nothing
    frame = event_frame(trace, cfg, set() if backend is ParserBackend.JSON else cfg.skip_event_types)
    symbols = _encode(frame)
    header = trace.metadata["kineto"]
    device_type = infer_gpu_type(header, symbols.get_sym_id_map())
    return {**header, str(MetaDataKey.DEVICE_TYPE): device_type}, frame, symbols


def _encode(frame: pandas.DataFrame) -> TraceSymbolTable:
    """Replaces the categoricals of a frame by ids, and returns the symbol table of the ids."""
    symbols = TraceSymbolTable()
    for column in _ENCODED:
        texts = frame[column].cat.remove_unused_categories()
        symbols.add_symbols(texts.cat.categories)
        ids = numpy.array([symbols.sym_index[text] for text in texts.cat.categories], "int64")
        frame[column] = pandas.to_numeric(pandas.Series(ids[texts.cat.codes], frame.index), downcast="integer")
    return symbols


def _shallow(value: Any) -> Any:
    if isinstance(value, list):
        return [_shallow(each) for each in value]
    if isinstance(value, dict):
        return {key: None if isinstance(each, (dict, list)) else each for key, each in value.items()}
    return value


def _whole(times: pandas.Series, rounded: numpy.ufunc) -> pandas.Series:
    whole = pandas.Series(rounded(times), times.index)
    return whole if whole.isna().any() else whole.astype("int64")
