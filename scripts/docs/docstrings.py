"""Turns docstrings into Markdown of the site.

A paragraph that ends in `::` introduces code, which Markdown fences. A guide that a docstring names
becomes a link.
"""

from __future__ import annotations

import re
import textwrap

# `::`, alone or at the end of a line, and the lines below that are indented deeper.
_BLOCK = re.compile(r"^(?P<lead>.*?)(?P<space>[ ]*)::[ ]*\n\n(?P<code>(?:[ ]{4,}.*(?:\n|\Z)|[ ]*\n)+)", re.MULTILINE)
_GUIDE = re.compile(r"\bdocs/(?P<name>[\w-]+)\.md\b")


def markdown(docstring: str) -> str:
    """Returns a docstring as Markdown of a page in `api` or `reference`."""
    return _GUIDE.sub(r"[\g<0>](../\g<name>.md)", _BLOCK.sub(_fence, docstring))


def _fence(match: re.Match[str]) -> str:
    code = textwrap.dedent(match["code"]).strip("\n")
    lead = match["lead"]
    if lead:
        # `Text::` stands for `Text:`, and `Text ::` for `Text`.
        lead += "\n\n" if match["space"] else ":\n\n"
    return f"{lead}```python\n{code}\n```\n\n"
