"""Writes the notices, the list and the bill of materials of the packages in a wheel.

usage: notices.py ABOUT [--check]

ABOUT is the JSON of cargo-about, which finds the licence texts of crates. Call scripts/notices.sh.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import sbom
from third_party import ROOT, Inventory, Package, accepted, chosen, inventory

NOTICES = "py/THIRD_PARTY_NOTICES.txt"
LIST = "wasm/web/base/packages.ts"
SBOM = "py/kinetoscope.cdx.json"
MAX_LIST_BYTES = 1500
"""Size of the list in each report."""

_TITLE = """\
Third-party notices
===================

Kinetoscope is licensed under Apache-2.0. Its wheels contain code of the packages below. The
extension module is compiled from crates. The front-end, which each report contains, is compiled
from crates and npm packages. Not every wheel has every crate: some belong to one system.

scripts/notices.sh writes this file.
"""
_PARTS = """\
The Rust standard library is taken under Apache-2.0. A Rust distribution has the notices of its
authors in share/doc/rust.
"""
_RULE = "-" * 80
_RUST = ("MIT OR Apache-2.0", "https://github.com/rust-lang/rust")
_WIDTH = 100
_CODE_WIDTH = 120


def main() -> None:
    """Writes the files, or compares them with what it would write."""
    parser = argparse.ArgumentParser(description="Writes notices of the packages in a wheel.")
    parser.add_argument("about", type=Path, help="JSON of cargo-about")
    parser.add_argument("--check", action="store_true", help="fail if a file is out of date; write none")
    options = parser.parse_args()
    contents = files(inventory(), json.loads(options.about.read_text(encoding="utf-8")))
    if not options.check:
        for name, content in contents.items():
            (ROOT / name).write_bytes(content.encode())
        return
    stale = [name for name, content in contents.items() if _current(name) != content]
    if stale:
        sys.exit(f"notices: error: expected current files, found {', '.join(stale)} out of date (make notices)")
    print(f"notices: {', '.join(contents)} are current")


def files(found: Inventory, about: dict[str, Any]) -> dict[str, str]:
    """Contents of all files, by their names."""
    whole = with_bundled(found)
    return {
        NOTICES: notices(whole, texts(found, about), notice_files(found, about)),
        LIST: short_list(whole.linked("front-end")),
        SBOM: sbom.document(whole),
    }


def with_bundled(found: Inventory) -> Inventory:
    """Adds code that is no package of a registry: the standard library."""
    parts = frozenset({"extension module", "front-end"})
    rust = Package(*("generic", "Rust standard library", "", *_RUST), parts=parts)
    return Inventory({**found.packages, rust.title: rust}, {**found.uses, "": {*found.uses[""], rust.title}})


def texts(found: Inventory, about: dict[str, Any]) -> dict[tuple[str, str], list[str]]:
    """Titles of the packages by their licence and its text.

    Raises SystemExit if a package has no text.
    """
    by_text: dict[tuple[str, str], list[str]] = defaultdict(list)
    first: dict[str, str] = {}
    """The first of several texts that differ in blanks."""
    for licence in about["licenses"]:
        titles = [_title(used["crate"]) for used in licence["used_by"]]
        content = first.setdefault(" ".join(licence["text"].split()), _tidy(licence["text"]))
        by_text[licence["id"], content] += [title for title in titles if title in found.packages]
    for title, package in found.packages.items():
        if package.kind == "npm":
            path = ROOT / "wasm/node_modules" / package.name / "LICENSE"
            by_text[package.license, _tidy(path.read_text(encoding="utf-8"))].append(title)
    known = {(title, licence) for (licence, _), titles in by_text.items() for title in titles}
    lacking = [
        f"{title}: {licence}"
        for title, package in found.packages.items()
        for licence in chosen(package.license, accepted()).split(" AND ")
        if (title, licence) not in known
    ]
    if lacking:
        sys.exit(f"notices: error: expected the text of each licence, found none for {', '.join(lacking)}")
    return {key: sorted(set(titles)) for key, titles in by_text.items() if titles}


def notice_files(found: Inventory, about: dict[str, Any]) -> dict[str, list[str]]:
    """Titles of the crates by the text of their NOTICE, which Apache-2.0 asks to pass on."""
    by_text: dict[str, list[str]] = defaultdict(list)
    for title, path in sorted(_manifests(about).items()):
        if title in found.packages:
            for file in sorted(path.parent.glob("NOTICE*")):
                by_text[_tidy(file.read_text(encoding="utf-8"))].append(title)
    return by_text


def notices(found: Inventory, by_text: dict[tuple[str, str], list[str]], by_notice: dict[str, list[str]]) -> str:
    """The file of notices: packages, notices of their authors, texts of licences."""
    blocks = [_TITLE, _heading("Packages")]
    for kind, name in (("cargo", "Crates"), ("npm", "npm packages"), ("generic", "Parts of crates, and libraries")):
        lines = [_line(package) for package in found.packages.values() if package.kind == kind]
        blocks.append(f"{name}:\n\n" + "".join(lines))
    blocks += [_PARTS, _heading("Notices of authors")]
    blocks += [f"{_wrapped('NOTICE', titles)}\n{text}" for text, titles in sorted(by_notice.items())]
    blocks.append(_heading("Licences"))
    ordered = sorted(by_text.items(), key=lambda item: (item[0][0], item[1]))
    blocks += [f"{_RULE}\n{_wrapped(licence, titles)}\n{text}" for (licence, text), titles in ordered]
    return "\n".join(blocks)


def short_list(packages: Iterable[Package]) -> str:
    """A module of TypeScript that lists packages by licence.

    Raises SystemExit if the list would make each report too large.
    """
    by_licence: dict[str, list[str]] = defaultdict(list)
    for package in packages:
        by_licence[chosen(package.license, accepted())].append(package.title)
    lists = {licence: ", ".join(sorted(titles, key=str.lower)) for licence, titles in sorted(by_licence.items())}
    size = len(json.dumps(lists))
    if size > MAX_LIST_BYTES:
        sys.exit(f"notices: error: {LIST}: expected at most {MAX_LIST_BYTES} bytes, found {size}")
    lines = "".join(_entry(licence, titles) for licence, titles in lists.items())
    return (
        "// scripts/notices.sh writes this file.\n\n"
        "/** Packages in the front-end by licence. The wheel has the texts. */\n"
        f"export const PACKAGES: Readonly<Record<string, string>> = {{\n{lines}}};\n"
    )


def _line(package: Package) -> str:
    parts = " and ".join(sorted(package.parts))
    use = f"generates code of the {parts}" if package.is_macro else parts
    return f"  {package.title} ({use})\n      {package.license}, {package.url}\n"


def _wrapped(label: str, titles: Iterable[str]) -> str:
    import textwrap

    return textwrap.fill(f"{label} of {', '.join(titles)}", _WIDTH, break_on_hyphens=False) + "\n"


def _heading(words: str) -> str:
    return f"{words}\n{'=' * len(words)}\n"


def _tidy(text: str) -> str:
    """A text without blanks at line ends, and without empty lines around it."""
    lines = [line.rstrip() for line in text.replace("\r\n", "\n").replace("\f", "").split("\n")]
    return "\n".join(lines).strip("\n") + "\n"


def _entry(name: str, value: str) -> str:
    """An entry of an object, as the formatter breaks its lines."""
    key = name if name.isidentifier() else json.dumps(name)
    line = f"  {key}: {json.dumps(value)},\n"
    return line if len(line) <= _CODE_WIDTH else line.replace(": ", ":\n    ", 1)


def _title(crate: dict[str, Any]) -> str:
    return f"{crate['name']} {crate['version']}"


def _manifests(about: dict[str, Any]) -> dict[str, Path]:
    """Paths of Cargo.toml of all crates, by their titles."""
    return {_title(entry["package"]): Path(entry["package"]["manifest_path"]) for entry in about["crates"]}


def _current(name: str) -> str | None:
    path = ROOT / name
    return path.read_bytes().decode() if path.is_file() else None


if __name__ == "__main__":
    main()
