"""What may not be written in a file: addresses, a machine's paths, opt-outs and dependencies without a reason."""

from __future__ import annotations

import io
import json
import re
import tokenize

# Names of vocabularies, which nothing fetches.
VOCABULARIES = ("http://www.w3.org/",)

_ADDRESS = re.compile(r"\b(?:https?|wss?|ftp)://[^\s\"'`<>)\\]*")
_MACHINE = re.compile(r"(?<![\w.~$}/-])/(?:root|work|Users/\w+|home/\w+|tmp/\w+)(?:/|\b)|\b[A-Z]:\\\\?Users\b")
_OPT_OUT = re.compile(r"#\s*(?:noqa|type:\s*ignore|pyright:|ruff:)(?P<rest>.*)")
_REASON = re.compile(r"\s[-#]\s*\S+")
_REQUIREMENT = re.compile(r"""^\s*(?:[\w-]+\s*=\s*\[\s*)?["'][A-Za-z][\w.-]*\s*(?:\[[\w,]*\])?\s*[=<>~!]=?""")


def addresses(name: str, source: str) -> list[str]:
    """Addresses of the network: what is shipped works without one."""
    return _find(name, source, _ADDRESS, "an address", VOCABULARIES)


def machine_paths(name: str, source: str) -> list[str]:
    """Paths that exist on one machine only."""
    return _find(name, source, _MACHINE, "a machine's path")


def opt_outs(name: str, source: str) -> list[str]:
    """Python's opt-outs that give no reason on their line."""
    comments = (
        token for token in tokenize.generate_tokens(io.StringIO(source).readline) if token.type == tokenize.COMMENT
    )
    return [
        f"{name}:{token.start[0]}: expected a reason (` - why`) in {token.string!r}"
        for token in comments
        if (match := _OPT_OUT.match(token.string)) and not _REASON.search(match["rest"])
    ]


def unexplained(name: str, manifest: str) -> list[str]:
    """Dependencies that give no reason: on their line in TOML, under `//` in package.json."""
    if name.endswith(".json"):
        package = json.loads(manifest)
        needed = package.get("dependencies", {}) | package.get("devDependencies", {})
        return [f"{name}: expected a reason for {key}" for key in sorted(needed.keys() - package.get("//", {}).keys())]
    dependency = _cargo_dependencies(manifest) if name.endswith("Cargo.toml") else _requirements(manifest)
    return [f"{name}:{line}: expected a reason (`# why`) for {text}" for line, text in dependency if "#" not in text]


def _cargo_dependencies(manifest: str) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    inside = False
    for line, text in enumerate(manifest.splitlines(), 1):
        if text.startswith("["):
            inside = "dependencies" in text
        elif inside and "=" in text and "path =" not in text and "workspace" not in text:
            found.append((line, text.strip()))
    return found


def _requirements(manifest: str) -> list[tuple[int, str]]:
    return [
        (line, text.strip())
        for line, text in enumerate(manifest.splitlines(), 1)
        if _REQUIREMENT.match(text) and not text.startswith("requires-python")
    ]


def _find(name: str, source: str, pattern: re.Pattern[str], what: str, allowed: tuple[str, ...] = ()) -> list[str]:
    return [
        f"{name}:{_line(source, match.start())}: found {what}, {match.group()!r}"
        for match in pattern.finditer(source)
        if not match.group().startswith(allowed or ("\0",))
    ]


def _line(source: str, position: int) -> int:
    return source.count("\n", 0, position) + 1
