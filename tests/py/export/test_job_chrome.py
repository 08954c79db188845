"""All ranks of a job in one Chrome trace."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import kinetoscope as ks
import pytest

if TYPE_CHECKING:
    from kinetoscope.trace_set import TraceSet

pytestmark = pytest.mark.unit


@pytest.fixture(scope="module")
def job(data: Path) -> TraceSet:
    return ks.read_dir(data / "mlp_gloo")


LAUNCHES = """
select work.name, work.dur_ns, call.name, work.start_ns - call.start_ns
from events work join events call on work.launch_id = call.id
"""
"""Device work with the call that launched it."""


def read_job(path: Path) -> TraceSet:
    job = ks.read(path)
    assert isinstance(job, ks.TraceSet)
    return job


def elements(path: Path) -> list[dict[str, Any]]:
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    found: list[dict[str, Any]] = json.loads(text)["traceEvents"]
    return found


def facts(trace: ks.Trace) -> list[tuple[object, ...]]:
    return sorted(trace.events.select("name", "kind", "dur_ns").rows())


def test_the_file_reads_back_as_the_job(job: TraceSet, tmp_path: Path) -> None:
    path = job.to_chrome(tmp_path / "job.json.gz")
    again = read_job(path)
    assert again.ranks == job.ranks == [0, 1]
    for rank in job.ranks:
        assert facts(again[rank]) == facts(job[rank])
    collectives = [of.collectives().select("rank", "collective").rows() for of in (job, again)]
    assert collectives[0]
    assert sorted(collectives[0]) == sorted(collectives[1])


@pytest.mark.parametrize("name", ["job.json.gz", "job.pftrace"])
def test_process_groups_read_back(data: Path, tmp_path: Path, name: str) -> None:
    """Gloo's events do not name the ranks of their group: the header does."""
    job = ks.read_dir(data / "pipeline_gloo/1f1b")
    again = read_job((job.to_perfetto if name.endswith(".pftrace") else job.to_chrome)(tmp_path / name))
    waits = [of.stragglers().select("rank", "caused_wait_ns").rows() for of in (job, again)]
    assert len(waits[0]) == 3
    assert waits[0] == waits[1]
    assert len(again.pipeline()) == len(job.pipeline()) == 3
    for rank in job.ranks:
        assert again[rank].process_groups.rows() == job[rank].process_groups.rows()
        assert "kinetoscope_distributed" not in str(again[rank].metadata)


def test_traces_without_ranks_are_kept_apart(tmp_path: Path) -> None:
    def step(number: int) -> dict[str, Any]:
        return {"ph": "X", "cat": "cpu_op", "name": f"op {number}", "pid": 7, "tid": 1, "ts": number * 10, "dur": 9}

    paths = [tmp_path / f"{name}.json" for name in "ab"]
    for path, numbers in zip(paths, ((1, 2), (1, 2, 3)), strict=True):
        path.write_text(json.dumps([step(number) for number in numbers]))
    again = read_job(ks.read(paths).to_chrome(tmp_path / "job.json"))
    assert [len(trace.events) for trace in again] == [2, 3]


@pytest.mark.parametrize("name", ["job.json", "job.pftrace"])
@pytest.mark.parametrize("told", [True, False])
def test_streams_keep_their_device(tmp_path: Path, name: str, *, told: bool) -> None:
    """Annotations on a device may have no arguments: then the process alone tells the device."""

    def work(category: str, name: str, stream: int, start: int, **args: Any) -> dict[str, Any]:
        place = {"pid": 0, "tid": stream, "ts": start, "dur": 100}
        return {"ph": "X", "cat": category, "name": name, **place, "args": {**args, "stream": stream} if told else {}}

    folder = tmp_path / "job"
    folder.mkdir()
    for rank in range(2):
        events = [
            {**work("gpu_user_annotation", "forward", 7, 0), "args": {}},
            work("kernel", "gemm", 7, 10, device=0),
            work("kernel", "ncclDevKernel_AllReduce", 20, 60, device=0),
        ]
        recorded = {"schemaVersion": 1, "distributedInfo": {"rank": rank, "world_size": 2}, "traceEvents": events}
        (folder / f"kineto_trace_{rank}.json").write_text(json.dumps(recorded))
    job = ks.read_dir(folder)
    again = read_job((job.to_perfetto if name.endswith(".pftrace") else job.to_chrome)(tmp_path / name))
    results = [[of.breakdown().rows(), of.overlap().rows(), of.kernels().rows()] for of in (job, again)]
    assert results[0] == results[1]
    assert again.breakdown().select("rank", "device", "communication_ns").rows() == [(0, 0, 100_000), (1, 0, 100_000)]
    for rank in job.ranks:
        tracks = [of[rank].events.select("name", "thread", "device", "stream").rows() for of in (job, again)]
        assert sorted(tracks[0]) == sorted(tracks[1])


