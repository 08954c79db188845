"""Exports and reports of Nsight Systems."""

from __future__ import annotations

import gzip
import io
import os
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import kinetoscope as ks
import pytest
from kinetoscope import _native
from kinetoscope._io.discovery import pair_up
from kinetoscope._io.file import LocalFile
from kinetoscope._io.header import peek
from kinetoscope._io.paths import is_trace, rank_of
from support.pages import without_packed

pytestmark = pytest.mark.unit

NAME = "synthetic_nsight/nsys_0.sqlite"
REPORT = b"\x00\x01 a report of Nsight Systems \x00"


@pytest.fixture(scope="module")
def export(data: Path) -> bytes:
    return (data / NAME).read_bytes()


@pytest.fixture(scope="module")
def trace(data: Path) -> ks.Trace:
    return ks.read(data / NAME)


@pytest.fixture
def nsys(tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program of that name on the path, which exports the fixture whatever the report, and notes each call."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "nsys"
    calls = folder / "calls"
    program.write_text(
        f"""#!/bin/sh
echo "$@" >> '{calls}'
[ "$1 $2 $3 $4" = "export --type sqlite --output" ] || exit 3
case "$6" in *broken*) echo "Generating" > "$5"; echo "unable to open" >&2; exit 1;; esac
cp '{data / NAME}' "$5"
"""
    )
    program.chmod(0o755)
    calls.touch()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr("tempfile.tempdir", str(_made(tmp_path / "tmp")))
    return calls


def _made(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    return folder


def test_what_a_user_looks_for(trace: ks.Trace) -> None:
    columns = ("name", "kind", "device", "stream", "start_ns", "dur_ns", "grid", "registers", "launch_id")
    rows = [row for row in trace.events.select(*columns).rows() if row[1] == "kernel"]
    assert rows[0][0] == "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128_16x5_nn_align4>(T1::Params)"
    assert rows[0][2:8] == (0, 7, 1_760_000_000_001_011_011, 20_011, "[128,2,1]", 96)
    assert sum(row[-1] is None for row in rows) == 1
    assert trace.metadata["kineto"]["nsight_unread"]["OSRT_API"] == 4
    assert trace.coverage["device_events"]["num_linked"] == 30
    assert "cutlass" in repr(trace.summary())


def test_ranges_are_iterations_and_operators_of_what_they_launched(trace: ks.Trace) -> None:
    names = dict(trace.events.select("id", "name").rows())
    owners = {row[1] for row in trace.events.select("kind", "operator_id").rows() if row[0] == "kernel"}
    assert {names[owner] for owner in owners if owner is not None} == {"layer 0", "layer 1", "backward, registered"}
    parents = {names[row[0]]: names.get(row[1]) for row in trace.events.select("id", "parent_id").rows()}
    assert parents["layer 1"] == "forward"
    assert parents["forward"] == "step 1"


def test_an_export_reads_alike_wherever_it_is(tmp_path: Path, export: bytes, trace: ks.Trace) -> None:
    archive = tmp_path / "job.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("run/nsys_0.sqlite", export)
    other = tmp_path / "called something else.json"
    other.write_bytes(export)
    packed = tmp_path / "nsys_0.sqlite.gz"
    packed.write_bytes(gzip.compress(export))
    expected = trace.events.rows()
    for source in (export, gzip.compress(export), io.BytesIO(export), archive, other, packed):
        assert ks.read(source).events.rows() == expected


def test_it_goes_where_traces_go(tmp_path: Path, trace: ks.Trace) -> None:
    again = ks.read(trace.to_chrome(tmp_path / "copy.json.gz"))
    assert again.events.rows() == trace.events.rows()
    assert again.instants.rows() == trace.instants.rows()
    assert again.metadata == trace.metadata
    assert ks.read(trace.save(tmp_path / "x.kscope")).events.rows() == trace.events.rows()


def test_a_file_that_is_no_export_says_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "trace.rpd"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("CREATE TABLE rocpd_api (id); CREATE TABLE rocpd_op (id);")
    with pytest.raises(ks.UnsupportedTraceError, match=r"Nsight Systems.*rocpd_api, rocpd_op.*trace\.rpd"):
        ks.read(path)
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(ks.TraceParseError, match="complete SQLite database"):
        ks.read(path)


def test_reading_leaves_no_trace(tmp_path: Path, export: bytes) -> None:
    path = tmp_path / "nsys_0.sqlite"
    path.write_bytes(export)
    path.chmod(0o444)
    assert ks.read(path).num_events == 85
    assert [file.name for file in tmp_path.iterdir()] == ["nsys_0.sqlite"]
    assert path.read_bytes() == export


def test_the_reading_of_a_large_export_can_be_ended(tmp_path: Path) -> None:
    path = tmp_path / "large.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)")
        connection.execute("CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, text TEXT, globalTid INTEGER)")
        rows = ((number, number + 1, "range", 1) for number in range(100_000))
        connection.executemany("INSERT INTO NVTX_EVENTS VALUES (?, ?, ?, ?)", rows)
        connection.commit()
    reading = _native.Reading()
    _native.read([(str(path), None)], reading=reading)
    assert reading.num_bytes == path.stat().st_size
    reading.cancel()
    for content in (None, path.read_bytes()):
        with pytest.raises(KeyboardInterrupt):
            _native.read([(str(path), content)], reading=reading)


# --- folders ------------------------------------------------------------------------------------------------------


def test_names() -> None:
    assert all(map(is_trace, ["nsys_0.sqlite", "x.sqlite.gz", "rank3.nsys-rep", "old.qdrep"]))
    assert rank_of("nsys_12.nsys-rep") == 12
    pairs = pair_up(["nsys_0.nsys-rep", "nsys_0.sqlite", "nsys_1.nsys-rep"], {})
    assert [pair.kineto for pair in pairs.pairs] == ["nsys_0.sqlite", "nsys_1.nsys-rep"]
    assert pairs.copies == {"nsys_0.nsys-rep": "skipped because its export is there"}


def test_the_ranks_of_a_job(tmp_path: Path, export: bytes) -> None:
    for rank in range(2):
        (tmp_path / f"nsys_{rank}.sqlite").write_bytes(export)
    with closing(sqlite3.connect(tmp_path / "history.sqlite")) as connection:
        connection.execute("CREATE TABLE sessions (id)")
    job = ks.read_dir(tmp_path)
    assert job.ranks == [0, 1]
    assert job[1].num_events == 85
    assert "sessions" in job.skipped["history.sqlite"]
    later = ks.read_dir(tmp_path, eager=False)
    assert [member.is_read for member in later.members if member.rank is not None] == [False, False]
    assert later[0].num_events == 85


def test_the_head_of_an_export_tells_what_it_is(tmp_path: Path, data: Path) -> None:
    assert peek(LocalFile(data / NAME)).is_execution is False
    with closing(sqlite3.connect(tmp_path / "x.sqlite")) as connection:
        connection.execute("CREATE TABLE sessions (id)")
    assert peek(LocalFile(tmp_path / "x.sqlite")).is_execution is None


# --- reports ------------------------------------------------------------------------------------------------------


def report(folder: Path, name: str = "nsys_0.nsys-rep", mtime: int = 1_000) -> Path:
    path = folder / name
    path.write_bytes(REPORT)
    os.utime(path, (mtime, mtime))
    return path


def test_the_export_beside_a_report_is_read(tmp_path: Path, export: bytes, nsys: Path) -> None:
    path = report(tmp_path)
    (tmp_path / "nsys_0.sqlite").write_bytes(export)
    trace = ks.read(path)
    assert trace.num_events == 85
    assert str(trace.source).endswith("nsys_0.sqlite")
    assert nsys.read_text() == ""


def test_a_report_is_exported_where_its_export_is_older_or_missing(tmp_path: Path, export: bytes, nsys: Path) -> None:
    path = report(tmp_path)
    assert ks.read(path).num_events == 85
    stale = tmp_path / "nsys_0.sqlite"
    stale.write_bytes(export[:2000])
    os.utime(stale, (10, 10))
    trace = ks.read(path)
    assert trace.num_events == 85
    assert trace.source == str(path)
    assert len(nsys.read_text().splitlines()) == 2
    assert stale.read_bytes() == export[:2000]
    assert list((tmp_path / "tmp").iterdir()) == []


def test_an_export_that_fails_says_why_and_leaves_nothing(tmp_path: Path, nsys: Path) -> None:
    path = report(tmp_path, "broken.nsys-rep")
    with pytest.raises(ks.UnsupportedTraceError, match=r"broken\.nsys-rep.*exit code 1: unable to open"):
        ks.read(path)
    assert list((tmp_path / "tmp").iterdir()) == []
    assert nsys.read_text().count("\n") == 1


def test_without_nsys_the_command_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    path = report(tmp_path, "my run.nsys-rep")
    with pytest.raises(ks.UnsupportedTraceError, match=r"nsys export --type sqlite '.*my run\.nsys-rep'$"):
        ks.read(path)
    with pytest.raises(FileNotFoundError):
        ks.read(tmp_path / "missing.nsys-rep")


def test_content_comes_before_the_name(tmp_path: Path, export: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    path = tmp_path / "renamed.nsys-rep"
    path.write_bytes(export)
    assert ks.read(path).num_events == 85


def test_reports_of_a_job(tmp_path: Path, export: bytes, nsys: Path) -> None:
    job = _made(tmp_path / "job")
    for rank in range(3):
        report(job, f"nsys_{rank}.nsys-rep")
    for rank, mtime in ((1, 2_000), (2, 500)):
        (job / f"nsys_{rank}.sqlite").write_bytes(export)
        os.utime(job / f"nsys_{rank}.sqlite", (mtime, mtime))
    traces = ks.read_dir(job)
    assert traces.ranks == [0, 1, 2]
    assert [pair.kineto for pair in traces.pairs] == ["nsys_0.nsys-rep", "nsys_1.sqlite", "nsys_2.nsys-rep"]
    assert traces.skipped == {
        "nsys_1.nsys-rep": "skipped because its export is there",
        "nsys_2.sqlite": "skipped: it is older than nsys_2.nsys-rep",
    }
    assert len(nsys.read_text().splitlines()) == 2


def test_a_report_is_exported_once_with_a_cache(tmp_path: Path, nsys: Path) -> None:
    path = report(tmp_path)
    for _ in range(2):
        assert ks.read(path, cache=tmp_path / "cache").num_events == 85
    assert len(nsys.read_text().splitlines()) == 1


@pytest.fixture
def private(tmp_path: Path) -> Path:
    """An export with secrets in tables of the machine."""
    path = tmp_path / "private.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            """
            CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
            CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, nameEnum INTEGER, value TEXT);
            INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('CpuCores', 1, '64'), ('Hostname', 2, 'zq-host'),
                ('HF_TOKEN', 3, 'zq-token'), ('Owner', 4, 'zq-owner');
            CREATE TABLE DeviceEnvironment (name TEXT, value TEXT);
            INSERT INTO DeviceEnvironment VALUES ('WANDB_API_KEY', 'zq-wandb');
            CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT);
            INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:COMMAND', 'python3 --key=zq-key'),
                ('A:ENVIRONMENT', 'B=zq-env');
            CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
            INSERT INTO PROCESSES VALUES (16777216, 1, '/opt/zq-user/bin/python3 --key=zq-key');
            CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER);
            INSERT INTO NVTX_EVENTS VALUES
                (1, 5, 59, 'aten::mm, op_id = 7, seq = 3, sizes = [[2, 3], [3, 4]]', 16777217);
            """
        )
    return path


def shared_files(trace: ks.Trace, folder: Path) -> str:
    """All that leaves the program with a trace, as one text."""
    trace.save(folder / "a.kscope")
    trace.to_chrome(folder / "a.json")
    trace.report(folder / "a.html")
    again = ks.read(folder / "a.kscope")
    parts = [str(trace.metadata), str(again.metadata), (folder / "a.json").read_text(encoding="utf-8")]
    return "".join([*parts, without_packed((folder / "a.html").read_text(encoding="utf-8"))])


def test_an_export_is_shared_without_its_environment(private: Path, tmp_path: Path) -> None:
    trace = ks.read(private)
    assert "zq-" not in shared_files(trace, tmp_path)
    about = trace.metadata["kineto"]
    assert [row["name"] for row in about["nsight"]["TARGET_INFO_SYSTEM_ENV"]] == ["CpuCores"]
    assert about["nsight_unread"]["TARGET_INFO_SYSTEM_ENV, environment"] == 3
    assert about["nsight_unread"]["DeviceEnvironment"] == 1
    assert [trace.events.select("kind", "name", "seq_num").rows()[0]] == [("operator", "aten::mm", 3)]


def test_the_environment_is_kept_on_request(private: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert "zq-" not in str(ks.read(private, cache=cache).metadata)
    trace = ks.read(private, cache=cache, include_environment=True)
    assert "zq-token" in shared_files(trace, tmp_path)
    assert "zq-" not in str(ks.read(private, cache=cache).metadata)
    folder = tmp_path / "job"
    folder.mkdir()
    private.rename(folder / "nsys_0.sqlite")
    assert "zq-" not in str(ks.read_dir(folder).members[0].trace.metadata)
    assert "zq-host" in str(ks.read_dir(folder, include_environment=True).members[0].trace.metadata)
