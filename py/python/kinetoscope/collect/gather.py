"""The files of all ranks in one place: at rank 0, or at an address."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, final

from kinetoscope.collect.folder import Recording

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
    from kinetoscope.remote import upload

    return [upload(path, f"{url.rstrip('/')}/{name}", storage_options) for name, path in files.items()]


def to_folder(files: Mapping[str, Path], folder: Path) -> list[Path]:
    """Those of a process alone."""
    for name, path in files.items():
        if _digest(folder / name) != _digest(path):
            with _Part(folder, _item(name, path)) as part:
                part.take(path.read_bytes(), 0)
    return sorted(folder / name for name in files)


def to_first(files: Mapping[str, Path], folder: Path, peers: Peers) -> list[Path]:
    """Sends the files of all ranks to a folder of rank 0, and gives there what they are; nothing on other ranks.

    What is there already is not sent again, and of a file that was cut off only the rest. When one cannot be written,
    the others are; then OSError on rank 0.
    """
    items = peers.all([_item(name, path) for name, path in files.items()])
    wanted = [(rank, item) for rank, those in enumerate(items) for item in those]
    starts: list[int | None] = peers.all([_start(folder, item) for _, item in wanted] if peers.rank == 0 else None)[0]
    errors: list[OSError] = []
    for (rank, item), start in zip(wanted, starts, strict=True):
        if start is None:
            continue
        if rank == peers.rank and rank:
            _send(files[item.name], start, peers)
        elif peers.rank == 0:
            blocks = _own(files, item, start) if rank == 0 else _received(rank, item, start, peers)
            errors += _written(folder, item, start, blocks)
    if errors:
        raise errors[0]
    return sorted(folder / item.name for _, item in wanted) if peers.rank == 0 else []


def _start(folder: Path, item: Item) -> int | None:
    """How many bytes of a file have arrived; None where all of it is in its place."""
    target = folder / item.name
    if target.is_file() and target.stat().st_size == item.size and _digest(target) == item.digest:
        return None
    part = _part(folder, item)
    return min(part.stat().st_size, item.size) if part.exists() else 0


def _send(path: Path, start: int, peers: Peers) -> None:
    with path.open("rb") as file:
        file.seek(start)
        while block := file.read(_BLOCK_BYTES):
            peers.send(block)


def _received(rank: int, item: Item, start: int, peers: Peers) -> Iterator[bytes]:
    for at in range(start, item.size, _BLOCK_BYTES):
        yield peers.receive(rank, min(_BLOCK_BYTES, item.size - at))


def _own(files: Mapping[str, Path], item: Item, start: int) -> Iterator[bytes]:
    if start < item.size:
        yield files[item.name].read_bytes()[start:]


def _written(folder: Path, item: Item, start: int, blocks: Iterator[bytes]) -> list[OSError]:
    """Writes what comes. What is sent is received in any case: the other side waits for that."""
    try:
        with _Part(folder, item) as part:
            for block in blocks:
                part.take(block, start)
                start += len(block)
    except OSError as error:
        for _ in blocks:
            pass
        return [error]
    return []


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


def job_size() -> int:
    """How many processes torchrun, SLURM or MPI say that there are."""
    names = ("WORLD_SIZE", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
    return next((int(value) for name in names if (value := os.environ.get(name, "")).isdecimal()), 1)


def gather(
    files: Mapping[str, Path],
    to: str | os.PathLike[str] | None,
    folder: Path,
    peers: Peers | None,
    storage_options: Mapping[str, Any] | None,
) -> list[Path] | list[str]:
    """What `profile.gather` says."""
    from kinetoscope.names import is_url

    if is_url(to):
        return to_address(files, to, storage_options)
    folder = folder if to is None else Path(to)
    if peers is not None:
        return to_first(files, folder, peers)
    if job_size() > 1:
        raise RuntimeError(
            "ks.profile: expected an initialised torch.distributed to gather files through, found none: "
            "call init_process_group, or give an address (s3://…)"
        )
    return to_folder(files, folder)
