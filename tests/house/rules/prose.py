"""Prose in Markdown files: length of sentences and lines, and first words of paragraphs and list items."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

MAX_WORDS = 25
"""Of a sentence."""
MAX_COLUMNS = 100
"""Of a line of prose, link targets not counted."""

_FENCE = re.compile(r"\s*(?:>\s*)?(?P<mark>```+|~~~+)")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_TABLE = re.compile(r"\s*(?:>\s*)?\|")
_HEADING = re.compile(r"#{1,6}\s+")
_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+")
_QUOTE = re.compile(r"\s*>\s?")
_CODE = re.compile(r"(?P<mark>`+)(?:(?!(?P=mark)).)+(?P=mark)", re.DOTALL)
_LINK = re.compile(
    r"""
    (?<=\])(?:
        \([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+"[^"]*")?\)   # [text](target "title")
      | \[[^\]]*\]                                            # [text][label]
      | :\s+\S+$                                             # [label]: target
    )
    """,
    re.MULTILINE | re.VERBOSE,
)
_ADDRESS = re.compile(r"<?\bhttps?://\S+")
_END = re.compile(r"(?<=[.!?])[\"”')\]*_]*\s+(?=[\"“(\[*_]*[A-Z0-9`])")
_WORD = re.compile(r"\S*\w\S*")
_HEADLESS = re.compile(r"[\W_]*What\b")


class Block(NamedTuple):
    """A paragraph, list item or heading."""

    line: int
    """Number of its first line, from 1."""
    text: str
    """Without its mark; lines are kept."""
    is_heading: bool


def faults(name: str, markdown: str) -> list[str]:
    """Long sentences, long lines and headless "What"s of a file, sorted by line."""
    found = [*_long_lines(markdown)]
    for block in blocks(markdown):
        found += [*headless(block)]
        if not block.is_heading:
            found += [*long_sentences(block)]
    return [f"{name}:{line}: {fault}" for line, fault in sorted(found)]


def blocks(markdown: str) -> Iterator[Block]:
    """Paragraphs, list items and headings; code blocks, tables and HTML comments are left out."""
    start, lines = 0, list[str]()
    for number, line in [*_prose_lines(markdown), (0, "")]:
        is_heading, is_item = _HEADING.match(line), _ITEM.match(line)
        if lines and (is_heading or is_item or not line.strip()):
            yield Block(start, "\n".join(lines), is_heading=False)
            lines = []
        if is_heading:
            yield Block(number, line[is_heading.end() :], is_heading=True)
        elif line.strip():
            start = number if not lines else start
            lines.append(line[is_item.end() :] if is_item else line.strip())


def _prose_lines(markdown: str) -> Iterator[tuple[int, str]]:
    """Number and text of each line outside of code blocks; lines of tables and of fences are blank."""
    text = _COMMENT.sub(lambda comment: "\n" * comment.group().count("\n"), markdown)
    fence = ""
    for number, line in enumerate(text.splitlines(), 1):
        mark = _FENCE.match(line)
        if mark and (not fence or mark["mark"].startswith(fence)):
            fence = "" if fence else mark["mark"]
            yield number, ""
        elif not fence:
            yield number, "" if _TABLE.match(line) else _QUOTE.sub("", line)


def _long_lines(markdown: str) -> Iterator[tuple[int, str]]:
    for number, line in _prose_lines(markdown):
        length = len(_ADDRESS.sub("", _LINK.sub("", line)))
        if length > MAX_COLUMNS and not _HEADING.match(line):
            yield number, f"expected at most {MAX_COLUMNS} columns of prose, found {length}"


def headless(block: Block) -> Iterator[tuple[int, str]]:
    """Line and fault of a block that begins with "What" and asks no question."""
    (first, *_) = _sentences(block.text) or [(0, "")]
    if _HEADLESS.match(first[1]) and not first[1].rstrip("*_\"')").endswith("?"):
        yield block.line, f"expected a verb or a noun, found a headless What: {_start(first[1])}"


def long_sentences(block: Block) -> Iterator[tuple[int, str]]:
    """Line and fault of each sentence of more than `MAX_WORDS` words."""
    for line, sentence in _sentences(block.text):
        count = len(_WORD.findall(sentence))
        if count > MAX_WORDS:
            yield block.line + line, f"expected at most {MAX_WORDS} words, found {count}: {_start(sentence)}"


def _sentences(text: str) -> list[tuple[int, str]]:
    """Sentences, each with the number of line breaks before it; inline code counts as one word."""
    plain = _CODE.sub(lambda code: "`code`" + "\n" * code.group().count("\n"), text)
    plain = _ADDRESS.sub("address", _LINK.sub("", plain))
    starts = [0, *(end.end() for end in _END.finditer(plain)), len(plain)]
    return [
        (plain.count("\n", 0, start), plain[start:stop].strip())
        for start, stop in pairwise(starts)
        if plain[start:stop].strip()
    ]


def _start(sentence: str) -> str:
    return " ".join(sentence.split()[:6])
