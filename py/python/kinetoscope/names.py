"""What a file's name says: whether it is a trace, of which sort, and what it was recorded with."""

from __future__ import annotations

from collections.abc import Iterable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeGuard

PACKED = (".gz", ".xz", ".zst")
"""Endings of compressed files."""

_REPORTS = (".nsys-rep", ".qdrep")
_TRACES = (*(f"{sort}{packed}" for sort in (".json", ".sqlite") for packed in ("", *PACKED)), ".kscope", *_REPORTS)
_FILES_IN_ONE = (".tar", *(f".tar{packed}" for packed in PACKED), ".tgz", ".txz", ".zip")
_ARCHIVES = (*(f".json{ending}" for ending in _FILES_IN_ONE), *_FILES_IN_ONE)
_WORDS = frozenset({"kineto", "trace", "torch", "pytorch", "execution", "et", "eg", "pt"})
"""Words that say what kind of file it is. Without them, the two files of one recording have the same name."""
_SEPARATORS = str.maketrans("_-", "..")
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


def is_report(name: str) -> bool:
    """Whether the name is that of a report of Nsight Systems."""
    return name.lower().endswith(_REPORTS)


def is_trace(name: str) -> bool:
    """Whether the name is that of a trace: JSON or a database, plain or compressed, a snapshot, or a report of nsys."""
    return name.lower().endswith(_TRACES)


def is_archive_name(name: str) -> bool:
    """Whether the name is that of an archive."""
    return name.lower().endswith(_ARCHIVES)


def is_execution(name: str) -> bool:
    """Whether the name is that of an Execution Trace: `torch_et_0.json.gz`, `rank-3.et.json`, `linear_et.json`."""
    words = set(_words(name))
    return bool(words & {"et", "eg"}) or {"execution", "trace"} <= words


def execution_beside(kineto: str, names: Iterable[str]) -> str | None:
    """The Execution Trace that was recorded with a Kineto trace, among the names in its folder.

    An archive of Kineto traces has one of Execution Traces beside it. A compressed file comes before a plain one.
    """
    is_alike = next((is_sort for is_sort in (is_trace, is_archive_name) if is_sort(kineto)), None)
    if is_alike is None or is_execution(kineto):
        return None
    key = bare(kineto)
    beside = (name for name in names if is_alike(name) and is_execution(name) and bare(name) == key)
    return min(beside, key=lambda name: (name.endswith(".json"), name), default=None)


def metrics_beside(kineto: str) -> str | None:
    """The name of the metrics that `profile` sampled beside a Kineto trace, whichever window of the rank it is."""
    name = stem(kineto)
    if not name.startswith("kineto_trace_") or ".json" not in kineto:
        return None
    return metrics_name(name.removeprefix("kineto_trace_").partition(".")[0])


def metrics_name(rank: int | str) -> str:
    """That of a rank's metrics."""
    return f"metrics_{rank}.jsonl"


def bare(name: str) -> str:
    """What the names of the two files of one recording have in common."""
    return ".".join(word for word in _words(name) if word not in _WORDS)


def stem(name: str) -> str:
    """Without what says how the file is packed."""
    return _without(_ARCHIVES, _without(_TRACES, name))


def _without(endings: Iterable[str], name: str) -> str:
    ending = next((ending for ending in endings if name.lower().endswith(ending)), "")
    return name[: len(name) - len(ending)]


def _words(name: str) -> list[str]:
    words = stem(name.lower().rpartition("/")[2]).translate(_SEPARATORS).split(".")
    return [word for word in words if word]
