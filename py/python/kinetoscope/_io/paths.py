"""Reads facts from file names: format, rank, and the names of related files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kinetoscope import _native
from kinetoscope._native import is_archive_name, is_execution, is_report, is_trace, natural, rank_of

__all__ = [
    "distinct_names",
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
    "with_suffix_of_rank",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import TypeGuard

_SCHEME_SYMBOLS = str.maketrans("", "", "+-.")
"""Removes the symbols that a URL scheme may contain besides letters and digits."""


def is_url(source: object) -> TypeGuard[str]:
    """Whether a source is a URL such as `s3://bucket/trace.json`, or a chain of URLs of fsspec."""
    if not isinstance(source, str):
        return False
    scheme, _, rest = source.partition(":")
    if not rest.startswith(("//", ":")) or not scheme.isascii():
        return False
    # at least two letters: one letter is a drive of Windows
    return len(scheme) > 1 and scheme[0].isalpha() and scheme.translate(_SCHEME_SYMBOLS).isalnum()


def execution_beside(kineto: str, names: Iterable[str]) -> str | None:
    """Finds the Execution Trace of a Kineto trace among the file names of its folder.

    For an archive of Kineto traces, finds the archive of Execution Traces. Prefers compressed
    files. Returns None without a match.
    """
    candidates = list(names)
    index = _native.execution_beside(kineto, candidates)
    return None if index is None else candidates[index]


def distinct_names(sources: Sequence[str]) -> list[str]:
    """Shortens paths to their file names, plus as many folders as make different paths distinct."""
    split = [source.replace("\\", "/").rstrip("/").split("/") for source in sources]
    num_paths = len({"/".join(parts) for parts in split})
    for depth in range(1, max(map(len, split), default=0) + 1):
        names = ["/".join(parts[-depth:]) for parts in split]
        if len(set(names)) == num_paths:
            return names
    return list(sources)


def metrics_beside(kineto: str) -> str | None:
    """Returns the file name of the metrics that `profile` samples for the rank of a Kineto trace.

    Returns None for a name that `profile` does not give.
    """
    if not kineto.startswith("kineto_trace_") or ".json" not in kineto:
        return None
    return metrics_name(kineto.removeprefix("kineto_trace_").partition(".")[0])


def metrics_name(rank: int | str) -> str:
    """Returns the file name of a rank's metrics."""
    return f"metrics_{rank}.jsonl"


def with_suffix_of_rank(path: Path, suffix: str) -> Path:
    """Adds a suffix to the name of a file, before its extension: `cut.json.gz`, `cut_0.json.gz`."""
    gzip = ".gz" if path.suffix == ".gz" else ""
    plain = path.with_name(path.name.removesuffix(gzip))
    return plain.with_name(f"{plain.stem}{suffix}{plain.suffix}{gzip}")
