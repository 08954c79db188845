"""Snapshots as files: written whole, read back equal."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import kinetoscope as ks
import pytest
from kinetoscope import _native
from kinetoscope._cli.main import main

pytestmark = pytest.mark.unit


@pytest.mark.parametrize("name", ["synthetic_cuda", "hostile", "transformer_cpu"])
def test_a_saved_trace_reads_back_equal(data: Path, tmp_path: Path, name: str) -> None:
    trace = ks.read(data / name / "kineto_trace_0.json.gz")
    path = trace.save(tmp_path / "run.kscope")
    assert [file.name for file in tmp_path.iterdir()] == ["run.kscope"]
    for again in (ks.read(path), ks.read(path.read_bytes()), ks.read(path.rename(tmp_path / "run.json"))):
        for table in _native.Trace.table_names():
            assert again.table(table).rows() == trace.table(table).rows(), table
        assert (again.metadata, again.coverage, again.rank) == (trace.metadata, trace.coverage, trace.rank)


def test_a_snapshot_of_many(data: Path, tmp_path: Path) -> None:
    for rank, trace in enumerate(ks.read_dir(data / "mlp_gloo")):
        trace.save(tmp_path / f"kineto_trace_{rank}.kscope")
    job = ks.read_dir(tmp_path, eager=False)
    assert job.ranks == [0, 1]
    assert job.pairs[0] == ("kineto_trace_0.kscope", None, "alone")
    assert all(len(trace.nodes) for trace in job)


def test_a_snapshot_with_another_file(cuda: ks.Trace, data: Path, tmp_path: Path) -> None:
    path = cuda.save(tmp_path / "run.kscope")
    with pytest.raises(ks.TraceError, match=r"expected a JSON trace, .* found a kinetoscope snapshot"):
        ks.read(path, data / "minimal_cpu/torch_et_0.json.gz")


def test_a_broken_snapshot(cuda: ks.Trace, tmp_path: Path) -> None:
    path = cuda.save(tmp_path / "run.kscope")
    content = path.read_bytes()
    for broken in (content[:7], content[:8], content[: len(content) // 2], content[:7] + b"\xff" + content[8:]):
        path.write_bytes(broken)
        with pytest.raises(ks.TraceError, match="snapshot"):
            ks.read(path)


@pytest.mark.parametrize("name", ["run.kscope", "run.json", "run.csv"])
def test_what_is_no_file_stays_what_it_is(transformer: ks.Trace, tmp_path: Path, name: str) -> None:
    def write(path: Path) -> None:
        {"run.kscope": transformer.save, "run.json": transformer.to_chrome, "run.csv": transformer.export}[name](path)

    target = tmp_path / name
    write(target)
    expected = target.read_bytes()
    link = tmp_path / f"link-{name}"
    link.symlink_to(target)
    target.write_bytes(b"before")
    write(link)
    assert link.is_symlink()
    assert target.read_bytes() == expected
    pipe = tmp_path / f"pipe-{name}"
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as pool:
        reading = pool.submit(pipe.read_bytes)
        write(pipe)
        assert reading.result(timeout=20) == expected
    assert pipe.is_fifo()
    (tmp_path / f"folder-{name}").mkdir()
    with pytest.raises(IsADirectoryError, match="expected a file to write, found a folder"):
        write(tmp_path / f"folder-{name}")


def test_by_command(cuda: ks.Trace, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = cuda.save(tmp_path / "run.kscope")
    for command in ("summary", "doctor"):
        assert main([command, str(path)]) == 0
        assert capsys.readouterr().out


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk with a few kilobytes on it, and a file that is there already."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.geteuid() != 0:
        pytest.skip("only root may mount a small disk")
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "none", folder], capture_output=True)
    if mounted.returncode:
        pytest.skip("no disk may be mounted here")
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize("name", ["x.kscope", "x.parquet", "x.arrow", "x.csv", "x.html", "x.json", "x.json.gz"])
def test_a_full_disk_leaves_nothing(transformer: ks.Trace, full_disk: Path, name: str) -> None:
    writers = {".kscope": transformer.save, ".html": transformer.report, ".json": transformer.to_chrome}
    if name.endswith((".parquet", ".arrow")):
        pytest.importorskip("pyarrow")
    write = writers.get("." + name.split(".")[1], transformer.export)
    path = full_disk / name
    path.write_bytes(b"before")
    with pytest.raises(OSError, match=r"No space left|no space left|storage|Storage"):
        write(path)
    assert path.read_bytes() == b"before"
    assert [file.name for file in full_disk.iterdir()] == [name]
