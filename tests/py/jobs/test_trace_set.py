"""All ranks of a job."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import kinetoscope as ks
import pytest

pytestmark = pytest.mark.unit


def test_two_ranks(data: Path) -> None:
    job = ks.read_dir(data / "mlp_gloo")
    assert (job.ranks, len(job), job.notes, job.skipped) == ([0, 1], 2, [], {})
    assert [trace.rank for trace in job] == [0, 1]
    assert job[1].rank == 1
    assert all(len(trace.nodes) for trace in job)
    assert 1 in job
    assert 2 not in job
    with pytest.raises(KeyError, match=r"one of the ranks \[0, 1\], found 7"):
        _ = job[7]


def test_says_what_was_paired(data: Path) -> None:
    job = ks.read_dir(data / "mlp_gloo")
    assert job.pairs[1] == ("kineto_trace_1.json.gz", "torch_et_1.json.gz", "name")
    lines = repr(job).splitlines()
    assert lines[0] == "TraceSet: 2 traces of 2 ranks"
    assert lines[3].split()[:5] == ["1", "file", "kineto_trace_1.json.gz", "torch_et_1.json.gz", "name"]
    assert "kineto_trace_1.json.gz" in job._repr_html_()


@pytest.mark.parametrize("eager", [True, False])
def test_the_rank_in_the_file_comes_before_the_name(data: Path, tmp_path: Path, *, eager: bool) -> None:
    shutil.copy(data / "mlp_gloo/kineto_trace_1.json.gz", tmp_path / "rank-5.json.gz")
    shutil.copy(data / "minimal_cpu/kineto_trace_0.json.gz", tmp_path / "rank-6.json.gz")
    shutil.copy(data / "minimal_cpu/kineto_trace_0.json.gz", tmp_path / "host_17.pt.trace.json.gz")
    job = ks.read_dir(tmp_path, eager=eager)
    assert [(member.rank, member.rank_from) for member in job.members] == [(1, "file"), (6, "name"), (None, "unknown")]
    assert job.notes == ["1 trace of unknown rank: last in an iteration over the job"]


def test_no_rank_overwrites_another(data: Path, tmp_path: Path) -> None:
    for name in ("kineto_trace_0.json.gz", "kineto_trace_0.2.json.gz", "kineto_trace_0.10.json.gz", "rank-0.json.gz"):
        shutil.copy(data / "mlp_gloo/kineto_trace_0.json.gz", tmp_path / name)
    job = ks.read_dir(tmp_path)
    assert len(job.windows(0)) == len(job) == 4
    assert [pair.names[0] for pair in job.pairs][:3] == [
        "kineto_trace_0.json.gz",
        "kineto_trace_0.2.json.gz",
        "kineto_trace_0.10.json.gz",
    ]
    assert job.notes == ["rank 0 has 4 traces: job[0] is the first, job.windows(0) lists all"]


@pytest.mark.parametrize("eager", [True, False])
def test_what_is_no_trace_is_left_out(data: Path, tmp_path: Path, *, eager: bool) -> None:
    shutil.copytree(data / "mlp_gloo", tmp_path / "job")
    (tmp_path / "job/metrics_0.json").write_text("{}")
    (tmp_path / "job/notes.txt").write_text("a note")
    (tmp_path / "job/kineto_trace_0.json").write_text("{}")
    (tmp_path / "job/torch_et_1.json.gz").write_bytes(b"cut")
    shutil.make_archive(str(tmp_path / "job/more"), "zip", data / "mlp_gloo")
    job = ks.read_dir(tmp_path / "job", eager=eager)
    assert job.ranks == [0, 1]
    assert [len(trace.nodes) > 0 for trace in job] == [True, False]
    assert list(job.skipped) == [
        "kineto_trace_0.json",
        "metrics_0.json",
        "more.zip",
        "notes.txt",
        "torch_et_1.json.gz",
    ]
    assert job.skipped["more.zip"] == "an archive; read it with ks.read"
    assert job.skipped["torch_et_1.json.gz"].startswith("expected ")
    assert job.pairs[1] == ("kineto_trace_1.json.gz", None, "alone")
    for name, why in job.skipped.items():
        assert f"{name}: {why}" in repr(job)


def test_a_kineto_trace_that_is_broken_leaves_the_other(data: Path, tmp_path: Path) -> None:
    shutil.copytree(data / "minimal_cpu", tmp_path / "job")
    (tmp_path / "job/kineto_trace_0.json.gz").write_bytes(b"\x1f\x8b")
    job = ks.read_dir(tmp_path / "job")
    assert job.pairs == [(None, "torch_et_0.json.gz", "alone")]
    assert len(job[0].nodes) > 0
    assert "kineto_trace_0.json.gz" in job.skipped


def test_a_folder_without_traces(tmp_path: Path) -> None:
    with pytest.raises(ks.TraceError, match=r"expected traces in .*, found no file"):
        ks.read_dir(tmp_path)
    for number in range(5):
        (tmp_path / f"{number}.txt").touch()
    with pytest.raises(ks.TraceError, match=r"found 0.txt \(not the name of a trace\), .*, 2 more files$"):
        ks.read_dir(tmp_path)
    with pytest.raises(FileNotFoundError):
        ks.read_dir(tmp_path / "none")


def test_on_request_a_rank_is_read_when_it_is_asked_for(data: Path) -> None:
    job = ks.read_dir(data / "mlp_gloo", eager=False)
    assert [member.is_read for member in job.members] == [False, False]
    assert job.ranks == [0, 1]
    assert "not read" in repr(job)
    assert job[1].rank == 1
    assert [member.is_read for member in job.members] == [False, True]
    assert job[1] is job[1]
    with pytest.raises(KeyError):
        _ = job[2]
    assert [member.is_read for member in job.load().members] == [True, True]
    assert repr(job) == repr(ks.read_dir(data / "mlp_gloo"))


def test_a_rank_that_stands_behind_the_events(tmp_path: Path) -> None:
    """The head tells the rank of the name; the file, read, tells another."""
    event = {"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2, "args": {"text": "x" * 100}}
    late = {"traceEvents": [event] * 4000, "distributedInfo": {"rank": 3}}
    (tmp_path / "rank-1.json").write_text(json.dumps(late))
    (tmp_path / "rank-2.json").write_text(json.dumps({"traceEvents": [event]}))
    job = ks.read_dir(tmp_path, eager=False)
    assert job.ranks == [1, 2]
    assert job[3].rank == 3
    assert job.ranks == [2, 3]
    with pytest.raises(KeyError):
        _ = ks.read_dir(tmp_path, eager=False)[1]


def test_a_trace_that_breaks_after_its_head_was_read(data: Path, tmp_path: Path) -> None:
    shutil.copytree(data / "mlp_gloo", tmp_path / "job")
    job = ks.read_dir(tmp_path / "job", eager=False)
    (tmp_path / "job/torch_et_0.json.gz").write_bytes(b"")
    (tmp_path / "job/kineto_trace_1.json.gz").unlink()
    (tmp_path / "job/torch_et_1.json.gz").unlink()
    with pytest.warns(RuntimeWarning, match=r"torch_et_0.json.gz was not read: expected"):
        _ = job.members[0].trace
    with pytest.raises(FileNotFoundError):
        job.load()


def test_ranks_with_different_bases_share_one_axis(tmp_path: Path) -> None:
    """The second starts 2.5 µs after the first, though its own times say otherwise."""
    for rank, (base, start) in enumerate([(1_700_000_000_000_000_000, "10.000"), (1_700_000_000_000_010_500, "2.000")]):
        text = (
            f'{{"baseTimeNanoseconds": {base}, "distributedInfo": {{"rank": {rank}}}, "traceEvents": '
            f'[{{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": {start}, "dur": 1.5}}]}}'
        )
        (tmp_path / f"kineto_trace_{rank}.json.gz").write_bytes(gzip.compress(text.encode()))
    starts = [trace.events.select("start_ns").rows() for trace in ks.read_dir(tmp_path)]
    assert starts == [[(1_700_000_000_000_010_000,)], [(1_700_000_000_000_012_500,)]]


def test_a_table_of_all_ranks(data: Path, tmp_path: Path) -> None:
    job = ks.read_dir(data / "mlp_gloo", eager=False)
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(job.export(tmp_path / "nodes.parquet", table="nodes"))
    assert table.column_names[:3] == ["rank", "window", "node_id"]
    assert table.column("rank").to_pylist() == [0] * len(job[0].nodes) + [1] * len(job[1].nodes)
    assert table.drop(["rank", "window"]).slice(0, len(job[0].nodes)).equals(job[0].nodes.to_arrow())
    csv = job.export(tmp_path / "nodes.csv", table="nodes").read_text().splitlines()
    assert csv[0].startswith("rank,window,node_id,")
    assert len(csv) == 1 + table.num_rows


def test_a_report_of_the_only_trace_of_a_folder_is_called_as_it(tmp_path: Path, data: Path) -> None:
    report = ks.read_dir(data / "minimal_cpu").report(tmp_path / "report.html")
    assert "<title>kineto_trace_0.json.gz" in report.read_text(encoding="utf-8")
