"""Jobs that are read without their Execution Traces."""

from __future__ import annotations

import shutil
from pathlib import Path

import kinetoscope as ks
import pytest


def test_the_files_are_listed_as_left_out(data: Path) -> None:
    job = ks.read_dir(data / "mlp_gloo", et=False)
    assert job.ranks == [0, 1]
    assert all(len(trace.nodes) == 0 and trace.num_events for trace in job)
    assert set(job.skipped) == {"torch_et_0.json.gz", "torch_et_1.json.gz"}
    assert "et=False" in job.skipped["torch_et_0.json.gz"]


@pytest.mark.parametrize("eager", [True, False])
def test_a_rank_with_one_file_is_read(data: Path, tmp_path: Path, *, eager: bool) -> None:
    for name in ("kineto_trace_0.json.gz", "torch_et_0.json.gz", "kineto_trace_1.json.gz"):
        shutil.copy(data / "mlp_gloo" / name, tmp_path / name)
    assert [len(trace.nodes) > 0 for trace in ks.read_dir(tmp_path, eager=eager)] == [True, False]
    assert [len(trace.nodes) for trace in ks.read_dir(tmp_path, et=False, eager=eager)] == [0, 0]


def test_an_archive_is_read_without_them(data: Path, tmp_path: Path) -> None:
    archive = shutil.make_archive(str(tmp_path / "job"), "zip", data / "mlp_gloo")
    assert [len(trace.nodes) for trace in ks.read_dir(archive, et=False)] == [0, 0]
    job = ks.read(archive, et=False)
    assert isinstance(job, ks.TraceSet)
    assert [len(trace.nodes) for trace in job] == [0, 0]


def test_nothing_else_is_an_error(data: Path, tmp_path: Path) -> None:
    shutil.copy(data / "mlp_gloo/torch_et_0.json.gz", tmp_path)
    with pytest.raises(ks.TraceError, match="left out by et=False"):
        ks.read_dir(tmp_path, et=False)
