"""Reads and uploads files at URLs. The only module that imports fsspec."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from kinetoscope._base.optional import missing
from kinetoscope._io.file import HEAD_BYTES, metrics_or_none
from kinetoscope._io.paths import execution_beside, metrics_beside

if TYPE_CHECKING:
    from kinetoscope._io.source import File
    from kinetoscope._native import _Source

_TAIL_BYTES = 1 << 12


class RemoteFile(NamedTuple):
    """A file in a file system of fsspec."""

    label: str
    """URL without user, password and query, which may be secret."""
    file_system: Any
    path: str
    size: int = 0
    """Size in bytes from the listing of the folder; 0 without a listing.

    A request for the size takes as long as a request for the head.
    """

    @property
    def name(self) -> str:
        """Name without folders."""
        return PurePosixPath(_without_query(self.path)).name

    def head(self) -> bytes:
        """Returns the first bytes. A server without range requests sends more."""
        with _os_errors(self.path, self.label), self.file_system.open(self.path, "rb", block_size=HEAD_BYTES) as file:
            return bytes(file.read(HEAD_BYTES))

    @contextmanager
    def opened(self) -> Generator[_Source]:
        """Yields a file object that downloads as it is read."""
        with _os_errors(self.path, self.label), self.file_system.open(self.path, "rb") as file:
            yield self.label, file

    def execution(self) -> File | None:
        """Searches the folder by file names."""
        files = _neighbours(self)
        name = execution_beside(self.name, files)
        return None if name is None else files[name]

    def metrics(self) -> File | None:
        """Opens the file with the name that `profile` gives to metrics.

        File systems answer from the listing of the folder, if they have one.
        """
        name = metrics_beside(self.name)
        return None if name is None else metrics_or_none(_remote_file(self.file_system, _folder(self) + name))


@contextmanager
def _os_errors(path: str, label: str) -> Generator[None]:
    """Turns errors of a file system into OSError, and removes secrets of the URL from messages."""
    try:
        yield
    except FileNotFoundError as error:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), label) from error
    except (ValueError, TypeError, ImportError, MemoryError):
        raise
    except Exception as error:
        message = str(error).replace(path, label) or type(error).__name__
        raise OSError(message if label in message else f"{message}: {label}") from error


def file_at(url: str, storage_options: Mapping[str, Any] | None = None) -> RemoteFile:
    """Returns the file at a URL, without a request.

    Raises ImportError if fsspec or the package for the protocol is missing, ValueError for an
    unknown protocol.
    """
    try:
        import fsspec.core

        file_system, path = fsspec.core.url_to_fs(url, **(storage_options or {}))
    except ImportError as error:
        raise _missing(error, public_url(url)) from None
    except ValueError as error:  # fsspec names the unknown protocol
        raise ValueError(f"expected a URL that fsspec can open, found {public_url(url)}: {error}") from error
    return RemoteFile(public_url(url), file_system, str(path))


def _missing(error: ImportError, url: str) -> ImportError:
    """Returns the error for a missing fsspec, or for the package that it needs for a protocol."""
    cause = error if isinstance(error, ModuleNotFoundError) else error.__cause__
    if not isinstance(cause, ModuleNotFoundError):
        return error
    package = (cause.name or "fsspec").partition(".")[0]
    return missing(cause, url, "kinetoscope[remote]" if package in {"fsspec", "aiohttp"} else package)


def files_at(folder: RemoteFile) -> dict[str, File]:
    """Returns the files of a folder by name, without hidden files.

    Raises OSError if the folder cannot be listed.
    """
    with _os_errors(folder.path, folder.label):
        listing = folder.file_system.ls(folder.path, detail=True)
    entries = (entry for entry in listing if entry.get("type") != "directory")
    files = (_remote_file(folder.file_system, entry["name"], entry.get("size")) for entry in entries)
    return {file.name: file for file in files if file.name and not file.name.startswith(".")}


def upload(path: Path, url: str, storage_options: Mapping[str, Any] | None = None) -> str:
    """Uploads a file to a URL, unless the same file is already there.

    The file appears under its name only when it is complete. Returns the URL without secrets.
    Raises the errors of `file_at`, and OSError if the upload fails.
    """
    file = file_at(url, storage_options)
    with _os_errors(file.path, file.label):
        if not _is_uploaded(file.file_system, file.path, path):
            parent, _, name = file.path.rpartition("/")
            file.file_system.makedirs(parent or "/", exist_ok=True)
            temporary = f"{parent}/.{name}.part"
            file.file_system.put_file(str(path), temporary)
            file.file_system.mv(temporary, file.path)
    return file.label


def _is_uploaded(file_system: Any, remote_path: str, path: Path) -> bool:
    """Whether the remote file has the size and the last bytes of a local file.

    The last bytes of a gzip file include its checksum.
    """
    size = path.stat().st_size
    if not file_system.exists(remote_path) or file_system.size(remote_path) != size:
        return False
    with path.open("rb") as file:
        file.seek(max(0, size - _TAIL_BYTES))
        tail: bytes = file_system.cat_file(remote_path, start=max(0, size - _TAIL_BYTES))
        return file.read() == tail


def public_url(url: str) -> str:
    """Removes user, password, query and fragment from a URL, for messages."""
    if "://" not in url:
        return url
    return re.sub("//[^/@]*@", "//", re.split("[?#]", url, maxsplit=1)[0])


def _neighbours(file: RemoteFile) -> dict[str, File]:
    """Returns the files of the same folder by name, or only the Execution Trace of `profile`.

    Many servers cannot list a folder. Then only the name that `profile` gives is requested.
    """
    parent = _folder(file)
    with suppress(Exception):
        names = file.file_system.ls(parent.rstrip("/") or "/", detail=False)
        entries: list[File] = [_remote_file(file.file_system, name) for name in names]
        if entries:
            return {PurePosixPath(entry.label or "").name: entry for entry in entries}
    name = file.name.replace("kineto_trace_", "torch_et_", 1)
    candidate = _remote_file(file.file_system, parent + name)
    with suppress(Exception):
        if name != file.name and file.file_system.exists(candidate.path):
            return {name: candidate}
    return {}


def _remote_file(file_system: Any, path: str, size: int | None = None) -> RemoteFile:
    return RemoteFile(public_url(file_system.unstrip_protocol(path)), file_system, path, size or 0)


def _folder(file: RemoteFile) -> str:
    return _without_query(file.path)[: -len(file.name)]


def _without_query(path: str) -> str:
    return re.split("[?#]", path, maxsplit=1)[0] if "://" in path else path
