"""Tables as files."""

from __future__ import annotations

import csv
import json
import math
import sys
from pathlib import Path

import kinetoscope as ks
import pytest
from kinetoscope import _native
from kinetoscope._cli.main import main
from kinetoscope._export.tables import Part, export

pytestmark = pytest.mark.unit


def test_parquet(cuda: ks.Trace, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    path = cuda.export(tmp_path / "events.parquet")
    assert parquet.read_table(path).equals(cuda.events.to_arrow())
    assert cuda.export(tmp_path / "nodes.parquet", table="nodes").is_file()
    with pytest.raises(KeyError, match="expected a table of"):
        cuda.export(tmp_path / "x.parquet", table="nothing")


def test_arrow(cuda: ks.Trace, tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    cuda.export(tmp_path / "nodes.arrow", "nodes")
    with pyarrow.ipc.open_file(tmp_path / "nodes.arrow") as file:
        assert file.read_all().equals(cuda.nodes.to_arrow())


@pytest.mark.parametrize("table", _native.Trace.table_names())
def test_every_table_with_its_schema(cuda: ks.Trace, tmp_path: Path, table: str) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    whole = parquet.read_table(cuda.export(tmp_path / "table.parquet", table))
    assert whole.equals(cuda.table(table).to_arrow())
    metadata = whole.schema.metadata
    assert metadata[b"kinetoscope_schema_version"] == b"2"
    assert metadata[b"kinetoscope_version"] == ks.__version__.encode()
    assert metadata[b"kinetoscope_table"] == table.encode()
    units = {field.name: (field.metadata or {}).get(b"unit") for field in whole.schema}
    assert all((unit == b"ns") == name.endswith("_ns") for name, unit in units.items())
    assert all((unit == b"bytes") == name.endswith("bytes") for name, unit in units.items())


def test_a_table_of_many_batches(tmp_path: Path) -> None:
    """More rows than a batch of the stream and a group of Parquet's hold."""
    parquet = pytest.importorskip("pyarrow.parquet")
    event = b'{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 5, "dur": 2}'
    trace = ks.read(b"[" + b",".join([event] * 1_100_000) + b"]")
    path = tmp_path / "events.parquet"
    export([Part(trace.events.select("id", "dur_ns"), {"rank": 3})], path)
    assert parquet.ParquetFile(path).metadata.num_row_groups == 2
    whole = parquet.read_table(path)
    assert whole.num_rows == 1_100_000
    assert whole.column("id").to_pylist()[-1] == 1_099_999
    assert set(whole.column("rank").to_pylist()) == {3}


def test_csv(hostile: ks.Trace, tmp_path: Path) -> None:
    hostile.export(tmp_path / "events.csv")
    with (tmp_path / "events.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == hostile.events.columns
    starts = ("=", "+", "-", "@", "\t", "\r")
    cells = [
        [
            "" if cell is None else f"'{cell}" if isinstance(cell, str) and cell.startswith(starts) else str(cell)
            for cell in row
        ]
        for row in hostile.events.rows()
    ]
    assert rows == cells
    assert any(cell.startswith("'=") for row in rows for cell in row)


def test_numbers_in_csv_stay_as_they_are(tmp_path: Path) -> None:
    event = b'{"ph": "X", "cat": "cpu_op", "name": "-5", "pid": 1, "tid": 1, "ts": -7, "dur": 2}'
    ks.read(b"[" + event + b"]").export(tmp_path / "events.csv")
    with (tmp_path / "events.csv").open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["name"], row["start_ns"]) == ("'-5", "-7000")


def test_what_is_true_or_false(cuda: ks.Trace, tmp_path: Path) -> None:
    """A type of its own, and words that other readers know."""
    parquet = pytest.importorskip("pyarrow.parquet")
    part = [Part(cuda.collectives().select("is_p2p"), {})]
    whole = parquet.read_table(export(part, tmp_path / "a.parquet"))
    assert (str(whole.schema.types[0]), set(whole["is_p2p"].to_pylist())) == ("bool", {False})
    assert export(part, tmp_path / "a.csv").read_text().split()[:2] == ["is_p2p", "false"]
    assert export(part, tmp_path / "a.jsonl").read_text().startswith('{"is_p2p":false}\n')


@pytest.mark.parametrize("table", _native.Trace.table_names())
def test_json_lines(hostile: ks.Trace, tmp_path: Path, table: str) -> None:
    """An object a row; what holds JSON is in it as it is, and no line is broken."""
    content = hostile.export(tmp_path / "table.jsonl", table).read_bytes().decode()
    rows = [json.loads(line, parse_constant=pytest.fail) for line in content.split("\n")[:-1]]
    assert [list(row) for row in rows] == [hostile.table(table).columns] * len(hostile.table(table))
    for row, cells in zip(rows, hostile.table(table).rows(), strict=True):
        for found, cell in zip(row.values(), cells, strict=True):
            is_number = isinstance(cell, float) and not math.isfinite(cell)
            assert found == (None if is_number else cell) or found == json.loads(str(cell))


def test_json_lines_of_many_rows(tmp_path: Path) -> None:
    event = b'{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 5, "dur": 2, "args": {"x": [1,\n2]}}'
    trace = ks.read(b"[" + b",".join([event] * 25_000) + b"]")
    path = export([Part(trace.events.select("id", "args"), {"rank": 3, "window": None})] * 2, tmp_path / "a.jsonl")
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [row["id"] for row in rows] == [*range(25_000)] * 2
    assert rows[0] == {"rank": 3, "window": None, "id": 0, "args": {"x": [1, 2]}}


def test_the_format_by_command(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = str(data / "minimal_cpu/kineto_trace_0.json.gz")
    assert main(["export", source, "--format", "jsonl", "-o", str(tmp_path / "events.txt")]) == 0
    assert main(["export", source, "--format", "jsonl"]) == 0
    written = (tmp_path / "events.txt").read_text()
    assert capsys.readouterr().out.endswith(f"rows of events\n{written}")
    assert main(["export", source]) == main(["export", source, "--format", "csv"]) == 2
    assert "expected an output file (-o), or --format jsonl to print" in capsys.readouterr().err


def test_by_command(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "links.csv"
    source = data / "minimal_cpu/kineto_trace_0.json.gz"
    assert main(["export", str(source), "--table", "links", "-o", str(path)]) == 0
    assert capsys.readouterr().out == f"{path}: {len(ks.read(source).links):,} rows of links\n"
    assert path.is_file()


def test_a_json_array(cuda: ks.Trace, tmp_path: Path) -> None:
    rows = json.loads(cuda.export(tmp_path / "iterations.json", "iterations").read_text(encoding="utf-8"))
    assert [tuple(row.values()) for row in rows] == cuda.iterations.rows()


def test_an_unknown_ending(cuda: ks.Trace, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"ends in \.parquet, \.arrow, \.csv, \.jsonl, \.json, found events\.xlsx"):
        cuda.export(tmp_path / "events.xlsx")


def test_without_pyarrow(cuda: ks.Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"expected pyarrow for \.parquet .*pip install 'kinetoscope\[pyarrow\]'"):
        cuda.export(tmp_path / "events.parquet")
    cuda.export(tmp_path / "events.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["events.csv"]
