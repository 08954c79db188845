"""Reads dumps of the flight recorder of several ranks."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kinetoscope import _native
from kinetoscope._base.threads import for_each
from kinetoscope._io.file import LocalFile, files_in
from kinetoscope._load.read import Options, read_files
from kinetoscope.flight_recorder import FlightRecorder, FlightRecorderSet

if TYPE_CHECKING:
    from kinetoscope._io.source import File


def dumps_in(folder: str | os.PathLike[str]) -> dict[str, File]:
    """Returns the dumps in a folder, by name; their first bytes decide.

    Raises OSError if the folder cannot be listed.
    """
    return {name: file for name, file in files_in(folder).items() if _native.is_flight_dump(_head(file))}


def _head(file: File) -> bytes:
    try:
        return file.head()
    except OSError:  # a file that others may not read is no dump
        return b""


def read_dumps(files: Sequence[File], options: Options, source: str | None = None) -> FlightRecorderSet:
    """Reads one dump per rank.

    Raises UnsupportedTraceError for a file of another format. Raises ValueError for a dump without
    a rank, or a rank with two dumps. Raises the errors of `read`.
    """
    recorders: dict[int, FlightRecorder] = {}
    for recorder, file in zip(for_each(list(files), lambda file, _: _read_dump(file, options)), files, strict=True):
        rank, name = recorder.rank, file.label or "bytes"
        if rank is None:
            raise ValueError(
                f"expected a rank in the name of a dump, such as nccl_trace_rank_0, found {name}; "
                "use ks.FlightRecorderSet({rank: recorder, …})"
            )
        if rank in recorders:
            raise ValueError(f"expected one dump of rank {rank}, found {recorders[rank].source} and {name}")
        recorders[rank] = recorder
    return FlightRecorderSet(recorders, source)


def _read_dump(file: File, options: Options) -> FlightRecorder:
    found = read_files([file], options)
    if isinstance(found, FlightRecorder):
        return found
    sort = getattr(found, "sort", "a trace")
    raise _native.UnsupportedTraceError(
        f"expected a dump of a flight recorder, found {sort}: {file.label or 'bytes'}; use ks.read_dir for traces"
    )


def read_dump_folder(folder: str | os.PathLike[str], options: Options) -> FlightRecorderSet | None:
    """Reads the dumps of a folder; None if it has none. Raises the errors of `read_dumps`."""
    dumps: Mapping[str, File] = dumps_in(folder)
    return read_dumps(list(dumps.values()), options, LocalFile(folder).label) if dumps else None
