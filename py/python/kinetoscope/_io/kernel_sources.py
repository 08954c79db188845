"""Finds source files of compiled kernels beside a trace, or in its archive."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Collection, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from kinetoscope._io.inputs import note_input

_WRITTEN_BY_COMPILER = re.compile(
    r"(inductor_|output_code|fx_graph|aot_|before_|after_|graph_|recompile_reasons).*\.(py|txt|json)"
    r"|dedicated_log_torch_trace_.*\.log"
)

_MAX_DEPTH = 6
_MAX_ENTRIES = 20_000
_MAX_FILE_BYTES = 1 << 23
_MAX_BYTES = 1 << 26
_MAX_ARCHIVE_BYTES = 1 << 34


class _SourceFile(NamedTuple):
    path: str
    """In its folder or archive, with slashes."""
    size: int
    content: Callable[[], bytes]


def source_files(
    folder: str | os.PathLike[str] | None, trace: str | None, names: Collection[str]
) -> list[tuple[str, bytes]]:
    """Reads files named `names`, and files that the compiler names so, by their path in the folder.

    Without `folder`, looks in the folder or the archive of the trace. Only regular files inside of
    it are read: a trace may name any path, and a link may lead to any file. Raises ValueError
    without a local folder, and OSError for an unreadable file.
    """
    wanted = frozenset(names)
    found: list[tuple[str, bytes]] = []
    left = _MAX_BYTES

    def take(file: _SourceFile) -> None:
        nonlocal left
        name = file.path.rpartition("/")[2]
        if (name in wanted or _WRITTEN_BY_COMPILER.fullmatch(name)) and file.size <= min(left, _MAX_FILE_BYTES):
            content = file.content()
            left -= len(content)
            found.append((file.path, content))

    if folder is None and trace is not None and (archive := _archive_of(trace)) is not None:
        _each_member(archive, take)
        return found
    if folder is not None:
        root = Path(folder)
    elif trace is not None and Path(trace).is_file():
        root = Path(trace).parent
    else:
        raise ValueError("expected folder=…, the folder of the sources: the trace is not a local file")
    if not root.is_dir():
        raise NotADirectoryError(f"expected a folder of sources, found none: {root}")
    for path, size in _files(root):
        take(_SourceFile(path.relative_to(root).as_posix(), size, partial(_content, path)))
    return found


def _content(path: Path) -> bytes:
    note_input(path)
    return path.read_bytes()


def _archive_of(trace: str) -> Path | None:
    """Returns the archive of a trace, whose label is that of the archive and its path in there."""
    try:
        return next((each for each in Path(trace).parents if each.is_file()), None)
    except OSError:
        return None


def _each_member(archive: Path, take: Callable[[_SourceFile], None]) -> None:
    """Gives the files of an archive to `take`; of a damaged one, those before the damage.

    The core keeps only traces of a compressed archive, so that the library reads it here.
    """
    import tarfile
    import zipfile
    import zlib

    note_input(archive)
    members = _zip_members if zipfile.is_zipfile(archive) else _tar_members
    damaged = (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError)
    try:
        for member in islice(members(archive), _MAX_ENTRIES):
            take(member)
    except damaged:
        return
    except OSError as error:
        # one without a number is of the decompressor
        if error.errno is not None:
            raise


def _zip_members(archive: Path) -> Iterator[_SourceFile]:
    import zipfile

    def content(info: zipfile.ZipInfo) -> bytes:
        with opened.open(info) as file:
            return file.read(_MAX_FILE_BYTES)

    with zipfile.ZipFile(archive) as opened:
        for info in opened.infolist():
            if not info.is_dir():
                yield _SourceFile(info.filename, info.file_size, partial(content, info))


def _tar_members(archive: Path) -> Iterator[_SourceFile]:
    import tarfile

    def content(info: tarfile.TarInfo) -> bytes:
        file = opened.extractfile(info)
        return b"" if file is None else file.read(_MAX_FILE_BYTES)

    with tarfile.open(archive) as opened:
        for info in opened:
            if info.offset_data + info.size > _MAX_ARCHIVE_BYTES:
                return
            if info.isreg():
                yield _SourceFile(info.name, info.size, partial(content, info))


def _files(root: Path) -> Iterator[tuple[Path, int]]:
    """Yields regular files and their sizes, folder by folder in the order of names."""
    num_entries = 0
    folders = [(root, 0)]
    while folders:
        folder, depth = folders.pop(0)
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:  # a folder that this user may not list holds no source for him
            continue
        for entry in entries:
            num_entries += 1
            if num_entries > _MAX_ENTRIES:
                return
            if entry.is_dir(follow_symlinks=False):
                if depth < _MAX_DEPTH:
                    folders.append((Path(entry.path), depth + 1))
                continue
            status = entry.stat(follow_symlinks=False)
            if stat.S_ISREG(status.st_mode):
                yield Path(entry.path), status.st_size
