"""No output bypasses the one place that protects what was read."""

from __future__ import annotations

import pytest
from rules import outputs, tree

pytestmark = pytest.mark.unit

PACKAGE = "py/python/kinetoscope"
OWN = (f"{PACKAGE}/_io/atomic.py", f"{PACKAGE}/profiling/")
"""Writes files itself: the place itself, and recordings, which go to a folder of their own."""


def test_package() -> None:
    names = [name for name in tree.under(PACKAGE, ".py") if not name.startswith(OWN)]
    found = [line for name in names for line in outputs.bypasses(name, tree.text(name))]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "source",
    [
        "path.write_text('x')",
        "Path(name).write_bytes(b'x')",
        "open(path, 'w')",
        "open(path, mode='ab')",
        "path.open('x', encoding='utf-8')",
        "path.open(mode='r+b')",
        "native.write_chrome(path, False)",
        "call(self._native.write_chakra)",
    ],
)
def test_bypasses_are_found(source: str) -> None:
    (line,) = outputs.bypasses("a.py", f"\n{source}")
    assert line.startswith("a.py:2: found ")


@pytest.mark.parametrize(
    "source",
    [
        "temporary.write_text('x')",
        "temporary.open('w')",
        "open(path, 'rb')",
        "path.open()",
        "write_atomic(path, self._native.write_chrome)",
        "write_atomic(path, lambda target, _: native.write_param_comms(target, place))",
    ],
)
def test_others_are_let_be(source: str) -> None:
    assert outputs.bypasses("a.py", source) == []
