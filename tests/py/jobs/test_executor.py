"""Jobs that an executor's workers read: what they answer is what is answered of the same traces read here."""

from __future__ import annotations

import gzip
import json
import multiprocessing
import shutil
from collections.abc import Iterator
from concurrent.futures import CancelledError, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope import _native
from kinetoscope._load.recording import ReadResult, Recording
from kinetoscope._remote import worker

ANALYSES = [analysis["name"] for analysis in json.loads(_native.analyses_json())]


@pytest.fixture(scope="module")
def processes() -> Iterator[Executor]:
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as executor:
        yield executor


@pytest.fixture
def folder(data: Path, tmp_path: Path) -> Path:
    """Two ranks, of one of which a file is damaged, and a third that cannot be read at all."""
    for file in (data / "mlp_gloo").glob("*.gz"):
        shutil.copy(file, tmp_path)
    return tmp_path


def tables(answer: Any) -> dict[str, list[Any]]:
    return {name: table.rows() for name, table in answer.tables.items()}


def assert_alike(far: ks.TraceSet, near: ks.TraceSet, **request: Any) -> None:
    for name in ANALYSES:
        ours, theirs = far.analyze(name, **request), near.analyze(name, **request)
        assert tables(ours) == tables(theirs), name
        assert (ours.reason, repr(ours)) == (theirs.reason, repr(theirs)), name


# --- what is answered ---------------------------------------------------------------------------------------------


def test_every_analysis_is_that_of_traces_read_here(folder: Path, processes: Executor) -> None:
    far, near = ks.read_dir(folder, executor=processes), ks.read_dir(folder)
    assert not any(member.is_read for member in far.members)
    assert repr(far) == repr(near)
    assert_alike(far, near)
    assert_alike(far, near, rank=1, iteration=3)
    assert not any(member.is_read for member in far.members)


def test_an_executor_may_be_given_to_one_analysis(folder: Path, processes: Executor) -> None:
    job, near = ks.read_dir(folder, eager=False), ks.read_dir(folder)
    assert tables(job.breakdown(executor=processes)) == tables(near.breakdown())
    assert tables(job.stragglers(executor=processes)) == tables(near.stragglers())
    assert not any(member.is_read for member in job.members)
    assert job[1].num_events == near[1].num_events


def test_what_was_read_here_answers_here(folder: Path, processes: Executor) -> None:
    near = ks.read_dir(folder)
    assert tables(ks.read_dir(folder).operators(executor=processes)) == tables(near.operators())
    half = ks.read_dir(folder, eager=False)
    assert half[0].rank == 0
    for name in ANALYSES:
        assert tables(half.analyze(name, executor=processes)) == tables(near.analyze(name)), name
    assert [member.is_read for member in half.members] == [True, False]
    assert half.skipped == {}


@pytest.mark.shared
def test_dlrm(shared: Path, tmp_path: Path, processes: Executor) -> None:
    archive = shared / "facebookresearch__param/et_replay/tests/inputs/dlrm_kineto.tar.gz"
    shutil.unpack_archive(archive, tmp_path)
    (inside,) = tmp_path.iterdir()
    far, near = ks.read_dir(inside, executor=processes), ks.read_dir(inside)
    assert far.ranks == list(range(8))
    assert_alike(far, near)


def test_threads_are_an_executor(folder: Path) -> None:
    with ThreadPoolExecutor(2) as threads:
        assert_alike(ks.read_dir(folder, executor=threads), ks.read_dir(folder))


def test_addresses_are_read_by_the_workers(folder: Path, processes: Executor) -> None:
    far = ks.read_dir(f"file://{folder}", executor=processes)
    assert tables(far.kernels()) == tables(ks.read_dir(folder).kernels())


# --- what travels -------------------------------------------------------------------------------------------------


class Counting(Executor):
    """Works at once, and counts the bytes that would travel back."""

    def __init__(self) -> None:
        self.num_bytes: dict[str, int] = {}

    def submit(self, work: Any, /, *args: Any, **_: Any) -> Future[Any]:
        future: Future[Any] = Future()
        found, question = work(*args), args[1].__name__
        size = sum(map(len, found)) if isinstance(found, list) else len(getattr(found, "communications", found))
        self.num_bytes[question] = self.num_bytes.get(question, 0) + size
        future.set_result(found)
        return future


def test_only_what_ranks_have_in_common_travels(folder: Path) -> None:
    counting = Counting()
    job = ks.read_dir(folder, executor=counting)
    job.stragglers()
    whole = sum(len(trace.snapshot()) for trace in ks.read_dir(folder))
    assert counting.num_bytes["inspect"] < whole / 3
    assert counting.num_bytes["respond"] < whole / 3
    for question, most in ((job.findings, whole / 30), (job.job_critical_path, whole / 2)):
        counting.num_bytes.clear()
        question()
        assert set(counting.num_bytes) == {"respond"}
        assert counting.num_bytes["respond"] < most


