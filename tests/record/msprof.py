"""Generates tests/data/synthetic_msprof: what `torch_npu.profiler` and `msprof` might write of two training steps.

Nothing here was measured. Tables and columns are those of the documentation of msprof ("msprof导出db格式数据说明" and
"pytorch框架数据db格式表结构"; docs/zh/profile_data_file_references.md and docs/zh/msprof_db.md in the repository of
msprof). Times are nanoseconds since 1970, texts are numbers of STRING_IDS.

    python tests/record/msprof.py
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "data/synthetic_msprof"

START = 1_778_659_200_123_456_789
PID, MAIN, QUEUE = 4000, 4001, 4002
NONE = 2**32 - 1

COMMON = """
CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE ENUM_API_TYPE (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE ENUM_HCCL_DATA_TYPE (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE ENUM_MEMCPY_OPERATION (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE ENUM_MSTX_EVENT_TYPE (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE META_DATA (name TEXT, value TEXT);
CREATE TABLE NPU_INFO (id INTEGER, name TEXT);
CREATE TABLE HOST_INFO (hostUid TEXT, hostName TEXT);
CREATE TABLE SESSION_TIME_INFO (startTimeNs INTEGER, endTimeNs INTEGER);
CREATE TABLE RANK_DEVICE_MAP (rankId INTEGER, deviceId INTEGER);
CREATE TABLE TASK (startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, globalTaskId INTEGER,
    globalPid INTEGER, taskType INTEGER, contextId INTEGER, streamId INTEGER, taskId INTEGER, modelId INTEGER);
CREATE TABLE COMPUTE_TASK_INFO (name INTEGER, globalTaskId INTEGER PRIMARY KEY, blockNum INTEGER, mixBlockNum INTEGER,
    taskType INTEGER, opType INTEGER, inputFormats INTEGER, inputDataTypes INTEGER, inputShapes INTEGER,
    outputFormats INTEGER, outputDataTypes INTEGER, outputShapes INTEGER, attrInfo INTEGER, opState INTEGER,
    hf32Eligible INTEGER);
CREATE TABLE COMMUNICATION_TASK_INFO (name INTEGER, globalTaskId INTEGER, taskType INTEGER, planeId INTEGER,
    groupName INTEGER, notifyId INTEGER, rdmaType INTEGER, srcRank INTEGER, dstRank INTEGER, transportType INTEGER,
    size INTEGER, dataType INTEGER, linkType INTEGER, opId INTEGER, isMaster INTEGER, bandwidth NUMERIC);
CREATE TABLE COMMUNICATION_OP (opName INTEGER, startNs INTEGER, endNs INTEGER, connectionId INTEGER, groupName INTEGER,
    opId INTEGER PRIMARY KEY, relay INTEGER, retry INTEGER, dataType INTEGER, algType INTEGER, count NUMERIC,
    opType INTEGER, deviceId INTEGER);
CREATE TABLE CANN_API (startNs INTEGER, endNs INTEGER, type INTEGER, globalTid INTEGER,
    connectionId INTEGER PRIMARY KEY, name INTEGER);
CREATE TABLE MSTX_EVENTS (startNs INTEGER, endNs INTEGER, eventType INTEGER, rangeId INTEGER, category INTEGER,
    message INTEGER, globalTid INTEGER, endGlobalTid INTEGER, domainId INTEGER, connectionId INTEGER);
CREATE TABLE MEMCPY_INFO (globalTaskId NUMERIC PRIMARY KEY, size NUMERIC, memcpyOperation NUMERIC);
CREATE TABLE AICORE_FREQ (deviceId INTEGER, timestampNs NUMERIC, freq INTEGER);
CREATE TABLE NPU_MEM (type INTEGER, ddr NUMERIC, hbm NUMERIC, timestampNs INTEGER, deviceId INTEGER);
CREATE INDEX TaskIndex ON TASK (startNs, globalTaskId);
CREATE INDEX CommunicationTaskIndex ON COMMUNICATION_TASK_INFO (globalTaskId);
"""
PYTORCH = """
CREATE TABLE PYTORCH_API (startNs INTEGER, endNs INTEGER, globalTid INTEGER, connectionId INTEGER, name INTEGER,
    sequenceNumber INTEGER, fwdThreadId INTEGER, inputDtypes INTEGER, inputShapes INTEGER, callchainId INTEGER,
    type INTEGER);
CREATE TABLE CONNECTION_IDS (id INTEGER, connectionId INTEGER);
CREATE TABLE STEP_TIME (id INTEGER, startNs INTEGER, endNs INTEGER);
CREATE TABLE GC_RECORD (startNs INTEGER, endNs INTEGER, globalTid INTEGER);
"""

CODES = {
    "ENUM_API_TYPE": {
        20000: "acl", 15000: "model", 10000: "node", 5500: "communication", 5000: "runtime", 50001: "op",
        50002: "queue", 50003: "trace", 50004: "mstx",
    },
    "ENUM_HCCL_DATA_TYPE": {3: "FP16", 4: "FP32", 11: "BFP16"},
    "ENUM_MEMCPY_OPERATION": {0: "host to host", 1: "host to device", 2: "device to host", 3: "device to device"},
    "ENUM_MSTX_EVENT_TYPE": {0: "marker", 1: "push/pop", 2: "start/end", 3: "marker_ex"},
}  # fmt: skip
LEVELS = {"acl": 20000, "node": 10000, "communication": 5500, "runtime": 5000}
TYPES = {"op": 50001, "queue": 50002, "trace": 50003, "mstx": 50004}

GROUP = "9.9.9.9%enp67s0f5_60000_0_1708156014257149"


class Profile:
    """A database in the making; texts and connections get their numbers when they come first."""

    def __init__(self, database: sqlite3.Connection, *, has_operators: bool) -> None:
        self.database, self.has_operators = database, has_operators
        self.texts: dict[str, int] = {}
        self.num_tasks, self.num_links = 0, 0
        database.executescript(f"PRAGMA page_size = 1024; {COMMON} {PYTORCH if has_operators else ''}")
        for table, codes in CODES.items():
            for code, name in codes.items():
                self.add(table, id=code, name=name)
        self.add("META_DATA", name="SCHEMA_VERSION", value="1.2.0")
        self.add("NPU_INFO", id=0, name="Ascend910B4")
        self.add("HOST_INFO", hostUid="1234567", hostName="someones-host")
        self.add("RANK_DEVICE_MAP", rankId=3 if has_operators else -1, deviceId=0)

    def add(self, table: str, **values: object) -> None:
        names, marks = ", ".join(values), ", ".join("?" * len(values))
        self.database.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", [*values.values()])  # noqa: S608 - our names

    def text(self, text: str) -> int:
        if text not in self.texts:
            self.texts[text] = len(self.texts) + 100
            self.add("STRING_IDS", id=self.texts[text], value=text)
        return self.texts[text]

    def operator(  # noqa: PLR0913 - columns by keyword
        self, name: str, start: int, dur: int, *, tid: int = MAIN, kind: str = "op", links: tuple[int, ...] = (),
        sequence: int = -1, shapes: str = "N/A", dtypes: str = "N/A",
    ) -> None:  # fmt: skip
        if not self.has_operators:
            return
        connection = None
        if links:
            self.num_links += 1
            connection = self.num_links
            for link in links:
                self.add("CONNECTION_IDS", id=connection, connectionId=link)
        self.add(
            "PYTORCH_API", startNs=start, endNs=start + dur, globalTid=PID << 32 | tid, connectionId=connection,
            name=self.text(name), sequenceNumber=sequence, fwdThreadId=0 if sequence >= 0 else None,
            inputDtypes=self.text(dtypes), inputShapes=self.text(shapes), type=TYPES[kind],
        )  # fmt: skip

    def call(self, level: str, name: str, start: int, dur: int, link: int, tid: int = QUEUE) -> None:
        self.add(
            "CANN_API", startNs=start, endNs=start + dur, type=LEVELS[level], globalTid=PID << 32 | tid,
            connectionId=link, name=self.text(name),
        )  # fmt: skip

    def task(self, kind: str, start: int, dur: int, link: int = NONE, stream: int = 2) -> int:
        self.num_tasks += 1
        self.add(
            "TASK", startNs=start, endNs=start + dur, deviceId=0, connectionId=link, globalTaskId=self.num_tasks,
            globalPid=PID, taskType=self.text(kind), contextId=NONE, streamId=stream, taskId=self.num_tasks,
            modelId=NONE,
        )  # fmt: skip
        return self.num_tasks

    def compute(self, name: str, start: int, dur: int, link: int, shapes: str) -> None:
        task = self.task("AI_CORE", start, dur, link)
        words = {
            "taskType": "AI_CORE", "opType": name, "inputFormats": "ND;ND", "inputDataTypes": "FLOAT16;FLOAT16",
            "inputShapes": shapes, "outputFormats": "ND", "outputDataTypes": "FLOAT16", "outputShapes": "N/A",
            "attrInfo": "N/A", "opState": "dynamic", "hf32Eligible": "NO",
        }  # fmt: skip
        texts = {key: self.text(word) for key, word in words.items()}
        self.add(
            "COMPUTE_TASK_INFO", name=self.text(f"aclnnMatmul_{name}"), globalTaskId=task, blockNum=24,
            mixBlockNum=0, **texts,
        )  # fmt: skip

    def copy(self, start: int, dur: int, link: int, size: int) -> None:
        task = self.task("MEMCPY_ASYNC", start, dur, link)
        self.add("MEMCPY_INFO", globalTaskId=task, size=size, memcpyOperation=1)

    def collective(self, number: int, start: int, dur: int, link: int, count: int) -> None:
        self.add(
            "COMMUNICATION_OP", opName=self.text(f"hcom_allReduce__428_{number}_1"), startNs=start, endNs=start + dur,
            connectionId=link, groupName=self.text(GROUP), opId=number, relay=0, retry=0, dataType=4,
            algType=self.text("HD-MESH"), count=count, opType=self.text("hcom_allReduce_"), deviceId=0,
        )  # fmt: skip
        for name, kind, at, size in (("Notify_Wait", "NOTIFY_WAIT_SQE", 0, None), ("Memcpy", "SDMA_SQE", 600, 4096)):
            task = self.task(kind, start + at, 400, NONE, 5)
            self.add(
                "COMMUNICATION_TASK_INFO", name=self.text(name), globalTaskId=task, taskType=self.text(name),
                planeId=0, groupName=self.text(GROUP), srcRank=0, dstRank=1, size=size, opId=number, isMaster=1,
            )  # fmt: skip

    def step(self, number: int) -> None:
        """A copy, a product through the task queue, and a collective, each by its operator."""
        start, link = START + number * 100_000, 100 * (number + 1)
        self.operator(f"ProfilerStep#{number}", start, 90_000)
        if self.has_operators:
            self.add("STEP_TIME", id=number, startNs=start, endNs=start + 90_000)
        self.operator(
            "aten::copy_", start + 1_000, 5_000, links=(link + 1,), shapes="64,128;64,128;", dtypes="float;float;Scalar"
        )
        self.call("acl", "aclrtMemcpyAsync", start + 2_000, 3_000, link + 1, MAIN)
        self.copy(start + 8_000, 2_001, link + 1, 32_768)
        self.operator(
            "aten::matmul",
            start + 10_000,
            9_000,
            sequence=number,
            shapes="64,128;128,256",
            dtypes="c10::Half;c10::Half",
        )
        self.operator("Enqueue@aclnnMatmul", start + 15_000, 800, kind="queue", links=(2**40 + number,))
        self.operator(
            "Dequeue@aclnnMatmul", start + 18_000, 6_000, tid=QUEUE, kind="queue", links=(2**40 + number, link + 3)
        )
        self.call("acl", "aclnnMatmul", start + 18_500, 5_000, link + 2)
        self.call("node", "launch", start + 20_000, 1_500, link + 3)
        self.call("runtime", "KernelLaunchWithHandle", start + 20_300, 900, link + 4)
        self.task("EVENT_WAIT", start + 24_000, 900)
        self.compute("MatMulV3", start + 25_000, 12_003, link + 3, "64,128;128,256")
        self.operator("HcclAllreduce", start + 30_000, 4_000)
        self.call("communication", "hcom_allReduce_", start + 31_000, 2_500, link + 5, MAIN)
        self.collective(number, start + 40_000, 20_000, link + 5, 2**20)
        event = {"category": 0, "domainId": 0, "globalTid": PID << 32 | MAIN, "endGlobalTid": PID << 32 | MAIN}
        self.add(
            "MSTX_EVENTS",
            startNs=start + 500,
            endNs=start + 70_000,
            eventType=1,
            message=self.text("forward"),
            connectionId=NONE,
            **event,
        )
        self.add(
            "MSTX_EVENTS",
            startNs=start + 71_000,
            endNs=start + 71_000,
            eventType=0,
            message=self.text("saved"),
            connectionId=NONE,
            **event,
        )
        self.add("AICORE_FREQ", deviceId=0, timestampNs=start, freq=1800 - 100 * number)
        self.add("NPU_MEM", type=self.text("device"), ddr=0, hbm=1 << 30, timestampNs=start, deviceId=0)


def write(path: Path, *, has_operators: bool) -> None:
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as database, database:
        profile = Profile(database, has_operators=has_operators)
        for number in range(2):
            profile.step(number)
        profile.add("SESSION_TIME_INFO", startTimeNs=START - 1_000_000, endTimeNs=START + 1_000_000)


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    write(FOLDER / "ascend_pytorch_profiler_3.db", has_operators=True)
    write(FOLDER / "msprof_20260513080000.db", has_operators=False)


if __name__ == "__main__":
    main()
