"""SQL over the tables of a trace, of a job, and at the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import kinetoscope as ks
import pytest
from kinetoscope import _native
from kinetoscope._cli.main import main

pytestmark = pytest.mark.unit

pytest.importorskip("duckdb")

BY_KIND = "select kind, count(*) as count, sum(dur_ns) as total_ns from events group by kind"


def test_a_query_answers_with_a_table(cuda: ks.Trace) -> None:
    answer = cuda.sql(f"{BY_KIND} order by total_ns desc -- all\n;")
    expected = {row["kind"]: (row["count"], row["total_ns"]) for row in cuda.summary().data["time_by_kind"]}
    # The summary tells calls that wait for a device from other launches.
    waits = expected.pop("wait")
    expected["launch"] = tuple(map(sum, zip(expected["launch"], waits, strict=True)))
    assert {kind: numbers for kind, *numbers in answer.rows()} == {kind: [*row] for kind, row in expected.items()}
    assert answer.columns == ["kind", "count", "total_ns"]
    totals = [row[0] for row in answer.select("total_ns").rows()]
    assert totals == sorted(totals, reverse=True)
    assert answer.rows(1, 3) == answer.rows()[1:3]
    assert repr(answer).startswith(f"sql: {len(expected)} rows × 3 columns\n")
    assert "<th>total_ns</th>" in answer._repr_html_()
    assert json.loads(answer.json_lines(0, 1)) == dict(zip(answer.columns, answer.rows()[0], strict=True))
    with pytest.raises(KeyError, match="expected a column of kind, count, total_ns, found x"):
        answer.select("x")


def test_every_table_is_there_by_its_name(cuda: ks.Trace) -> None:
    for name in _native.Trace.table_names():
        assert cuda.sql(f"from {name} select count(*)").rows() == [(len(cuda.table(name)),)]
    columns = cuda.sql("select column_name from (describe events)").rows()
    assert [column for (column,) in columns] == cuda.events.columns
    joined = "select count(*) from events as work join events as launch on work.launch_id = launch.id"
    launches = sum(launch is not None for (launch,) in cuda.events.select("launch_id").rows())
    assert cuda.sql(joined).rows() == [(launches,)]


def test_sums_are_integers_wherever_the_answer_goes(cuda: ks.Trace) -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    answer = cuda.sql(BY_KIND)
    assert str(answer.to_pandas().dtypes["total_ns"]) == "int64"
    assert answer.to_polars().schema["total_ns"] == polars.Int64
    assert str(answer.to_arrow().schema.field("total_ns").type) == "int64"
    assert isinstance(answer.to_pandas(), pandas.DataFrame)
    large = cuda.sql("select sum(9223372036854775807) as x, 1.5::decimal(4, 1) as y from range(3)")
    assert large.rows()[0][0] == 3 * (2**63 - 1)
    assert json.loads(large.json_lines()) == {"x": 3 * (2**63 - 1), "y": 1.5}


def test_other_tables_come_by_keyword(cuda: ks.Trace) -> None:
    kernels = cuda.kernels()
    query = "select class, sum(total_ns) from kernels group by class order by class"
    expected: dict[str, int] = {}
    for name, total_ns in kernels.select("class", "total_ns").rows():
        expected[name] = expected.get(name, 0) + total_ns
    assert cuda.sql(query, kernels=kernels).rows() == sorted(expected.items())
    pytest.importorskip("pandas")
    assert cuda.sql(query, kernels=kernels.to_pandas()).rows() == sorted(expected.items())
    assert cuda.sql("select * from again", again=cuda.sql("select 1 as one")).rows() == [(1,)]
    assert cuda.sql("select count(*) from events", events=kernels).rows() == [(len(kernels),)]


@pytest.mark.parametrize(
    "query",
    [
        "select * from '{file}'",
        "select * from read_csv('{file}')",
        "select * from read_text('{file}')",
        "select * from glob('{folder}/*')",
        "copy events to '{folder}/out.csv'",
        "attach '{folder}/out.db'",
        "export database '{folder}/out'",
        "install httpfs",
        "load httpfs",
        "set enable_external_access = true",
        "reset enable_external_access",
        "set lock_configuration = false",
        "set temp_directory = '{folder}'",
        "select * from secret",
    ],
)
def test_a_query_sees_no_file_and_nothing_else(cuda: ks.Trace, tmp_path: Path, query: str) -> None:
    file = tmp_path / "file.csv"
    file.write_text("secret\n1\n")
    secret = cuda.kernels()
    with pytest.raises(ValueError, match="expected a query"):
        cuda.sql(query.format(file=file, folder=tmp_path))
    assert list(tmp_path.iterdir()) == [file]
    assert len(secret) > 0


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("", "expected a query, found 0 statements"),
        ("select 1; select 2", "expected a query, found 2 statements"),
        ("select nothing from events", 'that DuckDB accepts: Binder Error: Referenced column "nothing" not found'),
        ("select * from nothing", r"expected a query of the tables events, .*, health: .*name nothing does not exist"),
        ("selec", "that DuckDB accepts: Parser Error: syntax error at or near"),
        ("delete from events", "that DuckDB accepts: "),
    ],
)
def test_what_is_no_query_is_told(cuda: ks.Trace, query: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        cuda.sql(query)


def test_a_job_has_its_ranks(data: Path) -> None:
    job = ks.read_dir(data / "mlp_gloo")
    expected = [(rank, 0, job[rank].num_events) for rank in job.ranks]
    query = 'select rank, "window", count(*) from events group by rank, "window" order by rank'
    assert job.sql(query).rows() == expected
    assert job.sql("select * from nodes").columns == ["rank", "window", *job[0].nodes.columns]
    operators = job.operators()
    assert job.sql("select count(*) from operators", operators=operators).rows() == [(len(operators),)]


def test_without_duckdb_it_says_so(data: Path) -> None:
    code = (
        "import sys; sys.modules['duckdb'] = None\n"
        "import kinetoscope as ks\n"
        f"trace = ks.read({str(data / 'minimal_cpu/kineto_trace_0.json.gz')!r})\n"
        "try:\n    trace.sql('select 1')\nexcept ImportError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ)
    assert done.stdout == "expected duckdb for sql, found none: pip install 'kinetoscope[sql]'\n"


def test_without_pyarrow(data: Path) -> None:
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "import kinetoscope as ks\n"
        f"trace = ks.read({str(data / 'minimal_cpu/kineto_trace_0.json.gz')!r})\n"
        "print(trace.sql('from events select count(*)').rows() == [(len(trace.events),)])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ)
    assert done.stdout == "True\n"


def test_the_command(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(data / "synthetic_cuda/kineto_trace_0.json.gz")
    query = "select kind, sum(dur_ns) as total_ns from events where kind = 'kernel' group by kind"
    expected = ks.read(path).sql(query).rows()
    assert main(["sql", query, path]) == 0
    assert capsys.readouterr().out.splitlines()[:2] == ["sql: 1 row", "kind       total"]
    assert main(["sql", query, path, "--csv"]) == 0
    assert capsys.readouterr().out == f"kind,total_ns\nkernel,{expected[0][1]}\n"
    assert main(["sql", query, path, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"kind": "kernel", "total_ns": expected[0][1]}]
    target = tmp_path / "out.parquet"
    assert main(["sql", query, path, "-o", str(target)]) == 0
    assert capsys.readouterr().out == f"{target}: 1 row of sql\n"
    assert pytest.importorskip("pyarrow.parquet").read_table(target).to_pylist() == [
        {"kind": "kernel", "total_ns": expected[0][1]}
    ]
    assert main(["sql", "select rank, count(*) as n from events group by rank", str(data / "mlp_gloo"), "--csv"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3
    assert main(["sql", "select * from nothing", path]) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith("kinetoscope: expected a query of the tables events, ")


def test_the_command_writes_no_file_by_sql(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(data / "minimal_cpu/kineto_trace_0.json.gz")
    assert main(["sql", f"copy (select 1) to '{tmp_path}/out.csv'", path]) == 2
    assert "disabled" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_times_with_zones_are_times_in_utc(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text('[{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]')
    ((time,),) = ks.read(path).sql("select to_timestamp(0) as zero from events").rows()
    assert (time.year, time.hour, time.tzinfo) == (1970, 0, None)
