"""What is asked of the core, as the text that it reads."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from kinetoscope import _native


def written(request: Mapping[str, Any]) -> str:
    """The request in JSON, with numbers of NumPy as what they are. TraceError for a number that JSON does not have."""
    return json.dumps({name: _plain(name, value) for name, value in request.items()}, allow_nan=False)


def _plain(name: str, value: Any) -> Any:
    plain = value.item() if hasattr(value, "item") else value
    if isinstance(plain, float) and not math.isfinite(plain):
        raise _native.TraceError(f"expected a finite number as {name}, found {plain}")
    return plain
