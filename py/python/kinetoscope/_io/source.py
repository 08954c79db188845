"""What may be read, as type checkers see it: they alone import this."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from kinetoscope._native import _Source


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

Source = str | os.PathLike[str] | Content
"""A path, an address that fsspec opens, the bytes of a file, or a file opened in binary mode."""

Cache = str | os.PathLike[str] | Literal[False] | None
"""A folder for snapshots, False for none, None for the one in use."""


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

    def execution(self) -> File | None:
        """The Execution Trace, or the archive of them, that lies beside it under such a name; None where none does."""
        ...

    def metrics(self) -> File | None:
        """What `profile` sampled beside a Kineto trace; None where there is none, and for another sort of that name."""
        ...
