"""Selection of the rows that belong to the complete steps of a rank's frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas

from kinetoscope.hta.frame import is_on_device

if TYPE_CHECKING:
    from kinetoscope.hta.common.trace_symbol_table import TraceSymbolTable

_MISSING = -1
_DEVICE_ANNOTATION = "gpu_user_annotation"


def without_last_step(
    frame: pandas.DataFrame, symbols: TraceSymbolTable, *, has_last_step: bool = False
) -> pandas.DataFrame:
    """Selects the host rows before the last step, and the device work that they launched.

    The last step may be incomplete. `has_last_step` keeps all host rows. Returns a frame without
    steps unchanged.
    """
    on_device = is_on_device(frame, symbols)
    starts = _steps(frame.loc[~on_device], symbols)["ts"]
    if starts.empty:
        return frame
    host: pandas.DataFrame = frame.loc[~on_device & ((frame["ts"] < starts.max()) | has_last_step)]
    return pandas.concat([_launched(frame.loc[on_device], host), host])


def within_steps_of_mtia(frame: pandas.DataFrame, symbols: TraceSymbolTable) -> pandas.DataFrame:
    """Selects the host rows within the steps of an MTIA trace, and their device work.

    Copies without a stream get the thread id as stream. Copies without an iteration get the step in
    which they begin.
    """
    host = frame["cat"].isin(symbols.get_cpu_event_cat_ids())
    steps = _steps(frame.loc[host], symbols)
    if steps.empty:
        return frame
    is_inside = host & (frame["ts"] >= steps["ts"].min()) & (frame["end"] <= steps["end"].max())
    kernels: pandas.DataFrame = frame.loc[frame["cat"].isin(symbols.get_gpu_kernel_cat_ids())]
    kept = is_inside | frame.index.isin(_launched(kernels, frame.loc[is_inside]).index)
    copies = frame["name"].isin(symbols.get_memory_name_ids())
    found = frame.astype({"stream": "int32"})
    for start, end, number in steps[["ts", "end", "iteration"]].itertuples(index=False):
        of_step = copies & frame["ts"].between(start, end)
        kept |= of_step
        found["iteration"] = found["iteration"].mask(of_step & (found["iteration"] == _MISSING), number)
        found["stream"] = found["stream"].mask(of_step & (found["stream"] == _MISSING), frame["tid"])
    return found.loc[kept]


def _steps(host: pandas.DataFrame, symbols: TraceSymbolTable) -> pandas.DataFrame:
    """Selects the host's step annotations; the device's annotations begin later."""
    ids = symbols.get_sym_index()
    on_stream = host["cat"] == ids.get(_DEVICE_ANNOTATION, _MISSING)
    return host.loc[host["name"].isin(symbols.get_profiler_step_ids()) & ~on_stream]


def _launched(device: pandas.DataFrame, host: pandas.DataFrame) -> pandas.DataFrame:
    correlations = host["correlation"][host["correlation"] >= 0]
    return device.loc[device["correlation"].isin(correlations)]
