"""A file that may be a trace: where its bytes are, and what to call it."""

from __future__ import annotations

import io
import os
from collections.abc import Generator
from contextlib import contextmanager

from kinetoscope._io.paths import execution_beside, metrics_beside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kinetoscope._io.source import BinaryFile, Content, File
    from kinetoscope._native import _Source

HEAD_BYTES = 1 << 16
"""Several blocks of every compression, so that some of the text can be read from them."""

_METRICS = b'{"kinetoscope_metrics"'


class LocalFile:
    """A file at a path."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)

    @property
    def name(self) -> str:
        """Without its folder."""
        return os.path.basename(self.path)

    @property
    def label(self) -> str:
        """The path, with other letters for bytes that are none."""
        return self.path.encode(errors="replace").decode()

    @property
    def size(self) -> int:
        """0 when the file is gone."""
        return os.stat(self.path).st_size if os.path.exists(self.path) else 0

    @property
    def changed_ns(self) -> int:
        """When it was changed, since 1970; 0 when the file is gone."""
        return os.stat(self.path).st_mtime_ns if os.path.exists(self.path) else 0

    def head(self) -> bytes:
        """The first bytes."""
        with open(self.path, "rb") as file:
            return file.read(HEAD_BYTES)

    @contextmanager
    def opened(self) -> Generator[_Source]:
        """The path: the native reader opens it itself, unless its name is not Unicode."""
        if self.label == self.path:
            yield self.label, None
            return
        with open(self.path, "rb") as file:
            yield self.label, file

    def execution(self) -> File | None:
        """By the names in its folder."""
        try:
            files = files_in(os.path.dirname(self.path))
        except OSError:  # a folder may let its files be read, but not be listed
            return None
        found = execution_beside(self.name, files)
        return None if found is None else files[found]

    def metrics(self) -> File | None:
        """By its name."""
        name = metrics_beside(self.name)
        return None if name is None else as_metrics(LocalFile(os.path.join(os.path.dirname(self.path), name)))


class BytesFile:
    """Bytes in memory."""

    def __init__(self, label: str | None, content: bytes) -> None:
        self.label = label
        self.content = content

    @property
    def size(self) -> int:
        """Their number."""
        return len(self.content)

    def head(self) -> bytes:
        """The first of them."""
        return self.content[:HEAD_BYTES]

    @contextmanager
    def opened(self) -> Generator[_Source]:
        """The bytes."""
        yield self.label, self.content

    def execution(self) -> None:
        """None: bytes are in no folder."""

    def metrics(self) -> None:
        """None, likewise."""


class OpenFile:
    """A file that Python has open and that can go back to where it is."""

    def __init__(self, label: str | None, file: BinaryFile) -> None:
        self.label = label
        self._file = file
        self._start = file.tell()

    @property
    def size(self) -> int:
        """From where it was to its end."""
        end = self._file.seek(0, os.SEEK_END)
        self._file.seek(self._start)
        return end - self._start

    def head(self) -> bytes:
        """The first bytes from where it was."""
        self._file.seek(self._start)
        head = self._file.read(HEAD_BYTES)
        self._file.seek(self._start)
        return head

    @contextmanager
    def opened(self) -> Generator[_Source]:
        """The open file; it stays open."""
        self._file.seek(self._start)
        yield self.label, self._file

    def execution(self) -> None:
        """None: what is given as a file stands for itself."""

    def metrics(self) -> None:
        """None, likewise."""


def as_metrics(file: File) -> File | None:
    """A file that has the name of metrics, if it is there and is what its name says."""
    try:
        return file if file.head().startswith(_METRICS) else None
    except OSError:
        return None


def file_at_path(path: str) -> File:
    """The file at a path; a pipe or a device, which gives its bytes once, is read."""
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "rb") as file:
            return BytesFile(path, file.read())
    return LocalFile(path)


def file_of(content: Content) -> File:
    """Bytes or an open file. TypeError for what is neither, or is opened in text mode."""
    if isinstance(content, (bytes, bytearray, memoryview)):
        return BytesFile(None, bytes(content))
    if not hasattr(content, "read") or isinstance(content, io.TextIOBase):
        raise TypeError(f"expected a path, bytes or a file opened in binary mode, found {type(content).__name__}")
    name = getattr(content, "name", None)
    label = name if isinstance(name, str) else None  # a file opened by its descriptor has a number
    if getattr(content, "seekable", bool)():
        return OpenFile(label, content)
    return BytesFile(label, content.read())


def expect_no_file(folder: str) -> None:
    """NotADirectoryError when what is taken for a folder, perhaps for the slash behind it, is a file."""
    if os.path.isfile(folder.rstrip(os.sep)):
        raise NotADirectoryError(f"expected a folder, found a file: {folder}")


def files_in(folder: str | os.PathLike[str]) -> dict[str, File]:
    """The files of a folder by their names, but for hidden ones; "" is the current one. OSError when that fails."""
    expect_no_file(os.fspath(folder))
    with os.scandir(folder or os.curdir) as entries:  # it knows what a file is without asking the disk for each
        names = sorted(entry.name for entry in entries if not entry.name.startswith(".") and entry.is_file())
    return {name: LocalFile(os.path.join(folder, name)) for name in names}