def test_a_perfetto_file_reads_back_as_the_job(job: TraceSet, tmp_path: Path) -> None:
    again = read_job(job.to_perfetto(tmp_path / "job.pftrace"))
    assert again.ranks == job.ranks
    offsets = dict(job.clock_offsets.select("rank", "offset_ns").rows())
    for rank in job.ranks:
        assert facts(again[rank]) == facts(job[rank])
        before, after = (sorted(of[rank].events.select("start_ns").rows()) for of in (job, again))
        assert {b - a for (a,), (b,) in zip(before, after, strict=True)} == {-(offsets[rank] or 0)}
    collectives = [of.collectives().select("rank", "collective").rows() for of in (job, again)]
    assert sorted(collectives[0]) == sorted(collectives[1])


def test_a_perfetto_file_keeps_the_launches_of_each_rank(data: Path, tmp_path: Path) -> None:
    recorded = json.loads(gzip.decompress((data / "transformer_cuda/kineto_trace_0.json.gz").read_bytes()))
    for rank in range(2):
        recorded["distributedInfo"] = {"rank": rank, "world_size": 2}
        (tmp_path / f"kineto_trace_{rank}.json").write_text(json.dumps(recorded))
    job = ks.read_dir(tmp_path)
    again = read_job(job.to_perfetto(tmp_path / "job.pftrace.gz"))
    assert again.ranks == job.ranks == [0, 1]
    for rank in job.ranks:
        before, after = (sorted(of[rank].sql(LAUNCHES).rows()) for of in (job, again))
        assert before
        assert before == after


def test_times_are_on_one_clock_or_as_recorded(job: TraceSet, tmp_path: Path) -> None:
    offsets = dict(job.clock_offsets.select("rank", "offset_ns").rows())
    aligned: tuple[Literal["clocks", "recorded"], ...] = ("clocks", "recorded")
    for align in aligned:
        again = read_job(job.to_chrome(tmp_path / f"{align}.json", align=align))
        for rank in job.ranks:
            before, after = (sorted(of[rank].events.select("start_ns").rows()) for of in (job, again))
            shifts = {a - b for (a,), (b,) in zip(before, after, strict=True)}
            assert shifts == {(offsets[rank] or 0) if align == "clocks" else 0}, (align, rank)


def test_processes_and_flows_of_the_ranks_are_told_apart(job: TraceSet, tmp_path: Path) -> None:
    found = elements(job.to_chrome(tmp_path / "job.json"))
    processes = {str(element["pid"]) for element in found}
    assert all(process.startswith(("rank 0", "rank 1")) for process in processes)
    flows: dict[object, set[str]] = {}
    for element in found:
        if element["ph"] in "stf":
            flows.setdefault((element["cat"], element["id"]), set()).add(str(element["pid"]).split(":")[0])
    assert flows
    assert all(len(ranks) == 1 for ranks in flows.values())


def test_ranks_may_be_chosen_and_mistakes_are_told(job: TraceSet, tmp_path: Path) -> None:
    found = elements(job.to_chrome(tmp_path / "one.json", rank=1))
    assert {str(element["pid"]).split(":")[0] for element in found} == {"rank 1"}
    with pytest.raises(ValueError, match="found 'start'"):
        job.to_chrome(tmp_path / "x.json", align="start")  # type: ignore[arg-type] - the mistake
    with pytest.raises(ValueError, match=r"found \[7\]"):
        job.to_chrome(tmp_path / "x.json", rank=7)
    assert not (tmp_path / "x.json").exists()
