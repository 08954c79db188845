"""From a file, an archive or an address to what it holds."""

from __future__ import annotations

import os
from collections.abc import Mapping

from kinetoscope import _native
from kinetoscope._base import lazy
from kinetoscope._base.processors import num_processors
from kinetoscope._io.cache import cache_folder
from kinetoscope._io.file import expect_no_file, file_at_path, file_of
from kinetoscope._io.nsight import readable
from kinetoscope._io.paths import is_url
from kinetoscope._load.load import Options, load, load_any
from kinetoscope.trace import Trace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kinetoscope._io.source import File
    from kinetoscope.tables import Tables


def read(
    source: lazy.Source,
    et: lazy.Source | lazy.Literal[False] | None = None,
    *,
    iteration: int | None = None,
    max_bytes: int | None = None,
    cache: lazy.Cache = None,
    storage_options: Mapping[str, lazy.Any] | None = None,
) -> Trace | lazy.Any:
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

    `iteration` links the two by names and shapes alone, to this iteration of the longer one, as `Trace.relink` does;
    of an archive, those of each rank.

    `max_bytes` bounds the size of each file after decompression, and of all files in an archive. `cache` is a folder
    for snapshots, so that the same files are loaded quickly the next time; by default the one of `use_cache`.

    TraceError says what was expected, what was found, and where. OSError when a file cannot be opened, ImportError when
    a package for an address is missing. Defects that a trace can be read in spite of are in `Trace.health`.
    """
    options = Options(max_bytes, cache_folder(cache), num_processors(), iteration)
    file = _file(source, storage_options)
    is_archive = _native.is_archive(file.head())
    execution = file.execution() if et is None else None if et is False else _file(et, storage_options)
    if is_archive:
        from kinetoscope._load.job import read_archive

        return read_archive(file, execution, options)
    if et is None:
        found = _read_found(file, execution, options)
    else:
        found = load_any([file] if execution is None else [file, execution], options)
    return found if iteration is None else _linked_to(found, iteration)


def _linked_to(found: Trace | Tables, iteration: int) -> Trace:
    if isinstance(found, Trace):
        return found.relink(iteration=iteration)
    raise _native.UnsupportedTraceError(f"expected a trace to link, found {found.sort} ({found.source})")


def _file(source: lazy.Source, storage_options: Mapping[str, lazy.Any] | None) -> File:
    if is_url(source):
        from kinetoscope._io.remote import file_at

        return file_at(source, storage_options)
    if not isinstance(source, (str, os.PathLike)):
        return file_of(source)
    path = os.fspath(source)
    if not path:
        raise ValueError("expected the path of a trace, found an empty one")
    if os.path.isdir(path):
        raise IsADirectoryError(f"expected a file, found a folder: {path}; ks.read_dir reads folders")
    if path.endswith(os.sep):
        expect_no_file(path)
    return readable(file_at_path(path))


def _read_found(file: File, execution: File | None, options: Options) -> Trace | Tables:
    """An Execution Trace that nobody asked for must not keep the Kineto trace from being read."""
    if execution is None:
        return load_any([file], options)
    try:
        return load(file, execution, options)
    except (_native.TraceError, OSError) as error:
        found = load_any([file], options)
        if isinstance(found, Trace):
            from kinetoscope._base.warnings import warn

            warn(f"{execution.label}, found beside {file.label}, was not read: {error}")
        return found
