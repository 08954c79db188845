"""Which versions of torch can do what a test needs."""

from __future__ import annotations

from typing import Any

import pytest

torch: Any = pytest.importorskip("torch")

_PRESENT = tuple(map(int, torch.__version__.split(".")[:2]))


def needs_torch(minor: int, reason: str) -> pytest.MarkDecorator:
    """Skips a test before torch 2.`minor`."""
    return pytest.mark.skipif((2, minor) > _PRESENT, reason=f"before torch 2.{minor}, {reason}")
