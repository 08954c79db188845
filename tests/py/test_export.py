"""Tables as files."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import kinetoscope as ks
import pytest
from kinetoscope.cli import main
from kinetoscope.export import export

pytestmark = pytest.mark.unit


def test_parquet(cuda: ks.Trace, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    export(cuda.events, tmp_path / "events.parquet")
    assert parquet.read_table(tmp_path / "events.parquet").equals(cuda.events.to_arrow())


def test_arrow(cuda: ks.Trace, tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    export(cuda.nodes, tmp_path / "nodes.arrow")
    with pyarrow.ipc.open_file(tmp_path / "nodes.arrow") as file:
        assert file.read_all().equals(cuda.nodes.to_arrow())


def test_csv(hostile: ks.Trace, tmp_path: Path) -> None:
    export(hostile.events, tmp_path / "events.csv")
    with (tmp_path / "events.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == hostile.events.columns
    expected = [["" if cell is None else str(cell) for cell in row] for row in hostile.events.rows()]
    assert rows == expected


def test_by_command(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "links.csv"
    source = data / "minimal_cpu/kineto_trace_0.json.gz"
    assert main(["export", str(source), "--table", "links", "-o", str(path)]) == 0
    assert capsys.readouterr().out == f"{path}: {len(ks.read(source).links):,} rows of links\n"
    assert path.is_file()


def test_an_unknown_ending(cuda: ks.Trace, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"ends in \.parquet, \.arrow, \.csv, found events\.xlsx"):
        export(cuda.events, tmp_path / "events.xlsx")


def test_without_pyarrow(cuda: ks.Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"expected pyarrow for \.parquet, found none: pip install pyarrow"):
        export(cuda.events, tmp_path / "events.parquet")
    export(cuda.events, tmp_path / "events.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["events.csv"]
