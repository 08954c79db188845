"""Files on disk, in memory, and open file objects."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager

from kinetoscope._base.system import SEPARATORS
from kinetoscope._io.inputs import note_input
from kinetoscope._io.paths import execution_beside, metrics_beside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kinetoscope._io.source import BinaryFile, Content, File
    from kinetoscope._native import ArchiveMember, _Source

HEAD_BYTES = 1 << 16
"""Size of a head in bytes: several blocks of every compression format."""

_METRICS = b'{"kinetoscope_metrics"'


class LocalFile:
    """A file at a path."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)

    @property
    def name(self) -> str:
        """Name without folders."""
        return os.path.basename(self.path)

    @property
    def label(self) -> str:
        """Path, with replacement characters for bytes that are not Unicode."""
        return self.path.encode(errors="replace").decode()

    @property
    def size(self) -> int:
        """Size in bytes; 0 if the file does not exist."""
        return os.stat(self.path).st_size if os.path.exists(self.path) else 0

    @property
    def modified_ns(self) -> int:
        """Modification time in ns since 1970; 0 if the file does not exist."""
        return os.stat(self.path).st_mtime_ns if os.path.exists(self.path) else 0

    def head(self) -> bytes:
        """Returns the first bytes."""
        with open(self.path, "rb") as file:
            return file.read(HEAD_BYTES)

    def note_inputs(self) -> None:
        """Notes the file, and the metrics beside it, as inputs that are read later."""
        note_input(self.path)
        if name := metrics_beside(self.name):
            note_input(os.path.join(os.path.dirname(self.path), name))

    @contextmanager
    def opened(self) -> Generator[_Source]:
        """Yields the path for the native reader to open, or an open file if it is not Unicode."""
        note_input(self.path)
        if self.label == self.path:
            yield self.label, None
            return
        with open(self.path, "rb") as file:
            yield self.label, file

    def execution(self) -> File | None:
        """Searches the folder by file names."""
        try:
            files = files_in(os.path.dirname(self.path))
        except OSError:  # a folder may forbid listing, and yet allow reading its files
            return None
        name = execution_beside(self.name, files)
        return None if name is None else files[name]

    def metrics(self) -> File | None:
        """Opens the file with the name that `profile` gives to metrics."""
        name = metrics_beside(self.name)
        return None if name is None else metrics_or_none(LocalFile(os.path.join(os.path.dirname(self.path), name)))


class _WithoutFolder:
    """A file without others beside it."""

    def execution(self) -> None:
        """Returns None: there is no folder to search."""

    def metrics(self) -> None:
        """Returns None: there is no folder to search."""


class BytesFile(_WithoutFolder):
    """A file in memory."""

    def __init__(self, label: str | None, content: bytes) -> None:
        self.label = label
        self.content = content

    @property
    def size(self) -> int:
        """Number of bytes."""
        return len(self.content)

    def head(self) -> bytes:
        """Returns the first bytes."""
        return self.content[:HEAD_BYTES]

    @contextmanager
    def opened(self) -> Generator[_Source]:
        """Yields the bytes."""
        yield self.label, self.content


class MemberFile(_WithoutFolder):
    """A file in an archive, read from where it is."""

    def __init__(self, member: ArchiveMember) -> None:
        self.label = member.label
        self._member = member

    def __reduce__(self) -> tuple[type[BytesFile], tuple[str, bytes]]:
        """Pickles as its bytes: another process may not have the archive."""
        return BytesFile, (self.label, self._member.bytes())

    @property
    def size(self) -> int:
        """Size in bytes, as the archive states it."""
        return self._member.size

    def head(self) -> bytes:
        """Returns the first bytes."""
        return self._member.head(HEAD_BYTES)

    @contextmanager
    def opened(self) -> Generator[_Source]:
        """Yields the member for the native reader to open."""
        yield self.label, self._member


