"""Trace files of a job: their ranks, and reading and writing JSON."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

from kinetoscope import _native
from kinetoscope._io.cache import cache_folder
from kinetoscope._io.file import LocalFile
from kinetoscope._io.header import Head, head_of, peek
from kinetoscope._io.paths import natural, rank_of
from kinetoscope._load.read import Options, read_recording
from kinetoscope.hta.configs.config import logger
from kinetoscope.hta.written import write_document

_SUFFIXES = (".gz", ".json")


def create_rank_to_trace_dict_from_dir(trace_dir: str) -> tuple[bool, dict[int, str]]:
    """Finds the traces in a folder: files whose names end in `.json` or `.gz`.

    Returns whether there are such files, and their paths by rank from `create_rank_to_trace_dict`.
    """
    folder = Path(trace_dir)
    if not (folder.is_dir() and os.access(trace_dir, os.R_OK)):
        logger.error("expected a readable folder of traces, found none at %s", trace_dir)
        return False, {}
    names = sorted((path.name for path in folder.iterdir() if path.name.endswith(_SUFFIXES)), key=natural)
    if not names:
        logger.warning("expected files that end in .json or .gz, found none in %s", trace_dir)
        return False, {}
    return create_rank_to_trace_dict([str(folder / name) for name in names])


def create_rank_to_trace_dict(file_list: list[str]) -> tuple[bool, dict[int, str]]:
    """Finds the rank of each file: by its `distributedInfo`, else by its name, else 0.

    Returns True and the paths by rank. Keeps the last of several files of a rank. Skips Execution
    Traces and files that are no traces. Logs a warning in each of these cases. Raises OSError for
    an unreadable file.
    """
    files: dict[int, str] = {}
    for path in file_list:
        rank = _rank_in(path)
        if rank is None:
            continue
        if rank in files:
            logger.warning("%s has the same rank as %s: rank %d is %s now", path, files[rank], rank, path)
        files[rank] = path
    return True, files


def get_trace_files(trace_path: str) -> dict[int, str]:
    """Returns the paths of the traces in a folder by rank.

    If there are no traces, logs a warning and returns an empty dictionary.
    """
    _, files = create_rank_to_trace_dict_from_dir(trace_path)
    if files:
        logger.info("Traces by rank: %s", files)
    else:
        logger.warning("expected traces in %s, found none", trace_path)
    return files


def read_trace(file_path: str) -> dict[str, Any]:
    """Reads a JSON file, compressed if its name ends in `.gz`.

    Raises ValueError for other names and for invalid JSON, OSError for an unreadable file.
    """
    if not file_path.endswith(_SUFFIXES):
        raise ValueError(f"expected a file name that ends in '.gz' or 'json', found {file_path}")
    content = Path(file_path).read_bytes()
    return json.loads(gzip.decompress(content) if file_path.endswith(".gz") else content)


def write_trace(trace_data: dict[str, Any], file_path: str) -> None:
    """Writes a JSON file, compressed if its name ends in `.gz`; creates its folder.

    Replaces the file atomically. Raises OSError if writing fails.
    """
    write_document(trace_data, Path(file_path))


def update_trace_rank(file_path: str, rank: int) -> None:
    """Sets the rank in the `distributedInfo` of a file.

    Raises the errors of `read_trace` and `write_trace`.
    """
    trace_data = read_trace(file_path)
    trace_data.setdefault("distributedInfo", {})["rank"] = rank
    write_trace(trace_data, file_path)


def _rank_in(path: str) -> int | None:
    """Returns the rank of a Kineto trace; None for other files."""
    try:
        head = _head_of(path)
    except _native.TraceError as error:
        logger.warning("skipped %s: %s", path, error)
        return None
    if head.is_execution:
        logger.warning("skipped %s: expected a Kineto trace, found an Execution Trace", path)
        return None
    rank = rank_of(Path(path).name) if head.rank is None else head.rank
    if rank is None:
        missing = 'the trace file does not have the rank: rank 0 is assumed; add "distributedInfo": {"rank": N}'
        logger.warning("%s: %s", path, missing)
    return rank or 0


def _head_of(path: str) -> Head:
    """Reads the beginning of a file, or the whole file if the beginning lacks the rank."""
    file = LocalFile(path)
    head = peek(file)
    if head.rank is not None or head.is_execution:
        return head
    return head_of(read_recording(file, None, Options(None, cache_folder(None)))._native)  # noqa: SLF001 - the package's own
