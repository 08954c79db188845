"""Gathers the files of all ranks at rank 0 or at a URL."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, Protocol, final

from kinetoscope._base.system import replace_file
from kinetoscope.profiling.folder import Recording
from kinetoscope.profiling.rank import job_size

_BLOCK_BYTES = 8 << 20


class Peers(Protocol):
    """Communication between all processes of a job. `all` is collective: every process calls it."""

    rank: int
    size: int

    def all(self, mine: Any) -> list[Any]:
        """Returns the values of all ranks, in rank order."""
        ...

    def send(self, block: bytes) -> None:
        """Sends bytes to rank 0, which calls `receive`."""
        ...

    def receive(self, rank: int, num_bytes: int) -> bytes:
        """Receives `num_bytes` bytes from `rank`, at rank 0."""
        ...


@final
class SingleProcess:
    """The only process of a job."""

    rank, size = 0, 1

    def all(self, mine: Any) -> list[Any]:
        """Returns its own value."""
        return [mine]

    def send(self, block: bytes) -> None:
        """Never called."""
        raise NotImplementedError

    def receive(self, rank: int, num_bytes: int) -> bytes:
        """Never called."""
        raise NotImplementedError


class Item(NamedTuple):
    """A file to gather."""

    name: str
    size: int
    digest: str


def files_of(recordings: Sequence[Recording], metrics: Path | None = None) -> dict[str, Path]:
    """Returns files by their names in the folder, including kernel sources and metrics."""
    found: dict[str, Path] = {}
    for recording in recordings:
        found |= {path.name: path for path in (recording.kineto, recording.execution) if path}
        if recording.sources:
            inside = sorted(path for path in recording.sources.iterdir() if path.is_file())
            found |= {f"{recording.sources.name}/{path.name}": path for path in inside}
    return found if metrics is None else {**found, metrics.name: metrics}


def upload_files(files: Mapping[str, Path], url: str, storage_options: Mapping[str, Any] | None) -> list[str]:
    """Uploads files below a URL and returns their URLs. Skips files that are already there."""
    from kinetoscope._io.remote import upload

    return [upload(path, f"{url.rstrip('/')}/{name}", storage_options) for name, path in files.items()]


def send_to_first(files: Mapping[str, Path], folder: Path, peers: Peers) -> list[Path]:
    """Sends the files of all ranks to a folder of rank 0.

    Returns their paths at rank 0, and an empty list on other ranks. Skips files that rank 0 has,
    and resumes interrupted transfers. A failed file does not stop the others. Raises OSError after
    the last file, on rank 0 and on the rank of the failed file.
    """
    errors: list[OSError] = []
    items = peers.all(_items(files, errors))
    pending = [(rank, item) for rank, those in enumerate(items) for item in those]
    starts: list[int | None] = peers.all([_start(folder, item) for _, item in pending] if peers.rank == 0 else None)[0]
    for (rank, item), start in zip(pending, starts, strict=True):
        if start is None:
            continue
        if rank == peers.rank and rank:
            _send(files[item.name], item, start, peers, errors)
        elif peers.rank == 0:
            blocks = _read(files[item.name], item, start) if rank == 0 else _received(rank, item, start, peers)
            _write(folder, item, start, blocks, errors)
    if errors:
        raise errors[0]
    return sorted(folder / item.name for _, item in pending) if peers.rank == 0 else []


def _items(files: Mapping[str, Path], errors: list[OSError]) -> list[Item]:
    """Returns items of readable files, and appends other errors to `errors`."""

    def item(name: str, path: Path) -> Item | None:
        try:
            return _item(name, path)
        except OSError as error:
            errors.append(error)
            return None

    return [found for name, path in files.items() if (found := item(name, path))]


def _start(folder: Path, item: Item) -> int | None:
    """Returns the number of received bytes of a file; None if the file is complete."""
    target = folder / item.name
    with suppress(OSError):  # the write reports the error
        if target.is_file() and target.stat().st_size == item.size and _digest(target) == item.digest:
            return None
        part = _part(folder, item)
        return min(part.stat().st_size, item.size) if part.exists() else 0
    return 0


def _sizes(item: Item, start: int) -> Iterator[int]:
    """Yields the sizes of the blocks to exchange, in bytes."""
    for at in range(start, item.size, _BLOCK_BYTES):
        yield min(_BLOCK_BYTES, item.size - at)


def _send(path: Path, item: Item, start: int, peers: Peers, errors: list[OSError]) -> None:
    """Sends the announced number of bytes, even after an error: rank 0 waits for all of them."""
    sizes = _sizes(item, start)
    try:
        for block, size in zip(_read(path, item, start), sizes, strict=False):
            peers.send(block.ljust(size, b"\0"))
    except OSError as error:
        errors.append(error)
    for size in sizes:
        peers.send(bytes(size))


def _received(rank: int, item: Item, start: int, peers: Peers) -> Iterator[bytes]:
    for size in _sizes(item, start):
        yield peers.receive(rank, size)


def _read(path: Path, item: Item, start: int) -> Iterator[bytes]:
    with path.open("rb") as file:
        file.seek(start)
        for size in _sizes(item, start):
            yield file.read(size)


def _write(folder: Path, item: Item, start: int, blocks: Iterator[bytes], errors: list[OSError]) -> None:
    """Writes the blocks. Receives all blocks even after an error: the sender waits for that."""
    try:
        with _Part(folder, item) as part:
            for block in blocks:
                part.take(block, start)
                start += len(block)
    except OSError as error:
        errors.append(error)
        for _ in blocks:
            pass


@final
class _Part:
    """An incomplete file. The digest in its name allows a later run to resume it."""

    def __init__(self, folder: Path, item: Item) -> None:
        self._target, self._path, self._item = folder / item.name, _part(folder, item), item

    def __enter__(self) -> _Part:
        self._target.parent.mkdir(parents=True, exist_ok=True)
        self._path.touch()
        self._file = self._path.open("r+b")
        return self

    def take(self, block: bytes, at: int) -> None:
        """Writes bytes at an offset."""
        self._file.seek(at)
        self._file.write(block)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._file.close()
        if kind is not None:
            return
        if _digest(self._path) != self._item.digest:
            self._path.unlink()
            raise OSError(f"expected the digest of {self._item.name} to match, found other contents: gather again")
        replace_file(self._path, self._target)


def _part(folder: Path, item: Item) -> Path:
    target = folder / item.name
    return target.with_name(f".{target.name}.{item.digest}.part")


def _item(name: str, path: Path) -> Item:
    return Item(name, path.stat().st_size, _digest(path))


def _digest(path: Path) -> str:
    """Returns the hexadecimal digest of a file; empty if the file is missing."""
    if not path.is_file():
        return ""
    digest = hashlib.blake2b(digest_size=16)
    with path.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()


def gather(
    files: Mapping[str, Path],
    to: str | os.PathLike[str] | None,
    folder: Path,
    peers: Peers | None,
    storage_options: Mapping[str, Any] | None,
) -> list[Path] | list[str]:
    """Implements `profile.gather`."""
    from kinetoscope._io.paths import is_url

    if is_url(to):
        return upload_files(files, to, storage_options)
    if peers is None and job_size() > 1:
        raise RuntimeError(
            "ks.profile: expected an initialised torch.distributed to gather files, found none: "
            "call init_process_group, or pass a URL (s3://…)"
        )
    return send_to_first(files, folder if to is None else Path(to), peers or SingleProcess())
