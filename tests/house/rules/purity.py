"""The core is pure: same bytes, same answer."""

from __future__ import annotations

import re

from rules import rust

_IMPURE = {
    r"\b(?:e?print(?:ln)?|dbg)!": "a host decides where words go",
    r"\bstd::(?:env|process)\b": "the surroundings are the host's",
    r"\bstd::(?:fs|net|os)\b": "bytes come in as a parameter",
    r"\bstd::(?:io::)?\{?[^;]*\b(?:stdin|stdout|stderr)\b": "bytes come in as a parameter",
    r"\bstd::time\b": "there is no clock; lengths of time are Dur",
    r"\bthread_local!|\bstatic\s+(?:mut\b|\w+\s*:[^=;]*\b(?:Atomic\w*|Mutex|RwLock|OnceLock|LazyLock)\b)": "no globals",
    r"\bRandomState\b": "nothing in hash order",
}


def impurities(name: str, source: str) -> list[str]:
    """Each place where the core would reach outside itself."""
    code = rust.code(source)
    return [
        f"{name}:{code.count(chr(10), 0, match.start()) + 1}: found {match.group()!r}: {reason}"
        for pattern, reason in _IMPURE.items()
        for match in re.finditer(pattern, code)
    ]
