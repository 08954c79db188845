"""SQL over the tables of a trace. The one module that knows DuckDB."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, cast

from kinetoscope._base import text
from kinetoscope.table import Table

if TYPE_CHECKING:
    from types import ModuleType

    from kinetoscope import _native

# A query may be somebody else's: it reads these tables and nothing else, and cannot change that.
_CONFIG = {"enable_external_access": "false", "temp_directory": "", "lock_configuration": "true"}
_SCHEMA = "answers"
_ANSWER = f"{_SCHEMA}.answer"
_LARGE = ("HUGEINT", "UHUGEINT")
_ZONED = "TIMESTAMP WITH TIME ZONE"  # Python has it only with another package; the same in UTC needs none


Parts = Sequence[tuple[object, Mapping[str, int | None]]]
"""Tables of the same columns, or what else DuckDB reads, one after another; each after columns of one integer."""


def sql(query: str, sources: Mapping[str, Parts]) -> Table:
    """What a query of these tables answers. Only those that it names are read.

    ImportError without DuckDB, ValueError for what DuckDB does not understand.
    """
    duckdb = _duckdb()
    connection = duckdb.connect(config=_CONFIG)
    connection.execute(f"create schema {_SCHEMA}")
    registered = [table for name, parts in sources.items() for table in _register(connection, name, parts)]
    try:
        if (number := len(connection.extract_statements(query))) != 1:
            raise ValueError(f"expected a query, found {text.plural(number, 'statement')}")
        answer = connection.sql(query)
        if answer is None:
            raise ValueError("expected a query, found a statement that answers nothing")
        answer.create(_ANSWER)
    except duckdb.CatalogException as error:
        raise ValueError(f"expected a query of {', '.join(sources)}: {error}") from error
    except duckdb.Error as error:
        raise ValueError(f"expected a query that DuckDB understands: {error}") from error
    for table in registered:  # the answer must not keep the trace in memory
        connection.unregister(table)
    return Table(cast("_native.Table", _Rows(connection, _casts(connection))))


def _duckdb() -> ModuleType:
    try:
        import duckdb
    except ImportError as error:
        raise ImportError("sql: expected DuckDB, found none: pip install duckdb") from error
    return duckdb


def _register(connection: Any, name: str, parts: Parts) -> list[str]:
    """Has a table found by its name; gives the names of all that it is made of."""
    if len(parts) == 1 and not parts[0][1]:
        connection.register(name, parts[0][0])
        return [name]
    names = [f"{name} of {number}" for number in range(len(parts))]
    selects: list[str] = []
    for part, (table, columns) in zip(names, parts, strict=True):
        connection.register(part, table)
        same = [f"{'null' if value is None else value}::bigint as {_quoted(key)}" for key, value in columns.items()]
        selects.append(f"select {', '.join([*same, '*'])} from {_quoted(part)}")  # noqa: S608 - quoted
    connection.execute(f"create view {_quoted(name)} as {' union all '.join(selects)}")
    return names


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _casts(connection: Any) -> dict[str, str]:
    """The columns of the answer, each as an expression: sums of integers are integers again, where they fit.

    DuckDB's own type for sums has sixteen bytes, which pandas and polars make floats or decimals of.
    """
    answer = connection.table(_ANSWER)
    expressions: dict[str, str] = {}
    for name, kind in zip(answer.columns, answer.types, strict=True):
        column = _quoted(name)
        if str(kind) in _LARGE and _fits(connection, column):
            column = f"{column}::bigint"
        elif str(kind) == _ZONED:
            column = f"make_timestamp(epoch_us({column}))"
        expressions[name] = f"{column} as {_quoted(name)}"
    return expressions


def _fits(connection: Any, column: str) -> bool:
    counts = f"count({column}) = count(try_cast({column} as bigint))"
    query = f"select {counts} from {_ANSWER}"  # noqa: S608 - quoted
    return bool(connection.execute(query).fetchone()[0])


class _Rows:
    """The answer, which stays in DuckDB, as the native table that a `Table` wraps."""

    name = "sql"

    def __init__(self, connection: Any, expressions: Mapping[str, str]) -> None:
        self._connection = connection
        self._expressions = expressions

    @property
    def columns(self) -> list[str]:
        return list(self._expressions)

    def __len__(self) -> int:
        return self._cursor(f"select count(*) from {_ANSWER}").fetchone()[0]  # noqa: S608 - a name of ours

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows as an Arrow C stream."""
        columns = ", ".join(self._expressions.values())
        answer = self._connection.cursor().sql(f"select {columns} from {_ANSWER}")  # noqa: S608 - quoted
        return answer.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        """Their schema; only pyarrow asks for it."""
        import pyarrow

        return pyarrow.RecordBatchReader.from_stream(self).schema.__arrow_c_schema__()

    def select(self, columns: Sequence[str]) -> _Rows:
        """The same with these columns."""
        unknown = [column for column in columns if column not in self._expressions]
        if unknown:
            raise KeyError(f"expected a column of {', '.join(self._expressions)}, found {unknown[0]}")
        return _Rows(self._connection, {column: self._expressions[column] for column in columns})

    def rows(self, start: int, stop: int) -> list[tuple[Any, ...]]:
        """Rows from `start` to `stop`."""
        columns = ", ".join(self._expressions.values())
        part = f"limit {max(stop - start, 0)} offset {start}"
        return self._cursor(f"select {columns} from {_ANSWER} {part}").fetchall()  # noqa: S608 - quoted above

    def json_lines(self, start: int, stop: int, before: str) -> str:
        """The same as JSON lines."""
        objects = (dict(zip(self._expressions, row, strict=True)) for row in self.rows(start, stop))
        lines = (json.dumps(each, default=_plain, ensure_ascii=False, separators=(",", ":")) for each in objects)
        return "".join(f"{{{before}{line[1:]}\n" for line in lines)

    def _cursor(self, query: str) -> Any:
        return self._connection.cursor().execute(query)


def _plain(value: object) -> object:
    """What JSON has no value for."""
    return float(value) if isinstance(value, Decimal) else str(value)
