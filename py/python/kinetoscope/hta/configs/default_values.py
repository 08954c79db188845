"""Default paths, process limits and the types that describe an event's arguments."""

from __future__ import annotations

import re
import tempfile
from enum import Enum
from pathlib import Path
from typing import NamedTuple

DEFAULT_TRACE_DIR = str(Path(tempfile.gettempdir(), "trace"))
DEFAULT_CONFIG_FILENAME: str = "trace_analyzer.json"

DF_SYMBOL_COLUMNS: list[str] = ["cat", "name"]
"""Columns of a trace that hold symbol ids."""

IS_DEBUG_ENABLED: bool = True
MAX_NUM_PROCESSES_SMALL: int = 4
MAX_NUM_PROCESSES: int = 32


class YamlVersion(NamedTuple):
    """Version of an argument list: `major.minor.patch`."""

    major: int
    minor: int
    patch: int

    def get_version_str(self) -> str:
        """Returns the version as text, such as `1.0.0`."""
        return f"{self.major}.{self.minor}.{self.patch}"

    @staticmethod
    def from_string(version_str: str) -> YamlVersion:
        """Reads a version from text.

        Raises ValueError unless the text is three numbers with dots between.
        """
        found = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)", version_str)
        if found is None:
            raise ValueError(f"Invalid version string: expected a version such as 1.0.0, found {version_str!r}")
        return YamlVersion(*(int(number) for number in found.groups()))


class ValueType(Enum):
    """Type of an argument's values."""

    Int = 1
    Float = 2
    String = 3
    Object = 4


class AttributeSpec(NamedTuple):
    """Description of one argument: its column, its key in the trace and its values.

    Two descriptions are equal when all fields but `min_supported_version` are.
    """

    name: str
    """Column of the frame."""
    raw_name: str
    """Key in the `args` of an event."""
    value_type: ValueType
    """Type of the values."""
    default_value: int | float | str | object
    """Value of events without the argument."""
    min_supported_version: YamlVersion
    """First version of the argument list that contains the argument."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AttributeSpec) and self[:4] == other[:4]

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self[:4])


class EventArgs(NamedTuple):
    """Arguments of one version, by key and in groups."""

    AVAILABLE_ARGS: dict[str, AttributeSpec]
    ARGS_INPUT_SHAPE: list[AttributeSpec]
    ARGS_BANDWIDTH: list[AttributeSpec]
    ARGS_SYNC: list[AttributeSpec]
    ARGS_MINIMUM: list[AttributeSpec]
    ARGS_COMPLETE: list[AttributeSpec]
    ARGS_INFO: list[AttributeSpec]
    ARGS_COMMUNICATION: list[AttributeSpec]
    ARGS_TRITON_KERNELS: list[AttributeSpec]
    ARGS_DEFAULT: list[AttributeSpec]
