"""Blocks of HTML in Markdown."""

import re


def block(content: str, kind: str = "output") -> str:
    """Returns HTML as one block of a page: a blank line inside would end it."""
    joined = re.sub(r"\n[ ]*(?=\n)", "", content)
    return f'<div class="{kind}">\n{joined}\n</div>'
