"""Finds source files of compiled kernels beside a trace."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Iterator
from pathlib import Path

from kinetoscope._io.inputs import note_input

_WRITTEN_BY_COMPILER = re.compile(
    r"(inductor_|output_code|fx_graph|aot_|before_|after_|graph_|recompile_reasons).*\.(py|txt|json)"
    r"|dedicated_log_torch_trace_.*\.log"
)

_MAX_DEPTH = 6
_MAX_ENTRIES = 20_000
_MAX_FILE_BYTES = 1 << 23
_MAX_BYTES = 1 << 26


def source_files(
    folder: str | os.PathLike[str] | None, trace: str | None, names: Collection[str]
) -> list[tuple[str, bytes]]:
    """Reads files named `names`, and files that the compiler names so, by their path in the folder.

    Only regular files inside the folder are read: a trace may name any path, and a link may lead to
    any file. Raises ValueError without a local folder, and OSError for an unreadable file.
    """
    if folder is not None:
        root = Path(folder)
    elif trace is not None and Path(trace).is_file():
        root = Path(trace).parent
    else:
        raise ValueError("expected folder=…, the folder of the sources: the trace is not a local file")
    if not root.is_dir():
        raise NotADirectoryError(f"expected a folder of sources, found none: {root}")
    wanted = frozenset(names)
    found: list[tuple[str, bytes]] = []
    left = _MAX_BYTES
    for path, size in _files(root):
        name = path.name
        if (name in wanted or _WRITTEN_BY_COMPILER.fullmatch(name)) and size <= min(left, _MAX_FILE_BYTES):
            note_input(path)
            content = path.read_bytes()
            left -= len(content)
            found.append((path.relative_to(root).as_posix(), content))
    return found


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
