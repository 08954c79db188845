"""Runs the steps of a job in a clean clone, with an emptied environment."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

from ci_workflows import ROOT, Job, Step, Workflow, steps, where_not

KEPT = (
    *("LANG", "TERM", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "PIP_CERT", "CARGO_HTTP_CAINFO", "NODE_EXTRA_CA_CERTS"),
)
"""Variables that lead to the network."""
WHEEL = "scripts/venv.sh base && scripts/maturin.sh build --out dist"
"""Stands for the action that builds wheels in a container."""


class Outcome(NamedTuple):
    """The end of a step."""

    place: str
    """`workflow/job`."""
    text: str
    state: str
    """`passed`, `failed` or `not run`."""


class Runner:
    """Jobs of one workflow, which share artifacts."""

    def __init__(self, folder: Path, keep: dict[str, str]) -> None:
        self._folder = folder
        self._keep = keep
        self._failed: set[str] = set()

    def run(self, workflow: Workflow, job: Job) -> list[Outcome]:
        """Runs the steps of a job until one fails."""
        place = f"{workflow.name}/{job.name}"
        reason = workflow.where_not(job) or next((f"{need} failed" for need in job.needs if need in self._failed), "")
        if reason:
            return [Outcome(place, reason, "not run")]
        home = self._folder / job.name
        clone = home / "repository"
        _call(["git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(clone)])
        env = self._environment(home)
        outcomes: list[Outcome] = []
        for step in steps(workflow, job):
            outcomes.append(self._step(place, step, clone, env))
            if outcomes[-1].state == "failed":
                self._failed.add(job.name)
                break
        shutil.rmtree(home, ignore_errors=True)
        return outcomes

    def _step(self, place: str, step: Step, clone: Path, env: dict[str, str]) -> Outcome:
        if reason := where_not(step):
            return Outcome(place, f"{step.title} ({reason})", "not run")
        print(f"\n{place}: {step.title}", flush=True)
        if step.action.endswith("load-artifact"):
            passed = self._artifact(step, clone)
        else:
            passed = _shell(step.command or WHEEL, clone, {**env, **step.env})
            _read_environment(Path(env["GITHUB_ENV"]), env)
        return Outcome(place, step.title, "passed" if passed else "failed")

    def _artifact(self, step: Step, clone: Path) -> bool:
        """Copies files to or from the folder of artifacts; says whether there were any."""
        store = self._folder / "artifacts"
        path = clone / step.inputs.get("path", ".")
        if step.action.endswith("upload-artifact"):
            return _copy(path, store / step.inputs["name"]) or step.inputs.get("if-no-files-found") == "ignore"
        pattern = step.inputs.get("pattern") or step.inputs["name"]
        found = [_copy(entry, path) for entry in sorted(store.glob("*")) if fnmatch(entry.name, pattern)]
        return bool(found)

    def _environment(self, home: Path) -> dict[str, str]:
        """Variables of a job: those of the forge, and what finds tools and network."""
        programs = [str(Path(sys.base_prefix) / "bin"), os.environ["PATH"]]
        env = {name: os.environ[name] for name in KEPT if name in os.environ} | self._keep
        # rustup keeps toolchains in the home folder, which is another one here.
        rustup = os.environ.get("RUSTUP_HOME", str(Path.home() / ".rustup"))
        own = home / "home"
        own.mkdir(parents=True, exist_ok=True)
        env |= {"PATH": ":".join(programs), "HOME": str(own), "RUSTUP_HOME": rustup, "CI": "true"}
        for name in ("GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"):
            (home / name).touch()
            env[name] = str(home / name)
        return env | {"GITHUB_REF_NAME": _tag(), "GITHUB_WORKSPACE": str(home / "repository")}


def _tag() -> str:
    """The tag that a release of this version would have."""
    lines = (ROOT / "Cargo.toml").read_text(encoding="utf-8").splitlines()
    return "v" + next(line.split('"')[1] for line in lines if line.startswith("version ="))


def _shell(command: str, clone: Path, env: dict[str, str]) -> bool:
    return _call(["bash", "-euo", "pipefail", "-c", command], cwd=clone, env=env)


def _call(command: list[str], cwd: Path | None = None, env: dict[str, str] | None = None) -> bool:
    code = subprocess.run(command, check=False, cwd=cwd, env=env).returncode  # noqa: S603 - own commands
    if code:
        print(f"ci_local: {shlex.join(command)}: exit code {code}", file=sys.stderr, flush=True)
    return code == 0


def _read_environment(path: Path, env: dict[str, str]) -> None:
    """Takes over the variables that a step left for later ones."""
    for line in path.read_text(encoding="utf-8").splitlines():
        name, _, value = line.partition("=")
        env[name] = value


def _copy(source: Path, target: Path) -> bool:
    """Copies a file into a folder, or a folder over it; says whether there was one."""
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True)
    elif source.is_file():
        target.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)
    return source.exists()
