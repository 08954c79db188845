"""Lists the packages of others that a wheel contains: crates, npm packages, and their parts."""

from __future__ import annotations

import base64
import json
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
WEB_TARGET = "wasm32-unknown-unknown"
OWN = {"kinetoscope", "kinetoscope-py", "kinetoscope-wasm"}
"""Crates of this workspace."""

_LINE = re.compile(r"(?P<depth>\d+)(?P<name>\S+) v(?P<version>\S+)(?P<rest>[^\t]*)\t(?P<license>[^\t]*)\t(?P<url>.*)")
_LOCKED = re.compile(r'name = "([^"]+)"\nversion = "([^"]+)"\nsource = "[^"]+"\nchecksum = "([^"]+)"')


class Package(NamedTuple):
    """A package in a wheel."""

    kind: str
    """`cargo`, `npm`, or `generic` for a part of a crate."""
    name: str
    version: str
    """Empty if it depends on the machine that builds."""
    license: str
    """SPDX expression, as the package states it."""
    url: str
    digest: str = ""
    """Of the published file: SHA-256 of a crate, SHA-512 of an npm package, in base 16."""
    parts: frozenset[str] = frozenset()
    """Parts of the wheel that contain it: `extension module`, `front-end`."""
    is_macro: bool = False
    """Whether it only generates code."""

    @property
    def title(self) -> str:
        """Name and version."""
        return f"{self.name} {self.version}".rstrip()


class Inventory(NamedTuple):
    """Packages by their titles, sorted, and which package uses which."""

    packages: dict[str, Package]
    uses: dict[str, set[str]]
    """Titles of the packages that a package uses; an empty title stands for this project."""

    def linked(self, part: str) -> list[Package]:
        """Packages whose code a part of the wheel contains: not those that only generate code."""
        seen, pending = {""}, [""]
        while pending:
            for title in self.uses.get(pending.pop(), set()) - seen:
                package = self.packages[title]
                if part in package.parts and not package.is_macro:
                    seen.add(title)
                    pending.append(title)
        return [package for title, package in self.packages.items() if title in seen]


def inventory() -> Inventory:
    """Crates and npm packages of all wheels together, as the lockfiles have them."""
    found = Inventory({}, {"": set()})
    for target in targets():
        part = "front-end" if target == WEB_TARGET else "extension module"
        _add_crates(found, target, part)
    for package in npm_packages():
        found.packages[package.title] = package
        found.uses[""].add(package.title)
    return found._replace(packages=dict(sorted(found.packages.items())))


def targets() -> list[str]:
    """Targets of the wheels and of the front-end, as about.toml lists them."""
    (listed,) = re.findall(r"^targets = \[(.*?)^\]", text("about.toml"), re.MULTILINE | re.DOTALL)
    return re.findall(r'"([^"]+)"', listed)


def accepted() -> list[str]:
    """Licences in their order of preference, as about.toml lists them."""
    (listed,) = re.findall(r"^accepted = \[(.*?)^\]", text("about.toml"), re.MULTILINE | re.DOTALL)
    return re.findall(r'"([^"]+)"', listed)


def chosen(expression: str, preferred: Iterable[str]) -> str:
    """The licence that is taken where a package offers several, and all where it demands several.

    Raises ValueError for an expression without an accepted licence.
    """

    def first(part: str) -> str:
        offered = part.strip("() ").split(" OR ")
        taken = next((license_ for license_ in preferred if license_ in offered), None)
        if taken is None:
            raise ValueError(f"expected a licence of about.toml, found {expression}")
        return taken

    return " AND ".join(map(first, expression.split(" AND ")))


def npm_packages() -> list[Package]:
    """Packages in the front-end: those that package.json does not list for development."""
    locked = json.loads(text("wasm/package-lock.json"))["packages"]
    return [
        _npm_package(path.rpartition("node_modules/")[2], entry)
        for path, entry in sorted(locked.items())
        if path and not entry.get("dev")
    ]


def text(name: str) -> str:
    """Contents of a file of the repository."""
    return (ROOT / name).read_text(encoding="utf-8")


def _add_crates(found: Inventory, target: str, part: str) -> None:
    own = "kinetoscope-wasm" if target == WEB_TARGET else "kinetoscope-py"
    digests = {(name, version): digest for name, version, digest in _LOCKED.findall(text("Cargo.lock"))}
    users: list[str] = []
    for line in _tree(own, target).splitlines():
        match = _LINE.fullmatch(line)
        if match is None:
            raise ValueError(f"cargo tree: expected a crate, found {line}")
        is_own = match["name"] in OWN
        title = "" if is_own else f"{match['name']} {match['version']}"
        del users[int(match["depth"]) :]
        if users and title != users[-1]:
            found.uses.setdefault(users[-1], set()).add(title)
        users.append(title)
        if not is_own:
            before = found.packages.get(title)
            parts = (before.parts if before else frozenset()) | {part}
            digest = digests[match["name"], match["version"]]
            found.packages[title] = _crate(match, digest, parts)


def _tree(package: str, target: str) -> str:
    command = ["cargo", "tree", "--locked", "--package", package, "--target", target, "--edges", "normal"]
    command += ["--no-dedupe", "--prefix", "depth", "--format", "{p}\t{l}\t{r}"]
    return subprocess.run(  # noqa: S603 - own command
        command, cwd=ROOT, check=True, stdout=subprocess.PIPE, encoding="utf-8"
    ).stdout


def _crate(match: re.Match[str], digest: str, parts: frozenset[str]) -> Package:
    return Package(
        "cargo",
        match["name"],
        match["version"],
        match["license"].replace("/", " OR "),
        match["url"],
        digest,
        parts,
        "(proc-macro)" in match["rest"],
    )


def _npm_package(name: str, entry: dict[str, Any]) -> Package:
    algorithm, _, digest = entry["integrity"].partition("-")
    if algorithm != "sha512":
        raise ValueError(f"wasm/package-lock.json: expected a SHA-512 of {name}, found {algorithm}")
    url = f"https://www.npmjs.com/package/{name}"
    front_end = frozenset({"front-end"})
    return Package("npm", name, entry["version"], entry["license"], url, base64.b64decode(digest).hex(), front_end)