def test_a_worker_keeps_what_it_has_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_trace_cache", worker._TraceCache())
    reads: list[str] = []
    read = Recording.read

    def counted(self: Recording) -> ReadResult:
        reads.append(str(self.pair.kineto))
        return read(self)

    monkeypatch.setattr(Recording, "read", counted)
    job = ks.read_dir(folder, executor=Counting())
    job.breakdown()
    job.kernels()
    assert len(reads) == 2
    monkeypatch.setattr(worker, "_MAX_CACHED_EVENTS", 1)
    job.operators()
    job.operators()
    assert len(reads) > 3


# --- what goes wrong ----------------------------------------------------------------------------------------------


def test_a_rank_that_cannot_be_read_is_reported_and_the_rest_stands(folder: Path, processes: Executor) -> None:
    (folder / "kineto_trace_1.json.gz").write_bytes(gzip.compress(b'{"traceEvents": 7}'))
    (folder / "torch_et_1.json.gz").write_bytes(b"nothing")
    job = ks.read_dir(folder, executor=processes)
    assert job.ranks == [0]
    assert set(job.skipped) == {"kineto_trace_1.json.gz", "torch_et_1.json.gz"}
    assert len(job.operators()) > 0


def test_a_rank_that_goes_away_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = ks.read_dir(folder, executor=Counting())
    monkeypatch.setattr(worker, "_trace_cache", worker._TraceCache())
    for file in folder.glob("*_1.json.gz"):
        file.unlink()
    with pytest.warns(RuntimeWarning, match=r"kineto_trace_1.*can no longer be read.*No such file"):
        found = job.operators()
    assert {row[0] for row in found.rows()} == {0}
    with pytest.warns(RuntimeWarning, match="can no longer be read"):
        assert job.stragglers().reason == "no two ranks share a collective"
    with pytest.warns(RuntimeWarning, match="can no longer be read"):
        assert {row[0] for row in job.job_critical_path().rows()} == {0}
    for file in folder.glob("*.gz"):
        file.unlink()
    monkeypatch.setattr(worker, "_trace_cache", worker._TraceCache())
    with pytest.warns(RuntimeWarning), pytest.raises(ks.TraceError, match="expected readable traces, found none"):
        job.operators()


class Losing(ThreadPoolExecutor):
    """Loses the worker of one recording, as a cluster does."""

    def submit(self, work: Any, recording: Recording, /, *args: Any, **more: Any) -> Future[Any]:
        if "1" not in str(recording.pair.kineto):
            return super().submit(work, recording, *args, **more)
        future: Future[Any] = Future()
        future.set_exception(RuntimeError("its worker died"))
        return future


def test_a_rank_that_is_lost_with_its_worker_is_reported_and_the_rest_stands(folder: Path) -> None:
    with Losing(1) as losing, ThreadPoolExecutor(1) as threads:
        job = ks.read_dir(folder, executor=losing)
        assert job.ranks == [0]
        assert job.skipped["kineto_trace_1.json.gz"] == "RuntimeError: its worker died"
        whole = ks.read_dir(folder, executor=threads)
        with pytest.warns(RuntimeWarning, match=r"kineto_trace_1.*skipped: RuntimeError: its worker died"):
            assert {row[0] for row in whole.kernels(executor=losing).rows()} <= {0}


class Ending(ThreadPoolExecutor):
    """Is shut down, by somebody else, before it begins."""

    def submit(self, *_: Any, **__: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.cancel()
        return future


class Breaking(ThreadPoolExecutor):
    """Has lost one of its processes, and with it all."""

    def submit(self, *_: Any, **__: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_exception(BrokenProcessPool("terminated"))
        return future


def test_an_executor_that_ends_is_told(folder: Path) -> None:
    with Ending(1) as ending, pytest.raises(CancelledError, match="shut down before all ranks were analyzed"):
        ks.read_dir(folder, executor=ending)
    with Breaking(1) as breaking, pytest.raises(BrokenProcessPool, match=r"possibly out of memory.*: terminated"):
        ks.read_dir(folder, executor=breaking)


def test_half_a_recording_is_read_as_here(folder: Path, processes: Executor) -> None:
    (folder / "torch_et_1.json.gz").write_bytes(b"nothing")
    far, near = ks.read_dir(folder, executor=processes), ks.read_dir(folder)
    assert far.skipped == near.skipped
    assert repr(far) == repr(near)


def test_what_is_wrong_with_the_question_is_raised(folder: Path, processes: Executor) -> None:
    job = ks.read_dir(folder, executor=processes)
    with pytest.raises(TypeError, match="colour"):
        job.analyze("kernels", colour="red")
    with pytest.raises(ks.TraceError, match="iteration"):
        job.kernels(iteration=99)
    with pytest.raises(ks.TraceError, match="longest"):
        job.analyze("stragglers", longest=-1)
    with pytest.raises(ValueError, match="found \\[7\\]"):
        job.kernels(rank=7)


def test_an_archive_is_refused(data: Path, tmp_path: Path, processes: Executor) -> None:
    archive = shutil.make_archive(str(tmp_path / "job"), "zip", data / "mlp_gloo")
    with pytest.raises(ValueError, match="unpack"):
        ks.read_dir(archive, executor=processes)
