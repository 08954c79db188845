"""Names and categories as numbers, which is how HTA's frames hold them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pandas

_ENCODED = ("name", "cat")
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

    def get_sym_table_series(self) -> pandas.Series:
        """The symbols by their ids."""
        return pandas.Series(self.sym_table, dtype=object)

    def get_sym_index_series(self) -> pandas.Series:
        """The ids by their symbols."""
        return pandas.Series(self.sym_index, dtype="int64")

    def get_symbol_names(self, symbol_ids: Iterable[int]) -> dict[int, str]:
        """The symbols of ids; those that there are."""
        return {number: self.sym_table[number] for number in symbol_ids if 0 <= number < len(self.sym_table)}

    def find_matches(self, patterns: Iterable[str]) -> list[int]:
        """The ids of symbols with any of these texts in them."""
        return [self.sym_index[symbol] for symbol in self.find_matched_symbols(patterns)]

    def find_matched_symbols(self, patterns: Iterable[str]) -> list[str]:
        """The symbols with any of these texts in them."""
        texts = list(patterns)
        return [symbol for symbol in self.sym_table if any(text in symbol for text in texts)]

    def encode_df(self, df: pandas.DataFrame) -> None:
        """Puts ids in place of the texts in `name` and `cat`. KeyError for a text that is no symbol."""
        for column in _ENCODED:
            df[column] = [self.sym_index[text] for text in df[column]]

    def decode_df(self, df: pandas.DataFrame, create_new_columns: bool = True) -> None:
        """Adds `s_name` and `s_cat`, the texts of ids; or puts the texts in place of these."""
        for column in _ENCODED:
            texts = self.get_sym_table_series().reindex(df[column]).to_numpy()
            df[f"s_{column}" if create_new_columns else column] = texts

    @classmethod
    def create_from_df(cls, df: pandas.DataFrame) -> TraceSymbolTable:
        """A table of the texts in `name` and `cat`."""
        table = cls()
        for column in _ENCODED:
            table.add_symbols(df[column].unique().tolist())
        return table

    @classmethod
    def create_from_symbol_id_map(cls, symbol_id_map: Mapping[str, int]) -> TraceSymbolTable:
        """A table of symbols with these ids. ValueError when they do not count from 0."""
        symbols = sorted(symbol_id_map, key=lambda symbol: symbol_id_map[symbol])
        if [symbol_id_map[symbol] for symbol in symbols] != list(range(len(symbols))):
            raise ValueError(f"expected ids that count from 0, found {sorted(symbol_id_map.values())}")
        table = cls()
        table.add_symbols(symbols)
        return table

    @classmethod
    def combine_symbol_tables(cls, tables: Iterable[TraceSymbolTable]) -> TraceSymbolTable:
        """A table of the symbols of several, in their order."""
        table = cls()
        for other in tables:
            table.add_symbols(other.sym_table)
        return table

    @classmethod
    def clone(cls, symbol_table: TraceSymbolTable) -> TraceSymbolTable:
        """A table of the same symbols."""
        return cls.combine_symbol_tables([symbol_table])


def decode_symbol_id_to_symbol_name(
    df: pandas.DataFrame, symbol_table: TraceSymbolTable, use_shorten_name: bool
) -> None:
    """Adds `s_name` and `s_cat`, the texts of ids; without types and arguments where they are to be short."""
    symbols = symbol_table.sym_table
    texts = pandas.Series([shorten_name(symbol) for symbol in symbols] if use_shorten_name else symbols, dtype=object)
    for column in _ENCODED:
        df[f"s_{column}"] = texts.reindex(df[column]).to_numpy()


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
