"""Where recordings go, and how they get there whole. No torch needed."""

from __future__ import annotations

import gzip
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from kinetoscope.profiling.folder import Finished, RecordingFolder, file_names
from kinetoscope.profiling.rank import current_rank
from kinetoscope.profiling.writer import Writer

pytestmark = pytest.mark.unit

KINETO, EXECUTION = '{"traceName": 1}', '{"finish_ts": 2}'


def unfinished(folder: RecordingFolder, name: str, content: str) -> Path:
    path = folder.temporary(name)
    path.write_text(content)
    return path


def test_names() -> None:
    assert file_names(3, 0, compress=True) == ("kineto_trace_3.json.gz", "torch_et_3.json.gz")
    assert file_names(3, 2, compress=False) == ("kineto_trace_3.2.json", "torch_et_3.2.json")


def test_nothing_shows_before_it_is_complete(tmp_path: Path) -> None:
    folder = RecordingFolder(tmp_path / "a/b", compress=True)
    kineto, execution = unfinished(folder, "k.json", KINETO), unfinished(folder, "e.json", EXECUTION)
    assert [path.name[0] for path in (tmp_path / "a/b").iterdir()] == ["."]
    recording = folder.publish(Finished(kineto, execution), rank=0, cycle=0)
    folder.close()
    assert sorted(path.name for path in (tmp_path / "a/b").iterdir()) == list(file_names(0, 0, compress=True))
    assert gzip.decompress(recording.kineto.read_bytes()) == KINETO.encode()
    assert recording.execution is not None
    assert gzip.decompress(recording.execution.read_bytes()) == EXECUTION.encode()


def test_leftovers_of_killed_recordings_go(tmp_path: Path) -> None:
    killed, living = RecordingFolder(tmp_path, compress=True), RecordingFolder(tmp_path, compress=True)
    unfinished(killed, "k.json", KINETO)
    long_ago = time.time() - 8 * 24 * 3600
    oldest = next(path for path in tmp_path.iterdir() if any(path.iterdir()))
    os.utime(oldest, (long_ago, long_ago))
    folder = RecordingFolder(tmp_path, compress=True)
    assert not oldest.exists()
    assert len(list(tmp_path.iterdir())) == 2
    unfinished(killed, "k.json", KINETO)  # it was only idle
    for each in (killed, living, folder):
        each.close()
    assert list(tmp_path.iterdir()) == []


def test_equal_recordings_are_equal_files(tmp_path: Path) -> None:
    packed: list[bytes] = []
    for name in ("a", "b"):
        folder = RecordingFolder(tmp_path / name, compress=True)
        recording = folder.publish(Finished(unfinished(folder, "k.json", KINETO), None), rank=0, cycle=0)
        packed.append(recording.kineto.read_bytes())
        folder.close()
    assert packed[0] == packed[1]


def test_the_name_inside_is_the_final_one(tmp_path: Path) -> None:
    folder = RecordingFolder(tmp_path, compress=False)
    kineto = folder.temporary("k.json")
    kineto.write_text(json.dumps({"traceEvents": ["x" * 50_000], "traceName": str(kineto)}))
    recording = folder.publish(Finished(kineto, None), rank=1, cycle=0)
    folder.close()
    assert json.loads(recording.kineto.read_text())["traceName"] == str(tmp_path / "kineto_trace_1.json")


def test_only_the_same_rank_is_replaced(tmp_path: Path) -> None:
    kept = ["kineto_trace_1.json", "kineto_trace_10.json", "my_kineto_trace_0.json", "kineto_trace_0.txt"]
    for name in [*kept, "kineto_trace_0.3.json.gz", "torch_et_0.json"]:
        (tmp_path / name).touch()
    folder = RecordingFolder(tmp_path, compress=True)
    folder.publish(Finished(unfinished(folder, "k.json", KINETO), None), rank=0, cycle=0)
    folder.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*kept, "kineto_trace_0.json.gz"])


def test_ctrl_c_in_waiting_for_the_writer_keeps_its_order() -> None:
    def first() -> None:
        may_go_on.wait(20)
        done.append(1)

    writer, may_go_on, done = Writer(), threading.Event(), list[int]()
    writer.begin(first, "")
    main = threading.main_thread().ident or 0
    threading.Timer(0.2, lambda: signal.pthread_kill(main, signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        writer.wait()
    writer.begin(lambda: done.append(2), "")
    time.sleep(0.1)
    assert done == []
    may_go_on.set()
    writer.wait()
    assert done == [1, 2]


@pytest.mark.parametrize(
    ("environment", "rank"),
    [
        ({}, 0),
        ({"RANK": "3", "SLURM_PROCID": "4"}, 3),
        ({"SLURM_PROCID": "4"}, 4),
        ({"OMPI_COMM_WORLD_RANK": "5"}, 5),
        ({"RANK": "nonsense", "PMI_RANK": "6"}, 6),
    ],
)
def test_the_rank_of_the_launcher(monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], rank: int) -> None:
    monkeypatch.delitem(sys.modules, "torch.distributed", raising=False)
    for name in ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert current_rank() == rank


def test_the_rank_of_torch_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = SimpleNamespace(is_available=lambda: True, is_initialized=lambda: True, get_rank=lambda: 7)
    monkeypatch.setitem(sys.modules, "torch.distributed", distributed)
    monkeypatch.setenv("RANK", "3")
    assert current_rank() == 7
