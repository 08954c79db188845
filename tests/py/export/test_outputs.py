"""Where files are written: never over what was read, with the permissions that were there, and whole or not at all."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import kinetoscope as ks
import pytest
from kinetoscope._cli.main import main
from kinetoscope._io.atomic import atomic_path, write_bytes

pytestmark = pytest.mark.unit

METHODS: dict[str, Callable[[ks.Trace, Path], object]] = {
    "chrome": lambda trace, path: trace.to_chrome(path),
    "execution trace": lambda trace, path: trace.to_execution_trace(path),
    "ET+": lambda trace, path: trace.to_et_plus(path),
    "chakra": lambda trace, path: trace.to_chakra(path),
    "PARAM": lambda trace, path: trace.to_param_comms(path),
    "snapshot": lambda trace, path: trace.save(path),
    "table": lambda trace, path: trace.export(path.with_suffix(".csv")),
    "report": lambda trace, path: trace.report(path),
    "analysis": lambda trace, path: trace.breakdown().export(path.with_suffix(".csv")),
    "diff": lambda trace, path: ks.diff(trace, trace).report(path),
    "derived trace": lambda trace, path: trace.edit(upgrade=True).to_execution_trace(path),
}


@pytest.fixture
def pair(data: Path, tmp_path: Path) -> list[Path]:
    """A Kineto trace and the Execution Trace beside it, as `x_trace.json.gz` and `x_et.json.gz`."""
    folder = data / "minimal_cpu"
    names = {"kineto_trace_0.json.gz": "x_trace.json.gz", "torch_et_0.json.gz": "x_et.json.gz"}
    return [Path(shutil.copy(folder / name, tmp_path / copy)) for name, copy in names.items()]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("which", [0, 1])
def test_no_method_writes_over_what_was_read(pair: list[Path], method: str, which: int) -> None:
    trace = ks.read(pair[0])
    before = pair[which].read_bytes()
    linked = pair[which].with_name("linked")
    for target in (linked, linked.with_suffix(".csv")):
        target.symlink_to(pair[which])
    with pytest.raises(ValueError, match="expected an output other than the input files, found"):
        METHODS[method](trace, linked)
    assert pair[which].read_bytes() == before


def test_the_file_beside_an_output_is_none_that_was_read(
    pair: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = [path.read_bytes() for path in pair]
    target = tmp_path / "x.json.gz"
    assert main(["trim", str(pair[0]), "--redact", "-o", str(target)]) == 2
    assert f"found {pair[1]}" in capsys.readouterr().err
    assert [path.read_bytes() for path in pair] == before
    assert not target.exists()


def test_an_output_may_replace_an_earlier_one_in_the_folder_of_the_traces(pair: list[Path]) -> None:
    output = pair[0].with_name("kernels.json")
    output.write_text('[{"name": "gemm", "duration_ns": 1}]')
    job = ks.read_dir(output.parent)
    assert list(job.skipped) == [output.name]
    next(iter(job)).to_chrome(output)
    damaged = pair[0].with_name("damaged.json.gz")
    damaged.write_bytes(pair[0].read_bytes()[:100])
    job = ks.read_dir(output.parent)
    with pytest.raises(ValueError, match="expected an output other than the input files"):
        next(iter(job)).to_chrome(damaged)


def test_groups_are_not_written_over_an_input(data: Path, tmp_path: Path) -> None:
    source = Path(shutil.copy(data / "minimal_cpu/kineto_trace_0.json.gz", tmp_path / "comm_group.json"))
    before = source.read_bytes()
    assert main(["chakra", str(source), "-o", str(tmp_path / "rank.et")]) == 2
    assert source.read_bytes() == before


@pytest.mark.parametrize("name", ["traces.zip", "traces"])
def test_an_archive_is_not_written_over(data: Path, tmp_path: Path, name: str) -> None:
    shutil.make_archive(str(tmp_path / "traces"), "zip", data / "minimal_cpu")
    archive = (tmp_path / "traces.zip").rename(tmp_path / name)
    before = archive.read_bytes()
    assert main(["trim", str(archive), "--redact", "-o", str(archive)]) == 2
    with pytest.raises(ValueError, match="other than the input files"):
        ks.read(archive).save(archive)
    assert archive.read_bytes() == before


def test_what_was_written_here_may_be_written_again(pair: list[Path], tmp_path: Path) -> None:
    """As in a notebook, where a cell runs twice."""
    target = tmp_path / "again.json"
    for _ in range(2):
        ks.read(pair[0]).to_chrome(target)
        assert ks.read(target).num_events
    target.write_bytes(target.read_bytes() + b" ")  # another program's file
    trace = ks.read(target)
    with pytest.raises(ValueError, match="other than the input files"):
        trace.to_chrome(target)


def test_another_file_may_have_the_place_of_one_that_was_read(pair: list[Path], tmp_path: Path) -> None:
    trace = ks.read(pair[0], et=False)
    for at in range(20):  # a file system gives a freed inode to the next file
        pair[0].unlink(missing_ok=True)
        pair[0] = tmp_path / f"other_{at}.json"
        pair[0].write_text("of another program")
        assert trace.to_chrome(pair[0]).stat().st_size > 100


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_permissions_stay(pair: list[Path], tmp_path: Path, mode: int) -> None:
    target = tmp_path / "report.html"
    target.touch(mode=0o600)
    target.chmod(mode)
    trace = ks.read(pair[0])
    trace.report(target)
    assert stat.S_IMODE(target.stat().st_mode) == mode
    assert target.stat().st_size > 1000
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(trace.save(tmp_path / "new.kscope").stat().st_mode) == 0o666 & ~umask


@pytest.mark.parametrize("length", [200, 255])
def test_long_names(pair: list[Path], tmp_path: Path, length: int) -> None:
    target = tmp_path / ("x" * (length - 5) + ".html")
    assert ks.read(pair[0]).report(target).stat().st_size > 1000
    name = "é" * ((length - 8) // 2) + ".parquet"
    assert len(os.fsencode(name)) <= 255
    assert ks.read(pair[0]).export(tmp_path / name).stat().st_size > 100


WRITES = """
import sys
from pathlib import Path
from kinetoscope._io.atomic import atomic_path
with atomic_path(Path(sys.argv[1])) as temporary:
    temporary.write_bytes(b"half")
    print("written", flush=True)
    sys.stdin.read()
