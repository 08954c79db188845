"""Reads folders and archives as the traces of a job."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kinetoscope import _native
from kinetoscope._base import lazy
from kinetoscope._base.system import SEPARATORS
from kinetoscope._base.threads import for_each
from kinetoscope._base.warnings import warn
from kinetoscope._io.archive import Listing, unpack
from kinetoscope._io.cache import cache_folder
from kinetoscope._io.discovery import Pair, pair_up
from kinetoscope._io.file import LocalFile, expect_no_file, file_at_path, files_in
from kinetoscope._io.header import Head, head_of, peek
from kinetoscope._io.nsight import resolve_report, stale_exports
from kinetoscope._io.paths import is_archive_name, is_trace, is_url, metrics_beside
from kinetoscope._io.remote import file_at, files_at
from kinetoscope._load.companions import place_companions
from kinetoscope._load.flight import dumps_in
from kinetoscope._load.member import Member
from kinetoscope._load.read import Options
from kinetoscope._load.streaming_archive import StreamingReader
from kinetoscope.trace_set import TraceSet, read_by_workers, read_here

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from kinetoscope._io.source import File
    from kinetoscope.trace import Trace

_MAX_SHOWN = 3
_LEFT_OUT = "an Execution Trace, left out by et=False (--no-et)"


class JobOptions(NamedTuple):
    """Options of `read_dir` that concern the job as a whole."""

    eager: bool = True
    progress: bool | None = None
    executor: Executor | None = None
    has_executions: bool = True
    """Whether to read Execution Traces."""


def read_dir(  # noqa: PLR0913 - the options of `read`, by keyword
    folder: str | os.PathLike[str],
    *,
    et: lazy.Literal[False] | None = None,
    eager: bool = True,
    progress: bool | None = None,
    iteration: int | None = None,
    max_bytes: int | None = None,
    cache: lazy.Cache = None,
    storage_options: Mapping[str, Any] | None = None,
    executor: lazy.Executor | None = None,
    ranks: lazy.RankMode = "split",
    include_environment: bool = False,
    iterations: Sequence[str] | None = None,
    capture: lazy.Capture = None,
) -> TraceSet:
    """Reads all traces of a folder, and pairs Kineto traces with Execution Traces.

    Reads the files of `ks.profile`, `tensorboard_trace_handler`, HTA, Chakra, PARAM and nsys.
    `folder` is a path, a URL, or an archive. The rank of a trace comes from its `distributedInfo`,
    else from its name. Two files of one rank are two windows of that rank. `TraceSet.skipped`
    lists all other files, each with the reason. With `et=False`, it lists the Execution Traces too.

    By default, reads all files at once, on all processors. `eager=False` reads only their heads,
    and each trace at its first use. Use it if the job exceeds the memory, or for a few ranks of
    many. `TraceSet.load` reads the rest. `progress` shows or hides a progress bar; by default, a
    terminal and a notebook show one. Ctrl-C stops all threads within a fraction of a second.

    With an `executor` (`concurrent.futures`, `dask.distributed.Client.get_executor()`), its
    workers read and reduce the traces. Only results are sent back, so a job may exceed the memory
    of any machine. The workers must see the same paths or URLs. Operations that need whole traces
    (`job[rank]`, timelines, reports) still read them in this process.

    The other options are those of `read`. `iteration` changes only recordings of two files. A file
    that merges ranks is skipped as a copy if these ranks have files of their own.

    Raises:
        TraceError: no file of the folder is a trace.
        OSError: the folder cannot be listed.
        ImportError: a package for the URL is missing.
        ValueError: the path is empty, the arguments are an archive and an executor, or `ranks` is
            unknown.
    """
    path = os.fspath(folder)
    if not path:
        raise ValueError("expected the path of a folder, found an empty one")
    if path.endswith(SEPARATORS):
        expect_no_file(path)
    if ranks not in {"split", "merge"}:
        raise ValueError(f'expected ranks="split" or ranks="merge", found {ranks!r}')
    options = Options(
        max_bytes,
        cache_folder(cache),
        iteration=iteration,
        merges=ranks == "merge",
        include_environment=include_environment,
        iterations=iterations,
        capture=capture,
    )
    job_options = JobOptions(eager=eager, progress=progress, executor=executor, has_executions=et is not False)
    archive = _as_archive(folder, storage_options)
    if archive is not None and executor is not None:
        raise ValueError(
            f"expected a folder to read with an executor, found the archive {archive.label}; unpack it first"
        )
    if archive is not None and eager:
        return _read_archived_job(archive, None, options, job_options)
    listing = _list_folder(folder, storage_options) if archive is None else unpack(archive, max_bytes)
    try:
        return _build_job(listing, path, options, job_options)
    except _native.TraceParseError as error:
        if archive is None and not is_url(path) and dumps_in(path):
            reason = f"expected traces, found dumps of a flight recorder in {path}; use ks.read for this folder"
            raise _native.UnsupportedTraceError(reason) from error
        raise


def read_several(  # noqa: PLR0913 - the options of `read`, by keyword
    sources: Sequence[str],
    *,
    et: lazy.Literal[False] | None = None,
    max_bytes: int | None = None,
    cache: lazy.Cache = None,
    ranks: lazy.RankMode = "split",
    iterations: Sequence[str] | None = None,
    capture: lazy.Capture = None,
) -> TraceSet:
    """Reads several files, archives and folders, at paths or URLs, as one job.

    Names of files are their paths. Also reads Execution Traces beside the files, unless `et` is
    False. Raises the errors of `read_dir`.
    """
    options = Options(max_bytes, cache_folder(cache), merges=ranks == "merge", iterations=iterations, capture=capture)
    combined = Listing({}, {})
    for source in sources:
        listing = _list_source(source, options)
        combined.files.update(listing.files)
        combined.skipped.update({name: reason for name, reason in listing.skipped.items() if is_trace(name)})
    return _build_job(combined, ", ".join(sources), options, JobOptions(has_executions=et is not False))


def read_archive(
    file: File, execution: File | None, options: Options, *, has_executions: bool = True
) -> Trace | TraceSet:
    """Reads an archive for `read`: returns its trace, or a TraceSet of several recordings."""
    # one thread per recording, as in any job
    job_options = Options(
        options.max_bytes,
        options.cache,
        iteration=options.iteration,
        merges=options.merges,
        include_environment=options.include_environment,
        iterations=options.iterations,
        capture=options.captures and options.captures.sources,
    )
    job = _read_archived_job(file, execution, job_options, JobOptions(has_executions=has_executions))
    if len(job) > 1:
        return job
    for name, reason in job.skipped.items():
        if is_trace(name):
            warn(f"{name} in {file.label or 'the archive'} was skipped: {reason}")
    return job.members[0].trace


# --- listing files -------------------------------------------------------------------------------


def _as_archive(folder: str | os.PathLike[str], storage_options: Mapping[str, Any] | None) -> File | None:
    """Returns the archive at a path or URL; None for a folder."""
    if isinstance(folder, str) and is_url(folder):
        file = file_at(folder, storage_options)
        return file if is_archive_name(file.name) else None
    return LocalFile(folder) if Path(folder).is_file() else None


def _list_folder(folder: str | os.PathLike[str], storage_options: Mapping[str, Any] | None) -> Listing:
    if isinstance(folder, str) and is_url(folder):
        return _sort_by_name(files_at(file_at(folder, storage_options)))
    return _sort_by_name(files_in(folder))


def _list_source(source: str, options: Options) -> Listing:
    """Lists the files of a folder, an archive or a single file, by their paths."""
    if not source:
        raise ValueError("expected the path of a trace, found an empty one")
    if source.endswith("/") or (not is_url(source) and Path(source).is_dir()):
        return _with_prefix(source, _list_folder(source, None))
    file = file_at(source, None) if is_url(source) else resolve_report(file_at_path(source))
    if _native.is_archive(file.head()):
        return _with_prefix(source, unpack(file, options.max_bytes))
    execution = file.execution()
    return Listing({each.label or source: each for each in (file, execution) if each is not None}, {})


def _with_prefix(folder: str, listing: Listing) -> Listing:
    """Prepends the path of a folder or archive to all names."""
    prefix = folder.rstrip("/")
    files = {f"{prefix}/{name}": file for name, file in listing.files.items()}
    return Listing(files, {f"{prefix}/{name}": reason for name, reason in listing.skipped.items()})


def _sort_by_name(files: Mapping[str, File]) -> Listing:
    """Separates traces from other files by their names, because opening every file is slow."""
    stale = stale_exports(files)
    traces = {name: resolve_report(file) for name, file in files.items() if is_trace(name) and name not in stale}
    metrics = {metrics_beside(name) for name in traces}
    others = {name: _other_reason(name) for name in files if name not in metrics}
    return Listing(traces, {name: reason for name, reason in {**others, **stale}.items() if name not in traces})


def _other_reason(name: str) -> str:
    return "an archive; read it with ks.read" if is_archive_name(name) else "not the name of a trace"


# --- reading traces ------------------------------------------------------------------------------


def _read_archived_job(file: File, execution: File | None, options: Options, job_options: JobOptions) -> TraceSet:
    """Reads an archive, and the archive or file of Execution Traces beside it."""
    if execution is not None:
        listing, executions = for_each([file, execution], lambda each, _reading: _unpack_or_wrap(each, options))
        # both archives may contain the same name
        for name, member in executions.files.items():
            listing.files[name if name not in listing.files else f"{execution.label}/{name}"] = member
        listing.skipped.update(executions.skipped)
        return _build_job(listing, file.label or "the archive", options, job_options)
    with StreamingReader(options) as reader:
        listing = unpack(file, options.max_bytes, reader.add)
        return _build_job(listing, file.label or "the archive", options, job_options, reader.traces())


def _unpack_or_wrap(file: File, options: Options) -> Listing:
    """Unpacks an archive, or lists a single file."""
    if _native.is_archive(file.head()):
        return unpack(file, options.max_bytes)
    return Listing({Path(file.label or "execution").name: file}, {})


def _build_job(
    listing: Listing,
    label: str,
    options: Options,
    job_options: JobOptions,
    traces: Mapping[str, Trace] | None = None,
) -> TraceSet:
    """Pairs files to recordings, and reads them. `traces` are files that were already read alone.

    Raises TraceParseError if no recording remains; `label` names the source in the message.
    """
    files, traces = listing.files, traces or {}
    heads = {name: head_of(trace._native) for name, trace in traces.items()}  # noqa: SLF001 - an argument of the core
    unread = {name: file for name, file in files.items() if name not in heads}
    heads.update(zip(unread, for_each(list(unread.values()), lambda file, _: peek(file)), strict=True))
    pairing = pair_up(files, heads)
    skipped = {**listing.skipped, **pairing.copies}
    pairs = pairing.pairs
    if not job_options.has_executions:
        skipped.update({pair.execution: _LEFT_OUT for pair in pairs if pair.execution is not None})
        pairs = [pair if pair.execution is None else Pair(pair.kineto, None, "alone") for pair in pairs if pair.kineto]

    def member(pair: Pair) -> Member:
        trace = traces.get(pair.names[0]) if len(pair.names) == 1 else None
        return Member(pair, files, heads, options, trace)

    members = [member(pair) for pair in pairs]
    job = _read_members(members, skipped, heads, job_options)
    if not len(job):
        raise _native.TraceParseError(f"expected traces in {label}, found {_summary(job.skipped)}")
    return job


def _read_members(
    members: Sequence[Member], skipped: Mapping[str, str], heads: Mapping[str, Head], job_options: JobOptions
) -> TraceSet:
    """Reads members in this process, with an executor, or at their first use."""
    if job_options.executor is not None:
        return read_by_workers(members, skipped, job_options.executor, progress=job_options.progress)
    deferred = [member for member in members if not job_options.eager and _are_traces(member.pair.names, heads)]
    job = read_here([member for member in members if member not in deferred], skipped, progress=job_options.progress)
    if deferred:
        return TraceSet([*job.members, *deferred], job.skipped)
    ranks, unplaced = place_companions(job.members)
    return TraceSet(ranks, job.skipped | unplaced)


def _summary(skipped: Mapping[str, str]) -> str:
    """Lists the first skipped files with their reasons, and counts the others."""
    names = [f"{name} ({reason})" for name, reason in skipped.items()]
    more = [f"{len(names) - _MAX_SHOWN:,} more files"] if len(names) > _MAX_SHOWN else []
    return ", ".join(names[:_MAX_SHOWN] + more) or "no file"


def _are_traces(names: Iterable[str], heads: Mapping[str, Head]) -> bool:
    """Whether the heads prove that all files are traces, so that reading can wait."""
    return all(heads[name].is_execution is not None for name in names)
