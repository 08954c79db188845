"""The scripts that check a release, and that run the workflows on one machine."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import ci_local
import ci_runner
import ci_workflows
import pytest
import release

pytestmark = pytest.mark.unit

CHANGELOG = "# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-12-01\n\n- two\n\n## [0.1.0] - unreleased\n\n- one\n"
WORKFLOW = """
env: {A: a}
jobs:
  first:
    runs-on: ubuntu-24.04
    steps:
      - run: mkdir out && echo "$A$B" > out/file && echo C=c >> "$GITHUB_ENV"
        env: {B: "${{ matrix.b }}"}
      - run: test "$C" = c && test -z "${KINETOSCOPE_SECRET:-}"
      - run: "false"
        if: failure()
      - uses: actions/upload-artifact@0
        with: {name: files, path: out}
    strategy: {matrix: {b: [b]}}
  second:
    needs: first
    runs-on: ubuntu-24.04
    steps:
      - uses: actions/download-artifact@0
        with: {name: files, path: in}
      - run: test "$(cat in/file)" = ab
      - run: "false"
      - run: "true"
  third:
    needs: [second]
    runs-on: ubuntu-24.04
    steps: [{run: "true"}]
  fourth:
    runs-on: macos-15
    steps: [{run: "true"}]
  fifth:
    needs: fourth
    runs-on: ubuntu-24.04
    steps: [{run: "true"}]
"""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Files that a release reads, ready for v0.2.0."""
    texts = {
        "Cargo.toml": 'version = "0.2.0"\n',
        "wasm/package.json": '{"version": "0.2.0"}',
        "CITATION.cff": "version: 0.2.0\n",
        "CHANGELOG.md": CHANGELOG,
        "py/pyproject.toml": "",
        ".github/ISSUE_TEMPLATE/config.yml": "",
        "mkdocs.yml": "",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(release, "ROOT", tmp_path)
    return tmp_path


@pytest.mark.usefixtures("files")
def test_a_ready_release_has_no_faults() -> None:
    assert release.faults("v0.2.0") == []
    assert release.notes() == "- two"


@pytest.mark.parametrize(
    ("name", "old", "new", "fault"),
    [
        ("CITATION.cff", "0.2.0", "0.1.0", "CITATION.cff: expected version 0.2.0, found 0.1.0"),
        ("wasm/package.json", "0.2.0", "0.1.0", "wasm/package.json: expected version 0.2.0, found 0.1.0"),
        ("CHANGELOG.md", "[0.2.0]", "[0.3.0]", "CHANGELOG.md: expected a section 0.2.0, found none"),
        ("CHANGELOG.md", "- two", "", "CHANGELOG.md: expected a section 0.2.0, found none"),
        ("CHANGELOG.md", "2026-12-01", "soon", "CHANGELOG.md: expected `## [0.2.0] - YYYY-MM-DD`, found no date"),
        ("Cargo.toml", "\n", "\nOWNER/kinetoscope", "Cargo.toml: expected the owner, found OWNER (scripts"),
    ],
)
def test_a_fault_of_a_release_is_found(files: Path, name: str, old: str, new: str, fault: str) -> None:
    path = files / name
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    (found,) = release.faults("v0.2.0")
    assert found.startswith(fault)


@pytest.mark.usefixtures("files")
def test_another_tag_is_found() -> None:
    assert release.faults("v0.2.1") == ["expected the tag v0.2.0, found v0.2.1"]


def test_the_owner_is_written(files: Path) -> None:
    (files / "CITATION.cff").write_text("version: 0.2.0\nsee: https://a.example/OWNER/kinetoscope\n", encoding="utf-8")
    (files / "mkdocs.yml").write_text("site_url: https://OWNER.github.io/kinetoscope/\n", encoding="utf-8")
    assert len(release.faults(None)) == 2
    release.write_owner("acme")
    assert "/acme/kinetoscope" in (files / "CITATION.cff").read_text(encoding="utf-8")
    assert (files / "mkdocs.yml").read_text(encoding="utf-8") == "site_url: https://acme.github.io/kinetoscope/\n"
    assert release.faults(None) == []


def test_a_matrix_has_entries() -> None:
    matrix = {
        "a": [1, 2],
        "b": ["x", "y"],
        "include": [{"a": 1, "c": "one"}],
        "exclude": [{"a": 2, "b": "y"}],
    }
    assert ci_workflows.entries(matrix) == [
        {"a": 1, "b": "x", "c": "one"},
        {"a": 1, "b": "y", "c": "one"},
        {"a": 2, "b": "x"},
    ]


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        ({"run": "make test"}, ""),
        ({"run": "make test", "if": "runner.os == 'Linux'"}, ""),
        ({"run": "make test", "if": "runner.os != 'Linux'"}, "its condition does not hold"),
        ({"run": "make test", "if": "failure()"}, "its condition does not hold"),
        ({"run": "cargo publish --package kinetoscope"}, "publishes"),
        ({"run": "make a", "env": {"A": "${{ secrets.A }}"}}, "secrets.A is known on the forge alone"),
        ({"uses": "actions/checkout@1"}, "a clone of this repository"),
        ({"uses": "a/b@1"}, "an unknown action"),
    ],
)
def test_a_step_that_cannot_run_has_a_reason(step: dict[str, Any], reason: str) -> None:
    job = ci_workflows.Job("a", [], {}, {"runs-on": "ubuntu-24.04", "steps": [step]})
    (read,) = ci_workflows.steps(ci_workflows.Workflow("w", {"a": job}, {}), job)
    assert ci_workflows.where_not(read) == reason


def test_jobs_run_with_their_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "flows").mkdir()
    (tmp_path / "flows/w.yml").write_text(WORKFLOW, encoding="utf-8")
    monkeypatch.setattr(ci_workflows, "FOLDER", tmp_path / "flows")
    monkeypatch.setattr(ci_runner, "ROOT", _repository(tmp_path / "repository"))
    monkeypatch.setenv("KINETOSCOPE_SECRET", "s")
    (workflow,) = ci_workflows.load()
    runner = ci_runner.Runner(tmp_path / "run", {})
    jobs = ci_local.Selection(["w/third", "w/fifth"]).jobs(workflow)
    assert [job.name for job in jobs] == ["first", "second", "third", "fourth", "fifth"]
    outcomes = [outcome for job in jobs for outcome in runner.run(workflow, job)]
    assert [(outcome.place[2:], outcome.state) for outcome in outcomes] == [
        *[("first", "passed")] * 2,
        ("first", "not run"),
        ("first", "passed"),
        *[("second", "passed")] * 2,
        ("second", "failed"),
        ("third", "not run"),
        ("fourth", "not run"),
        ("fifth", "not run"),
    ]
    assert outcomes[-1].text == "needs fourth"


def _repository(folder: Path) -> Path:
    folder.mkdir()
    (folder / "Cargo.toml").write_text('version = "0.2.0"\n', encoding="utf-8")
    subprocess.run(["git", "init", "-q", folder], check=True)
    return folder
