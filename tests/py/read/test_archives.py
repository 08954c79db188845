"""Archives: several traces in one file."""

from __future__ import annotations

import gzip
import io
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from support.archives import tarred, zipped

pytestmark = pytest.mark.unit

JSON = b'{"traceEvents": [{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]}'
ET = b'{"schema": "1.0.1", "nodes": [{"id": 1, "parent": 1, "name": "n", "rf_id": 3, "inputs": [], "outputs": []}]}'


def job_of(*sources: Any, **options: Any) -> ks.TraceSet:
    job = ks.read(*sources, **options)
    assert isinstance(job, ks.TraceSet)
    return job


@pytest.fixture
def members(data: Path) -> dict[str, bytes]:
    return {f"run/{path.name}": path.read_bytes() for path in sorted((data / "mlp_gloo").iterdir())}


def test_what_is_read_while_others_are_packed_is_what_is_read_later(data: Path, tmp_path: Path) -> None:
    names = ("synthetic_cuda", "minimal_cpu", "transformer_cpu")
    files = {
        f"rank-{rank}.json.gz": (data / name / "kineto_trace_0.json.gz").read_bytes() for rank, name in enumerate(names)
    }
    files["rank-1.json"] = b"{no trace"
    path = tmp_path / "job.tar"
    path.write_bytes(tarred(files, "w"))
    early, late = ks.read_dir(path), ks.read_dir(path, eager=False)
    assert [trace.snapshot() for trace in early] == [trace.snapshot() for trace in late]
    assert early.skipped == late.skipped
    (tmp_path / "rank-2_et.json").write_bytes(ET)
    files["rank-2_et.json"] = ET
    path.write_bytes(tarred(files, "w"))
    assert [len(trace.nodes) for trace in ks.read_dir(path)] == [0, 0, 1]


def test_what_is_whole_of_a_cut_archive_is_read(data: Path, tmp_path: Path) -> None:
    content = (data / "transformer_cpu/kineto_trace_0.json.gz").read_bytes()
    path = tmp_path / "job.tgz"
    path.write_bytes(tarred({f"rank-{rank}.json.gz": content for rank in range(3)})[:-2000])
    with pytest.warns(RuntimeWarning, match=r"job\.tgz is damaged: read only the files before the damage"):
        job = ks.read_dir(path)
    assert job.ranks == [0, 1]
    assert list(job.skipped) == ["(the rest)"]


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:xz"])
def test_several_recordings_are_a_job(data: Path, members: dict[str, bytes], mode: Any, tmp_path: Path) -> None:
    expected = ks.read_dir(data / "mlp_gloo")
    path = tmp_path / "a name that says nothing"
    path.write_bytes(tarred(members, mode))
    for job in (job_of(path), job_of(path.read_bytes()), ks.read_dir(path)):
        assert job.pairs[0] == ("run/kineto_trace_0.json.gz", "run/torch_et_0.json.gz", "name")
        assert [trace.num_events for trace in job] == [trace.num_events for trace in expected]
    assert job_of(path)[0].source == f"{path}/run/kineto_trace_0.json.gz"


def test_zip(members: dict[str, bytes], tmp_path: Path) -> None:
    path = tmp_path / "job.zip"
    path.write_bytes(zipped(members))
    with path.open("rb") as file:
        for source in (path, file, str(path)):
            assert job_of(source).ranks == [0, 1]


def test_one_recording_is_a_trace(members: dict[str, bytes]) -> None:
    pair = {name: content for name, content in members.items() if "_1." in name}
    trace = ks.read(tarred({"run/notes.txt": b"a note", **pair}))
    assert isinstance(trace, ks.Trace)
    assert (trace.rank, len(trace.nodes) > 0) == (1, True)
    assert trace.source == "archive/run/kineto_trace_1.json.gz"


def test_what_is_no_trace_is_left_out_with_a_word(members: dict[str, bytes]) -> None:
    inner = tarred({"x.json": JSON})
    others = {"README.md": b"read me", "inner.tar.gz": inner, "._x.json": b"\0\5\x16\7", "model.pt": b"\x80\x04]."}
    job = job_of(tarred({**members, **others, "config.json": b'{"lr": 1}'}))
    assert len(job) == 2
    assert list(job.skipped) == ["README.md", "config.json", "inner.tar.gz", "model.pt"]
    assert job.skipped["inner.tar.gz"] == "an archive inside an archive"
    assert job.skipped["model.pt"] == "a Python pickle"
    assert "traceEvents" in job.skipped["config.json"]


