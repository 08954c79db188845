"""Jobs with unreadable files, without the files of some ranks, or with unequal recordings."""

from __future__ import annotations

import gzip
import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope._cli.main import main
from support.large_job import iteration, rank_trace, write_job

pytestmark = pytest.mark.unit

GARBAGE = "rank 3.json.gz"
COMPLETE = "Complete recording"
NAMED = f"file {GARBAGE} could not be read: expected a JSON trace"


def write(folder: Path, traces: dict[int, dict[str, Any]]) -> Path:
    for rank, trace in traces.items():
        (folder / f"rank{rank}.json.gz").write_bytes(gzip.compress(json.dumps(trace).encode(), 1, mtime=0))
    return folder


def trust(page: Path) -> str:
    """The verdict of a page, without its tags."""
    section = re.search(r'<section class="ks-trust.*?</section>', page.read_text(encoding="utf-8"), re.DOTALL)
    assert section is not None
    return re.sub(r"<[^>]+>", "", section[0])


@pytest.mark.parametrize("num_ranks", [4, 20])
@pytest.mark.parametrize("num_workers", [0, 2])
def test_the_page_names_a_file_that_could_not_be_read(tmp_path: Path, num_ranks: int, num_workers: int) -> None:
    folder = write_job(tmp_path, num_ranks, late={1})
    (folder / GARBAGE).write_bytes(gzip.compress(b"no trace"))
    with ThreadPoolExecutor(2) as pool:
        job = ks.read_dir(folder, executor=pool if num_workers else None)
        said = trust(job.report(tmp_path / "report.html"))
    assert NAMED in said
    assert COMPLETE not in said
    assert f"traces of {num_ranks - 1} of {num_ranks} ranks; missing: 3" in said
    assert str(tmp_path) not in said
    digest = job.digest()
    assert f"unread file `{GARBAGE}`" in digest
    assert COMPLETE not in digest


def test_a_redacted_page_counts_unread_files(tmp_path: Path) -> None:
    folder = write_job(tmp_path, 4, late=())
    (folder / GARBAGE).write_bytes(b"no trace")
    said = trust(ks.read_dir(folder).report(tmp_path / "report.html", redact="strict"))
    assert "file #1 could not be read: its name is redacted" in said
    assert GARBAGE not in said


def test_a_file_that_vanishes_is_named(tmp_path: Path) -> None:
    folder = write_job(tmp_path, 20, late=())
    with ThreadPoolExecutor(2) as pool:
        job = ks.read_dir(folder, executor=pool)
        (folder / GARBAGE).write_bytes(b"no trace")
        with pytest.warns(RuntimeWarning, match="can no longer be read"):
            said = trust(job.report(tmp_path / "report.html"))
    assert f"file {GARBAGE} could not be read: it can no longer be read" in said


def test_files_of_another_kind_are_not_missing(tmp_path: Path) -> None:
    folder = write_job(tmp_path, 4, late=())
    (folder / "config.json").write_text('{"lr": 0.1}')
    job = ks.read_dir(folder)
    assert "config.json" in job.skipped
    assert COMPLETE in trust(job.report(tmp_path / "report.html"))


@pytest.mark.parametrize("options", [[], ["--workers", "2"]])
def test_the_command_tells_unread_files(tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str]) -> None:
    folder = tmp_path / "job"
    folder.mkdir()
    (write_job(folder, 4, late=()) / GARBAGE).write_bytes(b"no trace")
    assert main(["report", str(folder), "-o", str(tmp_path / "report.html"), *options]) == 0
    assert f"skipped {GARBAGE}: expected a JSON trace" in capsys.readouterr().err
    assert NAMED in trust(tmp_path / "report.html")


