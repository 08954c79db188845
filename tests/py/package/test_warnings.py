"""A warning points at the line of whoever called."""

from __future__ import annotations

import shutil
import warnings
from pathlib import Path

import kinetoscope as ks
import pytest

pytestmark = pytest.mark.unit


def assert_here(found: list[warnings.WarningMessage], words: str) -> None:
    (warning,) = found
    assert words in str(warning.message)
    assert warning.filename == __file__


def test_an_execution_trace_that_is_not_read(data: Path, tmp_path: Path) -> None:
    kineto = Path(shutil.copy(data / "minimal_cpu/kineto_trace_0.json.gz", tmp_path))
    (tmp_path / "torch_et_0.json.gz").write_text("no trace")
    with pytest.warns(RuntimeWarning) as found:
        ks.read(kineto)
    assert_here(list(found), "was not read")
    shutil.copy(data / "minimal_cpu/torch_et_0.json.gz", tmp_path)
    lazy = ks.read_dir(tmp_path, eager=False)
    (tmp_path / "torch_et_0.json.gz").write_bytes(b"")
    with pytest.warns(RuntimeWarning) as found:
        assert lazy.members[0].trace.num_events
    assert_here(list(found), "was not read")


def test_a_cache_that_cannot_be_written(data: Path, tmp_path: Path) -> None:
    kineto = Path(shutil.copy(data / "minimal_cpu/kineto_trace_0.json.gz", tmp_path))
    (tmp_path / "file").touch()
    with pytest.warns(RuntimeWarning) as found:
        ks.read(kineto, cache=tmp_path / "file")
    assert {warning.filename for warning in found} == {__file__}


def test_an_archive_that_is_cut(data: Path, tmp_path: Path) -> None:
    path = Path(shutil.make_archive(str(tmp_path / "job"), "tar", data / "mlp_gloo"))
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])
    with pytest.warns(RuntimeWarning) as found:
        ks.read(path)
    assert {warning.filename for warning in found} == {__file__}
