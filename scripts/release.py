"""Checks a release and prints its notes.

* `release.py check [--tag TAG]` compares the version, CHANGELOG.md, the owner and the tag.
* `release.py notes` prints the section of the version from CHANGELOG.md.
* `release.py owner NAME` writes the owner of the repository into the files.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PLACEHOLDER = re.compile(r"OWNER(?=/kinetoscope|\.github\.io)")
"""Stands for the owner in addresses of the repository and of its site, until the owner is known."""
ADDRESSED = ("Cargo.toml", "py/pyproject.toml", "CITATION.cff", ".github/ISSUE_TEMPLATE/config.yml", "mkdocs.yml")
"""Files with addresses of the repository, one per format; mkdocs.yml also has that of the site."""

_VERSION = re.compile(r'^version = "([^"]+)"', re.MULTILINE)
_CITED = re.compile(r"^version: (\S+)", re.MULTILINE)
_SECTION = re.compile(r"^## \[(?P<version>[^]]+)\](?P<rest>.*)\n(?P<body>(?:(?!^## ).*\n?)*)", re.MULTILINE)
_DATE = re.compile(r"\s*-\s*\d{4}-\d{2}-\d{2}\s*")


class Section(NamedTuple):
    """The part of the changelog about one version."""

    is_dated: bool
    body: str


def main() -> None:
    """Runs a subcommand."""
    parser = argparse.ArgumentParser(description="Checks a release and prints its notes.")
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check", help="compare the version, the changelog and the tag")
    check.add_argument("--tag", help="the tag to publish, such as v0.1.0")
    commands.add_parser("notes", help="print the section of the changelog")
    owner = commands.add_parser("owner", help="write the owner of the repository into the files")
    owner.add_argument("name", help="the user or organisation")
    options = parser.parse_args()
    if options.command == "notes":
        print(notes())
    elif options.command == "owner":
        write_owner(options.name)
    elif found := faults(options.tag):
        sys.exit("\n".join(f"release: error: {fault}" for fault in found))
    else:
        print(f"release: {version()} is ready")


def text(name: str) -> str:
    """Contents of a file of the repository."""
    return (ROOT / name).read_text(encoding="utf-8")


def version() -> str:
    """The version of the workspace."""
    return _first(_VERSION, "Cargo.toml")


def section(name: str, changelog: str) -> Section | None:
    """The section of a version, if the changelog has one."""
    for match in _SECTION.finditer(changelog):
        if match["version"] == name:
            return Section(_DATE.fullmatch(match["rest"]) is not None, match["body"].strip())
    return None


def notes() -> str:
    """The section of this version, without its heading."""
    found = section(version(), text("CHANGELOG.md"))
    if found is None:
        sys.exit(f"release: error: CHANGELOG.md: expected a section {version()}, found none")
    return found.body


def faults(tag: str | None) -> list[str]:
    """Reasons not to publish."""
    now = version()
    others = {
        "wasm/package.json": json.loads(text("wasm/package.json"))["version"],
        "CITATION.cff": _first(_CITED, "CITATION.cff"),
    }
    found = [f"{name}: expected version {now}, found {other}" for name, other in others.items() if other != now]
    entry = section(now, text("CHANGELOG.md"))
    if entry is None or not entry.body:
        found.append(f"CHANGELOG.md: expected a section {now}, found none")
    elif not entry.is_dated:
        found.append(f"CHANGELOG.md: expected `## [{now}] - YYYY-MM-DD`, found no date")
    found += [
        f"{name}: expected the owner, found OWNER (scripts/release.py owner NAME)"
        for name in ADDRESSED
        if PLACEHOLDER.search(text(name))
    ]
    if tag is not None and tag != f"v{now}":
        found.append(f"expected the tag v{now}, found {tag}")
    return found


def write_owner(name: str) -> None:
    """Replaces the placeholder in every file that has an address."""
    for file in ADDRESSED:
        (ROOT / file).write_text(PLACEHOLDER.sub(name, text(file)), encoding="utf-8")


def _first(pattern: re.Pattern[str], name: str) -> str:
    match = pattern.search(text(name))
    if match is None:
        sys.exit(f"release: error: {name}: expected a version, found none")
    return match[1]


if __name__ == "__main__":
    main()
