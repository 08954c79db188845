"""Output of a program in a pseudo-terminal."""

from __future__ import annotations

import os


def all_of(terminal: int) -> bytes:
    parts: list[bytes] = []
    try:
        while part := os.read(terminal, 65536):
            parts.append(part)
    except OSError:  # how a pseudo-terminal says that the other side is gone
        pass
    os.close(terminal)
    return b"".join(parts)
