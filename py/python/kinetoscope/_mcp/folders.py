"""The folders that a server may read, and the recordings in them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from kinetoscope._base.system import IS_WINDOWS
from kinetoscope._mcp.failure import CallError
from kinetoscope._mcp.quoted import quoted
from kinetoscope._native import is_execution, is_report, is_trace

_MAX_VISITED = 20_000
_MAX_NAME = 1_000
_LIST = "list_traces()"
_SNAPSHOTS = (".pickle", ".pickle.gz")


class Entry(NamedTuple):
    """A recording that tools can name."""

    name: str
    kind: str
    """`file`, or `job` for a folder with several traces."""
    num_bytes: int
    num_files: int


class AllowedFolders:
    """Folders whose contents may be read, and nothing outside of them."""

    def __init__(self, folders: Sequence[str | os.PathLike[str]]) -> None:
        """Raises ValueError without folders, or for one that is none."""
        self._roots: dict[str, Path] = {}
        for folder in folders:
            root = Path(folder).resolve()
            if not root.is_dir():
                raise ValueError(f"expected a folder, found {folder}")
            name, number = root.name or "root", 1
            while name in self._roots:
                number += 1
                name = f"{root.name}-{number}"
            self._roots[name] = root
        if not self._roots:
            raise ValueError("expected at least one folder, found none")

    def find(self, name: str) -> Path:
        """Returns the path of a recording. Raises CallError for a name that leads elsewhere."""
        if not _is_well_formed(name):
            raise _unknown(name)
        parts = PurePosixPath(name).parts
        if _leads_out(name):
            raise CallError(f"expected a name below the served folders, found {quoted(name)}", _LIST)
        path = self._path(parts)
        real = path.resolve()
        root = self._root_of(parts)
        if real != path or not real.is_relative_to(root):
            raise CallError(f"expected a recording without symbolic links, found {quoted(name)}", _LIST)
        if not real.is_file() and not real.is_dir():
            raise _unknown(name)
        if real.is_file() and is_report(real.name):
            # Reading a report starts a program.
            raise CallError(f"expected a trace, found a report of Nsight Systems: {quoted(name)}", _LIST)
        if real.is_dir() and sum(is_trace(each.name) for each in real.iterdir()) > _MAX_VISITED:
            raise CallError(f"expected a folder of at most {_MAX_VISITED} traces, found more", _LIST)
        return real

    def entries(self) -> list[Entry]:
        """Lists recordings in natural order of their names, at most 20,000 files."""
        found: list[Entry] = []
        for prefix, root in self._roots.items():
            lead = f"{prefix}/" if len(self._roots) > 1 else ""
            for folder, files in _walk(root):
                relative = folder.relative_to(root).as_posix()
                place = lead if relative == "." else f"{lead}{relative}/"
                # An Execution Trace is read with the Kineto trace beside it.
                main = [file for file in files if not is_execution(file.name)] or files
                found += [Entry(f"{place}{file.name}", "file", file.stat().st_size, 1) for file in main]
                # A snapshot of memory is no part of a job.
                traces = [file for file in files if is_trace(file.name)]
                if len(set(main).intersection(traces)) > 1 and len(traces) <= _MAX_VISITED:
                    size = sum(file.stat().st_size for file in traces)
                    found.append(Entry(place.rstrip("/") or ".", "job", size, len(traces)))
        found = [entry for entry in found if _is_well_formed(entry.name) and not _leads_out(entry.name)]
        return sorted(found, key=lambda entry: (entry.name.rpartition("/")[0], entry.kind, entry.name))

    def _root_of(self, parts: Sequence[str]) -> Path:
        if len(self._roots) == 1:
            return next(iter(self._roots.values()))
        root = self._roots.get(parts[0]) if parts else None
        if root is None:
            raise CallError(f"expected a name that starts with one of {', '.join(self._roots)}", _LIST)
        return root

    def _path(self, parts: Sequence[str]) -> Path:
        root = self._root_of(parts)
        return root.joinpath(*(parts if len(self._roots) == 1 else parts[1:]))


def _walk(root: Path) -> Iterator[tuple[Path, list[Path]]]:
    """Yields folders with their recordings; follows no link, and skips hidden names."""
    visited = 0
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(
            each for each in folders if not each.startswith(".") and not Path(folder, each).is_symlink()
        )
        files = [Path(folder, name) for name in sorted(names) if not name.startswith(".") and _is_recording(name)]
        files = [file for file in files if not file.is_symlink() and file.is_file()]
        visited += len(names)
        if files:
            yield Path(folder), files
        if visited > _MAX_VISITED:
            return


def _is_recording(name: str) -> bool:
    return (is_trace(name) or name.lower().endswith(_SNAPSHOTS)) and not is_report(name)


def _is_well_formed(name: str) -> bool:
    """Whether a name can be that of a recording: short, in Unicode, no URL, no path of Windows."""
    is_unicode = not any("\ud800" <= char <= "\udfff" for char in name)
    has_signs = "\0" in name or "\\" in name or "://" in name
    return 0 < len(name) <= _MAX_NAME and is_unicode and not has_signs


def _leads_out(name: str) -> bool:
    """Whether a name may lead out of the folders."""
    has_drive = IS_WINDOWS and ":" in name
    return name.startswith(("/", "~")) or ".." in PurePosixPath(name).parts or has_drive


def _unknown(name: str) -> CallError:
    return CallError(f"expected the name of a recording, found {quoted(name, 100)!r}", _LIST)
