"""From files to a Trace."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import BinaryIO, Literal

from kinetoscope import _native
from kinetoscope.discover import execution_beside
from kinetoscope.trace import Trace

Source = str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO
"""A path, the bytes of a file, or a file opened in binary mode."""


def read(source: Source, et: Source | Literal[False] | None = None, *, max_bytes: int | None = None) -> Trace:
    """Reads a Kineto trace and the Execution Trace recorded with it, plain or gzip, and links them.

    `et` is the Execution Trace; by default the one beside a `source` that is a path, found by its name
    (`kineto_trace_0.json.gz` and `torch_et_0.json.gz`, `rank-3.json` and `rank-3.et.json`, `x_trace.json` and
    `x_et.json`); False for none. `source` may also be an Execution Trace alone.

    TraceError says what was expected, what was found, and where; `max_bytes` bounds the size of each file after
    decompression, and a larger one is a TraceError too. OSError when a file cannot be opened. Defects that a trace can
    be read in spite of are in `Trace.health`.
    """
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        _refuse_folder(path)
        if et is None:
            return _read_found(path, execution_beside(path) if path.exists() else None, max_bytes)
        if et is False:
            return _read_paths(path, None, max_bytes)
        if isinstance(et, (str, os.PathLike)):
            return _read_paths(path, Path(et), max_bytes)
    return _read_contents(source, et or None, max_bytes)


def _refuse_folder(path: Path) -> None:
    if path.is_dir():
        raise IsADirectoryError(f"expected a file, found a folder: {path}; ks.read_dir reads folders")


def _read_contents(source: Source, et: Source | None, max_bytes: int | None) -> Trace:
    contents = [(_name(file), _content(file)) for file in (source, et) if file is not None]
    native = _native.Trace.read(contents, max_bytes=max_bytes)
    return Trace(native, _name(source), None if et is None else _name(et))


def _read_found(path: Path, execution: Path | None, max_bytes: int | None) -> Trace:
    """An Execution Trace that nobody asked for must not keep the Kineto trace from being read."""
    try:
        return _read_paths(path, execution, max_bytes)
    except (_native.TraceError, OSError) as error:
        if execution is None:
            raise
        trace = _read_paths(path, None, max_bytes)
        warnings.warn(
            f"{execution.name}, found beside {path.name}, was not read: {error}", RuntimeWarning, stacklevel=4
        )
        return trace


def _read_paths(kineto: Path, execution: Path | None, max_bytes: int | None) -> Trace:
    files = [(str(path), None) for path in (kineto, execution) if path]
    native = _native.Trace.read(files, max_bytes=max_bytes)
    return Trace(native, str(kineto), str(execution) if execution else None)


def _content(source: Source) -> bytes:
    if isinstance(source, (str, os.PathLike)):
        return Path(source).read_bytes()
    return bytes(source) if isinstance(source, (bytes, bytearray, memoryview)) else source.read()


def _name(source: Source) -> str | None:
    if isinstance(source, (bytes, bytearray, memoryview)):
        return None
    name = os.fspath(source) if isinstance(source, (str, os.PathLike)) else getattr(source, "name", None)
    return name if isinstance(name, str) else None
