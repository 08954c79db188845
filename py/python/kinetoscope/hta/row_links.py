"""Links between rows of a frame: launches and their work, steps, forward and backward operators.

The functions serve frames without a trace. Frames of a trace use the links of the trace.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pandas

from kinetoscope.hta.common.trace_filter import CPUOperatorFilter, GPUKernelFilter

if TYPE_CHECKING:
    from kinetoscope.hta.common.trace_symbol_table import TraceSymbolTable

_MISSING = -1
_STEP = re.compile(r"ProfilerStep\s*#\s*(\d+)")
_PLACE = ["ts", "tid", "pid"]


def transform_correlation_to_index(df: pandas.DataFrame, symbol_table: TraceSymbolTable) -> pandas.DataFrame:
    """Adds `index_correlation`: the `index` of the row's partner.

    The partner is the host or device row with the same `correlation`.

    The value is 0 without a partner, and -1 for rows without a correlation. Returns `df` itself. A
    frame without `correlation` stays unchanged.
    """
    if "correlation" not in df:
        return df
    partners = df["correlation"].clip(upper=0).astype("int64")
    linked = df.loc[df["correlation"] != _MISSING, ["index", "correlation", "stream", "name"]]
    host, device = (chosen(linked, symbol_table) for chosen in (CPUOperatorFilter(), GPUKernelFilter()))
    pairs = host.merge(device, on="correlation")
    for own, other in (("index_x", "index_y"), ("index_y", "index_x")):
        partners.loc[pairs[own]] = pairs[other].to_numpy()
    df["index_correlation"] = pandas.to_numeric(partners, downcast="integer")
    return df


def get_cpu_gpu_correlation(df: pandas.DataFrame) -> pandas.DataFrame:
    """Returns `gpu_index` and `cpu_index` of device work whose launch is in the frame."""
    work = df.loc[(df["stream"] > 0) & (df["index_correlation"] > 0), ["index", "index_correlation"]]
    return work.set_axis(["gpu_index", "cpu_index"], axis="columns").reset_index(drop=True)


def add_iteration(df: pandas.DataFrame, symbol_table: TraceSymbolTable) -> pandas.DataFrame:
    """Adds `iteration`: the step in which a host row, or the launch of device work, begins.

    The value is -1 outside all steps.

    Returns the steps: `ts`, `dur`, `name`, the number as `s_name` and the text as `iter`.
    """
    names = {number: name for name, number in symbol_table.get_sym_index().items() if _STEP.match(name)}
    steps = df.loc[df["name"].isin(list(names)), ["ts", "dur", "name"]].copy()
    steps["s_name"] = [int(_STEP.match(names[name])[1]) for name in steps["name"]]  # pyright: ignore[reportOptionalSubscript] - they matched
    steps["iter"] = [names[name] for name in steps["name"]]
    iterations = pandas.Series(_MISSING, df.index, dtype="int64")
    for step in steps.itertuples():
        iterations[(df["ts"] >= step.ts) & (df["ts"] < step.ts + step.dur)] = step.s_name
    is_on_stream = df["stream"] >= 0
    if "cpu_op" in symbol_table.get_sym_index():
        # operators that launch Triton kernels have a stream, too
        is_on_stream &= (df["stream"] > 0) | (df["cat"] != symbol_table.get_sym_index()["cpu_op"])
    launches = df["index_correlation"].where(df["index_correlation"] > 0, _MISSING)
    of_launch = iterations.reindex(launches[is_on_stream], fill_value=_MISSING)
    iterations[is_on_stream] = of_launch.to_numpy()
    df["iteration"] = pandas.to_numeric(iterations, downcast="integer")
    return steps


def add_fwd_bwd_links(df: pandas.DataFrame) -> None:
    """Links forward and backward operators by flows of the category `fwdbwd`, if any.

    `fwdbwd_index` is the `index` of the other operator. `fwdbwd` is 0 for forward and 1 for
    backward operators. Both are -1 for other rows. `cat` holds texts. A flow belongs to the last
    operator that begins at the flow's time in the flow's thread.
    """
    flows = df.loc[df["cat"] == "fwdbwd"]
    if flows.empty:
        return
    df["fwdbwd_index"] = df["fwdbwd"] = _MISSING
    operators = df[df["cat"] == "cpu_op"].groupby(_PLACE)["index"].max()
    starts, ends = flows.loc[flows["ph"] == "s"], flows.loc[(flows["ph"] == "f") & (flows["bp"] == "e")]
    forward, backward = (_operators(side, operators) for side in (starts, ends))
    pairs = pandas.concat([forward, backward], axis="columns", join="inner", keys=["forward", "backward"])
    for own, other, kind in (("forward", "backward", 0), ("backward", "forward", 1)):
        df.loc[pairs[own], "fwdbwd_index"] = pairs[other].to_numpy()
        df.loc[pairs[own], "fwdbwd"] = kind


def _operators(flows: pandas.DataFrame, operators: pandas.Series) -> pandas.Series:
    """Finds the operator at the end of each flow, by the flow's id."""
    found = flows.join(operators.rename("operator"), on=_PLACE, how="inner")
    return pandas.Series(found.groupby("id")["operator"].max())
