"""Checks of folders."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass
class OperationOutcome:
    """Result of a check."""

    success: bool
    """Whether the check passed."""
    reason: str
    """Cause of a failure; empty after success."""


def is_valid_directory(path_to_directory: str, must_be_writable: bool = False) -> OperationOutcome:
    """Checks that a path is a readable folder, and with `must_be_writable` a writable one."""
    reason = _refusal(path_to_directory, must_be_writable=must_be_writable)
    return OperationOutcome(not reason, reason)


def _refusal(path: str, *, must_be_writable: bool) -> str:
    if not path:
        return "expected the path of a folder, a non-empty string; found an empty one"
    if not Path(path).exists():
        return f"expected a folder: {path} does not exist"
    if not Path(path).is_dir():
        return f"expected a folder: {path} is not a directory"
    if not os.access(path, os.R_OK):
        return f"expected a readable folder: {path} is not a valid path, check its permissions"
    if must_be_writable and not os.access(path, os.W_OK):
        return f"expected a writable folder: {path} is not writable, check its permissions"
    return ""
