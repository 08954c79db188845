"""What workflows must not do: name unknown commands, take more rights than needed, float."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

DIRECT = ("cargo publish --package kinetoscope ", "gh release create ", "rustup toolchain install nightly ")
"""Starts of commands that are neither a script nor a target of make."""
WRITES = {"contents": {"github"}, "id-token": {"crates-io", "deploy", "pypi"}, "pages": {"deploy"}}
"""Jobs that may write, by permission."""

_SCRIPT = re.compile(r"(?:python3? )?(scripts/[\w.-]+)(?: |$)")
_MAKE = re.compile(r"make((?: [\w-]+)+)$")
_USES = re.compile(r"uses: (\S+)(.*)")
_PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}")


def unknown_commands(
    name: str, workflow: dict[str, Any], targets: set[str], exists: Callable[[str], bool]
) -> list[str]:
    """Commands of steps that are neither a target of make nor a script of the repository."""
    return [
        f"{name}: {job}: expected a target of make or a file in scripts, found {line}"
        for job, line in _commands(workflow)
        if not _is_known(line, targets, exists)
    ]


def loose_limits(name: str, workflow: dict[str, Any]) -> list[str]:
    """Permissions at the top, jobs without their own, writes outside of WRITES, no timeout."""
    found = [] if workflow.get("permissions") == {} else [f"{name}: expected `permissions: {{}}` at the top"]
    if "concurrency" not in workflow:
        found.append(f"{name}: expected a concurrency group")
    for job, content in workflow["jobs"].items():
        permissions = content.get("permissions")
        if not isinstance(permissions, dict):
            found.append(f"{name}: {job}: expected a list of permissions")
            continue
        found += [
            f"{name}: {job}: may not have {scope}: {level}"
            for scope, level in permissions.items()
            if level != "read" and job not in WRITES.get(scope, ())
        ]
        if "uses" not in content and "timeout-minutes" not in content:
            found.append(f"{name}: {job}: expected timeout-minutes")
    return found


def unpinned(name: str, text: str) -> list[str]:
    """Actions without a commit, or without the version of that commit in a comment."""
    return [
        f"{name}: expected `{action.partition('@')[0]}@COMMIT # VERSION`"
        for action, comment in _USES.findall(text)
        if not action.startswith("./") and not (_PINNED.fullmatch(action) and comment.startswith(" # v"))
    ]


def inputs(workflows: Iterable[dict[str, Any]], key: str) -> set[str]:
    """Values that actions get for an input."""
    jobs = [job for workflow in workflows for job in workflow["jobs"].values()]
    steps = [step for job in jobs for step in job.get("steps", [])]
    return {str(step["with"][key]) for step in steps if key in step.get("with", {})}


def named_commands(form: str) -> list[tuple[str, str]]:
    """Subcommands of `kinetoscope` in inline code, each with its option."""
    return re.findall(r"`kinetoscope ([\w-]+) (--[\w-]+)`", form)


def _commands(workflow: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for job, content in workflow["jobs"].items():
        for step in content.get("steps", []):
            for line in step.get("run", "").splitlines():
                yield job, line


def _is_known(line: str, targets: set[str], exists: Callable[[str], bool]) -> bool:
    if line.startswith(DIRECT):
        return True
    if script := _SCRIPT.match(line):
        return exists(script[1])
    make = _MAKE.match(line)
    return make is not None and {*make[1].split()} <= targets
