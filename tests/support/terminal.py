"""Output of a program in a pseudo-terminal."""

from __future__ import annotations

import fcntl
import os
import re
import struct
import subprocess
import sys
import termios


def all_of(terminal: int) -> bytes:
    parts: list[bytes] = []
    try:
        while part := os.read(terminal, 65536):
            parts.append(part)
    except OSError:  # how a pseudo-terminal says that the other side is gone
        pass
    os.close(terminal)
    return b"".join(parts)


def printed(width: int, *arguments: str) -> list[str]:
    """The lines that the command prints in a terminal of that width, without colours."""
    outside, inside = os.openpty()
    fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"} | {"NO_COLOR": "1"}
    command = [sys.executable, "-m", "kinetoscope", *arguments]
    with subprocess.Popen(command, stdin=inside, stdout=inside, stderr=inside, env=environment):
        os.close(inside)
        output = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", all_of(outside).decode())
    return [line.rpartition("\r")[2] for line in output.replace("\r\n", "\n").splitlines()]
