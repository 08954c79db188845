"""Databases of ROCm: of rocprofv3 and of RPD."""

from __future__ import annotations

import gzip
import shutil
import sqlite3
from pathlib import Path

import kinetoscope as ks
import pytest
from kinetoscope._cli.main import main

pytestmark = pytest.mark.unit

FOLDER = Path(__file__).parents[2] / "data/synthetic_rocm"
ROCPROFV3, RPD = FOLDER / "rocprofv3_results.db", FOLDER / "trace.rpd"

BOTH = pytest.mark.parametrize("path", [ROCPROFV3, RPD], ids=["rocprofv3", "rpd"])


@BOTH
def test_each_work_has_the_call_that_started_it(path: Path) -> None:
    trace = ks.read(path)
    assert isinstance(trace, ks.Trace)
    rows = trace.events.select("kind", "launch_id", "device").rows()
    work = [launch for kind, launch, _ in rows if kind in {"kernel", "copy"}]
    assert work
    assert None not in work
    assert trace.verdict.state == "complete"
    kernels = trace.kernels().select("name", "total_ns").rows()
    assert kernels[0][0].startswith("Cijk_Ailk_Bljk_HHS")
    assert len(trace.launches().select("id").rows()) >= 2
    assert len(trace.breakdown().select("device").rows()) == 1


@BOTH
def test_a_compressed_one_and_bytes_are_the_same(path: Path, tmp_path: Path) -> None:
    packed = tmp_path / f"{path.name}.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    expected = ks.read(path).events.select("id", "name", "start_ns").rows()
    for source in (packed, path.read_bytes()):
        assert ks.read(source).events.select("id", "name", "start_ns").rows() == expected


def test_a_folder_with_databases_is_a_job(tmp_path: Path) -> None:
    for rank in range(2):
        shutil.copy(RPD, tmp_path / f"rank{rank}.rpd")
    assert ks.read_dir(tmp_path).ranks == [0, 1]


@BOTH
def test_the_command_line_reads_it(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["summary", str(path)]) == 0
    assert "Cijk_Ailk_Bljk_HHS" in capsys.readouterr().out
    report = tmp_path / "report.html"
    assert main(["report", str(path), "-o", str(report)]) == 0
    assert "Cijk_Ailk_Bljk_HHS" in report.read_text()


def test_a_chrome_trace_of_it_reads_back(tmp_path: Path) -> None:
    trace = ks.read(ROCPROFV3)
    path = trace.to_chrome(tmp_path / "trace.json")
    columns = ("name", "kind", "start_ns", "dur_ns", "device", "stream", "launch_id")
    assert ks.read(path).events.select(*columns).rows() == trace.events.select(*columns).rows()


def test_times_and_sizes_are_those_of_the_database() -> None:
    trace = ks.read(ROCPROFV3)
    with sqlite3.connect(ROCPROFV3) as database:
        table = "rocpd_kernel_dispatch_00000aaa_guid"
        expected = database.execute(f"SELECT start, end - start, stream_id FROM {table} ORDER BY start").fetchall()  # noqa: S608 - our table
    database.close()
    rows = trace.events.select("kind", "start_ns", "dur_ns", "stream").rows()
    first = sorted(row[1:] for row in rows if row[0] == "kernel")[:4]
    assert all(row in first for row in expected)
    counters = ks.read(RPD).counters.select("name", "value").rows()
    assert [value for name, value in counters if "sclk" in name] == [1000.0, 1001.0, 1002.0]
