"""Reads the contents of a page with other code than wrote them."""

from __future__ import annotations

import base64
import re


def packed_bytes(text: str) -> bytes:
    """Decodes the text of an element of type `application/octet-stream;base85`."""
    return base64.b85decode(text.replace(",", "<"))


def without_packed(page: str) -> str:
    """Returns a page without packed bytes, in which any short text occurs by chance."""
    return re.sub(r'(<script type="application/octet-stream;base85"[^>]*>)[^<]*', r"\1", page)
