"""Pipelines that torch ran: stages, micro-batches and schedules."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import kinetoscope as ks
import pytest

if TYPE_CHECKING:
    from kinetoscope._analysis.result import AnalysisResult

SHAPE = ("stage", "rank", "num_stages", "num_chunks", "num_micro_batches", "num_iterations", "schedule")


def pipelines(data: Path, name: str) -> AnalysisResult:
    return ks.read_dir(data / "pipeline_gloo" / name, progress=False).pipeline()


@pytest.mark.parametrize(("name", "num_chunks"), [("1f1b", 1), ("interleaved", 2)])
def test_the_schedule_that_ran_is_told(data: Path, name: str, num_chunks: int) -> None:
    found = pipelines(data, name)
    assert found.select(*SHAPE).rows() == [(rank, rank, 3, num_chunks, 6, 1, name) for rank in range(3)]
    shares = found.select("bubble_share", "ideal_bubble_share").rows()
    assert all(ideal == pytest.approx(2 / (6 * num_chunks + 2)) for _, ideal in shares)
    assert all(0 <= own < 1 for own, _ in shares)


@pytest.mark.parametrize(("name", "num_chunks"), [("1f1b", 1), ("interleaved", 2)])
def test_each_pass_of_each_micro_batch_is_listed(data: Path, name: str, num_chunks: int) -> None:
    passes = pipelines(data, name).tables["micro_batches"]
    rows = passes.select("rank", "chunk", "micro_batch", "pass").rows()
    wanted = {
        (rank, chunk, number, direction)
        for rank in range(3)
        for chunk in range(num_chunks)
        for number in range(6)
        for direction in ("forward", "backward")
    }
    assert Counter(rows) == Counter(wanted)
    times = passes.select("start_ns", "end_ns", "busy_ns").rows()
    assert all(0 < busy <= end - start for start, end, busy in times)


def test_names_and_messages_agree(data: Path, tmp_path: Path) -> None:
    """Without the ranges that name actions, messages and operators of autograd find the same passes."""
    for source in sorted((data / "pipeline_gloo/interleaved").glob("kineto*.gz")):
        document: dict[str, Any] = json.loads(gzip.decompress(source.read_bytes()))
        events = document["traceEvents"]
        document["traceEvents"] = [event for event in events if not event.get("name", "").startswith("PP:")]
        (tmp_path / source.name.removesuffix(".gz")).write_text(json.dumps(document))
    named, unnamed = pipelines(data, "interleaved"), ks.read_dir(tmp_path, progress=False).pipeline()
    columns = ("rank", "pass")

    def counts(found: AnalysisResult) -> Counter[Any]:
        return Counter(found.tables["micro_batches"].select(*columns).rows())

    assert counts(unnamed) == counts(named)


def test_the_picture_has_a_line_for_each_stage(data: Path) -> None:
    picture = pipelines(data, "1f1b").plot()._repr_svg_()
    assert all(f">rank {rank}</text>" in picture for rank in range(3))
    assert picture.count("<rect") >= 3 * 6 * 2


def test_shared_balanced_pipelines(shared: Path) -> None:
    """Two pipelines of two stages with four micro-batches, of which 300 of 1,500 µs are bubble."""
    folder = shared.parent / "cases/36-balanced-pipeline"
    if not folder.is_dir():
        pytest.skip("the cases are not here")
    found = ks.read_dir(folder, progress=False).pipeline()
    columns = ("pipeline", "stage", "rank", "num_micro_batches", "schedule", "bubble_ns")
    assert sorted(found.select(*columns).rows()) == [
        (0, 0, 0, 4, "gpipe", 300_000),
        (0, 1, 2, 4, "gpipe", 300_000),
        (1, 0, 1, 4, "gpipe", 300_000),
        (1, 1, 3, 4, "gpipe", 300_000),
    ]
    assert found.select("bubble_share", "ideal_bubble_share").rows() == [(0.2, 0.2)] * 4
    assert len(found.tables["micro_batches"]) == 0, "no operator tells forward and backward work apart"


def test_the_report_of_a_job_shows_its_pipeline(data: Path, tmp_path: Path) -> None:
    page = ks.read_dir(data / "pipeline_gloo/1f1b", progress=False).report(tmp_path / "job.html").read_text()
    assert ">Pipeline<" in page
    assert "ideal share" in page
    without = ks.read_dir(data / "mlp_gloo", progress=False).report(tmp_path / "other.html").read_text()
    assert ">Pipeline<" not in without
