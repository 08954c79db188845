"""Reading: from paths, bytes and files; what is no trace says so."""

from __future__ import annotations

import gzip
import io
import os
import shutil
import subprocess
import sys
import threading
import time
from itertools import chain, pairwise, repeat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import kinetoscope as ks
import pytest

pytestmark = pytest.mark.unit


@pytest.fixture
def kineto(data: Path) -> Path:
    return data / "transformer_cpu/kineto_trace_0.json.gz"


@pytest.fixture
def execution(data: Path) -> Path:
    return data / "transformer_cpu/torch_et_0.json.gz"


def test_the_execution_trace_beside_is_found(kineto: Path) -> None:
    trace = ks.read(kineto)
    assert len(trace.nodes) > 100
    assert trace.execution_source == str(kineto.with_name("torch_et_0.json.gz"))


def test_all_ways_give_the_same(kineto: Path, execution: Path, tmp_path: Path) -> None:
    expected = ks.read(kineto).snapshot()
    plain = tmp_path / "a.json"
    plain.write_bytes(gzip.decompress(kineto.read_bytes()))
    ways = [
        ks.read(str(kineto), execution),
        ks.read(kineto.read_bytes(), execution.read_bytes()),
        ks.read(memoryview(kineto.read_bytes()), bytearray(execution.read_bytes())),
        ks.read(io.BytesIO(kineto.read_bytes()), io.BytesIO(execution.read_bytes())),
        ks.read(plain, execution),
        ks.read(kineto, execution.read_bytes()),
    ]
    with kineto.open("rb") as file:
        ways.append(ks.read(file, execution))
    assert [len(trace.snapshot()) == len(expected) for trace in ways] == [True] * len(ways)
    assert {trace.num_events for trace in ways} == {ks.read(kineto).num_events}


def test_without_execution_trace(kineto: Path) -> None:
    trace = ks.read(kineto, et=False)
    assert len(trace.nodes) == 0
    assert trace.num_events > 100


def test_an_execution_trace_alone(execution: Path) -> None:
    trace = ks.read(execution)
    assert (trace.num_events, len(trace.nodes) > 100) == (0, True)


def test_an_execution_trace_that_is_found_but_broken_is_told(kineto: Path, tmp_path: Path) -> None:
    shutil.copy(kineto, tmp_path)
    (tmp_path / "torch_et_0.json.gz").write_bytes(b"no trace")
    with pytest.warns(RuntimeWarning, match=r"torch_et_0.json.gz, found beside .* was not read: expected"):
        trace = ks.read(tmp_path / kineto.name)
    assert len(trace.nodes) == 0
    with pytest.raises(ks.TraceError):
        ks.read(tmp_path / kineto.name, tmp_path / "torch_et_0.json.gz")


