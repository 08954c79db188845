"""Prose in Python files: docstrings, comments, and help texts of commands."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from typing import NamedTuple

from rules import prose

HELP = ("help", "description", "epilog")
"""Keyword arguments of argparse that hold help texts."""

_WHAT = re.compile(r"[\W_]*what\b", re.IGNORECASE)
_DIRECTIVE = re.compile(r"#\s*(?:noqa|type:|pyright:|ruff:|fmt:|!)")
_SECTION = re.compile(r"(?:Args|Attributes|Examples?|Notes?|Raises|Returns|Yields):$")
_ITEM = re.compile(r"(?:[-*+]|\d+[.)])\s+")
_FENCE = re.compile(r"```|~~~")


class Docstring(NamedTuple):
    """A docstring of a module, class, function or attribute."""

    line: int
    """Number of its first line, from 1."""
    lines: list[str]
    """Source lines, quotes and indentation included."""
    text: str
    """Its value, as Python has it."""


def faults(name: str, source: str) -> list[str]:
    """Headless "What"s, long sentences and long lines of prose of a file, sorted by line."""
    found = [*_comment_faults(source), *_help_faults(source)]
    for docstring in docstrings(source):
        found += _docstring_faults(docstring)
    return [f"{name}:{line}: {fault}" for line, fault in sorted(found)]


def docstrings(source: str) -> Iterator[Docstring]:
    """Docstrings, including the strings below attributes."""
    lines = source.splitlines()
    for parent in ast.walk(ast.parse(source)):
        for node in _body(parent):
            if isinstance(node, ast.Expr) and _is_text(node.value):
                text = ast.literal_eval(node.value)
                yield Docstring(node.lineno, lines[node.lineno - 1 : node.end_lineno], text)


def comments(source: str) -> Iterator[tuple[int, str, bool]]:
    """Line, text and whether it stands alone, for each comment that is no directive of a tool."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and not _DIRECTIVE.match(token.string):
            yield token.start[0], token.string, not token.line[: token.start[1]].strip()


def _body(node: ast.AST) -> list[ast.stmt]:
    is_documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
    return node.body if is_documented else []


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _docstring_faults(docstring: Docstring) -> Iterator[tuple[int, str]]:
    examples = _examples(docstring.text.splitlines())
    for number, line in enumerate(docstring.lines):
        if number not in examples and not line.lstrip().startswith("|"):
            yield from _long_line(docstring.line + number, line)
    for block in _blocks(docstring, examples):
        yield from prose.headless(block)
        yield from prose.long_sentences(block)


def _blocks(docstring: Docstring, examples: set[int]) -> Iterator[prose.Block]:
    """Paragraphs, list items, and entries of sections such as `Raises:`; examples and tables are left out."""
    start, block = 0, list[str]()
    section: int | None = None
    for number, line in [*enumerate(docstring.text.splitlines()), (0, "")]:
        text, indent = line.strip(), len(line) - len(line.lstrip())
        is_break = not text or number in examples or _SECTION.match(text) or text.startswith("|")
        item = _ITEM.match(text)
        if block and (is_break or item or indent == section):
            yield prose.Block(start, "\n".join(block), is_heading=False)
            block = []
        if _SECTION.match(text):
            section = indent + 4
        elif text and section is not None and indent < section:
            section = None
        if not is_break:
            start = docstring.line + number if not block else start
            block.append(text[item.end() :] if item else text)


def _examples(lines: list[str]) -> set[int]:
    """Numbers of the lines of code: between fences, and indented below `::`."""
    found: set[int] = set()
    fence, margin = False, None
    for number, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        if margin is not None and line.strip() and indent <= margin:
            margin = None
        if margin is not None or fence or _FENCE.match(line.strip()):
            found.add(number)
        elif line.rstrip().endswith("::"):
            margin = indent
        fence ^= _FENCE.match(line.strip()) is not None
    return found


def _comment_faults(source: str) -> Iterator[tuple[int, str]]:
    previous = 0
    for line, text, is_alone in comments(source):
        if is_alone:
            yield from _long_line(line, source.splitlines()[line - 1])
        block = prose.Block(line, text.lstrip("#").strip(), is_heading=False)
        if not (is_alone and previous == line - 1):
            yield from prose.headless(block)
        previous = line if is_alone else 0


def _long_line(number: int, line: str) -> Iterator[tuple[int, str]]:
    if len(line) > prose.MAX_COLUMNS:
        yield number, f"expected at most {prose.MAX_COLUMNS} columns of prose, found {len(line)}"


def _help_faults(source: str) -> Iterator[tuple[int, str]]:
    tree = ast.parse(source)
    assigned = _assigned(tree)
    for node in ast.walk(tree):
        for keyword in node.keywords if isinstance(node, ast.Call) else ():
            if keyword.arg in HELP:
                name = keyword.value.id if isinstance(keyword.value, ast.Name) else None
                for value in assigned.get(name, ()) if name else (keyword.value,):
                    if _WHAT.match(text := _start(value)):
                        yield value.lineno, f"expected a verb or a noun, found a headless What: {text}"


def _assigned(tree: ast.AST) -> dict[str, list[ast.expr]]:
    """Values by the name of the variable that they are assigned to."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, []).append(node.value)
    return found


def _start(value: ast.expr) -> str:
    """The first words of a string, as far as the source has them."""
    if isinstance(value, ast.JoinedStr) and value.values:
        return _start(value.values[0])
    if isinstance(value, ast.BinOp):
        return _start(value.left)
    return " ".join(str(ast.literal_eval(value)).split()[:6]) if _is_text(value) else ""
