"""Replay of kernels that a compiler generated, from their stored sources."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import kinetoscope as ks
import pytest
from kinetoscope.replaying.operators.result import OperatorReplay

pytest.importorskip("torch")


def planned(job: str | os.PathLike[str], *, allows_sources: bool = False) -> OperatorReplay:
    found = ks.replay(job, dry_run=True, kernel_sources=allows_sources)
    assert isinstance(found, OperatorReplay)
    return found


def test_kernels_run_only_where_their_sources_are_allowed(data: Path) -> None:
    refused = planned(data / "inference_cuda/compiled")
    assert refused.coverage == pytest.approx(0.6)
    assert {row[0] for row in refused.select("reason").rows()} == {
        None,
        "running stored sources is not allowed (kernel_sources)",
    }
    assert refused.notes[0].startswith("100.0% with kernel_sources")
    allowed = planned(data / "inference_cuda/compiled", allows_sources=True)
    assert (allowed.coverage, any("kernel_sources" in note for note in allowed.notes)) == (1.0, False)


@pytest.mark.parametrize("ending", ["tar.gz", "tar", "zip"])
def test_sources_of_kernels_lie_in_the_archive_of_the_trace(data: Path, tmp_path: Path, ending: str) -> None:
    kept = shutil.copytree(data / "inference_cuda/compiled", tmp_path / "kept")
    archived = shutil.make_archive(os.fspath(tmp_path / "all"), "gztar" if ending == "tar.gz" else ending, kept)
    found = planned(archived, allows_sources=True)
    assert found.coverage == 1.0
    for source in kept.rglob("*.py"):
        source.unlink()
    without = shutil.make_archive(os.fspath(tmp_path / "without"), "gztar" if ending == "tar.gz" else ending, kept)
    for allows in (False, True):
        found = planned(without, allows_sources=allows)
        assert found.coverage == pytest.approx(0.6)
        assert {row[0] for row in found.select("reason").rows()} == {
            None,
            "the source of the kernel is not beside the trace",
        }
        assert not any("kernel_sources" in note for note in found.notes)


@pytest.mark.shared
def test_a_public_archive_has_its_sources(shared: Path) -> None:
    archive = shared / "facebookresearch__param/et_replay/tests/inputs/pt2_et.json.tar.gz"
    assert planned(archive, allows_sources=True).coverage == 1.0
