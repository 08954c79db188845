"""Kinds of kernels, intervals, and helpers for frames and paths."""

from __future__ import annotations

from enum import Enum
from pathlib import Path

import pandas

from kinetoscope._base.system import num_processors
from kinetoscope.hta.common.types import (
    CommunicateKernelGroupingPattern,
    ComputeKernelGroupingPattern,
    MemoryKernelGroupingPattern,
)
from kinetoscope.hta.configs.config import logger

_OPENED_BY = {">": "<", ")": "("}
_MEMORY_SHARE = 0.8
_MEMORY_INFO = Path("/proc/meminfo")


class KernelType(Enum):
    """Kind of work of a kernel."""

    COMMUNICATION = 0
    MEMORY = 1
    COMPUTATION = 2
    OTHER = 3


class IdleTimeType(Enum):
    """Cause of an idle gap: a late launch, the wait for other device work, or unknown."""

    HOST_WAIT = 0
    KERNEL_WAIT = 1
    OTHER = 2


def normalize_path(path: str) -> str:
    """Resolves a leading `./` or `~/` of a path; returns other paths unchanged."""
    if path.startswith("./"):
        return str(Path.cwd() / path[2:])
    return str(Path.home() / path[2:]) if path.startswith("~/") else path


def is_comm_kernel(name: str) -> bool:
    """Returns whether a kernel communicates, by its name."""
    return CommunicateKernelGroupingPattern.match(name)


def is_memory_kernel(name: str) -> bool:
    """Returns whether a kernel copies or fills memory, by its name."""
    return MemoryKernelGroupingPattern.match(name)


def is_compute_kernel(name: str) -> bool:
    """Returns whether a kernel computes, by its name."""
    return ComputeKernelGroupingPattern.match(name)


def is_computer_kernel(name: str) -> bool:
    """Older name of `is_compute_kernel`."""
    return is_compute_kernel(name)


def get_kernel_type(name: str) -> str:
    """Returns the name of a kernel's KernelType."""
    if is_comm_kernel(name):
        return KernelType.COMMUNICATION.name
    if is_memory_kernel(name):
        return KernelType.MEMORY.name
    return KernelType.COMPUTATION.name if is_compute_kernel(name) else KernelType.OTHER.name


def get_memory_kernel_type(name: str) -> str:
    """Returns `Memset`, a copy with its direction such as `Memcpy DtoH`, or `Memcpy Unknown`."""
    if name.startswith("Memset"):
        return "Memset"
    return name[: len("Memcpy DtoH")] if name.startswith("Memcpy") else "Memcpy Unknown"


def merge_kernel_intervals(kernel_df: pandas.DataFrame) -> pandas.DataFrame:
    """Returns the union of intervals, as columns `ts` and `end`, ascending and disjoint.

    Needs the columns `ts` and `dur`, which stay unchanged. Intervals that touch become one.
    """
    intervals = kernel_df[["ts"]].assign(end=kernel_df["ts"] + kernel_df["dur"]).sort_values("ts", kind="stable")
    starts_group = intervals["ts"] > intervals["end"].shift().cummax()
    return intervals.groupby(starts_group.cumsum().to_numpy()).agg({"ts": "min", "end": "max"})


def shorten_name(name: str) -> str:
    """Returns a kernel's name without its return type, template arguments and call arguments."""
    if is_memory_kernel(name) or not ("<" in name or "(" in name):
        return name
    kept: list[str] = []
    for character in name.replace("->", ""):
        if character not in _OPENED_BY:
            kept.append(character)
            continue
        while kept and kept.pop() != _OPENED_BY[character]:
            pass
    return "".join(kept).rpartition(" ")[2]


def flatten_column_names(df: pandas.DataFrame) -> None:
    """Joins the levels of column names in place: `dur`, `sum` becomes `dur_sum`."""
    if isinstance(df.columns, pandas.MultiIndex):
        df.columns = ["_".join(str(level) for level in name).rstrip("_") for name in df.columns]


def get_mp_pool_size(obj_size: int, num_objs: int) -> int:
    """Returns the number of processes for objects of `obj_size` bytes, at least 1.

    The objects of all processes fit into 80 % of the free memory.
    """
    at_once = [num_objs, num_processors()]
    free = _free_memory()
    if free is not None and obj_size > 0:
        at_once.append(int(_MEMORY_SHARE * free / obj_size))
    return max(1, min(at_once))


def _free_memory() -> int | None:
    """Returns the free memory in bytes on Linux; None on other systems."""
    try:
        lines = _MEMORY_INFO.read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")), None)


def get_symbol_column_names(df: pandas.DataFrame) -> tuple[str, str]:
    """Returns the columns that hold names and categories as text.

    Returns an empty string for a missing column.
    """

    def first(*columns: str) -> str:
        return next((name for name in columns if name in df and pandas.api.types.is_string_dtype(df[name])), "")

    return first("name", "s_name"), first("cat", "s_cat")


def normalize_gpu_stream_numbers(df: pandas.DataFrame) -> None:
    """Converts the column `stream` to integers in place; invalid numbers become -1."""
    if "stream" not in df.columns:
        logger.error("expected the column stream, found %s; nothing was changed", list(df.columns))
        return
    numbers = pandas.Series(pandas.to_numeric(df["stream"], errors="coerce"), index=df.index)
    df["stream"] = numbers.fillna(-1).astype(int)


def get_value_from_dict(d: object, key: str, default: object = None) -> object:
    """Returns the value at a path such as `a.b.c` in nested dictionaries, or `default`."""
    for part in key.split("."):
        if not isinstance(d, dict) or part not in d:
            return default
        d = d[part]
    return d
