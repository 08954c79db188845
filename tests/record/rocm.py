"""Generates tests/data/synthetic_rocm: what `rocprofv3 --output-format rocpd` and RPD might write of a training step.

Nothing here was measured. Tables and columns are those of the published schemas: `rocpd_tables.sql` of rocprofiler-sdk
(versions 3 and 4), and `tableSchema.cmd` of rocmProfileData. Each process of rocprofv3 has tables of its own; here are
two of them, one of each version of the schema, in one file, as `rocpd merge` leaves them.

    python tests/record/rocm.py
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "data/synthetic_rocm"

ID = "id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, guid TEXT NOT NULL"
SIZES = ", ".join(
    [f"{name}_size_{axis} INTEGER NOT NULL" for name in ("workgroup", "grid") for axis in "xyz"]
    + ["private_segment_size INTEGER", "group_segment_size INTEGER"]
)
COMMON = {
    "metadata": "id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, tag TEXT NOT NULL, value TEXT NOT NULL",
    "string": f"{ID}, string TEXT NOT NULL UNIQUE",
    "info_process": f"{ID}, nid INTEGER, ppid INTEGER, pid INTEGER NOT NULL, command TEXT, environment JSONB",
    "info_thread": f"{ID}, nid INTEGER, ppid INTEGER, pid INTEGER NOT NULL, tid INTEGER NOT NULL, name TEXT",
    "info_agent": f"{ID}, nid INTEGER, pid INTEGER, type TEXT, absolute_index INTEGER, logical_index INTEGER, "
    "type_index INTEGER, name TEXT, model_name TEXT, product_name TEXT",
    "info_kernel_symbol": f"{ID}, kernel_name TEXT, display_name TEXT",
    "event": f"{ID}, category_id INTEGER, stack_id INTEGER, parent_stack_id INTEGER, correlation_id INTEGER, "
    "extdata JSONB DEFAULT '{}'",
    "pmc_event": f"{ID}, event_id INTEGER, pmc_id INTEGER NOT NULL, value REAL",
}
INLINE = {
    "region": f"{ID}, nid INTEGER, pid INTEGER, tid INTEGER, start BIGINT NOT NULL, end BIGINT NOT NULL, "
    "name_id INTEGER NOT NULL, event_id INTEGER, extdata JSONB DEFAULT '{}'",
    "kernel_dispatch": f"{ID}, nid INTEGER, pid INTEGER, tid INTEGER, agent_id INTEGER, kernel_id INTEGER, "
    f"dispatch_id INTEGER, queue_id INTEGER, stream_id INTEGER, start BIGINT, end BIGINT, {SIZES}, event_id INTEGER",
    "memory_copy": f"{ID}, nid INTEGER, pid INTEGER, tid INTEGER, start BIGINT, end BIGINT, name_id INTEGER, "
    "dst_agent_id INTEGER, src_agent_id INTEGER, size INTEGER, queue_id INTEGER, stream_id INTEGER, event_id INTEGER",
}
BY_TRACK = {
    "track": f"{ID}, nid INTEGER, ppid INTEGER, pid INTEGER, tid INTEGER, agent_id INTEGER, queue_id INTEGER, "
    "stream_id INTEGER, name_id INTEGER",
    "timestamp": f"{ID}, value BIGINT NOT NULL, phase INTEGER, track_id INTEGER",
    "region": f"{ID}, track_id INTEGER, name_id INTEGER, start_id INTEGER, end_id INTEGER, event_id INTEGER",
    "kernel_dispatch": f"{ID}, track_id INTEGER, kernel_id INTEGER, dispatch_id INTEGER, start_id INTEGER, "
    f"end_id INTEGER, {SIZES}, event_id INTEGER",
    "memory_copy": f"{ID}, track_id INTEGER, start_id INTEGER, end_id INTEGER, name_id INTEGER, dst_agent_id INTEGER, "
    "src_agent_id INTEGER, size INTEGER, event_id INTEGER",
}

GEMM = "Cijk_Ailk_Bljk_HHS_BH_MT16x16x32_MI16x16x1_SN"
ADD = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >"
    "(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)"
)


class Process:
    """The tables of a process of rocprofv3, with numbers of rows as the database gives them."""

    def __init__(self, database: sqlite3.Connection, suffix: str, pid: int, *, by_track: bool) -> None:
        self.database, self.suffix, self.by_track = database, suffix, by_track
        self.texts: dict[str, int] = {}
        self.tracks: dict[tuple[int | None, ...], int] = {}
        for name, columns in {**COMMON, **(BY_TRACK if by_track else INLINE)}.items():
            database.execute(f'CREATE TABLE "rocpd_{name}_{suffix}" ({columns})')
        self.add("metadata", tag="schema_version", value="4" if by_track else "3")
        command = "/srv/someone/env/bin/python train.py --token hunter2"
        self.process = self.add("info_process", nid=1, ppid=1, pid=pid, command=command, environment="{}")
        self.thread = self.add("info_thread", nid=1, ppid=1, pid=self.process, tid=pid + 1, name="trainer")
        self.cpu = self.agent("CPU", 0, "EPYC")
        self.gpu = self.agent("GPU", 0, "AMD Instinct MI300X")
        kernels = {
            name: self.add("info_kernel_symbol", kernel_name=f"{name}.kd", display_name=name) for name in (GEMM, ADD)
        }
        self.kernels = kernels

    def agent(self, kind: str, index: int, name: str) -> int:
        return self.add(
            "info_agent", nid=1, pid=self.process, type=kind, absolute_index=index, logical_index=index,
            type_index=index, product_name=name,
        )  # fmt: skip

    def add(self, table: str, **values: object) -> int:
        if table != "metadata":
            values["guid"] = self.suffix
        names, marks = ", ".join(values), ", ".join("?" * len(values))
        row = self.database.execute(
            f"INSERT INTO rocpd_{table}_{self.suffix} ({names}) VALUES ({marks})",  # noqa: S608 - our own names
            [*values.values()],
        )
        return row.lastrowid or 0

    def text(self, text: str) -> int:
        if text not in self.texts:
            self.texts[text] = self.add("string", string=text)
        return self.texts[text]

    def event(self, domain: str, stack: int, extdata: str = "{}") -> int:
        return self.add("event", category_id=self.text(domain), stack_id=stack, correlation_id=0, extdata=extdata)

    def place(self, span: tuple[int, int], **where: int) -> dict[str, int]:
        """Columns for time and place, in the form of this version."""
        where = {"nid": 1, "pid": self.process, **where}
        if not self.by_track:
            return {**where, "start": span[0], "end": span[1]}
        key = tuple(sorted(where.items()))
        track = self.tracks.setdefault(key, 0) or self.add("track", **where)  # type: ignore[arg-type] - numbers
        self.tracks[key] = track
        start, end = (self.add("timestamp", value=value, phase=1, track_id=track) for value in span)
        return {"track_id": track, "start_id": start, "end_id": end}

    def region(self, name: str, domain: str, stack: int, span: tuple[int, int], extdata: str = "{}") -> None:
        event = self.event(domain, stack, extdata)
        self.add("region", **self.place(span, tid=self.thread), name_id=self.text(name), event_id=event)

    def kernel(self, name: str, stack: int, stream: int, span: tuple[int, int], sizes: tuple[int, ...]) -> None:
        place = self.place(span, agent_id=self.gpu, queue_id=1, stream_id=stream)
        columns = [f"{kind}_size_{axis}" for kind in ("grid", "workgroup") for axis in "xyz"]
        event = self.event("KERNEL_DISPATCH", stack)
        row = self.add(
            "kernel_dispatch", **place, kernel_id=self.kernels[name], dispatch_id=stack, event_id=event,
            **dict(zip(columns, sizes, strict=True)), private_segment_size=0, group_segment_size=1024,
        )  # fmt: skip
        self.add("pmc_event", event_id=event, pmc_id=1, value=float(row))

    def copy(self, kind: str, ends: tuple[int, int], stack: int, span: tuple[int, int], size: int) -> None:
        place = self.place(span, queue_id=1, stream_id=1) if not self.by_track else self.place(span, stream_id=1)
        event = self.event("MEMORY_COPY", stack)
        self.add(
            "memory_copy", **place, name_id=self.text(kind), src_agent_id=ends[0], dst_agent_id=ends[1], size=size,
            event_id=event,
        )  # fmt: skip


def write_rocprofv3(path: Path) -> None:
    """Two processes on one GPU, each with one step: a copy, two kernels on two streams, a copy back."""
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("PRAGMA page_size = 1024")
        for number, by_track in enumerate((False, True)):
            start = 1_000_000_000 + 500 * number
            process = Process(database, f"0000{number}aaa_guid", 4000 + 100 * number, by_track=by_track)
            process.region("roctxRangePushA", "MARKER_CORE_API", 1, (start, start + 90_000), '{"message": "step 0"}')
            launch = "HIP_RUNTIME_API"
            process.region("hipMemcpyAsync", launch, 2, (start + 1_000, start + 4_000))
            process.copy(
                "MEMORY_COPY_HOST_TO_DEVICE", (process.cpu, process.gpu), 2, (start + 5_000, start + 9_000), 4096
            )
            process.region("hipModuleLaunchKernel", launch, 3, (start + 5_000, start + 8_000))
            process.region("hsa_signal_store", "HSA_CORE_API", 9, (start + 6_000, start + 7_000))
            process.kernel(GEMM, 3, 1, (start + 10_000, start + 40_000), (2048, 16, 1, 256, 1, 1))
            process.region("hipLaunchKernel", launch, 4, (start + 9_000, start + 12_000))
            process.kernel(ADD, 4, 2, (start + 15_000, start + 25_000), (1000, 1, 1, 256, 1, 1))
            process.region("hipMemcpyAsync", launch, 5, (start + 13_000, start + 15_000))
            process.copy(
                "MEMORY_COPY_DEVICE_TO_HOST", (process.gpu, process.cpu), 5, (start + 41_000, start + 43_000), 512
            )
            process.region("hipDeviceSynchronize", launch, 6, (start + 16_000, start + 44_000))
        database.execute("CREATE VIEW kernels AS SELECT 1 AS id")


RPD = """
CREATE TABLE rocpd_string (id integer NOT NULL PRIMARY KEY AUTOINCREMENT, string varchar(4096) NOT NULL);
CREATE TABLE rocpd_metadata (id integer NOT NULL PRIMARY KEY AUTOINCREMENT, tag varchar(4096), value varchar(4096));
CREATE TABLE rocpd_op (id integer NOT NULL PRIMARY KEY AUTOINCREMENT, gpuId integer NOT NULL, queueId integer NOT NULL,
    sequenceId integer NOT NULL, completionSignal varchar(18) NOT NULL, start integer NOT NULL, end integer NOT NULL,
    description_id integer NOT NULL REFERENCES rocpd_string (id), opType_id integer NOT NULL);
