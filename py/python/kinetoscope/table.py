"""A table of a trace, which exports its columns through the Arrow PyCapsule interface."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast, final, overload

from kinetoscope import _native
from kinetoscope._base import lazy, text
from kinetoscope._base.optional import expect, needed

_SHOWN_ROWS = 5
_SHOWN_COLUMNS = 10
_CELL_WIDTH = 40
_HTML_CELL_WIDTH = 120
_BLOCK_ROWS = 4096


class Table:
    """Named columns. Libraries that support the Arrow PyCapsule interface read a table directly.

    ::

        trace.events.to_polars()                            # or to_pandas(), to_arrow()
        pyarrow.table(trace.events); polars.DataFrame(trace.events)
        events = trace.events; duckdb.sql("select name, sum(dur_ns) from events group by name")

    Without libraries, `table[:5]` is a table of some rows, `table["name"]` the list of a column,
    and `table[0]` a row. `for row in table` yields rows.

    Times are integer nanoseconds (`_ns`), sizes integer bytes (`_bytes`). Fields that the file
    lacks are null.
    """

    def __init__(self, native: _native.Table, if_empty: str = "") -> None:
        """`if_empty` tells why the table has no rows."""
        self._native = native
        self._if_empty = if_empty

    @property
    def name(self) -> str:
        """Name of the table, such as `events` or `nodes`."""
        return self._native.name

    @property
    def columns(self) -> list[str]:
        """Names of the columns, in order."""
        return self._native.columns

    def __len__(self) -> int:
        return len(self._native)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Exports the table as an Arrow C stream in a PyCapsule."""
        return self._native.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        """Exports the schema as an Arrow C schema in a PyCapsule."""
        return self._native.__arrow_c_schema__()

    def select(self, *columns: str) -> Table:
        """Returns these columns, in this order.

        Raises KeyError for an unknown column, and ValueError for none or for the same one twice.
        """
        if not columns or len({*columns}) < len(columns):
            raise ValueError(f"expected columns, each once, found {', '.join(columns) or 'none'}")
        return Table(self._native.select(list(columns)))

    def rows(self, start: int = 0, stop: int | None = None) -> list[tuple[Any, ...]]:
        """Returns rows `start` to `stop` (exclusive) as tuples of Python values, as a slice does.

        For small parts; convert large tables with `to_arrow`, `to_polars` or `to_pandas`.
        """
        part = range(len(self))[start:stop]
        return self._native.rows(part.start, part.stop)

    def head(self, number: int = 5) -> Table:
        """Returns the first rows."""
        return self[: max(number, 0)]

    def tail(self, number: int = 5) -> Table:
        """Returns the last rows."""
        return self[max(len(self) - max(number, 0), 0) :]

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """Yields rows as tuples."""
        for start in range(0, len(self), _BLOCK_ROWS):
            yield from self.rows(start, min(start + _BLOCK_ROWS, len(self)))

    @overload
    def __getitem__(self, key: slice) -> Table: ...
    @overload
    def __getitem__(self, key: str) -> list[Any]: ...
    @overload
    def __getitem__(self, key: int) -> tuple[Any, ...]: ...
    def __getitem__(self, key: slice | str | int) -> Any:
        """Returns a table of some rows, the values of a column, or a row.

        Raises KeyError for an unknown column, IndexError for an unknown row, and ValueError for a
        slice with a step.
        """
        if isinstance(key, str):
            return [value for (value,) in self.select(key)]
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step != 1:
                raise ValueError(f"expected a slice without a step, found step {step}")
            return Table(cast("_native.Table", _RowRange(self._native, range(start, max(start, stop)))), self._if_empty)
        at = range(len(self))[key]
        return self.rows(at, at + 1)[0]

    def json_lines(self, start: int = 0, stop: int | None = None, before: str = "") -> str:
        """Returns rows `start` to `stop` (exclusive) as JSON lines, one object per row.

        Columns that hold JSON are inserted unchanged. `before` is JSON text with members for the
        start of every object, with a trailing comma.
        """
        return self._native.json_lines(start, len(self) if stop is None else stop, before)

    def to_arrow(self) -> lazy.pyarrow.Table:
        """Converts to a `pyarrow.Table`. Raises ImportError without pyarrow."""
        with needed("to_arrow", "kinetoscope[pyarrow]"):
            import pyarrow

        reader = pyarrow.RecordBatchReader.from_stream(self)
        batches: list[pyarrow.RecordBatch] = []
        for batch in reader:  # Python looks for Ctrl-C in a loop, and `list` does not
            batches.append(batch)  # noqa: PERF402 - as above
        return pyarrow.Table.from_batches(batches, reader.schema)

    def to_polars(self) -> lazy.polars.DataFrame:
        """Converts to a `polars.DataFrame`. Raises ImportError without polars."""
        with needed("to_polars", "kinetoscope[polars]"):
            import polars

        return polars.DataFrame(self)

    def to_pandas(self) -> lazy.pandas.DataFrame:
        """Converts to a `pandas.DataFrame`. Raises ImportError without pandas and pyarrow.

        Integers and booleans stay exact: a column with nulls gets a nullable type of pandas,
        instead of floats or objects.
        """
        expect("to_pandas", "kinetoscope[pandas]", "pandas", "pyarrow")
        import pandas

        arrow = self.to_arrow()
        return pandas.DataFrame({name: _series(arrow.column(name)) for name in arrow.column_names})

    def __repr__(self) -> str:
        size = f"{text.plural(len(self), 'row')} × {text.plural(len(self.columns), 'column')}"
        shown = self.columns[:_SHOWN_COLUMNS]
        if not len(self):
            return f"{self.name}: {self._if_empty or size}: {', '.join(self.columns)}"
        head, tail = self._ends(shown)
        rows = [[_cell(value, _CELL_WIDTH) for value in row] for row in head + tail]
        if tail:
            rows.insert(len(head), ["…"] * len(shown))
        body = text.aligned(shown, rows, _numeric(head, len(shown)))
        left_out = [self._left_out] if tail else []
        more = [f"and {', '.join(self.columns[_SHOWN_COLUMNS:])}"] if len(self.columns) > _SHOWN_COLUMNS else []
        return "\n".join([f"{self.name}: {size}", body, *left_out, *more])

    def _repr_html_(self) -> str:
        if self._if_empty and not len(self):
            return f"<p>{text.escaped(self.name)}: {text.escaped(self._if_empty)}</p>"
        head, tail = self._ends(self.columns)
        cell = f"<td colspan={len(self.columns)} style='text-align:left'>… {self._left_out}</td>"
        gap = f"<tr>{cell}</tr>" if tail else ""
        body = "".join([*map(_html_row, head), gap, *map(_html_row, tail)])
        header = "".join(f"<th>{text.escaped(column)}</th>" for column in self.columns)
        size = f"{text.plural(len(self), 'row')} × {text.plural(len(self.columns), 'column')}"
        return (
            f"<div style='overflow-x:auto'><table><caption>{text.escaped(self.name)}: {size}</caption>"
            f"<thead><tr>{header}</tr></thead><tbody>{body}</tbody></table></div>"
        )

    @property
    def _left_out(self) -> str:
        return f"{text.plural(len(self) - 2 * _SHOWN_ROWS, 'row')} left out"

    def _ends(self, columns: list[str]) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
        """Returns the first rows, and the last rows if the table is longer than both together."""
        part = self._native.select(columns)
        if len(self) <= 2 * _SHOWN_ROWS:
            return part.rows(0, len(self)), []
        return part.rows(0, _SHOWN_ROWS), part.rows(len(self) - _SHOWN_ROWS, len(self))


