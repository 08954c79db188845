"""Griffe extension: docstrings become Markdown of the site."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import griffe

sys.path.insert(0, str(Path(__file__).parent))

from docstrings import markdown


class Docstrings(griffe.Extension):
    """Converts every docstring."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Runs for each object that griffe loads."""
        if obj.docstring is not None:
            obj.docstring.value = markdown(obj.docstring.value)