"""


def parts(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.name.endswith(".part")]


def test_what_a_kill_leaves_is_removed_by_the_next_write(tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    target.write_bytes(b"before")
    with subprocess.Popen(
        [sys.executable, "-c", WRITES, str(target)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as writer:
        assert writer.stdout
        writer.stdout.readline()
        (live,) = parts(tmp_path)
        write_bytes(tmp_path / "other.html", b"other")
        write_bytes(target, b"after")
        assert parts(tmp_path) == [live], "the file of a write that goes on stays"
        writer.send_signal(signal.SIGKILL)
    assert target.read_bytes() == b"after"
    write_bytes(tmp_path / "other.html", b"other")
    assert parts(tmp_path) == [live], "the leftover of another file stays"
    write_bytes(target, b"again")
    assert not parts(tmp_path)
    assert target.read_bytes() == b"again"


def test_a_write_between_the_last_byte_and_the_rename_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "report.html"
    rename = Path.replace

    def late(temporary: Path, path: Path) -> Path:
        with monkeypatch.context() as patch:
            patch.setattr(Path, "replace", rename)
            write_bytes(target, b"other")
        return rename(temporary, path)

    monkeypatch.setattr(Path, "replace", late)
    write_bytes(target, b"last")
    assert target.read_bytes() == b"last"
    assert list(tmp_path.iterdir()) == [target]


def test_a_block_that_raises_leaves_nothing(tmp_path: Path) -> None:
    target = tmp_path / "x.json"
    target.write_bytes(b"before")

    def write_half() -> None:
        with atomic_path(target) as temporary:
            temporary.write_bytes(b"half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_half()
    assert list(tmp_path.iterdir()) == [target]
    assert target.read_bytes() == b"before"


def test_a_folder_that_may_not_be_written_is_named(pair: list[Path], tmp_path: Path) -> None:
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o500)
    if os.access(folder, os.W_OK):
        pytest.skip("root may write everywhere")
    with pytest.raises(PermissionError) as error:
        ks.read(pair[0]).to_chrome(folder / "x.json")
    assert error.value.filename == str(folder / "x.json")
