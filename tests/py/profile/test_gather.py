"""`prof.gather()`: the files of all ranks in one place, also when it was cut off before."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from queue import Queue
from typing import Any

import fsspec
import kinetoscope as ks
import pytest
from kinetoscope.profiling import gather as module
from kinetoscope.profiling.folder import Recording
from kinetoscope.profiling.gather import files_of, gather, send_to_first
from support.recorded import launch


class Threads:
    """Peers that are threads of this process."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.slots: list[Any] = [None] * size
        self.barrier = threading.Barrier(size, timeout=20)
        self.queues: list[Queue[bytes]] = [Queue() for _ in range(size)]
        self.num_sent = 0

    def of(self, rank: int) -> Peer:
        return Peer(self, rank)


class Peer:
    def __init__(self, job: Threads, rank: int) -> None:
        self.job, self.rank, self.size = job, rank, job.size

    def all(self, mine: Any) -> list[Any]:
        self.job.slots[self.rank] = mine
        self.job.barrier.wait()
        found = list(self.job.slots)
        self.job.barrier.wait()
        return found

    def send(self, block: bytes) -> None:
        self.job.num_sent += len(block)
        self.job.queues[self.rank].put(block)

    def receive(self, rank: int, num_bytes: int) -> bytes:
        block = self.job.queues[rank].get(timeout=20)
        assert len(block) == num_bytes
        return block


def outcomes_of(job: Threads, files: Mapping[int, Mapping[str, Path]], folder: Path) -> dict[int, Any]:
    """Gathers on a thread for each rank: what each rank got, or what it raised."""
    outcomes: dict[int, Any] = {}

    def run(rank: int) -> None:
        try:
            outcomes[rank] = send_to_first(files[rank], folder, job.of(rank))
        except OSError as error:
            outcomes[rank] = error

    threads = [threading.Thread(target=run, args=(rank,)) for rank in files]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    return outcomes


def together(files: Mapping[int, Mapping[str, Path]], folder: Path) -> tuple[list[Path], int]:
    """What rank 0 got, and how many bytes were sent. Raises what rank 0 raises."""
    job = Threads(len(files))
    outcomes = outcomes_of(job, files, folder)
    assert [outcomes[rank] for rank in files if rank] == [[]] * (len(files) - 1)
    if isinstance(outcomes[0], OSError):
        raise outcomes[0]
    return outcomes[0], job.num_sent


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[int, dict[str, Path]]:
    """Three ranks, of which one has nothing; files of less and of more than a block."""
    monkeypatch.setattr(module, "_BLOCK_BYTES", 1000)
    named = {0: {"a_0.json": 10}, 1: {"a_1.json": 3500, "a_1_resources/k.py": 5, "b_1.json": 0}, 2: {}}
    for rank, sizes in named.items():
        for name, size in sizes.items():
            path = tmp_path / f"rank{rank}" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(bytes((at + rank) % 251 for at in range(size)))
    return {rank: {name: tmp_path / f"rank{rank}" / name for name in sizes} for rank, sizes in named.items()}


def expected(files: Mapping[int, Mapping[str, Path]]) -> dict[str, bytes]:
    return {name: path.read_bytes() for mine in files.values() for name, path in mine.items()}


def test_all_arrive(files: dict[int, dict[str, Path]], tmp_path: Path) -> None:
    got, sent = together(files, tmp_path / "all")
    assert contents(tmp_path / "all") == expected(files)
    assert got == sorted(tmp_path / "all" / name for name in expected(files))
    assert sent == 3505


def test_what_is_there_is_not_sent_again(files: dict[int, dict[str, Path]], tmp_path: Path) -> None:
    together(files, tmp_path / "all")
    assert together(files, tmp_path / "all")[1] == 0
    files[1]["a_1.json"].write_bytes(b"y" * 3500)  # as long, but another
    assert together(files, tmp_path / "all")[1] == 3500
    assert contents(tmp_path / "all") == expected(files)


