"""Device work with the annotation that it was done for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinetoscope.hta.common.trace_symbol_table import shorten_name
from kinetoscope.hta.frame import is_on_device

if TYPE_CHECKING:
    import pandas

    from kinetoscope.hta.common.trace import Trace

_MISSING = -1
_CATEGORY = "gpu_user_annotation"


def annotated_kernels(traces: Trace, rank: int, *, with_names: bool, with_short_names: bool) -> pandas.DataFrame | None:
    """Device events of a rank with the innermost device annotation around each; None where there is none."""
    frame, symbols = traces.get_trace(rank), traces.symbol_table
    annotations = frame.loc[frame["cat"] == symbols.get_sym_index().get(_CATEGORY, _MISSING), "name"].to_dict()
    if not annotations:
        return None
    parents: dict[int, int | None] = dict(traces.recorded(rank).events.select("id", "parent").rows())

    def innermost(event: int | None) -> int:
        while event is not None and event not in annotations:
            event = parents[event]
        return _MISSING if event is None else annotations[event]

    kernels: pandas.DataFrame = frame[is_on_device(frame, symbols)].copy()
    kernels["user_annotation"] = [innermost(event) for event in kernels["index"]]
    if with_names:
        texts = symbols.get_sym_table()
        for column in ("name", "cat", "user_annotation"):
            names = ["" if symbol == _MISSING else texts[symbol] for symbol in kernels[column]]
            kernels[f"s_{column}"] = [shorten_name(name) for name in names] if with_short_names else names
    return kernels
