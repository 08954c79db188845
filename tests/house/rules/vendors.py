"""Names of device vendors: they stand in the room of vendors alone, so that one entry adds a vendor."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from rules import rust

ROOM = "core/src/vendor/"

_FIELD = re.compile(r"\b(?P<field>name|device_types|backends|call_prefixes): (?P<value>&\[[^\]]*\]|\"[^\"]*\")")
_TEXT = re.compile(r'"([^"]*)"')
_PROSE = 3
"""Words of a literal that is a sentence for people, such as advice."""


def pattern(entries: Iterable[str]) -> re.Pattern[str]:
    """The names in the sources of entries: platforms, device types, backends, and the starts of calls."""
    words: set[str] = set()
    starts: set[str] = set()
    for source in entries:
        for match in _FIELD.finditer(source):
            found = {text for text in _TEXT.findall(match["value"]) if text.isalpha()}
            (starts if match["field"] == "call_prefixes" else words).update(found)
    words.discard("portable")
    if not words or not starts:
        raise ValueError(f"expected names in {ROOM}, found none")
    return re.compile(rf"(?<![A-Za-z])(?:(?:{_any(words)})(?![a-z])|(?:{_any(starts)})(?=[A-Z_]))")


def findings(sources: Mapping[str, str], names: re.Pattern[str], exceptions: Mapping[str, str]) -> list[str]:
    """Literals with a vendor's name outside the room and outside tests, and exceptions that nothing needs.

    An exception is a file, or a folder with a slash at its end.
    """
    found: list[str] = []
    used: set[str] = set()
    for path, source in sources.items():
        if path.startswith(ROOM) or PurePosixPath(path).name == "tests.rs":
            continue
        exception = next((place for place in exceptions if _covers(place, path)), "")
        for line, text in rust.literals(source):
            match = names.search(text)
            if match is None or len(text.split()) > _PROSE:
                continue
            used.add(exception)
            if not exception:
                found.append(f"{path}:{line}: expected {match[0]!r} in {ROOM} only, found {text!r}")
    return found + [f"exception {place}: nothing needs it" for place in exceptions if place not in used]


def _covers(place: str, path: str) -> bool:
    return path.startswith(place) if place.endswith("/") else path == place


def _any(texts: Iterable[str]) -> str:
    return "|".join(sorted(texts, key=lambda text: (-len(text), text)))
