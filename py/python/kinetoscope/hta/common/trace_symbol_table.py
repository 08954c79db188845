"""Names and categories as numbers, which is how HTA's frames hold them."""

from __future__ import annotations

from collections.abc import Iterable

_OPENED_BY = {">": "<", ")": "("}
_COPIES = ("Memcpy", "Memset", "dma")


class TraceSymbolTable:
    """Names and categories of all ranks; a symbol's id is its place."""

    def __init__(self) -> None:
        self.sym_table: list[str] = []
        """The symbols, in the order in which they were met."""
        self.sym_index: dict[str, int] = {}
        """The id of each symbol."""

    def add_symbols(self, symbols: Iterable[str]) -> None:
        """Adds those that are new."""
        for symbol in symbols:
            if symbol not in self.sym_index:
                self.sym_index[symbol] = len(self.sym_table)
                self.sym_table.append(symbol)

    def is_empty(self) -> bool:
        """Whether there are none."""
        return not self.sym_table

    def get_sym_table(self) -> list[str]:
        """The symbols by their ids."""
        return self.sym_table

    def get_sym_id_map(self) -> dict[str, int]:
        """The ids by their symbols."""
        return self.sym_index

    def get_sym_index(self) -> dict[str, int]:
        """As `get_sym_id_map`."""
        return self.sym_index


def shorten_name(name: str) -> str:
    """A kernel's name without the type that it returns, the arguments of its templates and those of the call."""
    if name.startswith(_COPIES) or not ("<" in name or "(" in name):
        return name
    kept: list[str] = []
    for character in name.replace("->", ""):
        if character not in _OPENED_BY:
            kept.append(character)
            continue
        while kept and kept.pop() != _OPENED_BY[character]:
            pass
    return "".join(kept).rpartition(" ")[2]
