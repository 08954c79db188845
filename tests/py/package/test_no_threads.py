"""The package where no thread can be started, as in a browser."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

DATA = Path(__file__).resolve().parents[2] / "data"
WITHOUT_THREADS = """
import sys, threading
sys.platform = "emscripten"  # as Pyodide has it
def refuse(*_): raise RuntimeError("can't start new thread")
threading.Thread.start = refuse
import kinetoscope as ks
"""
ANSWERS = """
import asyncio
from kinetoscope._notebook.request_queue import RequestQueue
sent = []
async def ask():
    queue = RequestQueue(lambda request: request["id"].encode(), lambda content, _: sent.append(content["parts"]))
    queue.put([{"id": "a"}, {"id": "b"}])
    print(len(sent))
    for name in "cd":
        await asyncio.sleep(0)
        queue.put([{"id": name}])
    await asyncio.sleep(0)
    queue.close()
asyncio.run(ask())
print([part["id"] for parts in sent for part in parts])
"""


def run(script: str, *arguments: Path) -> list[str]:
    command = [sys.executable, "-c", WITHOUT_THREADS + script, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for rank in range(2):
        name = f"kineto_trace_{rank}.json.gz"
        (tmp_path / name).write_bytes((DATA / "mlp_gloo" / name).read_bytes())
    return tmp_path


def test_a_folder_is_read(folder: Path) -> None:
    assert run("print(ks.read_dir(sys.argv[1]).ranks)", folder) == ["[0, 1]"]


def test_an_archive_is_read(folder: Path, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "job.tar", "w") as archive:
        for path in sorted(folder.glob("*.json.gz")):
            archive.add(path, path.name)
    assert run("print(ks.read(sys.argv[1]).ranks)", tmp_path / "job.tar") == ["[0, 1]"]


def test_an_error_is_raised_where_results_are_asked_for() -> None:
    script = """
from kinetoscope._base.threads import Workers
with Workers() as workers:
    futures = [workers.begin(lambda number, _: 6 // number, number) for number in (0, 2)]
    print(futures[1].result())
    try: workers.finish(futures)
    except ZeroDivisionError as error: print(type(error).__name__)
"""
    assert run(script) == ["3", "ZeroDivisionError"]


def test_the_timeline_is_answered_in_the_event_loop() -> None:
    assert run(ANSWERS) == ["0", "['a', 'b', 'c', 'd']"]
