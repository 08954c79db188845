"""SQL over the tables of a trace. The only module that imports DuckDB."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from threading import Timer
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from kinetoscope._base import text
from kinetoscope._base.optional import needed
from kinetoscope.table import Table

if TYPE_CHECKING:
    from types import ModuleType

    from kinetoscope import _native

# Queries may be untrusted: they read only these tables, and cannot change this configuration.
_CONFIG = {"enable_external_access": "false", "temp_directory": "", "lock_configuration": "true"}
_SCHEMA = "results"
_RESULT = f"{_SCHEMA}.result"
_LARGE = ("HUGEINT", "UHUGEINT")
_ZONED = "TIMESTAMP WITH TIME ZONE"  # needs another package in Python; a time in UTC does not


class SqlLimits(NamedTuple):
    """Limits of a query."""

    seconds: float
    max_rows: int
    max_memory: str
    """Such as `1GB`."""


Parts = Sequence[tuple[object, Mapping[str, int | None]]]
"""Tables with equal columns, or other objects that DuckDB reads, to concatenate.

Each comes with constant integer columns to insert before its own.
"""


def sql(query: str, sources: Mapping[str, Parts], limits: SqlLimits | None = None) -> Table:
    """Runs a query over tables by name; loads only the tables that the query names.

    With limits, only statements that read are allowed, and rows beyond the limit are dropped.

    Raises ImportError without DuckDB, and ValueError for a query that DuckDB rejects, or that takes
    more than the limits.
    """
    duckdb = _duckdb()
    connection = duckdb.connect(config=_CONFIG | ({"memory_limit": limits.max_memory} if limits else {}))
    connection.execute(f"create schema {_SCHEMA}")
    registered = [table for name, parts in sources.items() for table in _register(connection, name, parts)]
    try:
        with _within(connection, limits):
            statements = connection.extract_statements(query)
            if len(statements) != 1:
                raise ValueError(f"expected a query, found {text.plural(len(statements), 'statement')}")
            if limits and statements[0].type not in {duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN}:
                raise ValueError("expected a query that only reads, found another statement")
            result = connection.sql(query)
            if result is None:
                raise ValueError("expected a query, found a statement without a result")
            (result.limit(limits.max_rows) if limits else result).create(_RESULT)
    except duckdb.InterruptException as error:
        expected = f"a query of at most {limits.seconds if limits else 0:g} s"
        raise ValueError(f"expected {expected}, found a longer one") from error
    except duckdb.CatalogException as error:
        raise ValueError(f"expected a query of the tables {', '.join(sources)}: {error}") from error
    except duckdb.Error as error:
        raise ValueError(f"expected a query that DuckDB accepts: {error}") from error
    for table in registered:  # otherwise the result keeps the trace in memory
        connection.unregister(table)
    return Table(cast("_native.Table", _Rows(connection, _casts(connection))))


@contextmanager
def _within(connection: Any, limits: SqlLimits | None) -> Generator[None]:
    """Interrupts the connection after the limit."""
    if limits is None:
        yield
        return
    timer = Timer(limits.seconds, connection.interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _duckdb() -> ModuleType:
    with needed("sql", "kinetoscope[sql]"):
        import duckdb
    return duckdb


def _register(connection: Any, name: str, parts: Parts) -> list[str]:
    """Registers a table under its name. Returns all names that were registered."""
    if len(parts) == 1 and not parts[0][1]:
        connection.register(name, parts[0][0])
        return [name]
    names = [f"{name} of {number}" for number in range(len(parts))]
    selects: list[str] = []
    for part, (table, columns) in zip(names, parts, strict=True):
        connection.register(part, table)
        values = {key: "null" if value is None else value for key, value in columns.items()}
        constants = [f"{value}::bigint as {_quoted(key)}" for key, value in values.items()]
        selects.append(f"select {', '.join([*constants, '*'])} from {_quoted(part)}")  # noqa: S608 - quoted
    connection.execute(f"create view {_quoted(name)} as {' union all '.join(selects)}")
    return names


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _casts(connection: Any) -> dict[str, str]:
    """Returns an expression for each result column; large integers become 64-bit if they fit.

    DuckDB sums integers in 16 bytes, which pandas and polars convert to floats or decimals.
    """
    result = connection.table(_RESULT)
    expressions: dict[str, str] = {}
    for name, kind in zip(result.columns, result.types, strict=True):
        column = _quoted(name)
        if str(kind) in _LARGE and _fits(connection, column):
            column = f"{column}::bigint"
        elif str(kind) == _ZONED:
            column = f"make_timestamp(epoch_us({column}))"
        expressions[name] = f"{column} as {_quoted(name)}"
    return expressions


def _fits(connection: Any, column: str) -> bool:
    counts = f"count({column}) = count(try_cast({column} as bigint))"
    query = f"select {counts} from {_RESULT}"  # noqa: S608 - quoted
    return bool(connection.execute(query).fetchone()[0])


class _Rows:
    """The result, kept in DuckDB, with the interface of the native table."""

    name = "sql"

    def __init__(self, connection: Any, expressions: Mapping[str, str]) -> None:
        self._connection = connection
        self._expressions = expressions

    @property
    def columns(self) -> list[str]:
        return list(self._expressions)

    def __len__(self) -> int:
        return self._cursor(f"select count(*) from {_RESULT}").fetchone()[0]  # noqa: S608 - a constant

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Exports the rows as an Arrow C stream."""
        columns = ", ".join(self._expressions.values())
        result = self._connection.cursor().sql(f"select {columns} from {_RESULT}")  # noqa: S608 - quoted
        return result.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        """Exports the schema; only pyarrow requests it."""
        with needed("the schema of a query", "kinetoscope[pyarrow]"):
            import pyarrow

        return pyarrow.RecordBatchReader.from_stream(self).schema.__arrow_c_schema__()

    def select(self, columns: Sequence[str]) -> _Rows:
        """Returns these columns. Raises KeyError for an unknown column."""
        unknown = [column for column in columns if column not in self._expressions]
        if unknown:
            raise KeyError(f"expected a column of {', '.join(self._expressions)}, found {unknown[0]}")
        return _Rows(self._connection, {column: self._expressions[column] for column in columns})

    def rows(self, start: int, stop: int) -> list[tuple[Any, ...]]:
        """Returns rows `start` to `stop` (exclusive) as tuples."""
        columns = ", ".join(self._expressions.values())
        part = f"limit {max(stop - start, 0)} offset {start}"
        return self._cursor(f"select {columns} from {_RESULT} {part}").fetchall()  # noqa: S608 - quoted above

    def json_lines(self, start: int, stop: int, before: str) -> str:
        """Returns rows `start` to `stop` (exclusive) as JSON lines."""
        objects = (dict(zip(self._expressions, row, strict=True)) for row in self.rows(start, stop))
        lines = (json.dumps(each, default=_plain, ensure_ascii=False, separators=(",", ":")) for each in objects)
        return "".join(f"{{{before}{line[1:]}\n" for line in lines)

    def _cursor(self, query: str) -> Any:
        return self._connection.cursor().execute(query)


def _plain(value: object) -> object:
    """Converts a value that JSON cannot represent."""
    return float(value) if isinstance(value, Decimal) else str(value)
