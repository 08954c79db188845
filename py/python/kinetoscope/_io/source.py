"""Types of sources and files. Only type checkers import this module."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from kinetoscope._native import _Source


class BinaryFile(Protocol):
    """A file object opened in binary mode."""

    def read(self, size: int = -1, /) -> bytes:
        """Reads up to `size` bytes, or all with -1."""
        ...

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """Moves the position, and returns it."""
        ...

    def tell(self) -> int:
        """Returns the position in bytes."""
        ...

    def seekable(self) -> bool:
        """Whether the file supports `seek`."""
        ...


Content = bytes | bytearray | memoryview | BinaryFile
"""Bytes of a file, or a file object opened in binary mode."""

Source = str | os.PathLike[str] | Content
"""A path, a URL for fsspec, the bytes of a file, or a file object opened in binary mode."""

Sources = list[str] | list[Path] | list[Source] | tuple[Source, ...]
"""Several of them."""

Cache = str | os.PathLike[str] | Literal[False] | None
"""A cache folder, False for no cache, or None for the folder of `use_cache`."""

RankMode = Literal["split", "merge"]
"""Whether each rank of a merged file becomes a trace, or all of them become one."""

Ranks = RankMode | Iterable[int]
"""The same, or some of the ranks."""


class File(Protocol):
    """A file on disk, in memory, in an archive or at a URL."""

    @property
    def label(self) -> str | None:
        """Name of the file in messages: its path, its URL, or its place in an archive."""
        ...

    @property
    def size(self) -> int:
        """Stored size in bytes; 0 if unknown."""
        ...

    def head(self) -> bytes:
        """Returns the first bytes, at most `HEAD_BYTES`. Raises OSError if unreadable."""
        ...

    def opened(self) -> AbstractContextManager[_Source]:
        """Yields the file for the native reader. Raises OSError if it cannot be opened."""
        ...

    def execution(self) -> File | None:
        """Returns the Execution Trace, or the archive of them, beside the file; None without one.

        Decides by the name only.
        """
        ...

    def metrics(self) -> File | None:
        """Returns the metrics that `profile` sampled beside a Kineto trace; None without them."""
        ...
