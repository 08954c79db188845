"""Tables as files: Parquet and Arrow through pyarrow, CSV and JSON lines without it."""

from __future__ import annotations

import csv
import importlib
import json
import os
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from kinetoscope._io.atomic import written_whole

if TYPE_CHECKING:
    from kinetoscope.table import Table

FORMATS = (".parquet", ".arrow", ".csv", ".jsonl")
_TEXT_ROWS = 10_000
_GROUP_BATCHES = 16  # of 65 536 rows each: a million rows, as Parquet's own row groups


class Part(NamedTuple):
    """A table, and columns of one integer each to put before it."""

    table: Table
    columns: dict[str, int | None]


def export(parts: Sequence[Part], path: str | os.PathLike[str], ending: str | None = None) -> Path:
    """Writes tables one after another, in the format that `ending` or the path names, under another name first.

    ValueError for an ending that is none of `FORMATS`, ImportError without pyarrow where it is needed, OSError when the
    file cannot be written; then `path` holds what it held before.
    """
    writers = {".parquet": _write_parquet, ".arrow": _write_arrow, ".csv": _write_csv, ".jsonl": _write_lines}
    target = Path(path)
    writer = writers.get(ending or target.suffix.lower())
    if writer is None:
        raise ValueError(f"expected a file name that ends in {', '.join(FORMATS)}, found {target.name}")
    with written_whole(target) as temporary:
        writer(parts, temporary)
    return target


def _write_parquet(parts: Sequence[Part], path: Path) -> None:
    _need_pyarrow(".parquet")
    import pyarrow
    import pyarrow.parquet

    schema = _schema(parts)
    with pyarrow.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        batches = _batches(parts, schema)
        while group := list(islice(batches, _GROUP_BATCHES)):
            writer.write_table(pyarrow.Table.from_batches(group, schema))


def _write_arrow(parts: Sequence[Part], path: Path) -> None:
    _need_pyarrow(".arrow")
    import pyarrow.ipc

    schema = _schema(parts)
    with pyarrow.OSFile(str(path), "wb") as file, pyarrow.ipc.new_file(file, schema) as writer:
        for batch in _batches(parts, schema):
            writer.write_batch(batch)


def _need_pyarrow(ending: str) -> None:
    try:
        importlib.import_module("pyarrow")
    except ImportError as error:
        raise ImportError(f"expected pyarrow for {ending}, found none: pip install pyarrow, or write .csv") from error


def _schema(parts: Sequence[Part]) -> Any:
    """Of all parts alike: tables of one name have the same columns."""
    import pyarrow

    schema = pyarrow.schema(parts[0].table)
    for name in reversed(parts[0].columns):
        schema = schema.insert(0, pyarrow.field(name, pyarrow.int64()))
    return schema


def _batches(parts: Sequence[Part], schema: Any) -> Iterator[Any]:
    import pyarrow

    for part in parts:
        for batch in pyarrow.RecordBatchReader.from_stream(part.table):
            same = [pyarrow.array([value] * len(batch), pyarrow.int64()) for value in part.columns.values()]
            yield pyarrow.RecordBatch.from_arrays([*same, *batch.columns], schema=schema)


def _write_csv(parts: Sequence[Part], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        write_csv(parts, file)


def write_csv(parts: Sequence[Part], file: TextIO, line_end: str = "\r\n") -> None:
    """Tables one after another as CSV, under the names of their columns."""
    writer = csv.writer(file, lineterminator=line_end)
    writer.writerow([*parts[0].columns, *parts[0].table.columns])
    for table, columns in parts:
        for start in range(0, len(table), _TEXT_ROWS):
            rows = table.rows(start, start + _TEXT_ROWS)
            writer.writerows([*columns.values(), *map(_csv_value, row)] for row in rows)


def _csv_value(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, (bool, list, dict)) else value


def json_lines(parts: Sequence[Part]) -> Iterator[str]:
    """Rows of tables one after another, each as a JSON object in a line of its own; some lines at a time."""
    for table, columns in parts:
        before = "".join(f"{json.dumps(name)}:{json.dumps(value)}," for name, value in columns.items())
        for start in range(0, len(table), _TEXT_ROWS):
            yield table.json_lines(start, start + _TEXT_ROWS, before)


def json_array(parts: Sequence[Part]) -> Iterator[str]:
    """The same as one JSON array, an object in each line."""
    before = "[\n"
    for lines in json_lines(parts):
        for line in lines.split("\n")[:-1]:  # not `splitlines`: names may hold other ends of lines than this
            yield f"{before}{line}"
            before = ",\n"
    yield "[]\n" if before == "[\n" else "\n]\n"


def export_json(parts: Sequence[Part], path: Path) -> Path:
    """Writes tables as one JSON array, under another name first. OSError as `export`."""
    with written_whole(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(json_array(parts))
    return path


def _write_lines(parts: Sequence[Part], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(json_lines(parts))
