"""Commands that decide: exit codes, files, the summary of a job of CI, and mistakes."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from kinetoscope._cli.main import main
from support import gate_runs

pytestmark = pytest.mark.unit

Files = Callable[..., list[str]]


@pytest.fixture
def runs(tmp_path: Path) -> Files:
    """Writes runs of which `aten::mm` takes so many times as long; returns their paths."""

    def write(name: str, num: int = 1, factor: float = 1.0, iterations: int = 10) -> list[str]:
        paths = [tmp_path / f"{name}_{number}.json" for number in range(num)]
        for seed, path in enumerate(paths):
            rng = random.Random(f"{name} {seed}")
            path.write_bytes(gate_runs.run(rng, iterations, gate_runs.normal(0.01), {"aten::mm": factor}))
        return [str(path) for path in paths]

    return write


def test_exit_codes(runs: Files, capsys: pytest.CaptureFixture[str]) -> None:
    (before, other), (after,) = runs("before", 2), runs("after", factor=1.5)
    assert main(["diff", before, other, "--fail-over", "3%"]) == 0
    assert main(["diff", before, after, "--fail-over", "3%"]) == 1
    out = capsys.readouterr().out
    assert "failed: 1 of 1 metric is worse" in out
    assert "threshold" in out
    assert "noise" in out
    assert "operator  aten::mm" in out
    assert main(["diff", after, before, "--fail-over", "3%"]) == 0
    assert main(["diff", before, before, "--fail-over", "0"]) == 0
    assert main(["diff", before, after, "--fail-over", "40%"]) == 0
    assert main(["diff", before, after]) == 0


@pytest.mark.parametrize("threshold", ["3", "nan%", "-5%", "inf%", "", "3 percent"])
def test_invalid_thresholds(runs: Files, threshold: str, capsys: pytest.CaptureFixture[str]) -> None:
    (before,) = runs("before")
    assert main(["diff", before, before, f"--fail-over={threshold}"]) == 2
    assert "expected a percentage as fail_over, such as 3%" in capsys.readouterr().err


def test_mistakes(runs: Files, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (before,) = runs("before")
    snapshot = str(data / "synthetic_memory/memory_snapshot.pickle")
    gate = ["--fail-over", "3%"]
    for line, expected in (
        ([before, str(tmp_path / "none.json"), *gate], "no such file"),
        ([before, snapshot, *gate], "found a memory snapshot and a trace"),
        ([snapshot, snapshot, *gate], "expected traces or jobs with a gate"),
        ([before, before, "--metric", "setp"], "did you mean step?"),
        ([before, before, "--metric", "operator:aten::mn"], "did you mean aten::mm?"),
        ([before, before, "--baseline", snapshot], "expected a trace as a further run, found a memory snapshot"),
        ([before, before, "--baseline", str(tmp_path / "none.json")], "no such file"),
        ([before, before, "--candidate", str(data / "mlp_gloo")], "expected a trace as a further run, found a job"),
        ([before, before, *gate, "-o", "x.doc"], "expected a file name that ends in .xml"),
        ([before, before, *gate, "--table", "diff"], "expected no --table with a gate"),
        ([before, before, *gate, "--csv"], "expected text or --json with a gate"),
        ([before, str(data / "mlp_gloo"), *gate], "found a job and a trace"),
    ):
        assert main(["diff", *line]) == 2, line
        assert expected in capsys.readouterr().err, line


def test_one_iteration(runs: Files, capsys: pytest.CaptureFixture[str]) -> None:
    before, after = runs("one", 2, iterations=1)
    assert main(["diff", before, after, "--fail-over", "3%"]) == 2
    assert "cannot judge one iteration" in capsys.readouterr().out
    assert main(["diff", before, after, "--fail-over", "3%", "--allow-unknown"]) == 0


def test_files(runs: Files, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (before,), (after,) = runs("before"), runs("after", factor=1.5)
    names = ["result.xml", "result.md", "result.json", "result.txt", "changes.html"]
    reports = [word for name in names[1:] for word in ("--report", str(tmp_path / name))]
    assert main(["diff", before, after, "--fail-over=3%", "-o", str(tmp_path / names[0]), *reports]) == 1
    assert len(capsys.readouterr().out.splitlines()) == len(names)
    suites = ElementTree.parse(tmp_path / "result.xml").getroot()
    assert (suites.tag, suites.get("tests"), suites.get("failures"), suites.get("errors")) == (
        "testsuites",
        "1",
        "1",
        "0",
    )
    (case,) = suites.findall("testsuite/testcase")
    assert (case.get("name"), case.find("failure") is not None) == ("step", True)
    found = json.loads((tmp_path / "result.json").read_text())
    assert (found["outcome"], found["exit_code"], found["gate"][0]["metric"]) == ("failed", 1, "step")
    assert "| worse | `step` |" in (tmp_path / "result.md").read_text()
    assert "<html" in (tmp_path / "changes.html").read_text()
    assert main(["diff", before, after, "--fail-over=3%", "--json"]) == 1
    assert json.loads(capsys.readouterr().out) == found


def test_the_summary_of_a_job_is_appended(
    runs: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (before,) = runs("before")
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    assert main(["diff", before, before, "--fail-over=3%", "--summary"]) == 2
    assert "GITHUB_STEP_SUMMARY" in capsys.readouterr().err
    summary, other = tmp_path / "summary.md", tmp_path / "other.md"
    summary.write_text("# Before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    for _ in range(2):
        assert main(["diff", before, before, "--fail-over=3%", "--summary", "--summary-file", str(other)]) == 0
    assert summary.read_text().startswith("# Before\n### Kinetoscope: passed: 1 metric\n")
    assert summary.read_text().count("### Kinetoscope") == other.read_text().count("### Kinetoscope") == 2


def test_several_runs(runs: Files, capsys: pytest.CaptureFixture[str]) -> None:
    before, after = runs("before", 3), runs("after", 2, factor=1.5)
    words = ["diff", before[0], after[0], "--candidate", after[1], "--metric", "step", "--metric", "operator:*"]
    for path in before[1:]:
        words += ["--baseline", path]
    assert main([*words, "--json"]) == 1
    rows = json.loads(capsys.readouterr().out)["gate"]
    assert {(row["num_before_runs"], row["num_after_runs"]) for row in rows} == {(3, 2)}
    assert [row["metric"] for row in rows if row["is_failing"]] == ["step", "operator:aten::mm"]


def test_budgets(
    runs: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (trace,) = runs("trace")
    monkeypatch.chdir(tmp_path)
    assert main(["check", trace]) == 2
    assert "no such file: kinetoscope.toml" in capsys.readouterr().err
    budget = tmp_path / "kinetoscope.toml"
    budget.write_text('[budget]\nstep = "2 ms"\nforbid = ["recompilation"]\n')
    assert main(["check", trace]) == 0
    assert "passed: 2 budgets" in capsys.readouterr().out
    budget.write_text('[budget]\nstep = "0.1 ms"\npeak_memory = "20 GiB"\n')
    assert main(["check", trace, "-o", "result.xml"]) == 1
    suites = ElementTree.parse("result.xml").getroot()
    assert (suites.get("tests"), suites.get("failures"), suites.get("errors")) == ("2", "1", "1")
    budget.write_text('[budget]\npeak_memory = "20 GiB"\n')
    assert main(["check", trace, "--budget", str(budget)]) == 2
    assert main(["check", trace, "--allow-unknown"]) == 0
    capsys.readouterr()
    budget.write_text('[budget]\npeak_memroy = "20 GiB"\n')
    assert main(["check", trace]) == 2
    assert "did you mean peak_memory?" in capsys.readouterr().err


def test_budgets_of_a_job(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    budget = tmp_path / "budget.toml"
    budget.write_text('[budget]\nslowest_step = "1 ns"\n')
    assert main(["check", str(data / "mlp_gloo"), "--budget", str(budget), "--json"]) == 1
    (row,) = json.loads(capsys.readouterr().out)["budgets"]
    assert row["rank"] in {0, 1}
    snapshot = str(data / "synthetic_memory/memory_snapshot.pickle")
    assert main(["check", snapshot, "--budget", str(budget)]) == 2
    assert "expected a trace, found a memory snapshot" in capsys.readouterr().err


def test_the_program_ends_with_the_code(runs: Files, tmp_path: Path) -> None:
    (before,), (after,) = runs("before"), runs("after", factor=1.5)
    shutil.copy(before, tmp_path / "-x.json")
    words = [sys.executable, "-m", "kinetoscope", "diff", "--fail-over=3%"]
    assert subprocess.run([*words, before, after], capture_output=True, cwd=tmp_path).returncode == 1
    assert subprocess.run([*words, "--", "-x.json", before], capture_output=True, cwd=tmp_path).returncode == 0
