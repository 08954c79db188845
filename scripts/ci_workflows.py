"""Reads the workflows: jobs with one entry of their matrix, steps without expressions."""

from __future__ import annotations

import itertools
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

import yaml

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / ".github/workflows"
HERE = "ubuntu"
"""Start of the labels of machines like this one."""

NOT_HERE = (
    ("cargo publish", "publishes"),
    ("gh release", "publishes"),
    ("make advisories", "needs the databases of advisories, which mirrors of registries lack"),
    ("scripts/wheel-musl.sh", "needs the wheel of another C library, which a container builds"),
)
"""Starts of commands that must not or cannot run here, each with its reason."""
EMULATED = ("actions/upload-artifact", "actions/download-artifact", "PyO3/maturin-action")
"""Actions that ci_runner.py does the same way."""
SKIPPED = {
    "actions/checkout": "a clone of this repository",
    "actions/setup-python": "the Python of this machine",
    "actions/setup-node": "the Node of this machine",
    "actions/cache": "starts without a cache",
    "Swatinem/rust-cache": "starts without a cache",
    "actions/upload-pages-artifact": "publishes",
    "actions/deploy-pages": "publishes",
    "pypa/gh-action-pypi-publish": "publishes",
    "rust-lang/crates-io-auth-action": "publishes",
}
"""Other actions, and what stands for them here."""

_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
_COMPARISON = re.compile(r"(?P<left>[\w.-]+) (?P<operator>==|!=) '(?P<right>[^']*)'")


class Step(NamedTuple):
    """A step with its expressions filled in."""

    command: str
    """The `run:` text; empty for an action."""
    action: str
    """Without its version; empty for a command."""
    inputs: dict[str, str]
    """`with:` of an action."""
    env: dict[str, str]
    applies: bool
    """Whether its `if:` holds here."""

    @property
    def title(self) -> str:
        """One line that names the step."""
        return self.command.strip().replace("\n", "; ") or f"uses {self.action}"


class Job(NamedTuple):
    """A job with one entry of its matrix."""

    name: str
    needs: list[str]
    entry: dict[str, str]
    """Values of `matrix`; of several entries, the one most like this machine."""
    content: dict[str, Any]

    @property
    def where_not(self) -> str:
        """Reason why the job cannot run here; empty if it can."""
        if "uses" in self.content:
            return f"calls {self.content['uses']}, which runs by its own name"
        machine = filled(str(self.content["runs-on"]), {"matrix": self.entry})
        return "" if machine.startswith(HERE) and not machine.endswith("arm") else f"needs {machine}"


class Workflow(NamedTuple):
    """A file in `.github/workflows`."""

    name: str
    """Without `.yml`."""
    jobs: dict[str, Job]
    env: dict[str, str]

    def where_not(self, job: Job) -> str:
        """Reason why a job cannot run here, or a job that it needs; empty if it can."""
        needed = (f"needs {need}" for need in job.needs if self.where_not(self.jobs[need]))
        return job.where_not or next(needed, "")


def load() -> list[Workflow]:
    """All workflows, by name."""
    return [_workflow(path) for path in sorted(FOLDER.glob("*.yml"))]


def steps(workflow: Workflow, job: Job) -> list[Step]:
    """Steps of a job, with its environment and that of the workflow."""
    contexts = {
        "matrix": job.entry,
        "runner": {"os": "Linux"},
        "github": {"ref": "refs/heads/main", "ref_name": "main", "event_name": "push"},
    }
    env = {**workflow.env, **job.content.get("env", {})}
    return [_step(content, env, contexts) for content in job.content.get("steps", [])]


def where_not(step: Step) -> str:
    """Reason why a step does not run here; empty if it runs."""
    if not step.applies:
        return "its condition does not hold"
    if step.action:
        return "" if step.action in EMULATED else SKIPPED.get(step.action, "an unknown action")
    for start, reason in NOT_HERE:
        if step.command.startswith(start):
            return reason
    texts = [step.command, *step.env.values()]
    unknown = next((match[1] for text in texts if (match := _EXPRESSION.search(text))), None)
    return f"{unknown} is known on the forge alone" if unknown else ""


def filled(text: str, contexts: dict[str, dict[str, str]]) -> str:
    """A text in which each known expression is replaced by its value."""

    def value(match: re.Match[str]) -> str:
        context, _, name = match[1].partition(".")
        return str(contexts.get(context, {}).get(name, match[0]))

    return _EXPRESSION.sub(value, text)


def entries(matrix: dict[str, Any]) -> list[dict[str, str]]:
    """All entries of a matrix, after `include` and `exclude`."""
    axes = {name: values for name, values in matrix.items() if name not in {"include", "exclude"}}
    found = [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]
    found = [entry for entry in found if not any(_covers(out, entry) for out in matrix.get("exclude", []))]
    for extra in matrix.get("include", []):
        key = {name: value for name, value in extra.items() if name in axes}
        for entry in found:
            if _covers(key, entry):
                entry.update(extra)
    return found


def _workflow(path: Path) -> Workflow:
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    jobs = {name: _job(name, job) for name, job in content["jobs"].items()}
    return Workflow(path.stem, jobs, content.get("env", {}))


def _job(name: str, content: dict[str, Any]) -> Job:
    needs = content.get("needs", [])
    matrix = content.get("strategy", {}).get("matrix")
    jobs = [
        Job(name, [needs] if isinstance(needs, str) else needs, entry, content)
        for entry in (entries(matrix) if matrix else [{}])
    ]
    return min(jobs, key=lambda job: (bool(job.where_not), job.entry.get("python") != _python()))


def _step(content: dict[str, Any], env: dict[str, str], contexts: dict[str, dict[str, str]]) -> Step:
    def fill(texts: dict[str, Any]) -> dict[str, str]:
        return {name: filled(_text(value), contexts) for name, value in texts.items()}

    return Step(
        filled(content.get("run", ""), contexts),
        content.get("uses", "").partition("@")[0],
        fill(content.get("with", {})),
        fill({**env, **content.get("env", {})}),
        _holds(content.get("if", ""), contexts),
    )


def _holds(condition: str, contexts: dict[str, dict[str, str]]) -> bool:
    """Whether an `if:` holds, as far as it can be told here: a failure is none."""
    comparison = _COMPARISON.fullmatch(condition)
    if comparison is None:
        return not condition
    equal = filled(f"${{{{ {comparison['left']} }}}}", contexts) == comparison["right"]
    return equal == (comparison["operator"] == "==")


def _covers(part: dict[str, Any], entry: dict[str, Any]) -> bool:
    return all(entry.get(name) == value for name, value in part.items())


def _python() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
