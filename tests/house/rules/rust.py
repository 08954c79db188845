"""Rust source: its code without comments, strings and tests; its imports, type names and prose."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from rules import prose

MOST_COLUMNS = 100
"""Of a line of prose."""

_COMMENT_LINE = re.compile(r"\s*//[/!]? ?(?P<text>.*)")
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
_CONTINUED = re.compile(r"\\\n\s*")
_HEADLESS_TEXT = re.compile(r"(?P<word>[Ww]hat|[Ww]ho|[Ww]hose|[Hh]ow|[Ww]here)(?: \S+){2}(?:.*[^?])?$", re.DOTALL)
_CLAUSE = re.compile(r"; (?P<letter>\w)")
_FOREIGN = re.compile(r"<|^(?:SELECT|PRAGMA) |^[^A-Za-z]*$")
"""Markup, SQL or numbers, which have no sentences."""
_TESTS = re.compile(r"^#\[cfg\(test\)\]\nmod \w+ \{", re.MULTILINE)
_PATH = re.compile(r"\b(?P<root>crate|(?:super::)*super)::(?:\{(?P<group>[^;]*?)\}\s*;|(?P<name>\w+))", re.DOTALL)
_NESTED = re.compile(r"\{[^{}]*\}")
_VISIBILITY = re.compile(r"\bpub\s*\([^)]*\)")
_USE = re.compile(r"\buse\s+(?P<tree>[^;]+);")
_INLINE = re.compile(r"(?<![\w:])(?:\w+::)+\w+")
_TYPE = re.compile(
    r"""
    ^(?:[ ]*(?:pub(?:\([^)]*\))?[ ]+)?(?:unsafe[ ]+)?(?:struct|enum|union|trait)
     | (?:pub(?:\([^)]*\))?[ ]+)?type)     # an indented `type` belongs to a trait
    [ ]+(?P<name>[A-Z]\w*)
    """,
    re.MULTILINE | re.VERBOSE,
)


def code(source: str) -> str:
    """The source with comments and strings blanked and the unit tests left out; lines keep their numbers."""
    blank = _blank(source)
    tests = _TESTS.search(blank)
    return blank[: tests.start()] if tests else blank


def literals(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of each string outside comments and unit tests."""
    length = len(code(source))
    for match in _NOISE.finditer(source):
        text = match.group()
        if match.start() < length and not text.startswith("/") and '"' in text:
            yield source.count("\n", 0, match.start()) + 1, text[text.index('"') + 1 : text.rindex('"')]


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


def file_imports(sources: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Each file with each other file of its crate that it names in `use` or in a path.

    `sources` are files by their path from `src/`. `mod x;` is no import; `mod.rs` is a file of its own, so a name
    that it re-exports is its own.
    """
    files = {tuple(_module(path)): path for path in sources}
    for module, path in files.items():
        text = _VISIBILITY.sub("", code(sources[path]))
        uses = [found for use in _USE.finditer(text) for found in _leaves(use["tree"])]
        paths = [match.group().split("::") for match in _INLINE.finditer(_USE.sub("", text))]
        targets = {_target(module, segments, files) for segments in uses + paths}
        yield from ((path, target) for target in sorted(targets - {None, path}, key=str) if target is not None)


def type_names(source: str) -> Iterator[tuple[int, str]]:
    """Line and name of each struct, enum, union, trait and type alias, in unit tests, too."""
    text = _blank(source)
    for match in _TYPE.finditer(text):
        yield text.count("\n", 0, match.start("name")) + 1, match["name"]


def repeated_types(sources: Mapping[str, str]) -> list[str]:
    """Type names with a second definition in the crate, each with its places."""
    places: dict[str, list[str]] = {}
    for path, source in sources.items():
        for line, name in type_names(source):
            places.setdefault(name, []).append(f"{path}:{line}")
    return [
        f"{', '.join(found)}: expected one type of the name {name}, found {len(found)}"
        for name, found in sorted(places.items())
        if len(found) > 1
    ]


def _target(module: tuple[str, ...], segments: list[str], files: Mapping[tuple[str, ...], str]) -> str | None:
    """The file that a path leads to; none for other crates and for items of the same file."""
    head, *rest = segments
    if head == "crate":
        place: tuple[str, ...] = ()
    elif head in {"self", "super"}:
        climbs = segments.count("super")
        place, rest = module[: len(module) - climbs], segments[max(climbs, 1) :]
    elif (*module, head) in files:
        place, rest = module, segments
    else:
        return None
    while rest and (*place, rest[0]) in files:
        place, rest = (*place, rest[0]), rest[1:]
    return files.get(place)


def _leaves(tree: str) -> list[list[str]]:
    """The paths of a `use` tree."""
    tree = re.sub(r"\s+as\s+\w+$", "", tree.strip())
    prefix, brace, group = tree.partition("{")
    if not brace:
        return [[part.strip() for part in tree.split("::")]]
    head = [part.strip() for part in prefix.split("::") if part.strip()]
    return [head + leaf for item in _items(group.rstrip().removesuffix("}")) for leaf in _leaves(item)]


def _items(group: str) -> Iterator[str]:
    """The items between commas that are in no inner braces."""
    depth, start = 0, 0
    for at, letter in enumerate(f"{group},"):
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            if group[start:at].strip():
                yield group[start:at]
            start = at + 1


def _blank(source: str) -> str:
    return _NOISE.sub(lambda noise: re.sub(r"[^\n]", " ", noise.group()), source)


def comment_faults(path: str, source: str) -> Iterator[str]:
    """Comments that begin with a headless "What", and lines of prose beyond 100 columns; examples are code."""
    lines = source.splitlines()
    is_example = False
    for number, line in enumerate(lines, 1):
        comment = _COMMENT_LINE.match(line)
        if comment is None:
            continue
        is_example ^= comment["text"].startswith("```")
        if is_example:
            continue
        if len(line) > MOST_COLUMNS:
            yield f"{path}:{number}: expected at most {MOST_COLUMNS} columns of prose, found {len(line)}"
        before = _COMMENT_LINE.match(lines[number - 2]) if number > 1 else None
        if (before is None or not before["text"]) and comment["text"].startswith("What "):
            yield f"{path}:{number}: expected a verb or a noun, found a headless What"


def texts(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of each plain string literal outside of unit tests; lines that a backslash continues are joined."""
    end = len(code(source))
    for noise in _NOISE.finditer(source):
        if noise.start() < end and noise.group().startswith('"'):
            text = _CONTINUED.sub("", noise.group()[1:-1]).replace('\\"', '"')
            yield source.count("\n", 0, noise.start()) + 1, text


def text_faults(path: str, source: str) -> Iterator[str]:
    """Texts of three words or more with a headless What, Who, Whose, How or Where, and long sentences of texts.

    A semicolon ends a sentence, too.
    """
    for line, text in texts(source):
        if headless := _HEADLESS_TEXT.match(text):
            yield f"{path}:{line}: expected a verb or a noun, found a headless {headless['word']}: {text[:40]}"
        if not _FOREIGN.search(text):
            sentences = _CLAUSE.sub(lambda clause: f". {clause['letter'].upper()}", text)
            for _, fault in prose.long_sentences(prose.Block(line, sentences, is_heading=False)):
                yield f"{path}:{line}: {fault}"