CREATE TABLE rocpd_api (id integer NOT NULL PRIMARY KEY AUTOINCREMENT, pid integer NOT NULL, tid integer NOT NULL,
    start integer NOT NULL, end integer NOT NULL, apiName_id integer NOT NULL, args_id integer NOT NULL);
CREATE TABLE rocpd_api_ops (id integer NOT NULL PRIMARY KEY AUTOINCREMENT, api_id integer, op_id integer);
CREATE TABLE rocpd_kernelapi (api_ptr_id integer NOT NULL PRIMARY KEY REFERENCES rocpd_api (id), stream varchar(18),
    gridX integer, gridY integer, gridZ integer, workgroupX integer, workgroupY integer, workgroupZ integer,
    groupSegmentSize integer, privateSegmentSize integer, kernelName_id integer);
CREATE TABLE rocpd_copyapi (api_ptr_id integer NOT NULL PRIMARY KEY REFERENCES rocpd_api (id), stream varchar(18),
    size integer, width integer, height integer, kind integer, dst varchar(18), src varchar(18));
CREATE TABLE rocpd_monitor (id integer NOT NULL PRIMARY KEY AUTOINCREMENT, deviceType varchar(16), deviceId integer,
    monitorType varchar(16), start integer, end integer, value varchar(255));
