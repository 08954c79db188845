"""A file that may be a trace: where its bytes are, and what to call it."""

from __future__ import annotations

import io
import os
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from kinetoscope._native import _Source

HEAD_BYTES = 1 << 16
"""Several blocks of every compression, so that some of the text can be read from them."""


class BinaryFile(Protocol):
    """A file opened in binary mode, as far as it is used here."""

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes."""
        ...

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """Goes to another place."""
        ...

    def tell(self) -> int:
        """The place that it is at."""
        ...

    def seekable(self) -> bool:
        """Whether it can go to other places."""
        ...


Content = bytes | bytearray | memoryview | BinaryFile
"""The bytes of a file, or a file opened in binary mode."""


class File(Protocol):
    """A file, wherever it is."""

    @property
    def label(self) -> str | None:
        """What messages call it: a path, an address, a place in an archive."""
        ...

    @property
    def size(self) -> int:
        """In bytes as it lies there; 0 where nobody says."""
        ...

    def head(self) -> bytes:
        """The first bytes, at most `HEAD_BYTES`. OSError when they cannot be read."""
        ...

    def opened(self) -> AbstractContextManager[_Source]:
        """The file as the native reader takes it. OSError when it cannot be opened."""
        ...


class LocalFile(NamedTuple):
    """A file at a path."""

    path: Path

    @property
    def label(self) -> str:
        """The path, with other letters for bytes that are none."""
        return str(self.path).encode(errors="replace").decode()

    @property
    def size(self) -> int:
        """0 when the file is gone."""
        return self.path.stat().st_size if self.path.exists() else 0

    def head(self) -> bytes:
        """The first bytes."""
        with self.path.open("rb") as file:
            return file.read(HEAD_BYTES)

    @contextmanager
    def opened(self) -> Generator[_Source]:
        """The path: the native reader opens it itself, unless its name is not Unicode."""
        if self.label == str(self.path):
            yield self.label, None
            return
        with self.path.open("rb") as file:
            yield self.label, file


class BytesFile(NamedTuple):
    """Bytes in memory."""

    label: str | None
    content: bytes

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


class OpenFile(NamedTuple):
    """A file that Python has open and that can go back to where it was."""

    label: str | None
    file: BinaryFile
    start: int

    @property
    def size(self) -> int:
        """From where it was to its end."""
        end = self.file.seek(0, os.SEEK_END)
        self.file.seek(self.start)
        return end - self.start

    def head(self) -> bytes:
        """The first bytes from where it was."""
        self.file.seek(self.start)
        head = self.file.read(HEAD_BYTES)
        self.file.seek(self.start)
        return head

    @contextmanager
    def opened(self) -> Generator[_Source]:
        """The open file; it stays open."""
        self.file.seek(self.start)
        yield self.label, self.file


def file_at_path(path: Path) -> File:
    """The file at a path; a pipe or a device, which gives its bytes once, is read."""
    if path.exists() and not path.is_file():
        return BytesFile(str(path), path.read_bytes())
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
        return OpenFile(label, content, content.tell())
    return BytesFile(label, content.read())


def files_in(folder: Path) -> dict[str, File]:
    """The files of a folder by their names, but for hidden ones. OSError when it cannot be listed."""
    with os.scandir(folder) as entries:  # it knows what a file is without asking the disk for each
        names = sorted(entry.name for entry in entries if not entry.name.startswith(".") and entry.is_file())
    return {name: LocalFile(folder / name) for name in names}