@pytest.mark.parametrize("has_workers", [False, True])
def test_a_job_without_a_rank_is_incomplete(tmp_path: Path, *, has_workers: bool) -> None:
    folder = write_job(tmp_path, 8, late={6})
    (folder / "rank 5.json.gz").unlink()
    words = "traces of 7 of 8 ranks; missing: 5"
    with ThreadPoolExecutor(2) as pool:
        job = ks.read_dir(folder, executor=pool if has_workers else None)
        verdict = job.verdict
        found = job.stragglers()
        findings = job.findings().select("finding", "detail").rows()
    assert (verdict.state, str(verdict)) == ("incomplete", f"incomplete\n{words}")
    assert verdict.problems.select("rank", "problem", "num_all").rows() == [(None, "missing_ranks", None)]
    assert {row[0] for row in found.select("missing_ranks").rows()} == {words}
    assert all(words in detail for name, detail in findings if name == "straggler")
    page = job.report(tmp_path / "report.html")
    assert COMPLETE not in trust(page)
    assert f"job: {words}." in trust(page)
    assert f"Waits are among the {words}. A missing rank may be the latest." in page.read_text(encoding="utf-8")
    digest = job.digest()
    assert words in digest
    assert COMPLETE not in digest


def test_one_rank_of_a_job_is_no_incomplete_job(tmp_path: Path) -> None:
    job = ks.read_dir(write_job(tmp_path, 4, late=()))
    assert job.verdict.state == "complete"
    assert job.stragglers().select("missing_ranks").rows() == [(None,)] * 4
    assert job.of_ranks([2]).verdict.state == job[2].verdict.state == "complete"
    assert len(job.problems(rank=2)) == 0


def test_replicas_without_a_number_of_ranks_are_complete(tmp_path: Path) -> None:
    traces = {rank: rank_trace(rank, 8, 0) for rank in (0, 1, 5)}
    for trace in traces.values():
        del trace["distributedInfo"]
    job = ks.read_dir(write(tmp_path, traces))
    assert job.ranks == [0, 1, 5]
    assert job.verdict.state == "complete"
    assert COMPLETE in trust(job.report(tmp_path / "report.html"))


def test_the_slowest_rank_is_that_of_the_longest_mean_iteration(tmp_path: Path) -> None:
    """More iterations make no rank slow, fewer make none fast."""
    traces = {rank: rank_trace(rank, 20, 0) for rank in range(20)}
    for rank, num_iterations in ((3, 6), (5, 1)):
        events = [event for step in range(num_iterations) for event in iteration(rank, 20, 0, step)]
        traces[rank]["traceEvents"] = events
    for event in traces[7]["traceEvents"]:
        event["dur"] += 5 if event["name"].startswith("ProfilerStep") else 0
    page = ks.read_dir(write(tmp_path, traces)).report(tmp_path / "report.html").read_text(encoding="utf-8")
    said = re.search(r"Timelines of \d+ of 20 traces: ([^.]*)\.", page)
    assert said is not None
    assert re.search(r"rank 7 \([^)]*slowest\)", said[1]), said[1]
    assert not re.search(r"rank [35] \([^)]*(slowest|fastest)", said[1]), said[1]


def test_all_parts_of_a_page_take_the_same_of_equally_slow_ranks(tmp_path: Path) -> None:
    """Ranks 2, 5, 8, 11, 14 and 17 have iterations of 192 µs."""
    page = ks.read_dir(write_job(tmp_path, 20, late=())).report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "on rank 2</small>" in page
    assert re.search(r"rank 2 \([^)]*slowest\)", page)
    assert "to rank 2 (slowest iterations)" in page


def test_an_empty_recording_is_not_called_complete(tmp_path: Path) -> None:
    said = trust(ks.read(b"[]").report(tmp_path / "report.html"))
    assert "Empty recording: it holds no events." in said
    assert COMPLETE not in said


def test_the_page_says_why_waits_are_unknown(tmp_path: Path) -> None:
    traces = {rank: rank_trace(rank, 4, 0) for rank in range(4)}
    for trace in traces.values():
        trace["traceEvents"] = [event for event in trace["traceEvents"] if "ProfilerStep" not in event["name"]]
        for event in trace["traceEvents"]:
            event["args"].pop("Seq", None)
    write(tmp_path, traces)
    content = json.dumps(traces[3])
    (tmp_path / "rank3.json.gz").write_bytes(gzip.compress(content[: len(content) * 2 // 3].encode()))
    job = ks.read_dir(tmp_path)
    assert len(job.stragglers()) == 0
    page = job.report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Waits are unknown: the file of a rank ends early" in page
    assert "see `problems`" not in page
