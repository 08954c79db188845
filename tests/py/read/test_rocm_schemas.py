"""Databases of ROCm as the published schemas declare them, and with rows that refer to nothing."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import kinetoscope as ks
import pytest

pytestmark = pytest.mark.unit

FOLDER = Path(__file__).parents[2] / "data/synthetic_rocm"
ROCPROFV3, RPD = FOLDER / "rocprofv3_results.db", FOLDER / "trace.rpd"
START = 1_000_000_000

ID = "id integer NOT NULL PRIMARY KEY AUTOINCREMENT"
SIZES = ", ".join(f"{name} integer NOT NULL" for name in ("gridX", "gridY", "gridZ"))
BLOCKS = ", ".join(f"{name} integer NOT NULL" for name in ("workgroupX", "workgroupY", "workgroupZ"))
# `tableSchema.cmd` of rocmProfileData, schema 3, without the columns that are not read.
SCHEMA_3 = f"""
CREATE TABLE rocpd_string ({ID}, string varchar(4096) NOT NULL);
CREATE TABLE rocpd_ustring ({ID}, string varchar(4096) NOT NULL);
CREATE TABLE rocpd_api ({ID}, pid integer NOT NULL, tid integer NOT NULL, start integer NOT NULL, end integer NOT NULL,
    apiName_id bigint NOT NULL, category_id bigint NOT NULL, domain_id bigint NOT NULL, args_id bigint NOT NULL);
CREATE TABLE rocpd_copyapi (api_ptr_id {{key}} NOT NULL PRIMARY KEY, stream varchar(18) NOT NULL,
    size integer NOT NULL);
CREATE TABLE rocpd_kernelapi (api_ptr_id {{key}} NOT NULL PRIMARY KEY, stream varchar(18) NOT NULL, {SIZES}, {BLOCKS},
    groupSegmentSize integer NOT NULL, kernelName_id bigint NOT NULL);
CREATE TABLE rocpd_op ({ID}, gpuId integer NOT NULL, queueId integer NOT NULL, start integer NOT NULL,
    end integer NOT NULL, description_id bigint NOT NULL, opType_id bigint NOT NULL);
