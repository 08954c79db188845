"""Files of the shared folder: the traces that each holds, and the texts of Execution Traces."""

from __future__ import annotations

import gzip
import lzma
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


class Member(NamedTuple):
    """A trace in the shared folder: a file, or a file in an archive."""

    name: str
    content: bytes


def members(path: Path) -> Iterator[Member]:
    """Yields the JSON files of a file or archive, as a user would pass them; gzip unchanged."""
    name = path.name
    if ".tar" in name or name.endswith(".tgz"):
        yield from archived(path)
    elif name.endswith(".xz"):
        yield Member(name, lzma.decompress(path.read_bytes()))
    elif name.endswith((".json", ".json.gz")):
        yield Member(name, path.read_bytes())


def archived(path: Path) -> Iterator[Member]:
    if not tarfile.is_tarfile(path):
        return
    with tarfile.open(path) as archive:
        for entry in archive:
            file = archive.extractfile(entry)
            if file and entry.name.endswith((".json", ".json.gz")) and not Path(entry.name).name.startswith("._"):
                yield Member(f"{path.name}/{entry.name}", file.read())


def shared_texts(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Every file that may hold an Execution Trace, uncompressed."""
    for path in sorted(folder.rglob("*")):
        if path.name.endswith((".tar.gz", ".tgz")):
            with tarfile.open(path) as archive:
                for member in archive:
                    file = archive.extractfile(member)
                    if file:
                        yield f"{path.name}/{member.name}", file.read()
        elif path.name.endswith("_et.json.gz"):
            yield path.name, gzip.decompress(path.read_bytes())