def test_a_broken_file_beside_a_single_trace_is_told() -> None:
    with pytest.warns(RuntimeWarning, match=r"b.json in the archive was skipped: expected"):
        trace = ks.read(tarred({"a.json": JSON, "b.json": b"{}"}))
    assert trace.num_events == 1


def test_content_decides_not_the_name() -> None:
    job = job_of(zipped({"a": JSON, "b.txt": gzip.compress(JSON), "a.et": ET}))
    assert job.pairs == [("a", "a.et", "name"), ("b.txt", None, "alone")]


def test_an_archive_of_execution_traces_beside(tmp_path: Path, members: dict[str, bytes]) -> None:
    kineto = {name: content for name, content in members.items() if "kineto" in name}
    execution = {f"dlrm_eg_{name[-9]}.json.gz": content for name, content in members.items() if "torch_et" in name}
    (tmp_path / "mlp_kineto.tgz").write_bytes(tarred(kineto))
    (tmp_path / "mlp_et.zip").write_bytes(zipped(execution))
    job = job_of(tmp_path / "mlp_kineto.tgz")
    assert [pair[1:] for pair in job.pairs] == [("dlrm_eg_0.json.gz", "number"), ("dlrm_eg_1.json.gz", "number")]
    assert all(trace.coverage["nodes"]["num_linked"] for trace in job)
    assert {pair.how for pair in job_of(tmp_path / "mlp_kineto.tgz", et=False).pairs} == {"alone"}
    elsewhere = shutil.move(tmp_path / "mlp_et.zip", tmp_path / "other.zip")
    assert {pair.how for pair in job_of(tmp_path / "mlp_kineto.tgz").pairs} == {"alone"}
    assert {pair.how for pair in job_of(tmp_path / "mlp_kineto.tgz", elsewhere).pairs} == {"number"}


def test_one_execution_trace_for_an_archive(data: Path, members: dict[str, bytes]) -> None:
    kineto = {name: content for name, content in members.items() if "kineto_trace_0" in name}
    trace = ks.read(tarred(kineto), data / "mlp_gloo/torch_et_0.json.gz")
    assert len(trace.nodes) > 0


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_the_limit_counts_over_all_members(pack: Any) -> None:
    archive = pack({"a.json": JSON, "b.json": JSON, "c.json.gz": gzip.compress(JSON)})
    assert len(job_of(archive, max_bytes=20_000)) == 3
    limit = 3 * len(JSON) - 1
    archive = zipped({"a.json": JSON, "b.json": JSON, "c.json.gz": gzip.compress(JSON)})
    message = rf"expected at most {limit} bytes of text .*max_bytes.*, found more \(archive/[abc]\.json(\.gz)?\)"
    with pytest.raises(ks.TraceLimitError, match=message):
        ks.read(archive, max_bytes=limit)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of memory is read there")
@pytest.mark.parametrize("mode", ["w", "w:gz", "zip"])
def test_a_large_member_is_never_whole_in_memory(tmp_path: Path, mode: Any) -> None:
    text, path = tmp_path / "a.json", tmp_path / "archive"
    with text.open("wb") as file:
        file.write(b'{"traceEvents": [')
        file.writelines(b" " * (1 << 20) for _ in range(300))
        file.write(JSON[JSON.index(b"[") + 1 :])
    if mode == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.write(text, text.name)
    else:
        with tarfile.open(path, mode) as archive:
            archive.add(text, text.name)
    script = (
        "import sys, kinetoscope as ks\n"
        "assert ks.read(sys.argv[1]).num_events == 1\n"
        "print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 100 << 10, f"{done.stdout} kB"


def test_a_member_that_cannot_be_unpacked_is_named() -> None:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("a.json", JSON)
        archive.writestr("b.json", JSON, zipfile.ZIP_STORED)
    with pytest.warns(RuntimeWarning, match=r"a.json in the archive was skipped: a member with another compression"):
        assert ks.read(whole.getvalue()).num_events == 1


def test_errors() -> None:
    with pytest.raises(ks.TraceError, match=r"expected traces in the archive, found a.txt \(.*text.*\)"):
        ks.read(tarred({"a.txt": b"text"}))
    with pytest.raises(ks.TraceError, match="expected an archive, found a damaged one"):
        ks.read(zipped({"a.json": JSON, "b.json": JSON})[:200])