class OpenFile(_WithoutFolder):
    """A seekable file object, read from its position at construction."""

    def __init__(self, label: str | None, file: BinaryFile) -> None:
        self.label = label
        self._file = file
        self._start = file.tell()

    @property
    def size(self) -> int:
        """Number of bytes from the start position to the end."""
        end = self._file.seek(0, os.SEEK_END)
        self._file.seek(self._start)
        return end - self._start

    def head(self) -> bytes:
        """Returns the first bytes from the start position."""
        self._file.seek(self._start)
        head = self._file.read(HEAD_BYTES)
        self._file.seek(self._start)
        return head

    @contextmanager
    def opened(self) -> Generator[_Source]:
        """Yields the file object at its start position, and leaves it open."""
        self._file.seek(self._start)
        yield self.label, self._file


class StreamFile(_WithoutFolder):
    """A pipe, a device, or a file object that cannot seek: its bytes come once."""

    def __init__(self, label: str | None, file: BinaryFile, close: Callable[[], None] | None = None) -> None:
        self.label = label
        self._file = file
        self._close = close or (lambda: None)
        self._head: bytes | None = None
        self._is_read = False

    def __reduce__(self) -> tuple[type[BytesFile], tuple[str | None, bytes]]:
        """Pickles as its bytes: another process does not have the stream."""
        return BytesFile, (self.label, self.head() + self._file.read(-1))

    @property
    def size(self) -> int:
        """Returns 0: the size shows only at the end."""
        return 0

    def head(self) -> bytes:
        """Returns the first bytes, and keeps them for the reader."""
        if self._head is None:
            self._head = b""
            while len(self._head) < HEAD_BYTES and (more := self._file.read(HEAD_BYTES - len(self._head))):
                self._head += more
        return self._head

    @contextmanager
    def opened(self) -> Generator[_Source]:
        """Yields the stream from its start. Raises OSError the second time."""
        if self._is_read:
            raise OSError(f"expected a file to read again, found a stream: {self.label or 'a file object'}")
        self._is_read = True
        try:
            yield self.label, _Rejoined(self.head(), self._file)
        finally:
            self._close()


class _Rejoined:
    """A stream behind the bytes that were already taken from it."""

    def __init__(self, head: bytes, file: BinaryFile) -> None:
        self._head = head
        self._file = file

    def read(self, size: int = -1, /) -> bytes:
        if not self._head:
            return self._file.read(size)
        if size < 0:
            head, self._head = self._head, b""
            return head + self._file.read(-1)
        head, self._head = self._head[:size], self._head[size:]
        return head


def metrics_or_none(file: File) -> File | None:
    """Returns a file that begins as metrics do; None for another or an unreadable file."""
    try:
        return file if file.head().startswith(_METRICS) else None
    except OSError:
        return None


def file_at_path(path: str) -> File:
    """Returns the file at a path. Opens a pipe or a device, because it yields its bytes once."""
    if os.path.exists(path) and not os.path.isfile(path):
        file = open(path, "rb")  # noqa: SIM115 - closed after its only read
        return StreamFile(path, file, file.close)
    return LocalFile(path)


def file_from_content(content: Content) -> File:
    """Wraps bytes or a file object. Raises TypeError for another type, and for text mode."""
    if isinstance(content, (bytes, bytearray, memoryview)):
        return BytesFile(None, bytes(content))
    if not hasattr(content, "read") or isinstance(content, io.TextIOBase):
        raise TypeError(f"expected a path, bytes or a file opened in binary mode, found {type(content).__name__}")
    name = getattr(content, "name", None)
    label = name if isinstance(name, str) else None  # the name of a file opened by descriptor is a number
    if getattr(content, "seekable", bool)():
        return OpenFile(label, content)
    return StreamFile(label, content)


def expect_no_file(folder: str) -> None:
    """Raises NotADirectoryError if the path of a folder, perhaps with a slash behind, is a file."""
    if os.path.isfile(folder.rstrip("".join(SEPARATORS))):
        raise NotADirectoryError(f"expected a folder, found a file: {folder}")


def files_in(folder: str | os.PathLike[str]) -> dict[str, File]:
    """Returns the files of a folder by name, without hidden files; "" is the current folder.

    Raises OSError if the folder cannot be listed.
    """
    expect_no_file(os.fspath(folder))
    with os.scandir(folder or os.curdir) as entries:  # knows the type of each entry without a call of stat
        names = sorted(entry.name for entry in entries if not entry.name.startswith(".") and entry.is_file())
    return {name: LocalFile(os.path.join(folder, name)) for name in names}
