"""Databases of msprof and of torch_npu's profiler."""

from __future__ import annotations

import gzip
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import kinetoscope as ks
import pytest
from kinetoscope._cli.main import main

pytestmark = pytest.mark.unit

FOLDER = Path(__file__).parents[2] / "data/synthetic_msprof"
TORCH, MSPROF = FOLDER / "ascend_pytorch_profiler_3.db", FOLDER / "msprof_20260513080000.db"

BOTH = pytest.mark.parametrize("path", [TORCH, MSPROF], ids=["torch_npu", "msprof"])


@BOTH
def test_times_are_those_of_the_database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        query = "SELECT startNs, endNs - startNs, streamId, deviceId FROM TASK ORDER BY startNs, globalTaskId"
        expected = database.execute(query).fetchall()
    trace = ks.read(path)
    assert trace.verdict.state == "complete"
    rows = trace.events.select("start_ns", "dur_ns", "stream", "device", "name").rows()
    found = [row[:4] for row in rows if row[3] is not None and not row[4].startswith("hcom")]
    assert sorted(found) == sorted(expected)


def test_work_has_its_operators_and_collectives_their_size() -> None:
    trace = ks.read(TORCH)
    names = dict(trace.events.select("id", "name").rows())
    rows = trace.events.select("name", "operator_id", "launch_id").rows()
    owners = {name: (names.get(operator), names.get(launch)) for name, operator, launch in rows}
    assert owners["aclnnMatmul_MatMulV3"] == ("aten::matmul", "Node@launch")
    assert owners["MEMCPY_ASYNC"] == ("aten::copy_", "AscendCL@aclrtMemcpyAsync")
    columns = ("collective", "group_name", "dtype", "in_bytes")
    (first, _) = trace.collectives().select(*columns).rows()
    assert first == ("all_reduce", "group 0", "float", 4 * 2**20)
    assert len(trace.iterations.rows()) == 2
    assert trace.rank == 3


def test_a_folder_has_each_recording_once(tmp_path: Path) -> None:
    shutil.copy(TORCH, tmp_path)
    (tmp_path / "trace_view.json").write_text(
        '[{"ph": "X", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 1}]'
    )
    job = ks.read_dir(tmp_path)
    assert job.ranks == [3]
    assert [Path(name).name for name in job.skipped] == ["trace_view.json"]


@BOTH
def test_the_command_line_and_a_compressed_copy_read_it(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    packed = tmp_path / f"{path.name}.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert main(["summary", str(packed)]) == 0
    assert "MatMulV3" in capsys.readouterr().out
    assert main(["doctor", str(path)]) == 0
    assert "Ascend" in capsys.readouterr().out


def test_a_chrome_trace_of_it_reads_back(tmp_path: Path) -> None:
    trace = ks.read(TORCH)
    columns = ("name", "kind", "start_ns", "dur_ns", "device", "stream", "launch_id", "operator_id")
    again = ks.read(trace.to_chrome(tmp_path / "trace.json"))
    assert again.events.select(*columns).rows() == trace.events.select(*columns).rows()
