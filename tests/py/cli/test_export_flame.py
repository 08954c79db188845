"""`kinetoscope export TRACE flamegraph`: files of other tools."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import kinetoscope as ks
import pytest
from kinetoscope._cli.main import main

pytestmark = pytest.mark.unit


@pytest.fixture(scope="module")
def source(data: Path) -> str:
    return str(data / "transformer_cuda/kineto_trace_0.json.gz")


def test_folded_stacks_are_those_of_python(source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["export", source, "flamegraph", "--by", "stack", "--weight", "host_ns", "--iteration", "3"]
    assert main([*line, "-o", str(tmp_path / "a.folded")]) == 0
    graph = ks.read(source).flamegraph("stack", "host_ns", iteration=3)
    expected = graph.to_folded(tmp_path / "b.folded").read_bytes()
    assert (tmp_path / "a.folded").read_bytes() == expected
    assert capsys.readouterr().out == f"{tmp_path / 'a.folded'}: {len(graph)} frames of flamegraph\n"
    assert main([*line, "-o", str(tmp_path / "a.folded.gz")]) == 0
    assert gzip.decompress((tmp_path / "a.folded.gz").read_bytes()) == expected


def test_speedscope_gets_a_profile_instead_of_a_table(source: str, tmp_path: Path, data: Path) -> None:
    path = tmp_path / "x.speedscope.json"
    assert main(["export", source, "flamegraph", "--format", "speedscope", "-o", str(path)]) == 0
    assert path.read_bytes() == ks.read(source).flamegraph().to_speedscope(tmp_path / "y.json").read_bytes()
    assert main(["export", str(data / "mlp_gloo"), "flamegraph", "--rank", "1", "-o", str(path)]) == 0
    assert [profile["name"] for profile in json.loads(path.read_text())["profiles"]] == ["host_ns rank 1 window 0"]


def test_names_are_redacted(source: str, tmp_path: Path) -> None:
    path = tmp_path / "x.folded"
    assert main(["export", source, "flamegraph", "--by", "stack", "--redact", "-o", str(path)]) == 0
    assert "train_step" not in path.read_text()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("export T -o x.folded", "expected the analysis flamegraph for x.folded, found none"),
        ("export T kernels -o x.folded", "expected the analysis flamegraph for x.folded, found kernels"),
        ("export T --table nodes -o x.folded", "expected the analysis flamegraph for x.folded, found --table nodes"),
        ("export T flamegraph --format folded", "expected an output file (-o) with --format folded, found none"),
        ("export T flamegraph --format folded -o x.txt", "expected a file name that ends in .folded, found x.txt"),
        ("export T flamegraph --format csv -o x.folded", "expected a file name that ends in .csv, found x.folded"),
        ("export T flamegraph --direction callers -o x.folded", "--direction needs --focus"),
        ("analyze flamegraph T --direction callers", "--direction needs --focus"),
        ("export T flamegraph --short-ns 4 -o x.folded", "expected an analysis with --short-ns 4, found flamegraph"),
        (
            "analyze flamegraph T -o x.speedscope.json",
            "expected a flame graph for x.speedscope.json, found a table: see kinetoscope export --help",
        ),
    ],
)
def test_refusals_say_why(
    line: str,
    message: str,
    source: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([source if word == "T" else word for word in line.split()]) == 2
    assert capsys.readouterr().err == f"kinetoscope: {message}\n"
    assert list(tmp_path.iterdir()) == []