CREATE VIEW top AS SELECT 1 AS Name;
"""


def write_rpd(path: Path) -> None:
    """A step of one process on GPU 2: marker, copy, kernels of two kinds of launches, barrier, samples of the clock."""
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(f"PRAGMA page_size = 1024; {RPD}")
        texts: dict[str, int] = {}

        def add(table: str, *values: object) -> int:
            marks = ", ".join("?" * len(values))
            names = [name for _, name, *_ in database.execute(f"PRAGMA table_info({table})")]
            columns = ", ".join(names if len(names) == len(values) else names[1:])
            statement = f"INSERT INTO {table} ({columns}) VALUES ({marks})"  # noqa: S608 - our own names
            return database.execute(statement, values).lastrowid or 0

        def text(words: str) -> int:
            if words not in texts:
                texts[words] = add("rocpd_string", words)
            return texts[words]

        def call(name: str, start: int, end: int, args: str = "") -> int:
            return add("rocpd_api", 5000, 5001, start, end, text(name), text(args))

        def work(kind: str, name: str, start: int, end: int, api: int) -> None:
            op = add("rocpd_op", 2, 0, 0, "", start, end, text(name), text(kind))
            add("rocpd_api_ops", api, op)

        start = 2_000_000_000
        call("UserMarker", start, start + 90_000, "step 0")
        api = call("hipMemcpyAsync", start + 1_000, start + 4_000, "dst=0x1 | src=0x2 | size=0x1000")
        add("rocpd_copyapi", api, "0x0", 4096, None, None, 1, "0x1", "0x2")
        work("CopyHostToDevice", "", start + 5_000, start + 9_000, api)
        api = call("hipExtModuleLaunchKernel", start + 5_000, start + 8_000)
        add("rocpd_kernelapi", api, "0x7f00", 2048, 16, 1, 256, 1, 1, 1024, 0, text(GEMM))
        work("KernelExecution", GEMM, start + 10_000, start + 40_000, api)
        api = call("hipLaunchKernel", start + 9_000, start + 12_000)
        add("rocpd_kernelapi", api, "0x0", 4, 1, 1, 256, 1, 1, 0, 0, text(ADD))
        work("KernelExecution", "", start + 40_000, start + 50_000, api)
        work(
            "Barrier", "", start + 50_000, start + 51_000, call("hipStreamSynchronize", start + 13_000, start + 52_000)
        )
        for at in range(3):
            add("rocpd_monitor", "gpu", 2, "sclk", start + 20_000 * at, start + 20_000 * (at + 1), 1000 + at)


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, write in {"rocprofv3_results.db": write_rocprofv3, "trace.rpd": write_rpd}.items():
        path = FOLDER / name
        path.unlink(missing_ok=True)
        write(path)


if __name__ == "__main__":
    main()
