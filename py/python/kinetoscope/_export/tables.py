"""Tables as files: Parquet and Arrow with pyarrow, CSV and JSON without it."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from kinetoscope._base.optional import expect
from kinetoscope._io.atomic import atomic_path

if TYPE_CHECKING:
    from kinetoscope.table import Table

FORMATS = (".parquet", ".arrow", ".csv", ".jsonl", ".json")
SPEEDSCOPE = ".speedscope.json"
"""Extension of flame graphs, which are no tables."""
_TEXT_ROWS = 10_000
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""Starts of texts that a spreadsheet runs as a formula: names in traces come from strangers."""
_GROUP_BATCHES = 32  # of 32,768 rows: a million rows, the usual size of a row group


class Part(NamedTuple):
    """A table, with constant integer columns to insert before its own."""

    table: Table
    columns: dict[str, int | None]


def export(parts: Sequence[Part], path: str | os.PathLike[str], extension: str | None = None) -> Path:
    """Concatenates tables and writes them in the format of `extension`, or of the path.

    Raises ValueError for a format other than `FORMATS`, and ImportError if pyarrow is needed and
    missing. If the file cannot be written, raises OSError and leaves `path` unchanged.
    """
    writers = {
        ".parquet": _write_parquet,
        ".arrow": _write_arrow,
        ".csv": _write_csv,
        ".jsonl": _write_lines,
        ".json": _write_json,
    }
    target = Path(path)
    if target.name.lower().endswith(SPEEDSCOPE):
        raise ValueError(f"expected a flame graph for {target.name}, found a table: see kinetoscope export --help")
    writer = writers.get(extension or target.suffix.lower())
    if writer is None:
        raise ValueError(f"expected a file name that ends in {', '.join(FORMATS)}, found {target.name}")
    with atomic_path(target) as temporary:
        writer(parts, temporary)
    return target


def _write_parquet(parts: Sequence[Part], path: Path) -> None:
    _require_pyarrow(".parquet")
    import pyarrow
    import pyarrow.parquet

    schema = _schema(parts)
    with pyarrow.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        batches = _batches(parts, schema)
        while group := list(islice(batches, _GROUP_BATCHES)):
            writer.write_table(pyarrow.Table.from_batches(group, schema))


def _write_arrow(parts: Sequence[Part], path: Path) -> None:
    _require_pyarrow(".arrow")
    import pyarrow.ipc

    schema = _schema(parts)
    with pyarrow.OSFile(str(path), "wb") as file, pyarrow.ipc.new_file(file, schema) as writer:
        for batch in _batches(parts, schema):
            writer.write_batch(batch)


def _require_pyarrow(extension: str) -> None:
    expect(f"{extension} (not for .csv)", "kinetoscope[pyarrow]", "pyarrow")


def _schema(parts: Sequence[Part]) -> Any:
    """Schema of all parts: tables of the same name have the same columns."""
    import pyarrow

    schema = pyarrow.schema(parts[0].table)
    for name in reversed(parts[0].columns):
        schema = schema.insert(0, pyarrow.field(name, pyarrow.int64()))
    return schema


def _batches(parts: Sequence[Part], schema: Any) -> Iterator[Any]:
    import pyarrow

    for part in parts:
        for batch in pyarrow.RecordBatchReader.from_stream(part.table):
            constants = [pyarrow.array([value] * len(batch), pyarrow.int64()) for value in part.columns.values()]
            yield pyarrow.RecordBatch.from_arrays([*constants, *batch.columns], schema=schema)


def _write_csv(parts: Sequence[Part], temporary: Path) -> None:
    with temporary.open("w", encoding="utf-8", newline="") as file:
        write_csv(parts, file)


def write_csv(parts: Sequence[Part], file: TextIO, line_end: str = "\r\n") -> None:
    """Writes concatenated tables as CSV, with a header.

    A text that a spreadsheet would run as a formula gets an apostrophe in front.
    """
    writer = csv.writer(file, lineterminator=line_end)
    writer.writerow([*parts[0].columns, *parts[0].table.columns])
    for table, columns in parts:
        for start in range(0, len(table), _TEXT_ROWS):
            rows = table.rows(start, start + _TEXT_ROWS)
            writer.writerows([*columns.values(), *map(_csv_value, row)] for row in rows)


def _csv_value(value: Any) -> Any:
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULA_STARTS) else value
    return json.dumps(value) if isinstance(value, (bool, list, dict)) else value


def json_lines(parts: Sequence[Part]) -> Iterator[str]:
    """Yields concatenated tables as JSON lines, several lines at a time."""
    for table, columns in parts:
        before = "".join(f"{json.dumps(name)}:{json.dumps(value)}," for name, value in columns.items())
        for start in range(0, len(table), _TEXT_ROWS):
            yield table.json_lines(start, start + _TEXT_ROWS, before)


def json_array(parts: Sequence[Part]) -> Iterator[str]:
    """Yields concatenated tables as a JSON array, one object per line."""
    before = "[\n"
    for lines in json_lines(parts):
        for line in lines.split("\n")[:-1]:  # `splitlines` would also split at other line ends inside names
            yield f"{before}{line}"
            before = ",\n"
    yield "[]\n" if before == "[\n" else "\n]\n"


def _write_lines(parts: Sequence[Part], temporary: Path) -> None:
    with temporary.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(json_lines(parts))


def _write_json(parts: Sequence[Part], temporary: Path) -> None:
    with temporary.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(json_array(parts))
