"""Device work with its annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy
import pandas

from kinetoscope.hta.common.trace_filter import GPUKernelFilter
from kinetoscope.hta.common.trace_symbol_table import decode_symbol_id_to_symbol_name

if TYPE_CHECKING:
    from kinetoscope.hta.common.trace import Trace

_MISSING = -1
_CATEGORY = "gpu_user_annotation"


def annotated_kernels(traces: Trace, rank: int, *, with_names: bool, with_short_names: bool) -> pandas.DataFrame | None:
    """Lists device events of a rank, each with the shortest annotation over it.

    The annotation is on the stream of the event. Returns None without device annotations.

    The frame of the rank gains `user_annotation`, -1 in all rows, and `end`.
    """
    frame, symbols = traces.get_trace(rank), traces.symbol_table
    frame["end"] = frame["ts"] + frame["dur"]
    frame["user_annotation"] = _MISSING
    category = symbols.get_sym_id_map().get(_CATEGORY)
    if category is None:
        return None
    annotations: pandas.DataFrame = frame.loc[frame["cat"] == category].sort_values(
        "dur", ascending=False, kind="stable"
    )
    kernels = GPUKernelFilter()(frame, symbols).copy()
    kernels["user_annotation"] = _annotations(kernels, annotations)
    if with_names:
        decode_symbol_id_to_symbol_name(kernels, symbols, with_short_names)
    return kernels.reset_index(drop=True)


def _annotations(kernels: pandas.DataFrame, annotations: pandas.DataFrame) -> numpy.ndarray:
    """Finds the annotation over each kernel; of several, the last in their order."""
    found = numpy.full(len(kernels), _MISSING)
    places = kernels.groupby(["pid", "tid"], sort=False).indices
    for place, of_stream in annotations.groupby(["pid", "tid"], sort=False):
        rows = places.get(place, numpy.array([], dtype=int))
        rows = rows[numpy.argsort(kernels["ts"].to_numpy()[rows], kind="stable")]
        starts, ends = (kernels[column].to_numpy()[rows] for column in ("ts", "end"))
        reach = numpy.maximum.accumulate(ends) if len(ends) else ends
        for start, end, name in of_stream[["ts", "end", "name"]].itertuples(index=False, name=None):
            first, last = numpy.searchsorted(reach, start, "right"), numpy.searchsorted(starts, end, "left")
            inside = numpy.arange(first, last)
            found[rows[inside[ends[inside] > start]]] = name
    return found
