"""The composite action: its steps run as a runner runs them."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import kinetoscope as ks
import pytest
import yaml
from support import gate_runs

pytestmark = [
    pytest.mark.unit,
    pytest.mark.skipif(shutil.which("bash") is None, reason="the steps of the action are for bash"),
]

FOLDER = Path(__file__).parents[3] / ".github/actions/kinetoscope-gate"
ACTION: dict[str, Any] = yaml.safe_load((FOLDER / "action.yml").read_text(encoding="utf-8"))


class Ran(NamedTuple):
    code: int
    outputs: dict[str, str]
    summary: str
    text: str


def expanded(text: str, values: dict[str, str]) -> str:
    """Replaces `${{ … }}` by values; an unknown expression fails."""
    return re.sub(r"\$\{\{ *([\w.-]+) *\}\}", lambda found: values[found[1]], text)


def run_action(folder: Path, **given: str) -> Ran:
    """Runs each step with its shell and variables, until one fails."""
    words = {name.replace("_", "-"): value for name, value in given.items()} | {"install": ""}
    assert words.keys() <= ACTION["inputs"].keys()
    inputs = {name: words.get(name, str(of.get("default", ""))) for name, of in ACTION["inputs"].items()}
    values = {f"inputs.{name}": value for name, value in inputs.items()}
    files = {name: folder / name.lower() for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    (folder / "bin").mkdir(exist_ok=True)
    if not (folder / "bin/python").exists():
        (folder / "bin/python").symlink_to(sys.executable)
    text, code = "", 0
    for file in files.values():
        file.write_text("")
    for step in ACTION["runs"]["steps"]:
        if "if" in step and not _holds(step["if"], inputs):
            continue
        assert step["shell"] == "bash"
        script = folder / "step.sh"
        script.write_text(expanded(step["run"], values))
        env = {name: expanded(value, values) for name, value in step.get("env", {}).items()}
        paths = {
            "GITHUB_ACTION_PATH": str(FOLDER),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(Path(ks.__file__).parents[1]),
        }
        found = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(script)],
            env={**os.environ, **paths, **env, **{name: str(file) for name, file in files.items()}},
            cwd=folder,
            capture_output=True,
            text=True,
        )
        text, code = text + found.stdout + found.stderr, found.returncode
        if code:
            break
    outputs = dict(line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text().splitlines())
    return Ran(code, outputs, files["GITHUB_STEP_SUMMARY"].read_text(encoding="utf-8"), text)


def _holds(condition: str, inputs: dict[str, str]) -> bool:
    found = re.fullmatch(r"inputs\.([\w-]+) != ''", condition)
    assert found is not None, condition
    return inputs[found[1]] != ""


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    for name, factor in (("before", 1.0), ("again", 1.0), ("after", 1.5)):
        content = gate_runs.run(random.Random(name), 10, gate_runs.normal(0.01), {"aten::mm": factor})
        (tmp_path / f"{name}.json").write_bytes(content)
    (tmp_path / "budget.toml").write_text('[budget]\nstep = "1.1 ms"\n')
    return tmp_path


def test_equal_runs_pass(runs: Path) -> None:
    ran = run_action(runs, before="before.json\n", after="again.json")
    assert (ran.code, ran.outputs) == (0, {"outcome": "passed", "report": "kinetoscope-gate"}), ran.text
    assert ran.summary.startswith("### Kinetoscope: passed")
    names = sorted(path.name for path in (runs / "kinetoscope-gate").iterdir())
    assert names == ["changes.html", "result.json", "result.xml"]


def test_a_slower_run_fails(runs: Path) -> None:
    ran = run_action(runs, before="before.json\n  again.json\n\n", after="after.json", metrics="step\noperator:*")
    assert (ran.code, ran.outputs["outcome"]) == (1, "failed"), ran.text
    assert "`operator:aten::mm`" in ran.summary
    failures = ElementTree.parse(runs / "kinetoscope-gate/result.xml").getroot().get("failures")
    assert failures == "2"


def test_budgets(runs: Path) -> None:
    ran = run_action(runs, after="before.json\nafter.json", budget="budget.toml", report="out")
    assert (ran.code, ran.outputs) == (1, {"outcome": "failed", "report": "out"}), ran.text
    assert sorted(path.name for path in (runs / "out").iterdir()) == ["budgets_1.xml", "budgets_2.xml"]
    assert ran.summary.count("### Kinetoscope") == 2


def test_mistakes_are_no_pass(runs: Path) -> None:
    for given in ({"after": "missing.json"}, {"after": "again.json", "fail_over": "3"}, {"after": "x", "metrics": "?"}):
        ran = run_action(runs, before="before.json", **given)
        assert (ran.code, ran.outputs["outcome"]) == (2, "unknown"), given
    assert run_action(runs, after="again.json").code == 2
    assert run_action(runs, before="again.json", after=" \n").code == 2


def test_inputs_never_become_code(runs: Path) -> None:
    evil = '$(touch hacked)"; touch hacked; `touch hacked`'
    for name in ("after", "before", "fail_over", "metrics", "report"):
        run_action(runs, **{"before": "before.json", "after": "again.json", name: evil})
    assert not (runs / "hacked").exists()
    steps = ACTION["runs"]["steps"]
    assert all("${{" not in step["run"] for step in steps)


def test_it_uses_no_other_action() -> None:
    assert all(step.keys() <= {"name", "if", "id", "shell", "env", "run"} for step in ACTION["runs"]["steps"])


def test_every_input_is_used() -> None:
    text = (FOLDER / "action.yml").read_text(encoding="utf-8")
    used = set(re.findall(r"inputs\.([\w-]+)", text))
    assert used == set(ACTION["inputs"])
