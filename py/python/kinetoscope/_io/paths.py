"""What a file's name says: whether it is a trace, of which sort, and what it was recorded with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kinetoscope import _native
from kinetoscope._native import is_archive_name, is_execution, is_report, is_trace, natural, rank_of

__all__ = [
    "execution_beside",
    "is_archive_name",
    "is_execution",
    "is_report",
    "is_trace",
    "is_url",
    "metrics_beside",
    "metrics_name",
    "natural",
    "rank_of",
    "told_apart",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeGuard

_SIGNS = str.maketrans("", "", "+-.")
"""What an address's scheme may have besides letters and digits, behind the letter that it begins with."""


def is_url(source: object) -> TypeGuard[str]:
    """Whether a source is an address, such as `s3://bucket/trace.json`, or a chain of them, as fsspec has it."""
    if not isinstance(source, str):
        return False
    scheme, _, rest = source.partition(":")
    if not rest.startswith(("//", ":")) or not scheme.isascii():
        return False
    # two letters at least: Windows has drives
    return len(scheme) > 1 and scheme[0].isalpha() and scheme.translate(_SIGNS).isalnum()


def execution_beside(kineto: str, names: Iterable[str]) -> str | None:
    """The Execution Trace that was recorded with a Kineto trace, among the names in its folder.

    An archive of Kineto traces has one of Execution Traces beside it. A compressed file comes before a plain one.
    """
    beside = list(names)
    place = _native.execution_beside(kineto, beside)
    return None if place is None else beside[place]


def told_apart(sources: Sequence[str]) -> list[str]:
    """The names of files without their folders; all with as many of these as it takes to tell different ones apart."""
    split = [source.replace("\\", "/").rstrip("/").split("/") for source in sources]
    for depth in range(1, max(map(len, split), default=0) + 1):
        names = ["/".join(parts[-depth:]) for parts in split]
        if len(set(names)) == len({"/".join(parts) for parts in split}):
            return names
    return list(sources)


def metrics_beside(kineto: str) -> str | None:
    """The name of the metrics that `profile` sampled beside a Kineto trace, whichever window of the rank it is."""
    if not kineto.startswith("kineto_trace_") or ".json" not in kineto:
        return None
    return metrics_name(kineto.removeprefix("kineto_trace_").partition(".")[0])


def metrics_name(rank: int | str) -> str:
    """That of a rank's metrics."""
    return f"metrics_{rank}.jsonl"