def test_what_is_no_trace_has_no_execution_trace(
    data: Path, execution: Path, tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    snapshot = data / "synthetic_memory" / "memory_snapshot.pickle"
    shutil.copy(snapshot, tmp_path / "kineto_trace_0.json")
    shutil.copy(execution, tmp_path / "torch_et_0.json.gz")
    assert isinstance(ks.read(tmp_path / "kineto_trace_0.json"), ks.MemorySnapshot)
    assert not recwarn.list


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n \n",
        b"hello",
        b"\x1f\x8b",
        b'{"a": 1}',
        b"[1, 2]",
        b"\x80\x04]",
        b"SQLite format 3\x00",
        b"<html></html>",
        b"null",
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_what_is_no_trace(tmp_path: Path, content: bytes, pack: type[bytes]) -> None:
    path = tmp_path / "some.json"
    path.write_bytes(pack(content))
    with pytest.raises(ks.TraceError, match=r"expected .*, found ") as error:
        ks.read(path)
    assert "some.json" in str(error.value)
    assert "\n" not in str(error.value)
    with pytest.raises(ks.TraceError, match="expected"):
        ks.read(pack(content))


def test_errors_have_a_family() -> None:
    assert issubclass(ks.TraceError, ValueError)
    assert issubclass(ks.TraceParseError, ks.TraceError)
    assert issubclass(ks.UnsupportedTraceError, ks.TraceError)


def test_paths_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as error:
        ks.read(tmp_path / "none.json")
    assert "none.json" in str(error.value)
    with pytest.raises(IsADirectoryError, match=r"use ks\.read_dir for a folder"):
        ks.read(tmp_path)


def test_a_pipe(kineto: Path, tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_bytes(kineto.read_bytes()))
    writer.start()
    assert ks.read(path).num_events == ks.read(kineto).num_events
    writer.join()


def test_a_file_that_cannot_go_back(kineto: Path) -> None:
    with kineto.open("rb") as file, gzip.GzipFile(fileobj=file) as plain:
        assert ks.read(plain).num_events == ks.read(kineto).num_events
    with subprocess.Popen(["cat", str(kineto)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert ks.read(process.stdout).num_events == ks.read(kineto).num_events


def test_what_is_no_file(kineto: Path) -> None:
    with kineto.open(encoding="latin-1") as text, pytest.raises(TypeError, match="opened in binary mode"):
        ks.read(text)  # pyright: ignore[reportArgumentType] - the mistake that is shown
    with pytest.raises(TypeError, match="expected a path, bytes or a file opened in binary mode, found int"):
        ks.read(3)  # pyright: ignore[reportArgumentType] - as above


def test_an_error_of_a_file_is_its_own() -> None:
    class Broken(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            if self.tell() > 100_000:
                raise OSError("the line is cut")
            return super().read(size)

    event = b'{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 5, "dur": 2},'
    with pytest.raises(OSError, match="the line is cut"):
        ks.read(Broken(b"[" + event * 100_000))


def test_a_limit(kineto: Path) -> None:
    with pytest.raises(ks.TraceError, match="at most 1000 bytes"):
        ks.read(kineto, max_bytes=1000)


def test_a_cut_file_is_read_as_far_as_it_goes(kineto: Path) -> None:
    whole = ks.read(kineto, et=False)
    cut = ks.read(gzip.decompress(kineto.read_bytes())[:500_000])
    assert 0 < cut.num_events < whole.num_events
    assert "truncated" in [kind for (kind,) in cut.health.select("kind").rows()]
    packed = ks.read(kineto.read_bytes()[:50_000])
    assert 0 < packed.num_events < whole.num_events
    assert len(packed.health) > 0


def test_the_interpreter_runs_while_a_trace_is_read(kineto: Path) -> None:
    """Another thread counts; it would stand still for the whole of a read that held the lock."""
    event = b'{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 2, "ts": 5, "dur": 2}'
    content = b"[" + b",".join([event] * 400_000) + b"]"
    ticks: list[float] = []
    done = threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.perf_counter()
    ks.read(content)
    end = time.perf_counter()
    done.set()
    thread.join()
    inside = [start, *(moment for moment in ticks if start < moment < end), end]
    longest = max(after - before for before, after in pairwise(inside))
    assert longest < 0.5 * (end - start), f"the interpreter stood still for {longest:.3f} s of {end - start:.3f} s"


def test_a_stream_is_read_as_it_comes(data: Path) -> None:
    content = (data / "mlp_gloo/kineto_trace_0.json.gz").read_bytes()
    expected = ks.read(content).num_events
    command = [sys.executable, "-c", "import sys, kinetoscope as ks; print(ks.read('/dev/stdin').num_events)"]
    for text in (content, gzip.decompress(content)):
        done = subprocess.run(command, input=text, capture_output=True, check=True)
        assert int(done.stdout) == expected


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no such device")
def test_a_stream_without_an_end_is_refused() -> None:
    with pytest.raises(ks.TraceError, match="found binary data"):
        ks.read("/dev/zero", max_bytes=1_000_000)

    chunks = chain([b'{"traceEvents": ['], repeat(b" " * 1000))
    endless: Any = SimpleNamespace(read=lambda _size: next(chunks), seekable=lambda: False)
    with pytest.raises(ks.TraceLimitError, match="at most 1000000 bytes"):
        ks.read(endless, max_bytes=1_000_000)
