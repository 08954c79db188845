"""Reading in parallel: equal results, progress, and an end when the user wants one."""

from __future__ import annotations

import gzip
import io
import os
import signal
import subprocess
import sys
import tarfile
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope import _native
from kinetoscope._base.progress import bar
from kinetoscope._base.threads import for_each
from support.terminal import all_of

pytestmark = pytest.mark.unit

EVENT = b'{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 2, "ts": 5, "dur": 2},\n'
NUM_EVENTS = 4_000_000
END_S = 1.0
"""What a busy machine may take for what takes a tenth of a second elsewhere."""


def test_64_threads_read_the_same(data: Path) -> None:
    path = data / "synthetic_cuda/kineto_trace_0.json.gz"
    content = path.read_bytes()
    start = threading.Barrier(64)

    def read(number: int) -> bytes:
        start.wait()
        return ks.read(
            [path, content, io.BytesIO(content)][number % 3], path.with_name("torch_et_0.json.gz")
        ).snapshot()

    with ThreadPoolExecutor(64) as threads:
        snapshots = list(threads.map(read, range(64)))
    assert len(set(snapshots)) == 1


def test_results_in_order() -> None:
    seen: list[tuple[int, int]] = []

    def work(number: int, _reading: _native.Reading) -> int:
        time.sleep(0.01 * (3 - number))
        return number * number

    assert for_each([0, 1, 2], work, lambda num_bytes, num_done: seen.append((num_bytes, num_done))) == [0, 1, 4]
    assert seen[-1] == (0, 3)
    assert for_each([], work) == []


def test_an_error_cancels_the_others(large: Path) -> None:
    def work(number: int, reading: _native.Reading) -> object:
        if number == 0:
            raise ValueError("no")
        return _native.read([(str(large), None)], reading=reading)

    start = time.monotonic()
    with pytest.raises(ValueError, match="no"):
        for_each(list(range(100)), work)
    assert time.monotonic() - start < END_S
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("kinetoscope")]


def test_a_read_that_is_cancelled(large: Path, data: Path, tmp_path: Path) -> None:
    reading = _native.Reading()
    _native.read([(str(data / "minimal_cpu/kineto_trace_0.json.gz"), None)], reading=reading)
    assert reading.num_bytes == (data / "minimal_cpu/kineto_trace_0.json.gz").stat().st_size
    reading.cancel()
    for source in ((str(large), None), ("x", io.BytesIO(EVENT))):
        with pytest.raises(KeyboardInterrupt, match="cancelled"):
            _native.read([source], reading=reading)
    archive = tmp_path / "job.tar.gz"
    with tarfile.open(archive, "w:gz") as packing:
        packing.add(large, "rank-0.json.gz")
    with pytest.raises(KeyboardInterrupt):
        _native.members((str(archive), None), lambda _member: None, reading=reading)


# --- Ctrl-C -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace that takes more than a second to read; small as it lies there."""
    path = tmp_path_factory.mktemp("large") / "kineto_trace_0.json.gz"
    block = gzip.compress(EVENT * 10_000, 1)
    path.write_bytes(gzip.compress(b"[") + block * (NUM_EVENTS // 10_000) + gzip.compress(b"{}]"))
    return path


@pytest.fixture(scope="session")
def large_job(large: Path) -> Path:
    for rank in range(1, 6):
        os.link(large, large.with_name(f"kineto_trace_{rank}.json.gz"))
    return large.parent


def interrupted(program: str, *arguments: object) -> tuple[float, int, str]:
    """Runs a program that says `go`, interrupts it soon after: how long it then took, its exit code, its words."""
    command = [sys.executable, "-c", textwrap.dedent(program), *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "go\n"
        time.sleep(0.3)
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
        return time.monotonic() - start, process.returncode, told


READ = """
    import sys, threading
    import kinetoscope as ks
    print("go", flush=True)
    try:
        ks.{read}
    except KeyboardInterrupt:
        left = [thread.name for thread in threading.enumerate() if thread is not threading.main_thread()]
        sys.exit(f"interrupted, left {{left}}")
    sys.exit("not interrupted")
"""


@pytest.mark.parametrize("read", ["read(sys.argv[1])", "read(open(sys.argv[1], 'rb'))"])
def test_ctrl_c_ends_a_read(large: Path, read: str) -> None:
    took, _, told = interrupted(READ.format(read=read), large)
    assert told == "interrupted, left []\n"
    assert took < END_S


@pytest.mark.parametrize("read", ["read_dir(sys.argv[1])", "read_dir(sys.argv[1], eager=False).load()"])
def test_ctrl_c_ends_a_job_with_all_its_threads(large_job: Path, read: str) -> None:
    took, _, told = interrupted(READ.format(read=read), large_job)
    assert told == "interrupted, left []\n"
    assert took < END_S


def test_ctrl_c_ends_the_command_without_noise(large_job: Path, tmp_path: Path) -> None:
    program = """
        import sys
        from kinetoscope._cli.main import main
        print("go", flush=True)
        sys.exit(main(["export", sys.argv[1], "-o", sys.argv[2]]))
    """
    took, code, told = interrupted(program, large_job, tmp_path / "events.parquet")
    assert (code, told) == (130, "")
    assert took < END_S
    assert list(tmp_path.iterdir()) == []


# --- progress -----------------------------------------------------------------------------------------------------


def test_silent_where_nobody_watches(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for progress in (None, False):
        ks.read_dir(data / "mlp_gloo", progress=progress)
    assert capsys.readouterr() == ("", "")


def test_a_bar_in_a_terminal(data: Path) -> None:
    pytest.importorskip("rich")
    outside, inside = os.openpty()
    command = [sys.executable, "-m", "kinetoscope", "summary", str(data / "mlp_gloo")]
    with subprocess.Popen(command, stdin=inside, stdout=subprocess.PIPE, stderr=inside) as process:
        os.close(inside)
        shown = all_of(outside)
        assert process.stdout is not None
        assert process.stdout.read().startswith(b"TraceSet: 2 traces")
    assert b"reading traces" in shown


class Display:
    """What a notebook's `display` was given."""

    def __init__(self) -> None:
        self.shown: list[dict[str, str]] = []

    def __call__(self, bundle: dict[str, str], **_options: Any) -> Display:
        self.shown.append(bundle)
        return self

    def update(self, bundle: dict[str, str], **_options: Any) -> None:
        self.shown.append(bundle)


@pytest.mark.parametrize("delay", [0, 1])
def test_a_bar_in_a_notebook(monkeypatch: pytest.MonkeyPatch, delay: int) -> None:
    from kinetoscope._base import progress

    display = Display()
    monkeypatch.setattr(progress, "_notebook", lambda: display)
    monkeypatch.setattr(progress, "_SHOWN_AFTER_S", delay - 0.5)
    with bar("<reading>", 1000, 4, wanted=None) as look:
        assert look is not None
        look(250, 1)
        look(1000, 4)
    if delay:
        assert display.shown == []
    else:
        assert [bundle["text/plain"] for bundle in display.shown] == [
            "<reading>: 1 of 4, 25%",
            "<reading>: 4 of 4, 100%",
            "",
        ]
        assert "&lt;reading&gt;" in display.shown[0]["text/html"]


def test_the_notebook_is_found() -> None:
    program = """
        import sys, types
        from kinetoscope._base.progress import _notebook
        assert _notebook() is None
        import IPython
        assert _notebook() is None
        IPython.get_ipython = lambda: types.SimpleNamespace(kernel=1)
        assert _notebook() is IPython.display.display
    """
    pytest.importorskip("IPython")
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True)
