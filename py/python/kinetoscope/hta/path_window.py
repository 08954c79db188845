"""Time window of a critical path search."""

from __future__ import annotations

import copy
from numbers import Integral
from typing import TYPE_CHECKING, NamedTuple

from kinetoscope.hta.configs.config import logger
from kinetoscope.hta.configs.env_options import CP_LAUNCH_EDGE_ENV, critical_path_add_zero_weight_launch_edges
from kinetoscope.hta.path_parts import Clock, PathParts, parts_of

if TYPE_CHECKING:
    from collections.abc import Collection

    import pandas

    from kinetoscope.hta.common.trace import Trace

_NS = 1000
_ON_HOST = -1
_STREAM_WAIT = "Stream Wait Event"
_SYNC_CATEGORY = "cuda_sync"
_SYNC_OPTION = "torch.profiler.profile(experimental_config=_ExperimentalConfig(enable_cuda_sync_events=True))"


class PathWindow(NamedTuple):
    """A time range, in ns on the core's clock; None is an open end."""

    start_ns: int | None = None
    end_ns: int | None = None


def window_of(t: Trace, rank: int, annotation: str, instance_id: int | tuple[int, int] | None) -> PathWindow | None:
    """Returns the time from the first start to the last end of an annotation's instances.

    An empty annotation selects the whole trace. Logs an error and returns None if no symbol
    contains the annotation, or if `instance_id` has an unsupported type. Raises ValueError for an
    unknown rank, and for a missing instance.
    """
    frame = t.get_trace(rank)
    ids = t.symbol_table.get_sym_id_map()
    if _SYNC_CATEGORY not in ids:
        logger.warning("expected cuda_sync events, found none: the path may be wrong. Record with %s", _SYNC_OPTION)
    matches = [number for name, number in ids.items() if annotation in name]
    instances = _instances(instance_id)
    if not matches:
        logger.error("expected an annotation that contains %r, found none: check the annotation", annotation)
    elif instances is None:
        logger.error("expected an integer, a tuple of two integers or None as instance_id, found %r", instance_id)
    elif annotation == "":
        return PathWindow()
    else:
        labels = frame.index[frame["name"].isin(matches)]
        if not len(chosen := labels[instances]):
            known = f"{len(labels)} instances of {annotation}, counted from 0"
            raise ValueError(f"expected one of the {known}, found {instance_id}")
        times = _times(t, rank).loc[chosen]
        return PathWindow(int(times["start_ns"].min()), int((times["start_ns"] + times["dur_ns"]).max()))
    return None


def window_around(t: Trace, t_full: Trace, rank: int) -> PathWindow | None:
    """Returns the time from the first to the last start of host events in the frame of `t`.

    Returns None without such events. Extends the end by 999 ns, because the core compares times in
    whole µs.
    """
    frame = t.get_trace(rank)
    host = frame.index[(frame["stream"] == _ON_HOST) & (frame["dur"] > 0)]
    if host.empty:
        return None
    starts = _times(t_full, rank)["start_ns"].loc[host]
    return PathWindow(int(starts.min()), int(starts.max()) + _NS - 1)


def graph_of(t_full: Trace, rank: int, window: PathWindow, blocking: Collection[str]) -> PathParts:
    """Requests the graph of host events that start in a window, and of their device events.

    The core computes the graph. `blocking` lists the calls that may wait for a device.
    """
    if critical_path_add_zero_weight_launch_edges():
        logger.warning("expected %s to be off, found it on: the graph lacks these edges", CP_LAUNCH_EDGE_ENV)
    answer = t_full.recorded(rank).analyze(
        "critical_path", like="hta", without_last=t_full.is_cut(rank), observed=True, **window._asdict()
    )
    frame, ids = t_full.get_trace(rank), t_full.symbol_table.get_sym_id_map()
    calls = frame["name"].isin([ids[name] for name in blocking if name in ids])
    clock = Clock(t_full.origin_ns, is_whole=frame["dur"].dtype.kind == "i" and frame["ts"].dtype.kind == "i")
    return parts_of(answer, clock, set(frame.index[calls]))


def clipped(t: Trace, rank: int, window: PathWindow, nodes: Collection[int]) -> Trace:
    """Returns a copy whose frame of a rank contains only the events of a window.

    These are host events that start in the window, and their device events.

    Keeps the events `nodes` and the waits of streams for events. Drops other host events without
    duration.
    """
    frame = t.get_trace(rank)
    first, last = (None if ns is None else (ns - t.origin_ns) / _NS for ns in window)
    is_host = frame["stream"] == _ON_HOST
    is_inside = is_host & (frame["dur"] > 0)
    is_inside &= frame["ts"].between(float("-inf") if first is None else first, float("inf") if last is None else last)
    is_wait = frame["name"] == t.symbol_table.get_sym_id_map().get(_STREAM_WAIT, -1)
    is_launched = ~is_host & (frame["index_correlation"].isin(frame.index[is_inside]) | is_wait)
    found = copy.copy(t)
    found.traces = {**t.traces, rank: frame.loc[is_inside | is_launched | frame.index.isin(list(nodes))].sort_index()}
    return found


def with_rows_of(frame: pandas.DataFrame, full: pandas.DataFrame, nodes: Collection[int]) -> pandas.DataFrame:
    """Returns a frame with all events `nodes`; adds missing rows from the complete frame.

    Logs the number of added rows.
    """
    missing = set(nodes).difference(frame.index)
    if not missing:
        return frame
    logger.warning("expected a frame with all events of a time range, found one without %d events", len(missing))
    return full.loc[full.index.isin([*frame.index, *missing])].sort_index()


def _instances(instance_id: object) -> slice | None:
    """Returns the positions of the selected instances."""
    if isinstance(instance_id, tuple):
        first, last = instance_id
    elif instance_id is None or isinstance(instance_id, Integral):
        first = last = int(instance_id or 0)
    else:
        return None
    return slice(first, last + 1)


def _times(t: Trace, rank: int) -> pandas.DataFrame:
    return t.recorded(rank).events.select("id", "start_ns", "dur_ns").to_pandas().set_index("id")
