"""Files at addresses. The one module that knows fsspec."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from kinetoscope._io.file import HEAD_BYTES, as_metrics
from kinetoscope._io.paths import execution_beside, metrics_beside

if TYPE_CHECKING:
    from kinetoscope._io.source import File
    from kinetoscope._native import _Source

_END_BYTES = 1 << 12


class RemoteFile(NamedTuple):
    """A file in one of fsspec's file systems."""

    label: str
    """The address without what may be secret in it: user, password and query."""
    file_system: Any
    path: str
    size: int = 0
    """As the listing of its folder says; asking for each file would take as long as reading its head."""

    @property
    def name(self) -> str:
        """Without its folder."""
        return PurePosixPath(_bare(self.path)).name

    def head(self) -> bytes:
        """The first bytes; servers that know no ranges are asked for more."""
        with _told(self.path, self.label), self.file_system.open(self.path, "rb", block_size=HEAD_BYTES) as file:
            return bytes(file.read(HEAD_BYTES))

    @contextmanager
    def opened(self) -> Generator[_Source]:
        """A file that is fetched as it is read."""
        with _told(self.path, self.label), self.file_system.open(self.path, "rb") as file:
            yield self.label, file

    def execution(self) -> File | None:
        """By the names in its folder."""
        files = _beside(self)
        found = execution_beside(self.name, files)
        return None if found is None else files[found]

    def metrics(self) -> File | None:
        """By its name, which is asked for: of a folder that was listed, file systems know without asking."""
        name = metrics_beside(self.name)
        return None if name is None else as_metrics(_listed(self.file_system, _folder(self) + name))


@contextmanager
def _told(path: str, label: str) -> Generator[None]:
    """Errors of a file system as OSError, without the secrets in the address."""
    try:
        yield
    except FileNotFoundError as error:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), label) from error
    except (ValueError, TypeError, ImportError, MemoryError):
        raise
    except Exception as error:
        said = str(error).replace(path, label) or type(error).__name__
        raise OSError(said if label in said else f"{said}: {label}") from error


def file_at(url: str, storage_options: Mapping[str, Any] | None = None) -> RemoteFile:
    """The file at an address. ImportError where fsspec or the package for the protocol is missing."""
    try:
        import fsspec.core

        file_system, path = fsspec.core.url_to_fs(url, **(storage_options or {}))
    except ImportError as error:
        raise ImportError(
            f"expected what fsspec needs for {public(url)}, found none ({error}): pip install 'kinetoscope[remote]', "
            "which is for http, and the package that is named, if any"
        ) from error
    except ValueError as error:  # fsspec names the protocol that it does not know
        raise ValueError(f"expected an address that fsspec can open, found {public(url)}: {error}") from error
    return RemoteFile(public(url), file_system, str(path))


def files_at(folder: RemoteFile) -> dict[str, File]:
    """The files of a folder by their names, but for hidden ones. OSError when it cannot be listed."""
    with _told(folder.path, folder.label):
        found = folder.file_system.ls(folder.path, detail=True)
    entries = (entry for entry in found if entry.get("type") != "directory")
    files = (_listed(folder.file_system, entry["name"], entry.get("size")) for entry in entries)
    return {file.name: file for file in files if file.name and not file.name.startswith(".")}


def upload(path: Path, url: str, storage_options: Mapping[str, Any] | None = None) -> str:
    """Writes a file to an address, where it appears when it is complete; leaves one that is there as it is.

    Gives the address without what may be secret in it. Errors as of `file_at`.
    """
    file = file_at(url, storage_options)
    with _told(file.path, file.label):
        if not _has(file.file_system, file.path, path):
            parent, _, name = file.path.rpartition("/")
            file.file_system.makedirs(parent or "/", exist_ok=True)
            temporary = f"{parent}/.{name}.part"
            file.file_system.put_file(str(path), temporary)
            file.file_system.mv(temporary, file.path)
    return file.label


def _has(file_system: Any, there: str, path: Path) -> bool:
    """Whether a file is there already: as long, and with the same end, which of a gzip has a sum of all of it."""
    size = path.stat().st_size
    if not file_system.exists(there) or file_system.size(there) != size:
        return False
    with path.open("rb") as file:
        file.seek(max(0, size - _END_BYTES))
        end: bytes = file_system.cat_file(there, start=max(0, size - _END_BYTES))
        return file.read() == end


def public(url: str) -> str:
    """An address that may be printed."""
    if "://" not in url:
        return url
    return re.sub("//[^/@]*@", "//", re.split("[?#]", url, maxsplit=1)[0])


def _beside(file: RemoteFile) -> dict[str, File]:
    """The files in the same folder, as far as the server tells."""
    parent = _folder(file)
    with suppress(Exception):  # many servers do not list; then names that `profile` gives are asked for
        names = file.file_system.ls(parent.rstrip("/") or "/", detail=False)
        entries: list[File] = [_listed(file.file_system, name) for name in names]
        if entries:
            return {PurePosixPath(entry.label or "").name: entry for entry in entries}
    name = file.name.replace("kineto_trace_", "torch_et_", 1)
    guess = _listed(file.file_system, parent + name)
    with suppress(Exception):
        if name != file.name and file.file_system.exists(guess.path):
            return {name: guess}
    return {}


def _listed(file_system: Any, path: str, size: int | None = None) -> RemoteFile:
    return RemoteFile(public(file_system.unstrip_protocol(path)), file_system, path, size or 0)


def _folder(file: RemoteFile) -> str:
    return _bare(file.path)[: -len(file.name)]


def _bare(path: str) -> str:
    return re.split("[?#]", path, maxsplit=1)[0] if "://" in path else path
