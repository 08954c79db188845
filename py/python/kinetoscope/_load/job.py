"""From folders and archives to the traces of a job."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kinetoscope import _native
from kinetoscope._base import lazy
from kinetoscope._base.threads import for_each
from kinetoscope._base.warnings import warn
from kinetoscope._io.archive import Archive, unpacked
from kinetoscope._io.cache import cache_folder
from kinetoscope._io.discovery import Pair, pair_up
from kinetoscope._io.file import LocalFile, expect_no_file, file_at_path, files_in
from kinetoscope._io.header import Head, head_of, peek
from kinetoscope._io.nsight import readable, stale
from kinetoscope._io.paths import is_archive_name, is_trace, is_url, metrics_beside
from kinetoscope._io.remote import file_at, files_at
from kinetoscope._load.load import Options
from kinetoscope._load.streaming_archive import Early
from kinetoscope.trace_set import Member, TraceSet, scattered_set, trace_set

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from kinetoscope._io.source import File
    from kinetoscope.trace import Trace

_ARCHIVED = "an archive, which ks.read reads"

_SHOWN = 3


class Manner(NamedTuple):
    """When the traces of a job are read, by whom, and whether that is shown."""

    eager: bool = True
    progress: bool | None = None
    executor: Executor | None = None


def read_dir(  # noqa: PLR0913 - those of `read`, by their names
    folder: str | os.PathLike[str],
    *,
    eager: bool = True,
    progress: bool | None = None,
    iteration: int | None = None,
    max_bytes: int | None = None,
    cache: lazy.Cache = None,
    storage_options: Mapping[str, Any] | None = None,
    executor: lazy.Executor | None = None,
) -> TraceSet:
    """Reads all traces of a folder: those of `ks.profile`, `tensorboard_trace_handler`, HTA, Chakra, PARAM and nsys.

    `folder` is a path or an address, or an archive. The rank of a trace is the one in its file (`distributedInfo`),
    else the one in its name; two files of one rank are two windows of it. Files that are no trace are left out, and
    `TraceSet.skipped` says why.

    All are read at once, on all processors: then what is wrong with a file is known at once. With `eager=False` only
    their heads are, and a trace is read when it is first asked for; for jobs that are larger than the memory, or of
    which a few ranks are wanted. `TraceSet.load` reads the rest. `progress` says whether to show a bar: by default in a
    terminal and in a notebook. Ctrl-C ends the reading within a fraction of a second, all threads included.

    With an `executor` (`concurrent.futures`, `dask.distributed.Client.get_executor()`), its workers read: each trace is
    reduced where it was read, so that a job may be larger than the memory of any machine, and only what analyses say of
    it travels. The workers must see the same paths or addresses. What needs whole traces here (`job[rank]`, timelines,
    reports) reads them here.

    `iteration`, `max_bytes`, `cache` and `storage_options` as in `read`; where a recording has but one file, there is
    nothing to link. OSError when the folder cannot be listed; TraceError when no file of it is a trace.
    """
    path = os.fspath(folder)
    if not path:
        raise ValueError("expected the path of a folder, found an empty one")
    if path.endswith(os.sep):
        expect_no_file(path)
    options = Options(max_bytes, cache_folder(cache), iteration=iteration)
    archive = _archive(folder, storage_options)
    if archive is not None and executor is not None:
        raise ValueError(f"expected a folder to read with an executor, found an archive: unpack {archive.label} first")
    if archive is not None and eager:
        return _archived_job(archive, None, options, progress=progress)
    found = _files(folder, storage_options) if archive is None else unpacked(archive, max_bytes)
    return _job(found, path, options, Manner(eager=eager, progress=progress, executor=executor))


def read_several(sources: Sequence[str], *, max_bytes: int | None = None, cache: lazy.Cache = None) -> TraceSet:
    """Reads what several paths or addresses name, of files, archives and folders, as one job.

    Files have their paths for names, and Execution Traces are found beside them. Errors as those of `read_dir`.
    """
    options = Options(max_bytes, cache_folder(cache))
    found = Archive({}, {})
    for source in sources:
        inside = _at(source, options)
        found.files.update(inside.files)
        found.skipped.update({name: why for name, why in inside.skipped.items() if is_trace(name)})
    return _job(found, ", ".join(sources), options, Manner())


def read_archive(file: File, execution: File | None, options: Options) -> Trace | TraceSet:
    """Reads an archive for `read`: its trace, or the set of them where there are several."""
    job = _archived_job(
        file, execution, Options(options.max_bytes, options.cache, iteration=options.iteration), progress=None
    )
    if len(job) > 1:
        return job
    for name, why in job.skipped.items():
        if is_trace(name):
            warn(f"{name} in {file.label or 'the archive'} was left out: {why}")
    return job.members[0].trace


# --- what there is ------------------------------------------------------------------------------------------------


def _archive(folder: str | os.PathLike[str], storage_options: Mapping[str, Any] | None) -> File | None:
    """The archive that stands for a folder; None for a folder."""
    if isinstance(folder, str) and is_url(folder):
        file = file_at(folder, storage_options)
        return file if is_archive_name(file.name) else None
    return LocalFile(folder) if Path(folder).is_file() else None


def _files(folder: str | os.PathLike[str], storage_options: Mapping[str, Any] | None) -> Archive:
    """The files of a folder, by whether they may be traces."""
    if isinstance(folder, str) and is_url(folder):
        return _by_name(files_at(file_at(folder, storage_options)))
    return _by_name(files_in(folder))


def _at(source: str, options: Options) -> Archive:
    """The files at a path or an address, by their paths."""
    if not source:
        raise ValueError("expected the path of a trace, found an empty one")
    if source.endswith("/") or (not is_url(source) and Path(source).is_dir()):
        return _under(source, _files(source, None))
    file = file_at(source, None) if is_url(source) else readable(file_at_path(source))
    if _native.is_archive(file.head()):
        return _under(source, unpacked(file, options.max_bytes))
    execution = file.execution()
    return Archive({each.label or source: each for each in (file, execution) if each is not None}, {})


def _under(folder: str, found: Archive) -> Archive:
    """The same files, by names with that of their folder or archive before them."""
    place = folder.rstrip("/")
    inside = {f"{place}/{name}": file for name, file in found.files.items()}
    return Archive(inside, {f"{place}/{name}": why for name, why in found.skipped.items()})


def _by_name(files: Mapping[str, File]) -> Archive:
    """What is in a folder is told by its name: opening every file of it would take long."""
    old = stale(files)
    traces = {name: readable(file) for name, file in files.items() if is_trace(name) and name not in old}
    read_beside = {metrics_beside(name) for name in traces}
    unread = [name for name in files if name not in read_beside]
    others = {name: _ARCHIVED if is_archive_name(name) else "no name of a trace" for name in unread}
    return Archive(traces, {name: why for name, why in {**others, **old}.items() if name not in traces})


# --- reading it ---------------------------------------------------------------------------------------------------


def _archived_job(file: File, execution: File | None, options: Options, *, progress: bool | None) -> TraceSet:
    if execution is not None:
        found, more = for_each([file, execution], lambda each, _reading: _unpacked_or_single(each, options))
        # one name may be in both
        for name, inside in more.files.items():
            found.files[name if name not in found.files else f"{execution.label}/{name}"] = inside
        found.skipped.update(more.skipped)
        return _job(found, file.label or "the archive", options, Manner(progress=progress))
    with Early(options) as early:
        found = unpacked(file, options.max_bytes, early.begin)
        return _job(found, file.label or "the archive", options, Manner(progress=progress), early.traces())


def _unpacked_or_single(file: File, options: Options) -> Archive:
    if _native.is_archive(file.head()):
        return unpacked(file, options.max_bytes)
    return Archive({Path(file.label or "execution").name: file}, {})


def _job(
    found: Archive,
    place: str,
    options: Options,
    manner: Manner,
    traces: Mapping[str, Trace] | None = None,
) -> TraceSet:
    """The job in these files, of which some may have been read each by itself."""
    files, traces = found.files, traces or {}
    heads = {name: head_of(trace._native) for name, trace in traces.items()}  # noqa: SLF001 - what is known of it
    unread = {name: file for name, file in files.items() if name not in heads}
    heads.update(zip(unread, for_each(list(unread.values()), lambda file, _: peek(file)), strict=True))
    recordings = pair_up(files, heads)
    skipped = {**found.skipped, **recordings.copies}

    def member(pair: Pair) -> Member:
        alone = traces.get(pair.names[0]) if len(pair.names) == 1 else None
        return Member(pair, files, heads, options, alone)

    members = [member(pair) for pair in recordings.pairs]
    job = _read(members, skipped, heads, manner)
    if not len(job):
        raise _native.TraceParseError(f"expected traces in {place}, found {_nothing(job.skipped)}")
    return job


def _read(members: Sequence[Member], skipped: Mapping[str, str], heads: Mapping[str, Head], manner: Manner) -> TraceSet:
    """The members, read here, or by others, or later."""
    if manner.executor is not None:
        return scattered_set(members, skipped, manner.executor, progress=manner.progress)
    later = [member for member in members if not manner.eager and _is_certain(member.pair.names, heads)]
    job = trace_set([member for member in members if member not in later], skipped, progress=manner.progress)
    return TraceSet([*job.members, *later], job.skipped) if later else job


def _nothing(skipped: Mapping[str, str]) -> str:
    """What there is instead of traces."""
    seen = [f"{name} ({why})" for name, why in skipped.items()]
    more = [f"{len(seen) - _SHOWN:,} more files"] if len(seen) > _SHOWN else []
    return ", ".join(seen[:_SHOWN] + more) or "no file"


def _is_certain(names: Iterable[str], heads: Mapping[str, Head]) -> bool:
    """Whether the heads tell that these files are traces, so that reading them can wait."""
    return all(heads[name].is_execution is not None for name in names)
