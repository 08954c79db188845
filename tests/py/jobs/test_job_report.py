"""Reports of jobs with more ranks than a page has room for."""

from __future__ import annotations

import re
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope._cli.main import main
from support.large_job import write_job

pytestmark = pytest.mark.unit

NUM_RANKS = 20
LATE = 13
"""The rank that comes 30 µs late to each all-reduce."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_job(tmp_path_factory.mktemp("large job"), NUM_RANKS, late={LATE})


@pytest.fixture
def executor() -> Any:
    with ThreadPoolExecutor(2) as pool:
        yield pool


def body(path: Path) -> str:
    page = path.read_text(encoding="utf-8")
    return page[page.index("<main") : page.index("</main>")]


def test_the_page_has_timelines_of_the_ranks_that_matter(folder: Path, executor: Executor) -> None:
    job = ks.read_dir(folder, executor=executor)
    page = body(job.report(folder.parent / "report.html"))
    said = re.search(r"Timelines of 4 of 20 traces: ([^.]*)\.", page)
    assert said is not None
    assert f"rank {LATE} (most waited for" in said[1]
    assert "fastest" in said[1]
    assert "slowest" in said[1]
    assert "median" in said[1]
    assert sum(member.is_read for member in job.members) == 4
    assert "data-analysis" not in page


def test_every_rank_is_in_the_tables(folder: Path, executor: Executor) -> None:
    page = body(ks.read_dir(folder, executor=executor).report(folder.parent / "report.html"))
    assert f"rank {LATE}" in page
    assert "60 of 60" not in page
    assert f">{NUM_RANKS}</dd>" in page  # the card "traces"
    stragglers = page[page.index('id="stragglers"') :]
    assert stragglers.index(f">{LATE}<") < stragglers.index(">0<")


def test_the_page_is_the_same_with_and_without_workers(folder: Path, executor: Executor) -> None:
    far = ks.read_dir(folder, executor=executor).report(folder.parent / "far.html")
    near = ks.read_dir(folder).report(folder.parent / "near.html")
    assert far.read_bytes() == near.read_bytes()


def test_files_below_the_page_are_linked(folder: Path) -> None:
    inside = body(ks.read_dir(folder).report(folder / "report.html"))
    assert '<a href="rank%203.json.gz">rank 3.json.gz</a>' in inside
    (folder / "report.html").unlink()
    elsewhere = body(ks.read_dir(folder).report(folder.parent / "report.html"))
    assert '<a href="large' not in elsewhere or "rank%203.json.gz" in elsewhere
    assert str(folder.parent) not in elsewhere


def test_a_redacted_page_names_no_file_and_no_kernel(folder: Path, executor: Executor) -> None:
    job = ks.read_dir(folder, executor=executor)
    page = body(job.report(folder.parent / "redacted.html", redact="strict"))
    assert "Timelines of 4 of 20 traces" in page
    assert "rank 3.json.gz" not in page


def test_unreadable_ranks_are_skipped(folder: Path, executor: Executor, tmp_path: Path) -> None:
    for path in folder.glob("*.gz"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    job = ks.read_dir(tmp_path, executor=executor)
    (tmp_path / "rank 5.json.gz").write_bytes(b"no trace")
    with pytest.warns(RuntimeWarning, match="rank 5.json.gz can no longer be read"):
        page = body(job.report(tmp_path / "report.html"))
    assert "Timelines of 4 of 19 traces" in page


def test_trimmed_traces_keep_their_timelines(folder: Path, executor: Executor, tmp_path: Path) -> None:
    for rank in range(NUM_RANKS):
        ks.read(folder / f"rank {rank}.json.gz").trim(iteration=1).to_chrome(tmp_path / f"rank_{rank}.json")
    page = body(ks.read_dir(tmp_path, executor=executor).report(tmp_path / "report.html"))
    assert "Timelines of" not in page
    assert "Trimmed" in page


def test_the_command_takes_workers(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "report.html"
    assert main(["report", str(folder), "--workers", "2", "-o", str(output)]) == 0
    assert "Timelines of 4 of 20 traces" in body(output)
    capsys.readouterr()
    assert main(["report", str(folder / "rank 0.json.gz"), "--workers", "2", "-o", str(output)]) != 0
    assert "expected a folder with --workers, found a file" in capsys.readouterr().err


def test_tables_that_scripts_cannot_ask_for_have_no_buttons(tmp_path: Path) -> None:
    page = body(ks.read_dir(write_job(tmp_path, 4, late={2})).report(tmp_path / "report.html"))
    start = page.index('id="topology"')
    topology = page[start : page.index("</section>", start)]
    assert "Pairs of ranks with the longest waits" in topology
    assert "data-analysis" not in topology
    assert "data-analysis" in page


def test_a_page_may_be_limited_in_size(folder: Path) -> None:
    with pytest.raises(ValueError, match="expected a larger max_size"):
        ks.read_dir(folder).report(folder.parent / "small.html", max_size="1KB")
    static = ks.read_dir(folder).report(folder.parent / "static.html", static=True)
    assert "<script" not in static.read_text(encoding="utf-8")
