"""Where commands write: never over what they read, under a name that says what is in it, a file for each rank."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from pathlib import Path

import kinetoscope as ks
import pytest
from kinetoscope import chakra
from kinetoscope._cli.main import main

pytestmark = pytest.mark.unit

COMMANDS = {
    "link": (["link", "--kineto"], ".json.gz"),
    "edit": (["edit"], ".json.gz"),
    "chakra": (["chakra"], ".et"),
    "export": (["export", "--format", "csv"], ".csv"),
    "report": (["report"], ".html"),
}


@pytest.fixture
def pair(data: Path, tmp_path: Path) -> tuple[Path, Path]:
    """A Kineto trace and the Execution Trace that is found beside it."""
    names = ("kineto_trace_0.json.gz", "torch_et_0.json.gz")
    kineto, execution = (Path(shutil.copy(data / "minimal_cpu" / name, tmp_path)) for name in names)
    return kineto, execution


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("which", ["kineto", "execution"])
@pytest.mark.parametrize("name", ["itself", "link", "hard link"])
def test_what_is_read_is_not_written(
    pair: tuple[Path, Path], command: str, which: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source = pair[which == "execution"]
    before = source.read_bytes()
    start, ending = COMMANDS[command]
    target = source if name == "itself" and ending == ".json.gz" else source.with_name(f"other{ending}")
    if target != source:
        (os.link if name == "hard link" else os.symlink)(source, target)
    assert main([*start, str(pair[0]), "-o", str(target)]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"kinetoscope: expected an output other than the input files, found {target}")
    assert error.count("\n") == 1
    assert source.read_bytes() == before


def test_a_file_of_a_folder_is_not_written(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(data / "mlp_gloo", tmp_path, dirs_exist_ok=True)
    target = tmp_path / "torch_et_1.json.gz"
    before = target.read_bytes()
    assert main(["link", "--kineto", str(tmp_path), "--rank", "0", "-o", str(target)]) == 2
    assert "other than the input files" in capsys.readouterr().err
    (tmp_path / "graph.1.et").symlink_to(target)
    assert main(["chakra", str(tmp_path), "-o", str(tmp_path / "graph.et")]) == 2
    assert target.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["export", "--format", "jsonl", "-o", "x.csv"], ".jsonl, found x.csv"),
        (["export", "--format", "csv", "-o", "x.csv.gz"], ".csv, found x.csv.gz"),
        (["export", "--format", "param-comms", "-o", "x.csv"], ".json, found x.csv"),
        (["link", "-o", "x.et", "--kineto"], ".json or .json.gz, found x.et"),
        (["chakra", "-o", "x.json"], ".et or .et.gz, found x.json"),
        (["edit", "-o", "x.parquet"], ".json or .json.gz, found x.parquet"),
        (["report", "-o", "x.json"], ".html, found x.json"),
        (["report", "-o", "x.html.gz"], ".html, found x.html.gz"),
    ],
)
def test_a_name_says_what_is_in_it(
    pair: tuple[Path, Path],
    tmp_path: Path,
    arguments: list[str],
    expected: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*arguments, str(pair[0])]) == 2
    assert capsys.readouterr().err == f"kinetoscope: expected a file name that ends in {expected}\n"
    assert sorted(tmp_path.iterdir()) == sorted(pair)


@pytest.mark.parametrize("name", ["x", "x.dat", "/dev/null"])
def test_other_names_are_the_users(pair: tuple[Path, Path], tmp_path: Path, name: str) -> None:
    assert main(["export", str(pair[0]), "--format", "csv", "-o", str(tmp_path / name)]) == 0
    assert main(["edit", str(pair[0]), "-o", str(tmp_path / name)]) == 0


def test_groups_are_written_once(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(chakra, "write_groups")  # what each rank's `to_chakra` calls
    assert main(["chakra", str(data / "mlp_gloo"), "-o", str(tmp_path / "job.et.gz")]) == 0
    groups = tmp_path / "comm_group.json"
    assert capsys.readouterr().out.splitlines()[-1] == f"{groups}: 1 process group"
    assert json.loads(groups.read_text()) == ks.read_dir(data / "mlp_gloo")[0].comm_groups
    assert {path.name for path in tmp_path.iterdir()} == {"comm_group.json", "job.0.et.gz", "job.1.et.gz"}
    assert len(ks.read(tmp_path / "job.1.et.gz").nodes) > 0


def test_no_groups_are_said(pair: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["chakra", str(pair[0]), "-o", str(tmp_path / "rank.et")]) == 0
    assert capsys.readouterr().out.endswith("\nno comm_group.json: no process group with its ranks was recorded\n")
    assert not (tmp_path / "comm_group.json").exists()


def test_an_execution_trace_alone(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = str(data / "minimal_cpu/torch_et_0.json.gz")
    assert main(["export", source, "-o", str(tmp_path / "x.csv")]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'x.csv'}: {len(ks.read(source).nodes)} rows of nodes\n"
    assert main(["link", "--kineto", source, "-o", str(tmp_path / "x.json")]) == 2
    assert capsys.readouterr().err.startswith("kinetoscope: expected a Kineto trace, found an Execution Trace alone")


def test_warnings_are_lines(pair: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    pair[1].write_text("no trace")
    assert main(["doctor", str(pair[0])]) == 0
    error = capsys.readouterr().err
    assert error.startswith(f"kinetoscope: {pair[1]}, found beside {pair[0]}, was not read: expected a JSON trace")
    assert error.count("\n") == 1


def test_defects_say_whose_they_are(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for rank, name in enumerate(["minimal_cpu", "synthetic_cuda"]):
        for sort in ("kineto_trace", "torch_et"):
            shutil.copy(data / name / f"{sort}_0.json.gz", tmp_path / f"{sort}_{rank}.json.gz")
    # two recordings of other programs, of which one has a defect
    path = tmp_path / "kineto_trace_1.json.gz"
    content = json.loads(gzip.decompress(path.read_bytes()))
    next(event for event in content["traceEvents"] if event["ph"] == "X")["dur"] = -1
    path.write_bytes(gzip.compress(json.dumps(content).encode()))
    assert main(["chakra", str(tmp_path), "--allow-mismatches", "-o", str(tmp_path / "job.et")]) == 0
    mismatch, line = capsys.readouterr().err.splitlines()
    assert "ranks disagree" in mismatch
    assert "1: 1 × a duration is negative" in line


def test_doctor_looks_at_other_files(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = ks.read(data / "minimal_cpu/kineto_trace_0.json.gz").to_chakra(tmp_path / "rank.et")
    counts = f"a Chakra trace: {len(whole.nodes):,} nodes, {len(whole.dependencies):,} dependencies"
    assert main(["doctor", str(tmp_path / "rank.et")]) == 0
    assert capsys.readouterr().out == f"ok           {counts}\nok           no defects\n"
    damaged = tmp_path / "damaged.et"
    damaged.write_bytes((tmp_path / "rank.et").read_bytes()[:-9])
    assert main(["doctor", str(damaged)]) == 0
    assert "defect       1 × the file is truncated: complete elements were read" in capsys.readouterr().out
    damaged.write_bytes(b"\xff\xfe\xfd\x00" * 9)
    assert main(["export", str(damaged), "-o", str(tmp_path / "x.csv")]) == 2
    assert "expected a trace, plain or compressed, found binary data" in capsys.readouterr().err
