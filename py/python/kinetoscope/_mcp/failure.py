"""Errors of tools, which tell the next call."""

from __future__ import annotations


class CallError(ValueError):
    """A call that cannot be answered. The text states what was expected, and the next call."""

    def __init__(self, problem: str, next_call: str) -> None:
        super().__init__(f"{problem}. Next call: {next_call}")
