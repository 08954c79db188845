"""Results of analyses as a workbook, read back by another library."""

from __future__ import annotations

import json
import math
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope import _native
from kinetoscope._cli.main import main
from kinetoscope._export import workbook

pytest.importorskip("xlsxwriter")
openpyxl: Any = pytest.importorskip("openpyxl")

pytestmark = pytest.mark.unit

ANALYSES = [analysis["name"] for analysis in json.loads(_native.analyses_json())]
FORMULAS = ["=HYPERLINK(0)", "+cmd", "-1+1", "@x", "\t=1", "<r><t>&</t></r>", "<r>", "_x0041_", "a\x01\x1b[2Jb", " x "]


def read_back(path: Path) -> Any:
    return openpyxl.load_workbook(path, rich_text=False)


def as_read(value: Any) -> Any:
    """Returns the content of a cell for a value of a table; Excel would round large integers."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 2**53:
        return str(value)
    return value


def plain(value: Any) -> Any:
    """A cell without the escapes of the format, which its reader leaves."""
    from openpyxl.utils.escape import unescape

    return unescape(value) if isinstance(value, str) else value


def is_same(found: Any, expected: Any) -> bool:
    if isinstance(expected, float):
        return math.isclose(found, expected, rel_tol=1e-15)
    return found == expected and isinstance(found, bool) == isinstance(expected, bool)


def results(found: Any, **part: Any) -> Iterator[tuple[str, ks.Table, str | None]]:
    """All tables of all analyses, in order."""
    for name in ANALYSES:
        result = found.analyze(name, **part)
        for table in result.tables.values():
            yield name, table, result.reason


def listed(book: Any) -> list[list[Any]]:
    """The rows of the first sheet that list the others."""
    rows = [list(row) for row in book["about"].iter_rows(values_only=True)]
    start = next(at for at, row in enumerate(rows) if row[0] == "Sheets")
    return [row[:5] for row in rows[start + 2 :]]


def hostile_trace(names: list[str]) -> ks.Trace:
    events = [
        {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": 10 * at, "dur": 5}
        for at, name in enumerate(names)
    ]
    return ks.read(json.dumps(events).encode())


@pytest.mark.parametrize("source", ["transformer_cuda", "mlp_gloo", "hostile"])
def test_every_cell_is_that_of_the_tables(data: Path, tmp_path: Path, source: str) -> None:
    job = ks.read_dir(data / source)
    found = job if len(job) > 1 else job[0]
    book = read_back(found.to_xlsx(tmp_path / "run.xlsx"))
    contents = listed(book)
    assert [*book.sheetnames] == ["about", *(row[0] for row in contents), "columns"]
    for row, (analysis, table, reason) in zip(contents, results(found), strict=True):
        assert row[1:4] == [analysis, table.name, len(table)]
        sheet = book[row[0]]
        header, _units, *rows = sheet.iter_rows(values_only=True)
        assert list(header) == table.columns
        if not len(table):
            assert rows[0][0] == (f"no rows: {reason}" if reason else "no rows")
            assert row[4] == rows[0][0]
            continue
        assert len(rows) == len(table)
        for cells, values in zip(rows, table, strict=True):
            for cell, value in zip(cells, values, strict=True):
                assert is_same(plain(cell), as_read(value)), (analysis, table.name, value)


def test_the_first_sheet_tells_what_the_rest_is_of(data: Path, tmp_path: Path) -> None:
    job = ks.read_dir(data / "mlp_gloo")
    cells = list(read_back(job.to_xlsx(tmp_path / "run.xlsx"))["about"].iter_rows(values_only=True))
    traces = [list(row[:8]) for row in cells[2:4]]
    assert [row[:4] for row in traces] == [[0, 0, *job.pairs[0][:2]], [1, 0, *job.pairs[1][:2]]]
    assert [row[5:7] for row in traces] == [[trace.num_events, len(trace.nodes)] for trace in job]
    written = {cell for row in cells for cell in row}
    for trace in job:
        assert set(trace.problems()["message"]) <= written
        assert trace.verdict.state in written


def test_warnings_and_devices_are_told(data: Path, tmp_path: Path) -> None:
    trace = ks.read(data / "transformer_cuda/kineto_trace_0.json.gz")
    sheet = read_back(trace.to_xlsx(tmp_path / "run.xlsx", ["kernels"]))["about"]
    written = [cell for row in sheet.iter_rows(values_only=True) for cell in row]
    assert set(trace.health["message"]) <= {*written}
    assert any("NVIDIA H100" in str(cell) for cell in written)


def test_the_header_stays_in_view_with_units(cuda: ks.Trace, tmp_path: Path) -> None:
    book = read_back(cuda.to_xlsx(tmp_path / "run.xlsx", ["kernels"]))
    sheet = book["kernels"]
    assert sheet.freeze_panes == "A3"
    units = {name.value: unit.value for name, unit in zip(sheet[1], sheet[2], strict=True)}
    assert [units[name] for name in ("total_ns", "occupancy", "registers", "name")] == ["ns", "%", "count", None]
    assert sheet.column_dimensions["A"].width > 8
    explained = [row for row in book["columns"].iter_rows(values_only=True) if row[:2] == ("kernels", "occupancy")]
    assert "occupancy" in explained[0][4]


@pytest.mark.parametrize("name", FORMULAS)
def test_a_text_is_never_a_formula(tmp_path: Path, name: str) -> None:
    path = hostile_trace([name]).to_xlsx(tmp_path / "run.xlsx", ["kernels"])
    sheet = read_back(path)["kernels"]
    column = [cell.value for cell in sheet[1]].index("name") + 1
    cell = sheet.cell(3, column)
    assert (cell.data_type, plain(cell.value)) == ("s", name)
    with zipfile.ZipFile(path) as archive:
        sheets = [archive.read(each) for each in archive.namelist() if "/worksheets/" in each]
    assert not any(b"<f>" in content for content in sheets)


def test_texts_keep_what_fits_a_cell(tmp_path: Path) -> None:
    names = ["a" * 32_767, "b" * 32_768, "\U0001f525" * 20_000, "c\uffff"]
    sheet = read_back(hostile_trace(names).to_xlsx(tmp_path / "run.xlsx", ["kernels"]))["kernels"]
    column = [cell.value for cell in sheet[1]].index("name")
    found = {row[column][0]: row[column] for row in sheet.iter_rows(min_row=3, values_only=True)}
    assert found["a"] == names[0]
    assert found["b"].endswith("b… (cut: 32,768 characters)")
    assert found["\U0001f525"].endswith("\U0001f525… (cut: 20,000 characters)")
    assert all(len(text.encode("utf-16-le")) <= 2 * 32_767 for text in found.values())
    assert found["c"] == "c\ufffd"


def test_integers_are_never_rounded(tmp_path: Path) -> None:
    times = [2**53 // 1000 - 1, 2**53 // 1000 + 1]
    events = [{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": ts, "dur": 1} for ts in times]
    trace = ks.read(json.dumps(events).encode())
    assert [start <= 2**53 for start in trace.events["start_ns"]] == [True, False]
    book = read_back(trace.to_xlsx(tmp_path / "run.xlsx", ["job_critical_path", "launches", "idle"]))
    starts = [
        cell
        for sheet in book
        for row in sheet.iter_rows(min_row=3)
        for cell in row
        if str(cell.value) in {str(start) for start in trace.events["start_ns"]}
    ]
    assert {(cell.data_type, int(cell.value)) for cell in starts} <= {
        ("n", trace.events["start_ns"][0]),
        ("s", trace.events["start_ns"][1]),
    }
    assert starts


def test_a_long_table_is_cut_and_says_so(cuda: ks.Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbook, "MAX_ROWS", 10)
    book = read_back(cuda.to_xlsx(tmp_path / "run.xlsx", ["launches"]))
    table = cuda.launches()
    rows = list(book["launches"].iter_rows(min_row=3, values_only=True))
    assert len(rows) == 8
    remark = f"cut: {len(table) - 7:,} more rows, which exceed the rows of a sheet"
    assert rows[-1][0] == remark
    assert listed(book)[0][3:] == [len(table), remark]


def test_names_of_sheets_are_those_of_excel(data: Path, tmp_path: Path) -> None:
    names = read_back(ks.read_dir(data / "mlp_gloo").to_xlsx(tmp_path / "run.xlsx")).sheetnames
    assert max(map(len, names)) <= 31
    assert len({name.lower() for name in names}) == len(names)
    assert not any(set(name) & set("[]:*?/\\'") for name in names)


def test_equal_inputs_give_equal_bytes(data: Path, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        shutil.copytree(data / "mlp_gloo", tmp_path / folder)
    first, second = (ks.read_dir(tmp_path / name).to_xlsx(tmp_path / f"{name}.xlsx") for name in ("a", "b"))
    assert first.read_bytes() == second.read_bytes()


def test_options_and_a_part(cuda: ks.Trace, tmp_path: Path) -> None:
    iteration = cuda.iterations["iteration"][0]
    path = cuda.to_xlsx(tmp_path / "run.xlsx", {"operators": {"by": "shape"}, "idle": {}}, iteration=iteration)
    book = read_back(path)
    assert listed(book)[0][0] == "operators"
    expected = cuda.operators(by="shape", iteration=iteration)
    assert book["operators"].max_row == len(expected) + 2


def test_errors_leave_the_previous_file(cuda: ks.Trace, tmp_path: Path) -> None:
    path = cuda.to_xlsx(tmp_path / "run.xlsx", ["idle"])
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"expected analyses of summary, .*, found idel"):
        cuda.to_xlsx(path, ["idel"])
    with pytest.raises(ks.TraceError):
        cuda.to_xlsx(path, ["idle"], iteration=99)
    with pytest.raises(ValueError, match=r"ends in \.xlsx, found run\.xls"):
        cuda.to_xlsx(tmp_path / "run.xls")
    with pytest.raises(FileNotFoundError):
        cuda.to_xlsx(tmp_path / "none" / "run.xlsx")
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["run.xlsx"]


def test_the_workbook_by_command(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job, path = str(data / "mlp_gloo"), tmp_path / "run.xlsx"
    assert main(["export", job, "--format", "xlsx", "-o", str(path)]) == 0
    assert capsys.readouterr().out == f"{path}: results of {len(ANALYSES)} analyses\n"
    assert path.read_bytes() == ks.read_dir(job).to_xlsx(tmp_path / "other.xlsx").read_bytes()
    assert main(["export", job, "collectives", "--rank", "1", "-o", str(path)]) == 0
    assert [row[0] for row in listed(read_back(path))] == ["collectives", "collective_skew", "collective_summary"]
    assert main(["export", job, "--format", "xlsx", "-o", str(tmp_path / "run.csv")]) == 2
    assert main(["export", job, "--table", "events", "-o", str(path)]) == 2
    err = capsys.readouterr().err
    assert "ends in .xlsx, found run.csv" in err
    assert "expected names of analyses for .xlsx, found --table events" in err


def test_a_redacted_workbook(data: Path, tmp_path: Path) -> None:
    source = data / "transformer_cuda/kineto_trace_0.json.gz"
    path = tmp_path / "run.xlsx"
    assert main(["export", str(source), "annotations", "--redact", "-o", str(path)]) == 0
    names = {row[0] for row in read_back(path)["annotations"].iter_rows(min_row=3, values_only=True)}
    assert names == set(ks.read(source).redact().annotations()["name"])
