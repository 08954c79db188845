"""All ranks of a job."""

from __future__ import annotations

import shutil
from pathlib import Path

import kinetoscope as ks
import pytest

pytestmark = pytest.mark.unit


def test_two_ranks(data: Path) -> None:
    job = ks.read_dir(data / "mlp_gloo")
    assert (job.ranks, len(job), job.notes) == ([0, 1], 2, [])
    assert [trace.rank for trace in job] == [0, 1]
    assert job[1].rank == 1
    assert all(len(trace.nodes) for trace in job)
    assert 1 in job
    assert 2 not in job
    with pytest.raises(KeyError, match=r"one of the ranks \[0, 1\], found 7"):
        _ = job[7]


def test_says_what_was_paired(data: Path) -> None:
    lines = repr(ks.read_dir(data / "mlp_gloo")).splitlines()
    assert lines[0] == "TraceSet: 2 traces of 2 ranks"
    assert lines[3].split()[:5] == ["1", "file", "kineto_trace_1.json.gz", "torch_et_1.json.gz", "name"]
    assert "kineto_trace_1.json.gz" in ks.read_dir(data / "mlp_gloo")._repr_html_()


def test_the_rank_in_the_file_comes_before_the_name(data: Path, tmp_path: Path) -> None:
    shutil.copy(data / "mlp_gloo/kineto_trace_1.json.gz", tmp_path / "rank-5.json.gz")
    shutil.copy(data / "minimal_cpu/kineto_trace_0.json.gz", tmp_path / "rank-6.json.gz")
    shutil.copy(data / "minimal_cpu/kineto_trace_0.json.gz", tmp_path / "host_17.pt.trace.json.gz")
    job = ks.read_dir(tmp_path)
    assert [(member.rank, member.rank_from) for member in job.members] == [(1, "file"), (6, "name"), (None, "unknown")]


def test_no_rank_overwrites_another(data: Path, tmp_path: Path) -> None:
    for name in ("kineto_trace_0.json.gz", "kineto_trace_0.1.json.gz", "rank-0.json.gz"):
        shutil.copy(data / "mlp_gloo/kineto_trace_0.json.gz", tmp_path / name)
    job = ks.read_dir(tmp_path)
    assert len(job.windows(0)) == len(job) == 3
    assert job.notes == ["3 traces are of rank 0: job[0] is the first, job.windows(0) all"]


def test_what_is_no_trace_is_noted(data: Path, tmp_path: Path) -> None:
    shutil.copytree(data / "mlp_gloo", tmp_path / "job")
    (tmp_path / "job/metrics_0.json").write_text("{}")
    (tmp_path / "job/torch_et_1.json.gz").write_bytes(b"cut")
    job = ks.read_dir(tmp_path / "job")
    assert job.ranks == [0, 1]
    assert [len(trace.nodes) > 0 for trace in job] == [True, False]
    assert [note.split(":")[0] for note in job.notes] == [
        "kineto_trace_1.json.gz and torch_et_1.json.gz",
        "metrics_0.json",
    ]
    assert job.notes[0] in repr(job)


def test_a_folder_without_traces(tmp_path: Path) -> None:
    with pytest.raises(ks.TraceError, match=r"expected traces in .*, found no \.json"):
        ks.read_dir(tmp_path)
    with pytest.raises(FileNotFoundError):
        ks.read_dir(tmp_path / "none")
