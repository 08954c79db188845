"""The public class of each sort of file that is no trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinetoscope.chakra import Chakra
from kinetoscope.memory import MemorySnapshot, MemoryTimeline

if TYPE_CHECKING:
    from kinetoscope import _native
    from kinetoscope.tables import Tables

_SORTS: dict[str, type[Tables]] = {
    "a Chakra trace": Chakra,
    "a memory snapshot": MemorySnapshot,
    "a memory timeline": MemoryTimeline,
}


def tables_of(native: _native.Tables, source: str | None) -> Tables:
    """What was read, as its class."""
    return _SORTS[native.sort](native, source)
