"""Workflows and forms name commands that exist, and the versions and limits of this project."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import Any

import pytest
import yaml
from rules import forge, tree

pytestmark = pytest.mark.unit

NAMES = tree.under(".github/workflows", ".yml")


def workflows() -> dict[str, dict[str, Any]]:
    return {name: yaml.safe_load(tree.text(name)) for name in NAMES}


def targets() -> set[str]:
    """Targets of the Makefile that have a rule."""
    return set(re.findall(r"^([\w-]+):(?!=)", tree.text("Makefile"), re.MULTILINE))


def gather(found: list[str]) -> None:
    assert not found, "\n".join(found)


def test_commands_exist() -> None:
    known = targets()
    gather([line for name, flow in workflows().items() for line in forge.unknown_commands(name, flow, known, _exists)])


def test_permissions_and_timeouts() -> None:
    gather([line for name, flow in workflows().items() for line in forge.loose_limits(name, flow)])


def test_actions_are_pinned() -> None:
    gather([line for name in NAMES for line in forge.unpinned(name, tree.text(name))])


def test_one_commit_per_action() -> None:
    pins = {pin for name in NAMES for pin in re.findall(r"uses: (\S+@[0-9a-f]{40} # \S+)", tree.text(name))}
    actions = [pin.partition("@")[0] for pin in pins]
    assert sorted(action for action in set(actions) if actions.count(action) > 1) == []


def test_versions_are_those_of_the_project() -> None:
    floor = re.search(r'requires-python = ">=([\d.]+)"', tree.text("py/pyproject.toml"))
    maturin = re.search(r'"maturin==([\d.]+)"', tree.text("pyproject.toml"))
    node = json.loads(tree.text("wasm/package.json"))["engines"]["node"].removeprefix(">=")
    assert floor is not None
    assert maturin is not None
    expected = {"node-version": {node}, "maturin-version": {f"v{maturin[1]}"}}
    for key, versions in expected.items():
        assert forge.inputs(workflows().values(), key) == versions, key
    text = tree.text(".github/workflows/test.yml") + tree.text(".github/workflows/wheels.yml")
    assert set(re.findall(r"--interpreter ([\d.]+)", text)) == {floor[1]}
    for name, job in (("test", "linux"), ("test", "unit"), ("wheels", "wheel")):
        matrix = workflows()[f".github/workflows/{name}.yml"]["jobs"][job]["strategy"]["matrix"]
        assert matrix["python"][0] == floor[1], f"{name}/{job}"


def test_the_abi_is_the_floor() -> None:
    floor = re.search(r'requires-python = ">=3\.(\d+)"', tree.text("py/pyproject.toml"))
    assert floor is not None
    assert f"abi3-py3{floor[1]}" in tree.text("Cargo.toml")


def test_every_fuzz_target_runs_each_night() -> None:
    (listed,) = re.findall(r"^targets=\(([^)]*)\)$", tree.text("scripts/fuzz.sh"), re.MULTILINE)
    nightly = workflows()[".github/workflows/nightly.yml"]
    assert nightly["jobs"]["fuzz"]["strategy"]["matrix"]["target"] == listed.split()


def test_every_machine_is_known_to_the_linter() -> None:
    (listed,) = re.findall(r"^const MACHINES = (\[.*\]);$", tree.text("scripts/actionlint.mjs"), re.MULTILINE)
    used = {label for name in NAMES for label in re.findall(r"\b(?:ubuntu|macos|windows)-\d[\w.-]*", tree.text(name))}
    assert used == set(json.loads(listed))


def test_the_form_names_commands() -> None:
    commands = forge.named_commands(tree.text(".github/ISSUE_TEMPLATE/bug.yml"))
    assert commands == [("doctor", "--report")]
    for command, option in commands:
        shown = subprocess.run(
            [sys.executable, "-m", "kinetoscope", command, "--help"], check=True, capture_output=True, text=True
        ).stdout
        if option not in shown:
            pytest.skip(f"kinetoscope {command} has no {option} yet")


def test_the_placeholder_is_where_the_release_looks() -> None:
    script = tree.text("scripts/release.py")
    (files,) = re.findall(r"^ADDRESSED = \((.*)\)$", script, re.MULTILINE)
    address = re.compile(r"github\.com/OWNER/|OWNER\.github\.io")
    holders = {name for name in tree.files() if address.search(tree.text(name)) and not name.startswith("tests/house/")}
    assert holders <= set(re.findall(r'"([^"]+)"', files))


def test_the_hooks_are_those_of_make_check() -> None:
    config = yaml.safe_load(tree.text(".pre-commit-config.yaml"))
    entries = [hook["entry"] for repo in config["repos"] for hook in repo["hooks"]]
    for words in ("ruff check", "ruff format", "pyright", "cargo fmt --all --check", "run lint", "run types"):
        assert any(words in entry for entry in entries), words


JOB: dict[str, Any] = {"permissions": {"contents": "read"}, "timeout-minutes": 5, "steps": []}


@pytest.mark.parametrize(
    "command", ["make gone", "scripts/gone.sh", 'python scripts/gone.py "$A"', "make help gone", "A=1 make gone", "ls"]
)
def test_an_unknown_command_is_found(command: str) -> None:
    flow = {"jobs": {"a": {**JOB, "steps": [{"run": command}]}}}
    assert len(forge.unknown_commands("a.yml", flow, {"help"}, _exists)) == 1


@pytest.mark.parametrize("command", ["make help", "scripts/fuzz.sh 1 json", "python3 scripts/release.py notes > a"])
def test_a_known_command_is_let_be(command: str) -> None:
    flow = {"jobs": {"a": {**JOB, "steps": [{"run": command}, {"uses": "a/b@c"}]}}}
    assert forge.unknown_commands("a.yml", flow, {"help"}, _exists) == []


@pytest.mark.parametrize(
    "flow",
    [
        {"jobs": {"a": JOB}},
        {"permissions": {"contents": "read"}, "jobs": {"a": JOB}},
        {"permissions": {}, "concurrency": "a", "jobs": {"a": {**JOB, "permissions": "write-all"}}},
        {"permissions": {}, "concurrency": "a", "jobs": {"a": {"timeout-minutes": 5}}},
        {"permissions": {}, "concurrency": "a", "jobs": {"a": {"permissions": {}}}},
        {"permissions": {}, "concurrency": "a", "jobs": {"a": {**JOB, "permissions": {"contents": "write"}}}},
        {"permissions": {}, "jobs": {"a": JOB}},
    ],
)
def test_a_loose_limit_is_found(flow: dict[str, Any]) -> None:
    assert forge.loose_limits("a.yml", flow) != []


def test_tight_limits_are_let_be() -> None:
    called = {"permissions": {"contents": "read"}, "uses": "./.github/workflows/wheels.yml"}
    flow = {"permissions": {}, "concurrency": "a", "jobs": {"a": JOB, "b": called}}
    assert forge.loose_limits("a.yml", flow) == []


@pytest.mark.parametrize("line", ["uses: a/b@v1", f"uses: a/b@{'0' * 40}", "uses: a/b@main # v1"])
def test_an_unpinned_action_is_found(line: str) -> None:
    assert len(forge.unpinned("a.yml", f"- {line}\n- uses: ./x.yml\n- uses: a/c@{'1' * 40} # v1.0.0\n")) == 1


def _exists(path: str) -> bool:
    return (tree.ROOT / path).is_file()