@pytest.mark.parametrize("kept", [1, 1000, 2500, 3500])
def test_it_goes_on_where_it_was_cut_off(files: dict[int, dict[str, Path]], tmp_path: Path, kept: int) -> None:
    item = module._item("a_1.json", files[1]["a_1.json"])
    (tmp_path / "all").mkdir()
    module._part(tmp_path / "all", item).write_bytes(files[1]["a_1.json"].read_bytes()[:kept])
    _, sent = together(files, tmp_path / "all")
    assert sent == 3505 - kept
    assert contents(tmp_path / "all") == expected(files)


def test_a_part_that_is_whole_takes_the_place_of_an_older_file(
    files: dict[int, dict[str, Path]], tmp_path: Path
) -> None:
    folder = tmp_path / "to"
    folder.mkdir()
    (folder / "a_1.json").write_bytes(b"of an earlier run")
    item = module._item("a_1.json", files[1]["a_1.json"])
    module._part(folder, item).write_bytes(files[1]["a_1.json"].read_bytes())
    together(files, folder)
    assert contents(folder) == expected(files)


def test_a_part_that_is_wrong_is_found(files: dict[int, dict[str, Path]], tmp_path: Path) -> None:
    item = module._item("a_1.json", files[1]["a_1.json"])
    (tmp_path / "all").mkdir()
    module._part(tmp_path / "all", item).write_bytes(b"x" * 1000)
    with pytest.raises(OSError, match="gather again"):
        together(files, tmp_path / "all")
    assert "a_1.json" not in contents(tmp_path / "all")
    together(files, tmp_path / "all")
    assert contents(tmp_path / "all") == expected(files)


def test_one_that_cannot_be_written_does_not_keep_the_others(files: dict[int, dict[str, Path]], tmp_path: Path) -> None:
    (tmp_path / "all").mkdir()
    (tmp_path / "all/a_1.json").mkdir()  # in its way
    (tmp_path / "all/a_1.json/x").touch()
    with pytest.raises(OSError, match=r"a_1\.json"):
        together(files, tmp_path / "all")
    assert contents(tmp_path / "all")["b_1.json"] == b""
    assert contents(tmp_path / "all")["a_1_resources/k.py"] == expected(files)["a_1_resources/k.py"]


def shortened(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:1500])


