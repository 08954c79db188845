"""Reads the contents of a page with other code than wrote them."""

from __future__ import annotations

import base64


def packed_bytes(text: str) -> bytes:
    """Decodes the text of an element of type `application/octet-stream;base85`."""
    return base64.b85decode(text.replace(",", "<"))
