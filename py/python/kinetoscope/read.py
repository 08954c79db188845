"""From files, archives, folders and addresses to traces."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from kinetoscope import _native
from kinetoscope.archive import Archive, is_archive, unpacked
from kinetoscope.cache import cache_folder
from kinetoscope.discover import Pair, execution_beside, is_archive_name, is_trace, pair_up
from kinetoscope.early import Early
from kinetoscope.file import Content, File, LocalFile, file_at_path, file_of, files_in
from kinetoscope.head import Head, head_of, peek
from kinetoscope.load import Options, load, load_any
from kinetoscope.nsight import readable, stale
from kinetoscope.remote import RemoteFile, file_at, files_at, files_beside, is_url
from kinetoscope.traceset import Member, TraceSet, trace_set
from kinetoscope.workers import for_each, num_processors

if TYPE_CHECKING:
    from kinetoscope.tables import Tables
    from kinetoscope.trace import Trace

Source = str | os.PathLike[str] | Content
"""A path, an address that fsspec opens, the bytes of a file, or a file opened in binary mode."""

_ARCHIVED = "an archive, which ks.read reads"

_SHOWN = 3

Cache = str | os.PathLike[str] | Literal[False] | None


def read(
    source: Source,
    et: Source | Literal[False] | None = None,
    *,
    max_bytes: int | None = None,
    cache: Cache = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Trace | Any:
    """Reads a Kineto trace and the Execution Trace recorded with it, and links them: a Trace.

    `source` is a path, an address (s3, gs, http …, through fsspec with these `storage_options`), bytes,
    or a file opened in binary mode. Its bytes say what it is, not its name: JSON, plain or in a gzip, xz or zstd
    stream; a snapshot (see `Trace.save`); or a tar or zip archive, which becomes a TraceSet where more than one
    recording is in it (`read_dir` always gives one). An Execution Trace may also be read alone.

    An export of Nsight Systems (`nsys export --type sqlite`) becomes a Trace, too, and so does its report (`.nsys-rep`)
    where the export lies beside it or `nsys` is on the path.

    What is no trace but stands near one is read as well: a Chakra trace (`.et`) becomes a Chakra, a snapshot
    of PyTorch's allocator (`torch.cuda.memory._dump_snapshot`) a MemorySnapshot, and a memory timeline
    (`export_memory_timeline`, as JSON) a MemoryTimeline.

    `et` is the Execution Trace, or the archive of them; by default the one beside a `source` that is a path or an
    address, found by its name (`kineto_trace_0.json.gz` and `torch_et_0.json.gz`, `rank-3.json` and `rank-3.et.json`,
    `x_trace.json` and `x_et.json`); False for none.

    `max_bytes` bounds the size of each file after decompression, and of all files in an archive. `cache` is a folder
    for snapshots, so that the same files are loaded quickly the next time; by default the one of `use_cache`.

    TraceError says what was expected, what was found, and where. OSError when a file cannot be opened, ImportError when
    a package for an address is missing. Defects that a trace can be read in spite of are in `Trace.health`.
    """
    options = Options(max_bytes, cache_folder(cache), num_processors())
    file = _file(source, storage_options)
    execution = None if et is None or et is False else _file(et, storage_options)
    if is_archive(file):
        return _read_archive(file, _beside(file) if et is None else execution, options)
    if et is None:
        return _read_found(file, _beside(file), options)
    return load_any([file] if execution is None else [file, execution], options)


def read_dir(
    folder: str | os.PathLike[str],
    *,
    eager: bool = True,
    progress: bool | None = None,
    max_bytes: int | None = None,
    cache: Cache = None,
    storage_options: Mapping[str, Any] | None = None,
) -> TraceSet:
    """Reads all traces of a folder: those of `ks.profile`, `tensorboard_trace_handler`, HTA, Chakra, PARAM and nsys.

    `folder` is a path or an address, or an archive. The rank of a trace is the one in its file (`distributedInfo`),
    else the one in its name; two files of one rank are two windows of it. Files that are no trace are left out, and
    `TraceSet.left_out` says why.

    All are read at once, on all processors: then what is wrong with a file is known at once. With `eager=False` only
    their heads are, and a trace is read when it is first asked for; for jobs that are larger than the memory, or of
    which a few ranks are wanted. `TraceSet.load` reads the rest. `progress` says whether to show a bar: by default in a
    terminal and in a notebook. Ctrl-C ends the reading within a fraction of a second, all threads included.

    `max_bytes`, `cache` and `storage_options` as in `read`. OSError when the folder cannot be listed; TraceError when
    no file of it is a trace.
    """
    options = Options(max_bytes, cache_folder(cache))
    archive = _archive(folder, storage_options)
    if archive is not None and eager:
        return _archived_job(archive, None, options, progress=progress)
    found = _files(folder, storage_options) if archive is None else unpacked(archive, max_bytes)
    return _job(found, os.fspath(folder), options, eager=eager, progress=progress)


# --- what there is ------------------------------------------------------------------------------------------------


def _file(source: Source, storage_options: Mapping[str, Any] | None) -> File:
    if isinstance(source, str) and is_url(source):
        return file_at(source, storage_options)
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        if path.is_dir():
            raise IsADirectoryError(f"expected a file, found a folder: {path}; ks.read_dir reads folders")
        return readable(file_at_path(path))
    return file_of(source)


def _archive(folder: str | os.PathLike[str], storage_options: Mapping[str, Any] | None) -> File | None:
    """The archive that stands for a folder; None for a folder."""
    if isinstance(folder, str) and is_url(folder):
        file = file_at(folder, storage_options)
        return file if is_archive_name(file.name) else None
    return LocalFile(Path(folder)) if Path(folder).is_file() else None


def _files(folder: str | os.PathLike[str], storage_options: Mapping[str, Any] | None) -> Archive:
    """The files of a folder, by whether they may be traces."""
    if isinstance(folder, str) and is_url(folder):
        return _by_name(files_at(file_at(folder, storage_options)))
    return _by_name(files_in(Path(folder)))


def _by_name(files: Mapping[str, File]) -> Archive:
    """What is in a folder is told by its name: opening every file of it would take long."""
    old = stale(files)
    traces = {name: readable(file) for name, file in files.items() if is_trace(name) and name not in old}
    others = {name: _ARCHIVED if is_archive_name(name) else "no name of a trace" for name in files}
    return Archive(traces, {name: why for name, why in {**others, **old}.items() if name not in traces})


def _beside(file: File) -> File | None:
    """The Execution Trace in the same folder, or the archive of them; None where there is none."""
    if isinstance(file, LocalFile):
        try:
            beside, name = files_in(file.path.parent), file.path.name
        except OSError:  # a folder may let its files be read, but not be listed
            return None
    elif isinstance(file, RemoteFile):
        beside, name = files_beside(file), file.name
    else:
        return None
    execution = execution_beside(name, beside)
    return None if execution is None else beside[execution]


# --- reading it ---------------------------------------------------------------------------------------------------


def _read_found(file: File, execution: File | None, options: Options) -> Trace | Tables:
    """An Execution Trace that nobody asked for must not keep the Kineto trace from being read."""
    if execution is None:
        return load_any([file], options)
    try:
        return load(file, execution, options)
    except (_native.TraceError, OSError) as error:
        trace = load(file, None, options)
        _warn(f"{execution.label}, found beside {file.label}, was not read: {error}")
        return trace


def _read_archive(file: File, execution: File | None, options: Options) -> Trace | TraceSet:
    job = _archived_job(file, execution, options._replace(max_threads=1), progress=None)
    if len(job) > 1:
        return job
    for name, why in job.left_out.items():
        if is_trace(name):
            _warn(f"{name} in {file.label or 'the archive'} was left out: {why}")
    return job.members[0].trace


def _archived_job(file: File, execution: File | None, options: Options, *, progress: bool | None) -> TraceSet:
    if execution is not None:
        found, more = for_each([file, execution], lambda each, _reading: _unpacked_or_single(each, options))
        # one name may be in both
        for name, inside in more.files.items():
            found.files[name if name not in found.files else f"{execution.label}/{name}"] = inside
        found.left_out.update(more.left_out)
        return _job(found, file.label or "the archive", options, progress=progress)
    with Early(options) as early:
        found = unpacked(file, options.max_bytes, early.begin)
        return _job(found, file.label or "the archive", options, progress=progress, traces=early.traces())


def _unpacked_or_single(file: File, options: Options) -> Archive:
    if is_archive(file):
        return unpacked(file, options.max_bytes)
    return Archive({Path(file.label or "execution").name: file}, {})


def _job(
    found: Archive,
    place: str,
    options: Options,
    *,
    eager: bool = True,
    progress: bool | None,
    traces: Mapping[str, Trace] | None = None,
) -> TraceSet:
    """The job in these files, of which some may have been read each by itself."""
    files, traces = found.files, traces or {}
    heads = {name: head_of(trace._native) for name, trace in traces.items()}  # noqa: SLF001 - what is known of it
    unread = {name: file for name, file in files.items() if name not in heads}
    heads.update(zip(unread, for_each(list(unread.values()), peek), strict=True))
    recordings = pair_up(files, heads)
    left_out = {**found.left_out, **recordings.copies}

    def member(pair: Pair) -> Member:
        alone = traces.get(pair.names[0]) if len(pair.names) == 1 else None
        return Member(pair, files, heads, options, alone)

    members = [member(pair) for pair in recordings.pairs]
    certain = [member for member in members if not eager and _is_certain(member.pair.names, heads)]
    job = trace_set([member for member in members if member not in certain], left_out, progress=progress)
    if certain:
        job = TraceSet([*job.members, *certain], job.left_out)
    if not len(job):
        raise _native.TraceParseError(f"expected traces in {place}, found {_nothing(job.left_out)}")
    return job


def _nothing(left_out: Mapping[str, str]) -> str:
    """What there is instead of traces."""
    seen = [f"{name} ({why})" for name, why in left_out.items()]
    more = [f"{len(seen) - _SHOWN:,} more files"] if len(seen) > _SHOWN else []
    return ", ".join(seen[:_SHOWN] + more) or "no file"


def _is_certain(names: Iterable[str], heads: Mapping[str, Head]) -> bool:
    """Whether the heads tell that these files are traces, so that reading them can wait."""
    return all(heads[name].is_execution is not None for name in names)


def _warn(message: str) -> None:
    warnings.warn(message, RuntimeWarning, stacklevel=4)
