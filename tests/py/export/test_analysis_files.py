"""Results of analyses as files, one per table."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import kinetoscope as ks
import pytest
from kinetoscope._cli.main import main

pytestmark = pytest.mark.unit


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_file_per_table(cuda: ks.Trace, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    paths = cuda.export_analyses(tmp_path / "results", ["kernels", "idle"])
    expected = {
        "kernels.parquet": cuda.kernels(),
        "kernels.kernels_by_class.parquet": cuda.kernels().tables["kernels_by_class"],
        "kernels.graph_nodes.parquet": cuda.kernels().tables["graph_nodes"],
        "idle.parquet": cuda.idle(),
        "idle.gaps.parquet": cuda.idle().tables["gaps"],
    }
    assert [path.name for path in paths] == [*expected]
    for path in paths:
        assert parquet.read_table(path).equals(expected[path.name].to_arrow())


def test_options_and_a_part(cuda: ks.Trace, tmp_path: Path) -> None:
    iteration = cuda.iterations["iteration"][0]
    first, *_ = cuda.export_analyses(tmp_path, {"operators": {"by": "shape"}}, extension=".json", iteration=iteration)
    rows = json.loads(first.read_text(encoding="utf-8"))
    assert [row["name"] for row in rows] == cuda.operators(by="shape", iteration=iteration)["name"]


def test_into_a_folder_by_command(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job, folder = str(data / "mlp_gloo"), tmp_path / "results"
    assert main(["export", job, "collectives", "machines", "--format", "csv", "-o", str(folder)]) == 0
    names = ["collectives", "collectives.collective_skew", "collectives.collective_summary", "machines"]
    names += ["machines.machine_ranks"]
    assert {path.name for path in folder.iterdir()} == {f"{name}.csv" for name in names}
    first, *_ = capsys.readouterr().out.splitlines()
    collectives = ks.read_dir(job).collectives()
    assert first == f"{folder / 'collectives.csv'}: {len(collectives)} rows of collectives"
    assert [row["collective"] for row in rows_of(folder / "collectives.csv")] == collectives["collective"]


def test_beside_each_other_by_command(data: Path, tmp_path: Path) -> None:
    source = str(data / "transformer_cuda/kineto_trace_0.json.gz")
    path = tmp_path / "run.csv"
    line = ["export", source, "operators", "kernels", "--by", "shape", "--short-ns", "3000", "-o", str(path)]
    assert main(line) == 0
    names = ["operators", "operators.device_attribution", "kernels", "kernels.kernels_by_class", "kernels.graph_nodes"]
    assert {each.name for each in tmp_path.iterdir()} == {f"run_{name}.csv" for name in names}
    trace = ks.read(source)
    assert len(rows_of(tmp_path / "run_operators.csv")) == len(trace.operators(by="shape"))
    shorts = [row["num_short"] for row in rows_of(tmp_path / "run_kernels.csv")]
    assert shorts == [str(number) for number in trace.kernels(short_ns=3000)["num_short"]]


def test_one_table_has_the_given_name(data: Path, tmp_path: Path) -> None:
    source = str(data / "transformer_cuda/kineto_trace_0.json.gz")
    path = tmp_path / "run.json"
    assert main(["export", source, "kernels", "--table", "kernels_by_class", "-o", str(path)]) == 0
    assert [row["class"] for row in json.loads(path.read_text())] == ks.read(source).kernels().tables[
        "kernels_by_class"
    ]["class"]
    assert [each.name for each in tmp_path.iterdir()] == ["run.json"]


def test_an_empty_table_tells_its_reason(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = str(data / "minimal_cpu/kineto_trace_0.json.gz")
    assert main(["export", source, "kernels", "-o", str(tmp_path / "run.csv")]) == 0
    assert "kinetoscope: kernels: no kernel, copy or fill was recorded\n" in capsys.readouterr().err
    assert rows_of(tmp_path / "run_kernels.csv") == []


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (["kernels"], "expected an output file or folder (-o) for results of analyses, found none"),
        (["kernls", "-o", "x.csv"], ", findings, roofline, found kernls"),
        (["kernels", "-o", "x.txt"], ".jsonl, .json, .xlsx, or --format, found x.txt"),
        (["kernels", "--by", "shape", "-o", "x.csv"], "expected an analysis with --by shape, found kernels"),
        (["kernels", "--table", "gaps", "-o", "x.csv"], "expected a table of kernels, kernels_by_class, graph_nodes"),
        (["critical_path", "--factor", "2", "-o", "x.csv"], "--factor needs --what-if"),
        (["kernels", "--format", "param-comms", "-o", "x.json"], "expected no analysis with --format param-comms"),
        (["--iteration", "1", "-o", "x.csv"], "expected names of analyses with --iteration, found none"),
        (["--top", "1", "-o", "x.csv"], "expected names of analyses with --top, found none"),
    ],
)
def test_what_does_not_fit_is_told(
    data: Path, tmp_path: Path, line: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    output = [str(tmp_path / word) if word.startswith("x.") else word for word in line]
    assert main(["export", str(data / "minimal_cpu/kineto_trace_0.json.gz"), *output]) == 2
    assert expected in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_inputs_are_not_written(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "run_kernels.csv"
    source.write_bytes((data / "minimal_cpu/kineto_trace_0.json.gz").read_bytes())
    before = source.read_bytes()
    assert main(["export", str(source), "kernels", "-o", str(tmp_path / "run.csv")]) == 2
    assert "other than the input files" in capsys.readouterr().err
    assert source.read_bytes() == before
    assert list(tmp_path.iterdir()) == [source]
