"""The files of all ranks in one place: at rank 0, or at an address."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, Protocol, final

from kinetoscope.profiling.folder import Recording
from kinetoscope.profiling.rank import job_size

_BLOCK_BYTES = 8 << 20


class Peers(Protocol):
    """All processes of a job, as far as files are exchanged. Each method is called by all of them at once."""

    rank: int
    size: int

    def all(self, mine: Any) -> list[Any]:
        """What each rank has, in their order."""
        ...

    def send(self, block: bytes) -> None:
        """Sends bytes to rank 0, which receives."""
        ...

    def receive(self, rank: int, num_bytes: int) -> bytes:
        """Receives bytes at rank 0, as many as `rank` sends."""
        ...


@final
class Alone:
    """A process that has no others."""

    rank, size = 0, 1

    def all(self, mine: Any) -> list[Any]:
        """Its own."""
        return [mine]

    def send(self, block: bytes) -> None:
        """Nobody sends."""
        raise NotImplementedError

    def receive(self, rank: int, num_bytes: int) -> bytes:
        """Nobody receives."""
        raise NotImplementedError


class Item(NamedTuple):
    """A file to be gathered."""

    name: str
    size: int
    digest: str


def parts(recordings: Sequence[Recording], metrics: Path | None = None) -> dict[str, Path]:
    """The files of some recordings by their names in the folder, with the sources of kernels and metrics."""
    found: dict[str, Path] = {}
    for recording in recordings:
        found |= {path.name: path for path in (recording.kineto, recording.execution) if path}
        if recording.sources:
            inside = sorted(path for path in recording.sources.iterdir() if path.is_file())
            found |= {f"{recording.sources.name}/{path.name}": path for path in inside}
    return found if metrics is None else {**found, metrics.name: metrics}


def to_address(files: Mapping[str, Path], url: str, storage_options: Mapping[str, Any] | None) -> list[str]:
    """Writes files below an address; those that are there already are left. Their addresses."""
    from kinetoscope._io.remote import upload

    return [upload(path, f"{url.rstrip('/')}/{name}", storage_options) for name, path in files.items()]


def to_first(files: Mapping[str, Path], folder: Path, peers: Peers) -> list[Path]:
    """Sends the files of all ranks to a folder of rank 0, and gives there what they are; nothing on other ranks.

    What is there already is not sent again, and of a file that was cut off only the rest. When one cannot be read or
    written, the others are; then OSError on its rank, and on rank 0. No rank waits for one that has failed.
    """
    errors: list[OSError] = []
    items = peers.all(_items(files, errors))
    wanted = [(rank, item) for rank, those in enumerate(items) for item in those]
    starts: list[int | None] = peers.all([_start(folder, item) for _, item in wanted] if peers.rank == 0 else None)[0]
    for (rank, item), start in zip(wanted, starts, strict=True):
        if start is None:
            continue
        if rank == peers.rank and rank:
            _send(files[item.name], item, start, peers, errors)
        elif peers.rank == 0:
            blocks = _read(files[item.name], item, start) if rank == 0 else _received(rank, item, start, peers)
            _write(folder, item, start, blocks, errors)
    if errors:
        raise errors[0]
    return sorted(folder / item.name for _, item in wanted) if peers.rank == 0 else []


def _items(files: Mapping[str, Path], errors: list[OSError]) -> list[Item]:
    """Those that can be read."""

    def item(name: str, path: Path) -> Item | None:
        try:
            return _item(name, path)
        except OSError as error:
            errors.append(error)
            return None

    return [found for name, path in files.items() if (found := item(name, path))]


def _start(folder: Path, item: Item) -> int | None:
    """How many bytes of a file have arrived; None where all of it is in its place."""
    target = folder / item.name
    with suppress(OSError):  # what is wrong there is told when it is written
        if target.is_file() and target.stat().st_size == item.size and _digest(target) == item.digest:
            return None
        part = _part(folder, item)
        return min(part.stat().st_size, item.size) if part.exists() else 0
    return 0


def _sizes(item: Item, start: int) -> Iterator[int]:
    """Of the blocks that are exchanged for a file."""
    for at in range(start, item.size, _BLOCK_BYTES):
        yield min(_BLOCK_BYTES, item.size - at)


def _send(path: Path, item: Item, start: int, peers: Peers, errors: list[OSError]) -> None:
    """As many bytes as were announced, whatever became of the file: rank 0 waits for them, and finds them wrong."""
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
    """Writes what comes. What is sent is received in any case: the other side waits for that."""
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
    """A file that is not complete yet, under a name that tells what it will be: so it can be continued."""

    def __init__(self, folder: Path, item: Item) -> None:
        self._target, self._path, self._item = folder / item.name, _part(folder, item), item

    def __enter__(self) -> _Part:
        self._target.parent.mkdir(parents=True, exist_ok=True)
        self._path.touch()
        self._file = self._path.open("r+b")
        return self

    def take(self, block: bytes, at: int) -> None:
        """Writes bytes to their place."""
        self._file.seek(at)
        self._file.write(block)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._file.close()
        if kind is not None:
            return
        if _digest(self._path) != self._item.digest:
            self._path.unlink()
            raise OSError(f"expected {self._item.name} as it was sent, found another: gather again")
        self._path.replace(self._target)


def _part(folder: Path, item: Item) -> Path:
    target = folder / item.name
    return target.with_name(f".{target.name}.{item.digest}.part")


def _item(name: str, path: Path) -> Item:
    return Item(name, path.stat().st_size, _digest(path))


def _digest(path: Path) -> str:
    """Of what is in a file; nothing where there is none."""
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
    """What `profile.gather` says."""
    from kinetoscope._io.paths import is_url

    if is_url(to):
        return to_address(files, to, storage_options)
    if peers is None and job_size() > 1:
        raise RuntimeError(
            "ks.profile: expected an initialised torch.distributed to gather files through, found none: "
            "call init_process_group, or give an address (s3://…)"
        )
    return to_first(files, folder if to is None else Path(to), peers or Alone())
