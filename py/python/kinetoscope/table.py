"""A table of a trace, which exports its columns through the Arrow PyCapsule interface."""

from __future__ import annotations

from typing import Any

from kinetoscope import _native
from kinetoscope._base import lazy, text

_SHOWN_ROWS = 5
_SHOWN_COLUMNS = 10
_CELL_WIDTH = 40
_HTML_CELL_WIDTH = 120


class Table:
    """Named columns. Libraries that support the Arrow PyCapsule interface read a table directly.

    ::

        trace.events.to_polars()                            # or to_pandas(), to_arrow()
        pyarrow.table(trace.events); polars.DataFrame(trace.events)
        events = trace.events; duckdb.sql("select name, sum(dur_ns) from events group by name")

    Times are integer nanoseconds (`_ns`), sizes integer bytes (`_bytes`). Fields that the file
    lacks are null.
    """

    def __init__(self, native: _native.Table) -> None:
        self._native = native

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
        """Returns these columns, in this order. Raises KeyError for an unknown column."""
        return Table(self._native.select(list(columns)))

    def rows(self, start: int = 0, stop: int | None = None) -> list[tuple[Any, ...]]:
        """Returns rows `start` to `stop` (exclusive) as tuples of Python values.

        For small parts; convert large tables with `to_arrow`, `to_polars` or `to_pandas`.
        """
        return self._native.rows(start, len(self) if stop is None else stop)

    def json_lines(self, start: int = 0, stop: int | None = None, before: str = "") -> str:
        """Returns rows `start` to `stop` (exclusive) as JSON lines, one object per row.

        Columns that hold JSON are inserted unchanged. `before` is JSON text with members for the
        start of every object, with a trailing comma.
        """
        return self._native.json_lines(start, len(self) if stop is None else stop, before)

    def to_arrow(self) -> lazy.pyarrow.Table:
        """Converts to a `pyarrow.Table`. Raises ImportError without pyarrow."""
        import pyarrow

        reader = pyarrow.RecordBatchReader.from_stream(self)
        batches: list[pyarrow.RecordBatch] = []
        for batch in reader:  # Python looks for Ctrl-C in a loop, and `list` does not
            batches.append(batch)  # noqa: PERF402 - as above
        return pyarrow.Table.from_batches(batches, reader.schema)

    def to_polars(self) -> lazy.polars.DataFrame:
        """Converts to a `polars.DataFrame`. Raises ImportError without polars."""
        import polars

        return polars.DataFrame(self)

    def to_pandas(self) -> lazy.pandas.DataFrame:
        """Converts to a `pandas.DataFrame`. Raises ImportError without pandas and pyarrow.

        Integers and booleans stay exact: a column with nulls gets a nullable type of pandas,
        instead of floats or objects.
        """
        import pandas

        arrow = self.to_arrow()
        return pandas.DataFrame({name: _series(arrow.column(name)) for name in arrow.column_names})

    def __repr__(self) -> str:
        size = f"{text.plural(len(self), 'row')} × {text.plural(len(self.columns), 'column')}"
        shown = self.columns[:_SHOWN_COLUMNS]
        if not len(self):
            return f"{self.name}: {size}: {', '.join(self.columns)}"
        head, tail = self._ends(shown)
        rows = [[_cell(value, _CELL_WIDTH) for value in row] for row in head + tail]
        if tail:
            rows.insert(len(head), ["…"] * len(shown))
        body = text.aligned(shown, rows, _numeric(head, len(shown)))
        more = [f"and {', '.join(self.columns[_SHOWN_COLUMNS:])}"] if len(self.columns) > _SHOWN_COLUMNS else []
        return "\n".join([f"{self.name}: {size}", body, *more])

    def _repr_html_(self) -> str:
        head, tail = self._ends(self.columns)
        gap = [f"<tr><td colspan={len(self.columns)}>…</td></tr>"] if tail else []
        body = "".join([*map(_html_row, head), *gap, *map(_html_row, tail)])
        header = "".join(f"<th>{text.escaped(column)}</th>" for column in self.columns)
        size = f"{text.plural(len(self), 'row')} × {text.plural(len(self.columns), 'column')}"
        return (
            f"<div style='overflow-x:auto'><table><caption>{text.escaped(self.name)}: {size}</caption>"
            f"<thead><tr>{header}</tr></thead><tbody>{body}</tbody></table></div>"
        )

    def _ends(self, columns: list[str]) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
        """Returns the first rows, and the last rows if the table is longer than both together."""
        part = self._native.select(columns)
        if len(self) <= 2 * _SHOWN_ROWS:
            return part.rows(0, len(self)), []
        return part.rows(0, _SHOWN_ROWS), part.rows(len(self) - _SHOWN_ROWS, len(self))


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
