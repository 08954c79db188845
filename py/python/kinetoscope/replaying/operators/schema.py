"""Signatures of operators, parsed from the recorded text."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from kinetoscope.replaying.operators.value import RefusedValueError, split

_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_SIGNATURE = re.compile(rf"({_NAME}(?:\.{_NAME})*)::({_NAME})(?:\.({_NAME}))?\((.*)\)\s*->\s*(.*)", re.DOTALL)
_QUALIFIED = re.compile(rf"({_NAME}(?:\.{_NAME})*)::({_NAME})(?:\.({_NAME}))?")
_MAX_LETTERS = 20_000


class Parameter(NamedTuple):
    """A parameter of an operator."""

    name: str
    type: str
    is_keyword: bool
    has_default: bool

    @property
    def is_written(self) -> bool:
        """Whether the operator writes the tensor."""
        return "!" in self.type


class Signature(NamedTuple):
    """Name and parameters of an operator. All names are plain identifiers."""

    namespace: str
    name: str
    overload: str
    parameters: tuple[Parameter, ...]

    @property
    def qualified(self) -> str:
        """Name with namespace, such as `aten::bmm`."""
        return f"{self.namespace}::{self.name}"

    @property
    def full(self) -> str:
        """Name with namespace and overload, such as `aten::bmm.out`."""
        return f"{self.qualified}.{self.overload}" if self.overload else self.qualified


def qualified(name: str) -> tuple[str, str] | None:
    """Returns namespace and name of `aten::bmm`, or None for a text that names no operator."""
    found = _QUALIFIED.fullmatch(name) if len(name) < _MAX_LETTERS else None
    return None if found is None else (found[1], found[2])


@lru_cache(4096)
def signature(text: str) -> Signature:
    """Parses a recorded signature. Raises RefusedValueError if it is none."""
    found = _SIGNATURE.fullmatch(text) if len(text) < _MAX_LETTERS else None
    if found is None:
        raise RefusedValueError("the signature of the operator is not readable")
    parameters: list[Parameter] = []
    is_keyword = False
    for part in split(found[4]):
        if part == "*":
            is_keyword = True
            continue
        declared, _, default = _before_default(part)
        kind, _, name = declared.rpartition(" ")
        if not kind or not re.fullmatch(_NAME, name):
            raise RefusedValueError("the signature of the operator is not readable")
        parameters.append(Parameter(name, kind.strip(), is_keyword, bool(default)))
    return Signature(found[1], found[2], found[3] or "", tuple(parameters))


def _before_default(part: str) -> tuple[str, str, str]:
    """Splits `float eps=1e-05` at its equals sign."""
    return part.partition("=")