@final
class _RowRange:
    """Consecutive rows of a native table, without a copy."""

    def __init__(self, table: Any, rows: range) -> None:
        self._table = table
        self._rows = rows

    @property
    def name(self) -> str:
        """Name of the table."""
        return self._table.name

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return self._table.columns

    def __len__(self) -> int:
        return len(self._rows)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Exports the rows as an Arrow C stream. Raises ImportError without pyarrow or polars."""
        return self._arrow().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        """Exports the schema as an Arrow C schema."""
        return self._table.__arrow_c_schema__()

    def _arrow(self) -> Any:
        """Cuts the rows with pyarrow, or else with polars."""
        from importlib.util import find_spec

        if find_spec("pyarrow") is None and find_spec("polars"):
            import polars

            return polars.DataFrame(self._table).slice(self._rows.start, len(self))
        with needed("rows of a table", "kinetoscope[pyarrow]"):
            import pyarrow
        return pyarrow.table(self._table).slice(self._rows.start, len(self))

    def select(self, columns: Sequence[str]) -> _RowRange:
        """Returns these columns. Raises KeyError for an unknown column."""
        return _RowRange(self._table.select(list(columns)), self._rows)

    def rows(self, start: int, stop: int) -> list[tuple[Any, ...]]:
        """Returns rows `start` to `stop` (exclusive) as tuples."""
        part = self._rows[start:stop]
        return self._table.rows(part.start, part.stop)

    def json_lines(self, start: int, stop: int, before: str) -> str:
        """Returns rows `start` to `stop` (exclusive) as JSON lines."""
        part = self._rows[start:stop]
        return self._table.json_lines(part.start, part.stop, before)


def _cell(value: object, width: int) -> str:
    return "" if value is None else text.clipped(text.printable(str(value)), width)


def _html_row(row: tuple[Any, ...]) -> str:
    return f"<tr>{''.join(f'<td>{text.escaped(_cell(value, _HTML_CELL_WIDTH))}</td>' for value in row)}</tr>"


def _numeric(rows: list[tuple[Any, ...]], num_columns: int) -> list[bool]:
    return [any(isinstance(row[index], (int, float)) for row in rows) for index in range(num_columns)]


def _series(column: Any) -> Any:
    """Converts a column of pyarrow to a pandas Series."""
    import pandas
    import pyarrow

    exact = {
        pyarrow.int64(): pandas.Int64Dtype(),
        pyarrow.uint64(): pandas.UInt64Dtype(),
        pyarrow.int32(): pandas.Int32Dtype(),
        pyarrow.uint32(): pandas.UInt32Dtype(),
        pyarrow.bool_(): pandas.BooleanDtype(),
    }
    return column.to_pandas(types_mapper=exact.get if column.null_count else None)
