"""Rows of msprof's databases that refer to nothing, and values of other types than the schema has."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import kinetoscope as ks
import pytest

pytestmark = pytest.mark.unit

FOLDER = Path(__file__).parents[2] / "data/synthetic_msprof"
TORCH, MSPROF = FOLDER / "ascend_pytorch_profiler_3.db", FOLDER / "msprof_20260513080000.db"


def mutant(folder: Path, *statements: str) -> ks.Trace:
    """The database of torch_npu after some statements."""
    path = folder / TORCH.name
    shutil.copy(TORCH, path)
    with closing(sqlite3.connect(path)) as database, database:
        for statement in statements:
            database.execute(statement)
    return ks.read(path)


def num_invalid(trace: ks.Trace) -> int:
    return dict(trace.verdict.problems.select("problem", "count").rows()).get("invalid_value", 0)


@pytest.mark.parametrize("path", [TORCH, MSPROF], ids=["torch_npu", "msprof"])
def test_a_complete_database_has_no_wrong_row(path: Path) -> None:
    assert num_invalid(ks.read(path)) == 0


@pytest.mark.parametrize(
    ("statement", "count"),
    [
        ("DELETE FROM CONNECTION_IDS WHERE id = 1", 1),
        # Six operators have connections.
        ("DELETE FROM CONNECTION_IDS", 6),
        ("DROP TABLE CONNECTION_IDS", 6),
        ("DELETE FROM MEMCPY_INFO WHERE globalTaskId = 1", 1),
        ("DELETE FROM MEMCPY_INFO", 2),
        # Two kernels and two operators have the text as a shape.
        ("DELETE FROM STRING_IDS WHERE value = '64,128;128,256'", 4),
    ],
)
def test_each_row_that_refers_to_nothing_is_counted(statement: str, count: int, tmp_path: Path) -> None:
    trace = mutant(tmp_path, statement)
    assert num_invalid(trace) == count
    assert trace.verdict.state == "incomplete"
    assert len(trace.events.select("id").rows()) == len(ks.read(TORCH).events.select("id").rows())


@pytest.mark.parametrize(
    "statement",
    [
        # Recordings without calls of the runtime have no sizes of copies, and kernels need no details.
        "DROP TABLE MEMCPY_INFO",
        "DELETE FROM COMPUTE_TASK_INFO",
        "DROP TABLE COMMUNICATION_TASK_INFO",
        "DROP TABLE CANN_API",
        "UPDATE PYTORCH_API SET connectionId = NULL",
        "UPDATE TASK SET connectionId = -1",
    ],
)
def test_rows_that_need_not_exist_are_not_counted(statement: str, tmp_path: Path) -> None:
    assert num_invalid(mutant(tmp_path, statement)) == 0


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("TASK", "connectionId"),
        ("TASK", "contextId"),
        ("MEMCPY_INFO", "size"),
        ("COMMUNICATION_TASK_INFO", "size"),
        ("COMMUNICATION_TASK_INFO", "globalTaskId"),
        ("COMMUNICATION_OP", "count"),
        ("PYTORCH_API", "fwdThreadId"),
        ("CONNECTION_IDS", "connectionId"),
    ],
)
def test_each_row_with_a_value_of_a_wrong_type_is_counted(table: str, column: str, tmp_path: Path) -> None:
    last = f"SELECT max(rowid) FROM {table}"  # noqa: S608 - our names
    update = f"UPDATE {table} SET {column} = 'zz' WHERE rowid = ({last})"  # noqa: S608 - our names
    assert num_invalid(mutant(tmp_path, update)) == 1


def test_times_of_operators_may_be_texts(tmp_path: Path) -> None:
    """Versions of torch_npu declare both columns as texts."""
    columns = "globalTid, connectionId, name, sequenceNumber, fwdThreadId, inputDtypes, inputShapes, callchainId, type"
    statements = (
        "ALTER TABLE PYTORCH_API RENAME TO old",
        f"CREATE TABLE PYTORCH_API (startNs TEXT, endNs TEXT, {columns})",
        "INSERT INTO PYTORCH_API SELECT * FROM old",
        "DROP TABLE old",
    )
    trace, expected = mutant(tmp_path, *statements), ks.read(TORCH)
    compared = ("id", "name", "start_ns", "dur_ns", "launch_id", "operator_id")
    assert trace.events.select(*compared).rows() == expected.events.select(*compared).rows()
    assert num_invalid(trace) == 0
