"""Tables as files: Parquet and Arrow through pyarrow, CSV without it."""

from __future__ import annotations

import csv
import importlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinetoscope.whole import written_whole

if TYPE_CHECKING:
    from kinetoscope.table import Table

FORMATS = (".parquet", ".arrow", ".csv")
_CSV_ROWS = 10_000


def export(table: Table, path: Path) -> None:
    """Writes a table in the format that the path's ending names, under a temporary name first.

    ValueError for an ending that is none of `FORMATS`, ImportError without pyarrow where it is needed, OSError when the
    file cannot be written.
    """
    writers = {".parquet": _write_parquet, ".arrow": _write_arrow, ".csv": _write_csv}
    writer = writers.get(path.suffix.lower())
    if writer is None:
        raise ValueError(f"expected a file name that ends in {', '.join(FORMATS)}, found {path.name}")
    with written_whole(path) as temporary:
        writer(table, temporary)


def _write_parquet(table: Table, path: Path) -> None:
    _need_pyarrow(".parquet")
    import pyarrow.parquet

    pyarrow.parquet.write_table(table.to_arrow(), path, compression="zstd")


def _write_arrow(table: Table, path: Path) -> None:
    _need_pyarrow(".arrow")
    import pyarrow.ipc

    content = table.to_arrow()
    with pyarrow.OSFile(str(path), "wb") as file, pyarrow.ipc.new_file(file, content.schema) as writer:
        writer.write_table(content)


def _need_pyarrow(ending: str) -> None:
    try:
        importlib.import_module("pyarrow")
    except ImportError as error:
        raise ImportError(f"expected pyarrow for {ending}, found none: pip install pyarrow, or write .csv") from error


def _write_csv(table: Table, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table.columns)
        for start in range(0, len(table), _CSV_ROWS):
            rows = table.rows(start, min(start + _CSV_ROWS, len(table)))
            writer.writerows([_csv_value(value) for value in row] for row in rows)


def _csv_value(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, (list, dict)) else value
