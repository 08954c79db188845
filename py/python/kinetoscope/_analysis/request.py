"""Requests to the core, as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from kinetoscope import _native


def written(request: Mapping[str, Any]) -> str:
    """Encodes a request as JSON, with NumPy scalars. Raises TraceError for NaN and infinity."""
    return json.dumps({name: _plain(name, value) for name, value in request.items()}, allow_nan=False)


def _plain(name: str, value: Any) -> Any:
    plain = value.item() if hasattr(value, "item") else value
    if isinstance(plain, float) and not math.isfinite(plain):
        raise _native.TraceError(f"expected a finite number as {name}, found {plain}")
    return plain
