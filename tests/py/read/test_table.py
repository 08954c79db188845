"""Tables go to whatever reads Arrow, with every value as it was."""

from __future__ import annotations

import sys

import kinetoscope as ks
import pytest

pytestmark = pytest.mark.unit

TABLES = ("events", "instants", "counters", "flows", "nodes", "tensors", "iterations", "links", "health")


@pytest.fixture(scope="module", params=TABLES)
def table(request: pytest.FixtureRequest, cuda: ks.Trace) -> ks.Table:
    return getattr(cuda, request.param)


def test_pyarrow(table: ks.Table) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    arrow = pyarrow.table(table)
    assert (arrow.num_rows, arrow.column_names) == (len(table), table.columns)
    assert pyarrow.schema(table) == arrow.schema
    assert table.to_arrow() == arrow
    arrow.validate(full=True)
    rows = list(zip(*(column.to_pylist() for column in arrow.columns), strict=True))
    assert rows == table.rows()


def test_polars(table: ks.Table) -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(table)
    assert frame.equals(table.to_polars())
    assert frame.rows() == table.rows()


def test_pandas(table: ks.Table) -> None:
    pandas = pytest.importorskip("pandas")
    frame = table.to_pandas()
    assert (list(frame.columns), len(frame)) == (table.columns, len(table))
    rows = [tuple(None if pandas.isna(cell) else cell for cell in row) for row in frame.itertuples(index=False)]
    assert rows == table.rows()


def test_pandas_keeps_integers_exact(cuda: ks.Trace) -> None:
    pandas = pytest.importorskip("pandas")
    types = cuda.events.to_pandas().dtypes
    assert types["start_ns"] == "int64"
    assert types["correlation_id"] == pandas.UInt64Dtype()
    assert types["stream"] == pandas.Int64Dtype()


def test_duckdb(cuda: ks.Trace) -> None:
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.register("events", cuda.events)
    query = "select kind, count(*), sum(dur_ns)::bigint from events group by kind order by kind"
    found = {kind: (count, total) for kind, count, total in connection.sql(query).fetchall()}
    expected = {row["kind"]: (row["count"], row["total_ns"]) for row in cuda.summary().data["time_by_kind"]}
    # The summary tells calls that wait for a device from other launches.
    waits = expected.pop("wait")
    expected["launch"] = tuple(map(sum, zip(expected["launch"], waits, strict=True)))
    assert found == expected


def test_a_stream_can_be_read_again(cuda: ks.Trace) -> None:
    polars = pytest.importorskip("polars")
    events = cuda.events
    assert polars.DataFrame(events).equals(polars.DataFrame(events))


def test_outlives_its_trace(data: object) -> None:
    polars = pytest.importorskip("polars")
    events = ks.read(f"{data}/minimal_cpu/kineto_trace_0.json.gz").events
    assert polars.DataFrame(events).height == len(events) > 0


def test_parts(table: ks.Table) -> None:
    rows = table.rows()
    assert list(table) == rows
    assert (table.head().rows(), table.tail(2).rows(), table.head(0).rows()) == (rows[:5], rows[-2:], [])
    for part in (slice(3, 7), slice(-3, None), slice(None, -1), slice(5, 2), slice(0, 10**9), slice(None)):
        assert table[part].rows() == rows[part]
        assert (len(table[part]), table[part].columns) == (len(rows[part]), table.columns)
    assert table[2:9][1:3].rows(1, 5) == rows[2:9][1:3][1:5]
    assert table[2:4].json_lines() == table.json_lines(2, 4)


def test_rows_and_columns(cuda: ks.Trace) -> None:
    events = cuda.events
    assert events["name"] == [name for (name,) in events.select("name").rows()]
    assert (events[0], events[-1]) == (events.rows()[0], events.rows()[-1])
    assert events[:3]["id"] == events["id"][:3]
    with pytest.raises(KeyError, match="nonsense"):
        _ = events["nonsense"]
    with pytest.raises(IndexError):
        _ = events[len(events)]
    with pytest.raises(ValueError, match="without a step, found step 2"):
        _ = events[::2]


def test_parts_are_exported(cuda: ks.Trace) -> None:
    part = cuda.events[3:9].select("id", "name")
    assert part.to_polars().equals(cuda.events.to_polars().select("id", "name")[3:9])
    assert part.to_pandas()["name"].to_list() == part["name"]
    assert part.to_arrow().to_pydict() == {"id": part["id"], "name": part["name"]}


def test_parts_need_only_one_library(cuda: ks.Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    polars = pytest.importorskip("polars")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert polars.DataFrame(cuda.events[3:9])["id"].to_list() == cuda.events["id"][3:9]
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match=r"pyarrow for rows of a table, .*'kinetoscope\[pyarrow\]'"):
        cuda.events[3:9].__arrow_c_stream__()


def test_rows_left_out_are_counted(cuda: ks.Trace) -> None:
    said = f"{len(cuda.events) - 10:,} rows left out"
    assert said in repr(cuda.events)
    assert f"<td colspan={len(cuda.events.columns)} style='text-align:left'>… {said}</td>" in cuda.events._repr_html_()
    assert "left out" not in repr(cuda.events[:10])
    assert "left out" not in cuda.events[:10]._repr_html_()


def test_select(cuda: ks.Trace) -> None:
    part = cuda.events.select("dur_ns", "name")
    assert part.columns == ["dur_ns", "name"]
    assert len(part) == len(cuda.events)
    assert part.rows(0, 1)[0][1] == cuda.events.rows(0, 1)[0][1]
    with pytest.raises(KeyError, match="nonsense"):
        cuda.events.select("name", "nonsense")


def test_rows(cuda: ks.Trace) -> None:
    ids = cuda.events.select("id")
    assert [row[0] for row in ids.rows(2, 5)] == [row[0] for row in ids.rows()][2:5]
    assert ids.rows(3, 3) == []


def test_rows_are_counted_as_in_a_slice(cuda: ks.Trace) -> None:
    rows = cuda.events.rows()
    for start, stop in [(-3, None), (2, -2), (5, 2), (0, 10**12), (10**12, None)]:
        assert cuda.events.rows(start, stop) == rows[start:stop]


@pytest.mark.parametrize("columns", [(), ("name", "name")])
def test_columns_are_each_selected_once(cuda: ks.Trace, columns: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="expected columns, each once"):
        cuda.events.select(*columns)


def test_no_such_table(cuda: ks.Trace) -> None:
    with pytest.raises(KeyError, match="nonsense"):
        cuda.table("nonsense")


def test_repr_shows_the_ends(cuda: ks.Trace) -> None:
    lines = repr(cuda.events).splitlines()
    assert lines[0] == f"events: {len(cuda.events)} rows × {len(cuda.events.columns)} columns"
    assert lines[1].split()[:3] == ["id", "name", "category"]
    assert sum("…" in line[:10] for line in lines) == 1
    assert len(lines) == 15
    assert lines[-1].startswith("and ")


def test_repr_of_an_empty_table(cuda: ks.Trace) -> None:
    assert repr(cuda.counters).startswith("counters: 0 rows × ")
    assert "<table" in cuda.counters._repr_html_()


def test_html_is_escaped(hostile: ks.Trace) -> None:
    html = hostile.events._repr_html_()
    assert "<script" not in html
    assert "&lt;/script&gt;" in html
    assert "\x00" not in html
