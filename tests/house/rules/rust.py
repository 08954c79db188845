"""Rust source: what it says without comments, strings and tests; which modules it names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

_NOISE = re.compile(
    r"""
    b?r(?P<hashes>\#*)".*?"(?P=hashes)      # raw string
    | b?'(?:\\(?:u\{\w+\}|x\w\w|.)|[^'\\])' # character, before a quote in one is taken for a string
    | b?"(?:\\.|[^"\\])*"                   # string
    | //[^\n]*                              # comment
    | /\*.*?\*/                             # block comment
    """,
    re.DOTALL | re.VERBOSE,
)
_TESTS = re.compile(r"^#\[cfg\(test\)\]\nmod \w+ \{", re.MULTILINE)
_PATH = re.compile(r"\b(?P<root>crate|(?:super::)*super)::(?:\{(?P<group>[^;]*?)\}\s*;|(?P<name>\w+))", re.DOTALL)
_NESTED = re.compile(r"\{[^{}]*\}")


def code(source: str) -> str:
    """The source with comments and strings blanked and the unit tests left out; lines keep their numbers."""
    blank = _NOISE.sub(lambda noise: re.sub(r"[^\n]", " ", noise.group()), source)
    tests = _TESTS.search(blank)
    return blank[: tests.start()] if tests else blank


def imports(path: str, source: str) -> Iterator[tuple[int, str]]:
    """Line and top-level module of each path that starts at `crate`, or climbs out of its own module.

    `path` is the file's path from `src/`. A name that the crate's root re-exports is given as it is written.
    """
    module = _module(path)
    text = code(source)
    for match in _PATH.finditer(text):
        climbs = 0 if match["root"] == "crate" else match["root"].count("super")
        if match["root"] != "crate" and climbs != len(module):
            continue  # stays within its own top-level module
        line = text.count("\n", 0, match.start()) + 1
        for name in [match["name"]] if match["name"] else _heads(match["group"]):
            yield line, name


def _module(path: str) -> list[str]:
    parts = list(PurePosixPath(path).with_suffix("").parts)
    return [] if parts == ["lib"] else parts[:-1] if parts[-1] == "mod" else parts


def _heads(group: str) -> list[str]:
    while _NESTED.search(group):
        group = _NESTED.sub("", group)
    names = [item.strip().split("::")[0].split()[0] for item in group.split(",") if item.strip()]
    return [name for name in names if name != "self"]
