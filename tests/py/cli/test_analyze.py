"""The command `analyze`: what it asks, in which form it answers, and what it says where it cannot."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path

import kinetoscope as ks
import pytest
from kinetoscope import _native
from kinetoscope._cli.main import main

pytestmark = pytest.mark.unit

ANALYSES = json.loads(_native.analyses_json())
ENDINGS = ".parquet, .arrow, .csv, .jsonl, .json, .svg, .html"
Captured = pytest.CaptureFixture[str]


@pytest.fixture
def trace(data: Path) -> str:
    return str(data / "synthetic_cuda/kineto_trace_0.json.gz")


@pytest.mark.parametrize("analysis", ANALYSES, ids=lambda analysis: analysis["name"])
def test_every_analysis_is_asked_with_its_options(analysis: dict[str, object], trace: str, capsys: Captured) -> None:
    name = str(analysis["name"])
    assert main(["analyze", name, trace, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert len(rows) == len(ks.read(trace).analyze(name))
    with pytest.raises(SystemExit) as exit_:
        main(["analyze", name, "--help"])
    assert exit_.value.code == 0
    out = capsys.readouterr().out
    for option in json.loads(json.dumps(analysis["options"])):
        assert f"--{option['name'].replace('_', '-')}" in out


def test_help_lists_them(capsys: Captured) -> None:
    with pytest.raises(SystemExit):
        main(["analyze", "--help"])
    words = capsys.readouterr().out.split()
    for analysis in ANALYSES:
        assert analysis["name"] in words
        assert analysis["doc"].split()[-1] in words


def test_an_unknown_one_names_the_others(trace: str, capsys: Captured) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["analyze", "horoscope", trace])
    assert exit_.value.code == 2
    error = capsys.readouterr().err
    assert "no such analysis: horoscope: expected one of summary" in error
    assert all(analysis["name"] in error for analysis in ANALYSES)


def test_options_and_part_are_those_of_the_method(trace: str, capsys: Captured) -> None:
    read = ks.read(trace)
    iteration = read.iterations.select("iteration").rows()[0][0]
    arguments = ["--by", "shape", "--stack-depth", "2", "--iteration", str(iteration), "--no-clip", "--json"]
    assert main(["analyze", "operators", trace, *arguments]) == 0
    expected = read.operators(by="shape", stack_depth=2, iteration=iteration, clip=False)
    assert json.loads(capsys.readouterr().out) == [json.loads(line) for line in expected.json_lines().splitlines()]
    assert main(["analyze", "kernels", trace, "--short-ns", "1000000000", "--csv"]) == 0
    (first, *_) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert first["num_short"] == first["count"]
    assert main(["analyze", "kernels", trace, "--stream", "12345"]) == 2
    assert "expected one of the streams" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--short-ns", "-1"], ["--short-ns", "many"], ["--rank", "-1"]])
def test_values_that_are_none_are_refused(trace: str, arguments: list[str], capsys: Captured) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["analyze", "kernels", trace, *arguments])
    assert exit_.value.code == 2
    assert "expected a count, found" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["critical_path", "--factor", "nan"], "argument --factor: expected a number from 0, found nan"),
        (["critical_path", "--factor", "inf"], "argument --factor: expected a number from 0, found inf"),
        (["critical_path", "--factor=-1"], "argument --factor: expected a number from 0, found -1"),
        (["kernels", "--short-ns", "1e400"], "argument --short-ns: expected a count, found 1e400"),
        (["kernels", "--start-ns", "nan"], "argument --start-ns: expected an integer, found nan"),
        (["kernels", f"--end-ns={1 << 63}"], f"argument --end-ns: expected an integer, found {1 << 63}"),
    ],
)
def test_numbers_that_are_none_are_named(trace: str, arguments: list[str], expected: str, capsys: Captured) -> None:
    with pytest.raises(SystemExit):
        main(["analyze", *arguments, trace])
    assert expected in capsys.readouterr().err


def test_text(trace: str, capsys: Captured) -> None:
    assert main(["analyze", "idle", trace, "--limit", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    answer = ks.read(trace).idle()
    assert lines[0] == f"idle: {len(answer)} rows"
    assert lines[1].split()[:3] == ["device", "stream", "category"]
    assert f"and {len(answer) - 1} more" in lines
    assert lines[-1] == f"other tables (--table NAME): gaps ({len(answer.tables['gaps'])} rows)"


def test_times_are_in_units_but_points_keep_their_digits(trace: str, capsys: Captured) -> None:
    assert main(["analyze", "idle", trace, "--table", "gaps", "--limit", "1"]) == 0
    header, row, *_ = capsys.readouterr().out.splitlines()[1:]
    start_ns, dur_ns = ks.read(trace).idle().tables["gaps"].select("start_ns", "dur_ns").rows()[0]
    assert header.split()[2:4] == ["start_ns", "dur"]
    assert row.split()[2] == str(start_ns)
    assert f"{dur_ns / 1000:.4g} µs" in row or f"{dur_ns} ns" in row or f"{dur_ns / 1e6:.4g} ms" in row


def test_no_rows_say_why_and_are_no_failure(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "host.json"
    path.write_text('[{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": 0, "dur": 2}]')
    assert main(["analyze", "kernels", str(path)]) == 0
    assert capsys.readouterr().out == "kernels: no kernel, copy or fill was recorded\n"
    assert main(["analyze", "kernels", str(path), "--json"]) == 0
    assert capsys.readouterr() == ("[]\n", "kinetoscope: kernels: no kernel, copy or fill was recorded\n")


@pytest.mark.parametrize("ending", [".csv", ".json", ".jsonl", ".parquet"])
def test_files(trace: str, tmp_path: Path, ending: str, capsys: Captured) -> None:
    path = tmp_path / f"kernels{ending}"
    assert main(["analyze", "kernels", trace, "-o", str(path)]) == 0
    expected = ks.read(trace).kernels()
    assert capsys.readouterr().out == f"{path}: {len(expected)} rows of kernels\n"
    if ending == ".parquet":
        pyarrow = pytest.importorskip("pyarrow.parquet")
        assert pyarrow.read_table(path).equals(expected.to_arrow())
    elif ending == ".json":
        assert [row["total_ns"] for row in json.loads(path.read_text())] == [
            row[0] for row in expected.select("total_ns").rows()
        ]
    else:
        assert len(path.read_text().splitlines()) == len(expected) + (ending == ".csv")


@pytest.mark.parametrize("ending", [".svg", ".html"])
def test_pictures(trace: str, tmp_path: Path, ending: str, capsys: Captured) -> None:
    path = tmp_path / f"idle{ending}"
    assert main(["analyze", "idle", trace, "-o", str(path)]) == 0
    assert capsys.readouterr().out == f"{path}: picture of idle\n"
    assert ks.read(trace).idle().plot().svg in path.read_text(encoding="utf-8")
    assert main(["analyze", "idle", trace, "--table", "gaps", "-o", str(path)]) == 0
    assert ks.read(trace).idle().plot("gaps").svg in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--parquet"], "expected an output file (-o) with --parquet, found none"),
        (["--csv", "-o", "x.parquet"], "expected a file name that ends in .csv, found x.parquet"),
        (
            ["-o", "x.txt"],
            "expected a file name that ends in .parquet, .arrow, .csv, .jsonl, .json, .svg, .html, found x.txt",
        ),
        (["--table", "none"], "expected a table of kernels, kernels_by_class, graph_nodes, found none"),
        (["--rank", "7"], "expected a trace of rank 7, found rank 0"),
    ],
)
def test_what_cannot_be(
    arguments: list[str], expected: str, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.json").write_text(
        '{"distributedInfo": {"rank": 0}, "traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7,'
        ' "ts": 1, "dur": 2}]}'
    )
    assert main(["analyze", "kernels", "t.json", *arguments]) == 2
    assert capsys.readouterr().err.endswith(f"kinetoscope: {expected}\n")
    assert sorted(tmp_path.iterdir()) == [tmp_path / "t.json"]


def test_what_is_read_is_not_written(data: Path, tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "trace.json"
    path.write_text('[{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 2}]')
    before = path.read_bytes()
    other = str(data / "synthetic_cuda/kineto_trace_0.json.gz")
    for traces in ([str(path)], [str(path), other]):
        assert main(["analyze", "kernels", *traces, "-o", str(path)]) == 2
        assert "other than the input files" in capsys.readouterr().err
    assert path.read_bytes() == before


@pytest.mark.parametrize("given", ["folder", "files", "archive"])
def test_a_job(data: Path, tmp_path: Path, given: str, capsys: Captured) -> None:
    folder = data / "mlp_gloo"
    traces = {
        "folder": [str(folder)],
        "files": [str(folder / f"kineto_trace_{rank}.json.gz") for rank in (0, 1)],
        "archive": [shutil.make_archive(str(tmp_path / "job"), "gztar", folder)],
    }[given]
    assert main(["analyze", "operators", *traces, "--csv"]) == 0
    expected = ks.read_dir(folder).operators()
    assert capsys.readouterr().out.splitlines()[0] == ",".join(expected.columns)
    assert expected.columns[:2] == ["rank", "window"]
    assert main(["analyze", "operators", *traces, "--rank", "1", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["rank"] for row in rows} == {1}
    assert len(rows) == len(ks.read_dir(folder)[1].operators())
    assert main(["analyze", "operators", *traces, "--rank", "2"]) == 2
    assert capsys.readouterr().err == "kinetoscope: expected one of the ranks [0, 1], found 2\n"


def test_several_files_find_their_execution_traces(data: Path, tmp_path: Path) -> None:
    from kinetoscope._load.job import read_several

    shutil.copytree(data / "minimal_cpu", tmp_path / "other")
    found = read_several([str(data / "mlp_gloo/kineto_trace_0.json.gz"), str(tmp_path / "other")])
    assert [len(trace.nodes) > 0 for trace in found] == [True] * len(found)
    assert found.skipped == {}


def test_one_of_several_that_is_no_trace_is_told(trace: str, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "notes.json").write_text("no trace")
    assert main(["analyze", "kernels", trace, str(tmp_path / "notes.json"), "--json"]) == 0
    captured = capsys.readouterr()
    assert f"kinetoscope: skipped {tmp_path / 'notes.json'}: " in captured.err
    assert {row["rank"] for row in json.loads(captured.out)} == {0}
    assert main(["analyze", "kernels", trace, str(tmp_path / "none.json")]) == 2
    assert capsys.readouterr().err == f"kinetoscope: no such file: {tmp_path / 'none.json'}\n"
    assert main(["analyze", "kernels", trace, trace, "--et", trace]) == 2
    assert capsys.readouterr().err == "kinetoscope: expected one file with --et, found 2\n"