CREATE TABLE rocpd_api_ops ({ID}, api_id bigint NOT NULL, op_id bigint NOT NULL);
"""


class Schema3:
    """A database of RPD; the first call and the first argument have other numbers than their texts."""

    def __init__(self, database: sqlite3.Connection, key: str = "bigint") -> None:
        self.database = database
        self.texts: dict[str, int] = {}
        database.executescript(SCHEMA_3.format(key=key))

    def add(self, statement: str, *values: object) -> int:
        return self.database.execute(statement, values).lastrowid or 0

    def text(self, text: str) -> int:
        if text not in self.texts:
            self.texts[text] = self.add("INSERT INTO rocpd_string (string) VALUES (?)", text)
        return self.texts[text]

    def call(self, span: tuple[int, int], name: str, domain: str = "hip", category: str = "", args: str = "") -> int:
        args_id = self.add("INSERT INTO rocpd_ustring (string) VALUES (?)", args)
        ids = [self.text(text) for text in (name, category, domain)]
        statement = "INSERT INTO rocpd_api VALUES (NULL, 50, 51, ?, ?, ?, ?, ?, ?)"
        return self.add(statement, START + span[0], START + span[1], *ids, args_id)

    def work(self, span: tuple[int, int], kind: str, description: str, call: int) -> None:
        values = START + span[0], START + span[1], self.text(description), self.text(kind)
        row = self.add("INSERT INTO rocpd_op VALUES (NULL, 0, 0, ?, ?, ?, ?)", *values)
        self.add("INSERT INTO rocpd_api_ops VALUES (NULL, ?, ?)", call, row)

    def kernel(self, start: int, name: str, grid: int, call: str = "hipLaunchKernel") -> None:
        row = self.call((start, start + 1000), call)
        self.work((start + 2000, start + 3000), "KernelExecution", name, row)
        statement = "INSERT INTO rocpd_kernelapi VALUES (?, '0x0', ?, 1, 1, 256, 1, 1, 0, ?)"
        self.add(statement, row, grid, self.text(name))

    def copy(self, start: int, kind: str, description: str, size: int) -> None:
        row = self.call((start, start + 1000), "hipMemcpyAsync")
        self.work((start + 2000, start + 3000), kind, description, row)
        self.add("INSERT INTO rocpd_copyapi VALUES (?, '0x0', ?)", row, size)


def mutant(source: Path, folder: Path, *statements: str) -> Path:
    """A copy of a database after some statements; without its views, which may name what is gone."""
    path = folder / f"mutant{source.suffix}"
    shutil.copy(source, path)
    with closing(sqlite3.connect(path)) as database, database:
        for (view,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'view'").fetchall():
            database.execute(f'DROP VIEW "{view}"')
        for statement in statements:
            database.execute(statement)
    return path


def warnings(trace: ks.Trace) -> dict[str, int]:
    return dict(trace.verdict.problems.select("problem", "count").rows())


@pytest.mark.parametrize("key", ["bigint", "integer"])
def test_details_belong_to_their_call_whatever_the_key(key: str, tmp_path: Path) -> None:
    path = tmp_path / "trace.rpd"
    with closing(sqlite3.connect(path)) as connection, connection:
        database = Schema3(connection, key)
        database.call((0, 200_000), "UserMarker", "roctx", "range", "forward pass")
        for at, grid in enumerate((100, 200, 300)):
            database.kernel(1000 + 5000 * at, f"k{grid}", grid)
        for at, size in enumerate((1000, 2000, 3000, 4000)):
            database.copy(50_000 + 5000 * at, "CopyHostToDevice", "", size)
    rows = ks.read(path).events.select("name", "kind", "grid", "bytes").rows()
    grids = {row[0]: row[2] for row in rows if row[1] == "kernel"}
    assert grids == {"k100": "[100,1,1]", "k200": "[200,1,1]", "k300": "[300,1,1]"}
    assert [row[3] for row in rows if row[1] == "copy"] == [1000, 2000, 3000, 4000]


def test_calls_of_schema_3_have_the_kinds_of_their_domains(tmp_path: Path) -> None:
    path = tmp_path / "trace.rpd"
    with closing(sqlite3.connect(path)) as connection, connection:
        database = Schema3(connection)
        database.call((0, 90_000), "UserMarker", "roctx", "range", "forward pass")
        database.call((100, 80_000), "aten::conv2d", "torch", "function", '{"seq":3}')
        database.call((200, 70_000), "Optimizer.step#SGD.step", "torch", "user_scope", '{"seq":-1}')
        database.kernel(1000, "gemm", 1000, call="hipExtModuleLaunchKernel")
        database.call((85_000, 86_000), "ApiTable::writeRows", "rpd_tracer", "overhead", "count=1")
    trace = ks.read(path)
    assert trace.events.select("name", "kind", "category").rows() == [
        ("forward pass", "annotation", "user_annotation"),
        ("aten::conv2d", "operator", "cpu_op"),
        ("Optimizer.step#SGD.step", "annotation", "user_annotation"),
        ("hipExtModuleLaunchKernel", "launch", "cuda_runtime"),
        ("ApiTable::writeRows", "overhead", "overhead"),
        ("gemm", "kernel", "kernel"),
    ]
    assert trace.verdict.state == "complete"
    assert trace.operators().select("name", "device_total_ns").rows() == [("aten::conv2d", 1000)]
    # 1000 work-items in blocks of 256 are four blocks, as rocprofv3's are.
    assert [grid for (grid,) in trace.events.select("grid").rows() if grid] == ["[4,1,1]"]
    assert trace.metadata["kineto"]["rocm_unread"] == {}


@pytest.mark.parametrize(
    ("kind", "description", "expected"),
    [
        ("Memcpy", "", ("copy", "Memcpy Unknown")),
        ("Memcpy", "SDMA", ("copy", "Memcpy Unknown")),
        ("Memcpy", "Fill", ("fill", "Memset (Device)")),
        ("MEMORY_COPY_HOST_TO_DEVICE", "MEMORY_COPY_HOST_TO_DEVICE", ("copy", "Memcpy HtoD (Host -> Device)")),
    ],
)
def test_copies_and_fills_are_told_by_kind_or_description(
    kind: str, description: str, expected: tuple[str, str], tmp_path: Path
) -> None:
    path = tmp_path / "trace.rpd"
    with closing(sqlite3.connect(path)) as connection, connection:
        Schema3(connection).copy(1000, kind, description, 4096)
    trace = ks.read(path)
    assert trace.events.select("kind", "name", "bytes").rows()[-1] == (*expected, 4096)
    assert trace.verdict.state == "complete"


DISPATCH = "UPDATE rocpd_kernel_dispatch_00000aaa_guid SET"


@pytest.mark.parametrize(
    ("source", "statement", "count"),
    [
        (ROCPROFV3, f"{DISPATCH} kernel_id = 999", 2),
        (ROCPROFV3, f"{DISPATCH} agent_id = 77", 2),
        # The counters of both kernels have no place, either.
        (ROCPROFV3, f"{DISPATCH} event_id = 4711", 4),
        (ROCPROFV3, "UPDATE rocpd_pmc_event_00000aaa_guid SET event_id = 4711", 2),
        (ROCPROFV3, "UPDATE rocpd_region_00000aaa_guid SET tid = 77", 7),
        (ROCPROFV3, "UPDATE rocpd_region_00001aaa_guid SET track_id = 77", 7),
        (ROCPROFV3, "UPDATE rocpd_memory_copy_00000aaa_guid SET dst_agent_id = 77, name_id = 999", 2),
        (ROCPROFV3, "UPDATE rocpd_region_00000aaa_guid SET name_id = 999", 7),
        (ROCPROFV3, "DROP TABLE rocpd_info_kernel_symbol_00000aaa_guid", 2),
        (ROCPROFV3, "DELETE FROM rocpd_string_00000aaa_guid", 11),
        (RPD, "UPDATE rocpd_api SET apiName_id = 999", 5),
        (RPD, "UPDATE rocpd_op SET opType_id = 999", 4),
        (RPD, "DELETE FROM rocpd_string", 9),
        (RPD, "UPDATE rocpd_api_ops SET op_id = op_id + 1000 WHERE rowid = 1", 1),
    ],
)
def test_each_row_that_refers_to_nothing_is_counted(source: Path, statement: str, count: int, tmp_path: Path) -> None:
    trace = ks.read(mutant(source, tmp_path, statement))
    assert warnings(trace)["invalid_value"] == count
    assert trace.verdict.state == "incomplete"
    assert len(trace.events.select("id").rows()) == len(ks.read(source).events.select("id").rows())


@pytest.mark.parametrize(
    ("source", "table", "column", "count"),
    [
        (ROCPROFV3, "rocpd_region_00000aaa_guid", "event_id", 1),
        (ROCPROFV3, "rocpd_region_00000aaa_guid", "pid", 1),
        (ROCPROFV3, "rocpd_region_00000aaa_guid", "extdata", 0),
        (ROCPROFV3, "rocpd_event_00000aaa_guid", "category_id", 1),
        (ROCPROFV3, "rocpd_kernel_dispatch_00000aaa_guid", "grid_size_x", 1),
        (ROCPROFV3, "rocpd_memory_copy_00000aaa_guid", "size", 1),
        # The place of all calls of the process.
        (ROCPROFV3, "rocpd_track_00001aaa_guid", "tid", 7),
        (ROCPROFV3, "rocpd_timestamp_00001aaa_guid", "value", 1),
        # Two kernels and two copies are on the GPU, and all rows are of the process.
        (ROCPROFV3, "rocpd_info_agent_00000aaa_guid", "type_index", 4),
        (ROCPROFV3, "rocpd_info_process_00000aaa_guid", "pid", 11),
        (ROCPROFV3, "rocpd_info_thread_00000aaa_guid", "tid", 7),
        (RPD, "rocpd_kernelapi", "gridX", 1),
        (RPD, "rocpd_kernelapi", "stream", 0),
        (RPD, "rocpd_copyapi", "size", 1),
        (RPD, "rocpd_op", "queueId", 1),
        (RPD, "rocpd_api_ops", "api_id", 1),
        (RPD, "rocpd_monitor", "deviceId", 1),
    ],
)
def test_each_row_with_a_value_of_a_wrong_type_is_counted(
    source: Path, table: str, column: str, count: int, tmp_path: Path
) -> None:
    # All calls have the first track.
    row = "min(rowid)" if column == "tid" else "max(rowid)"
    where = f"rowid = (SELECT {row} FROM {table})"  # noqa: S608 - our names
    trace = ks.read(mutant(source, tmp_path, f"UPDATE {table} SET {column} = 'zz' WHERE {where}"))  # noqa: S608 - our names
    assert warnings(trace).get("invalid_value", 0) == count


@pytest.mark.parametrize(
    ("tables", "count"), [("process", 22), ("thread", 14), ("process thread", 22)], ids=["process", "thread", "both"]
)
def test_processes_without_tables_of_processes_or_threads_stay_apart(tables: str, count: int, tmp_path: Path) -> None:
    drops = [f"DROP TABLE rocpd_info_{table}_0000{process}aaa_guid" for table in tables.split() for process in (0, 1)]
    trace = ks.read(mutant(ROCPROFV3, tmp_path, *drops))
    assert warnings(trace) == {"invalid_value": count}
    assert trace.verdict.state == "incomplete"
    rows = trace.events.select("kind", "process", "thread", "device", "start_ns").rows()
    assert len({row[1] for row in rows if row[0] == "launch"}) == 2
    # Each has its two streams.
    assert len({row[1:3] for row in rows if row[3] is not None}) == 4


def test_a_process_with_its_table_stays_apart_from_one_without(tmp_path: Path) -> None:
    statements = (
        # The number that the other process has in its own tables.
        "UPDATE rocpd_info_process_00000aaa_guid SET pid = 1",
        "DROP TABLE rocpd_info_process_00001aaa_guid",
        "DROP TABLE rocpd_track_00001aaa_guid",
    )
    trace = ks.read(mutant(ROCPROFV3, tmp_path, *statements))
    processes = {row[1] for row in trace.events.select("kind", "process").rows() if row[0] == "launch"}
    assert len(processes) == 2
    assert "1" in processes


@pytest.mark.parametrize(
    "statement",
    ["DELETE FROM rocpd_copyapi", "DROP TABLE rocpd_copyapi", "DELETE FROM rocpd_kernelapi WHERE rowid = 3"],
)
def test_work_without_its_details_is_counted(statement: str, tmp_path: Path) -> None:
    assert warnings(ks.read(mutant(RPD, tmp_path, statement))) == {"invalid_value": 1}


@pytest.mark.parametrize("name", ["hipGraphLaunch", "hipMemcpy3D", "hipMalloc"])
def test_work_of_calls_without_details_needs_none(name: str, tmp_path: Path) -> None:
    path = tmp_path / "trace.rpd"
    with closing(sqlite3.connect(path)) as connection, connection:
        database = Schema3(connection)
        call = database.call((0, 1000), name)
        database.work((2000, 3000), "CopyHostToDevice", "", call)
        database.work((3000, 4000), "KernelExecution", "k", call)
    assert warnings(ks.read(path)) == {}


@pytest.mark.parametrize(
    ("number", "key", "problems"), [(1, "counter SQ_WAVES", {}), (7, "counter pmc 1", {"invalid_value": 2})]
)
def test_values_of_a_counter_without_a_name_are_counted(
    number: int, key: str, problems: dict[str, int], tmp_path: Path
) -> None:
    names = f"CREATE TABLE rocpd_info_pmc_00000aaa_guid AS SELECT {number} AS id, 'SQ_WAVES' AS name"
    trace = ks.read(mutant(ROCPROFV3, tmp_path, names))
    assert sum(key in args for (args,) in trace.events.select("args").rows() if args) >= 2
    assert warnings(trace) == problems


@pytest.mark.parametrize("processes", [[0], [0, 1]], ids=["one", "all"])
def test_processes_without_a_table_of_texts_are_read(processes: list[int], tmp_path: Path) -> None:
    drops = [f"DROP TABLE rocpd_string_0000{process}aaa_guid" for process in processes]
    trace = ks.read(mutant(ROCPROFV3, tmp_path, *drops))
    assert len(trace.events.select("id").rows()) == 22
    assert warnings(trace)["invalid_value"] == 11 * len(processes)
    # Unknown calls are no operators.
    assert "operator" not in {kind for (kind,) in trace.events.select("kind").rows()}


def test_a_barrier_is_a_wait() -> None:
    rows = ks.read(RPD).events.select("name", "kind").rows()
    assert [kind for name, kind in rows if name == "Barrier"] == ["sync"]


@pytest.mark.parametrize("end", ["NULL", "0", "-1"])
def test_the_duration_of_a_kernel_without_an_end_is_unknown(end: str, tmp_path: Path) -> None:
    trace = ks.read(mutant(ROCPROFV3, tmp_path, f"{DISPATCH} end = {end}"))
    durations = sorted(dur for kind, dur in trace.events.select("kind", "dur_ns").rows() if kind == "kernel")
    # The two of the other process have theirs.
    assert durations == [0, 0, 10_000, 30_000]
    problems = trace.verdict.problems.select("problem", "count", "message").rows()
    (found,) = [row for row in problems if row[0] == "missing_duration"]
    assert found[1] == 2
    assert found[2].endswith("rocpd_kernel_dispatch_00000aaa_guid: row 1)")
    assert trace.verdict.state == "incomplete"


def test_a_task_of_msprof_without_an_end_has_an_unknown_duration(tmp_path: Path) -> None:
    source = next((FOLDER.parent / "synthetic_msprof").rglob("*.db"))
    trace = ks.read(mutant(source, tmp_path, "UPDATE TASK SET endNs = NULL WHERE rowid = 1"))
    assert warnings(trace)["missing_duration"] == 1
    assert "unfinished_begin" not in warnings(trace)