@pytest.mark.parametrize("harm", [Path.unlink, shortened])
def test_a_file_that_is_lost_while_it_is_sent_keeps_no_rank_waiting(
    files: dict[int, dict[str, Path]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, harm: Callable[[Path], None]
) -> None:
    together_all = Peer.all

    def losing(self: Peer, mine: Any) -> list[Any]:
        found = together_all(self, mine)
        if self.rank == 1 and mine is None:  # all know what is to be sent
            harm(files[1]["a_1.json"])
        return found

    monkeypatch.setattr(Peer, "all", losing)
    kept = {name: content for name, content in expected(files).items() if name != "a_1.json"}
    outcomes = outcomes_of(Threads(3), files, tmp_path / "all")
    assert "expected the digest of a_1.json to match" in str(outcomes[0])
    assert outcomes[2] == []
    assert contents(tmp_path / "all") == kept


def test_a_file_that_is_lost_before_keeps_no_rank_waiting(files: dict[int, dict[str, Path]], tmp_path: Path) -> None:
    files[1]["a_1.json"].unlink()
    outcomes = outcomes_of(Threads(3), files, tmp_path / "all")
    assert isinstance(outcomes[1], FileNotFoundError)
    assert [path.name for path in outcomes[0]] == ["a_0.json", "k.py", "b_1.json"]


# --- an address ---------------------------------------------------------------------------------------------------


@pytest.fixture
def recording(tmp_path: Path) -> Recording:
    sources = tmp_path / "torch_et_3.json_resources"
    sources.mkdir()
    (sources / "k.py").write_text("pass")
    kineto, execution = tmp_path / "kineto_trace_3.json.gz", tmp_path / "torch_et_3.json.gz"
    kineto.write_bytes(b"k" * 9000)
    execution.write_bytes(b"e")
    return Recording(kineto, execution, 3, 0, sources)


@pytest.fixture
def memory() -> Iterator[Any]:
    file_system = fsspec.filesystem("memory")
    yield file_system
    file_system.rm("/run", recursive=True)


def test_to_an_address(recording: Recording, tmp_path: Path, memory: Any) -> None:
    urls = gather(files_of([recording]), "memory://run/one", tmp_path, None, None)
    names = ["kineto_trace_3.json.gz", "torch_et_3.json.gz", "torch_et_3.json_resources/k.py"]
    assert urls == [f"memory://run/one/{name}" for name in names]
    assert sorted(memory.find("/run")) == [f"/run/one/{name}" for name in names]
    assert memory.cat("/run/one/kineto_trace_3.json.gz") == b"k" * 9000


def test_to_an_address_again(recording: Recording, tmp_path: Path, memory: Any, monkeypatch: Any) -> None:
    put: list[str] = []
    write = type(memory).put_file

    def noted(self: Any, path: str, target: str, **options: Any) -> None:
        put.append(Path(path).name)
        if path.endswith("k.py") and len(put) < 4:
            raise ConnectionError("gone")
        write(self, path, target, **options)

    monkeypatch.setattr(type(memory), "put_file", noted)
    with pytest.raises(OSError, match="gone"):
        gather(files_of([recording]), "memory://run", tmp_path, None, None)
    recording.kineto.write_bytes(b"k" * 8999 + b"x")
    gather(files_of([recording]), "memory://run", tmp_path, None, None)
    assert put == [
        *("kineto_trace_3.json.gz", "torch_et_3.json.gz", "k.py"),
        *("kineto_trace_3.json.gz", "k.py"),
    ]
    assert memory.cat("/run/kineto_trace_3.json.gz") == recording.kineto.read_bytes()


# --- one process, and two -----------------------------------------------------------------------------------------


def test_of_one_process(recording: Recording, tmp_path: Path) -> None:
    files = files_of([recording])
    assert gather(files_of([recording]), None, tmp_path, None, None) == sorted(files.values())
    gather(files_of([recording]), tmp_path / "other", tmp_path, None, None)
    assert contents(tmp_path / "other") == {name: path.read_bytes() for name, path in files.items()}


def test_of_several_that_do_not_know_each_other(
    recording: Recording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(RuntimeError, match="init_process_group"):
        gather(files_of([recording]), None, tmp_path, None, None)


@pytest.mark.torch
def test_two_ranks_on_gloo(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    script = tmp_path / "train.py"
    script.write_text(
        "import os, sys, torch, torch.distributed as dist, kinetoscope as ks\n"
        "from pathlib import Path\n"
        "import torch.distributed.nn\n"  # imported later, it keeps the process group and its threads
        "dist.init_process_group('gloo')\n"
        "folder = Path(sys.argv[1])\n"
        "with ks.profile(folder / os.environ['RANK'], ranks=[1], warmup=1, active=1) as prof:\n"
        "    for _ in range(3):\n"
        "        dist.all_reduce(torch.ones(3))\n"
        "        prof.step()\n"
        "print([str(path) for path in prof.gather(folder / 'all')])\n"
        "prof.gather(f'file://{folder}/address')\n"
        "dist.destroy_process_group()\n"
    )
    said = launch(script, tmp_path)
    expected = contents(tmp_path / "1")
    assert len(expected) == 2
    assert contents(tmp_path / "all") == contents(tmp_path / "address") == expected
    assert not (tmp_path / "0").exists()
    assert "kineto_trace_1.json.gz" in said
    assert ks.read_dir(tmp_path / "all").ranks == [1]
