"""Prints for people, with control characters escaped: names and texts come from strangers."""

from __future__ import annotations

import sys
from io import TextIOWrapper
from typing import TextIO, cast

from kinetoscope._base import text
from kinetoscope._base.system import IS_WINDOWS


def tell(words: object = "", *, error: bool = False) -> None:
    """Prints lines to stdout, or to stderr, with control characters escaped."""
    print(text.printable_lines(str(words)), file=sys.stderr if error else sys.stdout)


def tell_sentences(words: object, *, error: bool = False, indent: int = 2) -> None:
    """Prints lines as `tell`; in a terminal, wraps them between words.

    `indent` is the indentation of the second line and later ones.
    """
    if not (sys.stderr if error else sys.stdout).isatty():
        tell(words, error=error)
        return
    import shutil
    import textwrap

    width = shutil.get_terminal_size().columns
    wrapper = textwrap.TextWrapper(
        width, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False
    )
    for line in text.printable_lines(str(words)).split("\n"):
        wrapped = line if len(line) <= width else wrapper.fill(line)
        tell(wrapped, error=error)


def tell_problem(words: object) -> None:
    """Prints one line to stderr, after the program's name."""
    tell_sentences(f"kinetoscope: {words}", error=True)


def data_output() -> TextIO:
    """Returns stdout for data: unchanged into files and pipes, escaped in a terminal."""
    if sys.stdout.isatty():
        return cast("TextIO", _Escaping(sys.stdout))
    if IS_WINDOWS and isinstance(sys.stdout, TextIOWrapper):  # its code page lacks most characters
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    return sys.stdout


class _Escaping:
    def __init__(self, out: TextIO) -> None:
        self._out = out

    def write(self, words: str) -> int:
        return self._out.write(text.printable_lines(words))

    def writelines(self, lines: list[str]) -> None:
        for line in lines:
            self.write(line)
