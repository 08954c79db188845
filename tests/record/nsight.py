"""Generates tests/data/synthetic_nsight: what `nsys export --type sqlite` might write of two processes on two GPUs.

Nothing here was measured. Tables and columns are those of exports of 2024 and 2025; the run has what a reader must cope
with: correlation ids that two processes share, a device that one of them knows under another number, a stream number
that both use on one GPU, copies and waits of all kinds, nested ranges on two threads, ranges that end on another thread
or never, a graph traced as a whole and one traced by its nodes, backtraces, and tables that nobody reads.

    python tests/record/nsight.py
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

FILE = Path(__file__).resolve().parents[1] / "data/synthetic_nsight/nsys_0.sqlite"

MACHINE = 1 << 56
TRAINER, HELPER = 4242, 4343
MAIN, WORKER, HELPER_MAIN = 4242, 4250, 4343
RUNTIME, DRIVER, BACKTRACE = 0, 1, 67
CATEGORY, MARK, THREAD, PUSH_POP, START_END, DOMAIN = 33, 34, 39, 59, 60, 75

SPAN = "start INTEGER NOT NULL, end INTEGER NOT NULL"
ENUM = "id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT"
ON_DEVICE = (
    f"{SPAN}, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, greenContextId INTEGER, "
    "streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER"
)
TABLES = {
    "StringIds": "id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL",
    "ThreadNames": "nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER",
    "PROCESSES": "globalPid INTEGER, pid INTEGER, name TEXT",
    "TARGET_INFO_SYSTEM_ENV": "globalVid INTEGER, devStateName TEXT NOT NULL, name TEXT NOT NULL, "
    "nameEnum INTEGER NOT NULL, value TEXT NOT NULL",
    "TARGET_INFO_SESSION_START_TIME": "utcEpochNs INTEGER, utcTime TEXT, localTime TEXT",
    "ANALYSIS_DETAILS": "globalVid INTEGER NOT NULL, duration INTEGER NOT NULL, startTime INTEGER NOT NULL, "
    "stopTime INTEGER NOT NULL",
    "TARGET_INFO_GPU": "vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT, busLocation TEXT, isDiscrete INTEGER, "
    "l2CacheSize INTEGER, totalMemory INTEGER, memoryBandwidth INTEGER, clockRate INTEGER, smCount INTEGER, "
    "uuid TEXT, chipName TEXT, cuDevice INTEGER, threadsPerWarp INTEGER, maxWarpsPerSm INTEGER, "
    "maxThreadsPerBlock INTEGER, computeMajor INTEGER, computeMinor INTEGER",
    "TARGET_INFO_CUDA_DEVICE": "gpuId INTEGER, cudaId INTEGER NOT NULL, pid INTEGER NOT NULL, uuid TEXT, "
    "numMultiprocessors INTEGER",
    "META_DATA_CAPTURE": "name TEXT NOT NULL, value TEXT",
    "META_DATA_EXPORT": "name TEXT NOT NULL, value TEXT",
    "ENUM_NSYS_EVENT_TYPE": ENUM,
    "ENUM_NSYS_EVENT_CLASS": ENUM,
    "ENUM_CUDA_MEMCPY_OPER": ENUM,
    "ENUM_CUDA_MEM_KIND": ENUM,
    "ENUM_CUDA_DEV_MEM_EVENT_OPER": ENUM,
    "ENUM_CUDA_KERNEL_LAUNCH_TYPE": ENUM,
    "ENUM_CUPTI_SYNC_TYPE": ENUM,
    "CUPTI_ACTIVITY_KIND_KERNEL": f"{ON_DEVICE}, demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, "
    "mangledName INTEGER, launchType INTEGER, cacheConfig INTEGER, registersPerThread INTEGER NOT NULL, "
    "gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL, blockX INTEGER NOT NULL, "
    "blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL, staticSharedMemory INTEGER NOT NULL, "
    "dynamicSharedMemory INTEGER NOT NULL, localMemoryPerThread INTEGER NOT NULL, localMemoryTotal INTEGER NOT NULL, "
    "gridId INTEGER NOT NULL, sharedMemoryExecuted INTEGER, graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER, "
    "qmdBulkReleaseDone INTEGER, qmdPreexitDone INTEGER, qmdLastCtaDone INTEGER, graphId INTEGER, clusterX INTEGER, "
    "clusterY INTEGER, clusterZ INTEGER, clusterSchedulingPolicy INTEGER, maxPotentialClusterSize INTEGER, "
    "maxActiveClusters INTEGER",
    "CUPTI_ACTIVITY_KIND_MEMCPY": f"{ON_DEVICE}, bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL, "
    "deprecatedSrcId INTEGER, srcKind INTEGER, dstKind INTEGER, srcDeviceId INTEGER, srcContextId INTEGER, "
    "dstDeviceId INTEGER, dstContextId INTEGER, migrationCause INTEGER, graphNodeId INTEGER, virtualAddress INTEGER",
    "CUPTI_ACTIVITY_KIND_MEMSET": f"{ON_DEVICE}, value INTEGER NOT NULL, bytes INTEGER NOT NULL, graphNodeId INTEGER, "
    "memKind INTEGER",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": f"{ON_DEVICE}, syncType INTEGER NOT NULL, eventId INTEGER NOT NULL",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": f"{ON_DEVICE}, graphId INTEGER NOT NULL, graphExecId INTEGER NOT NULL",
    "CUPTI_ACTIVITY_KIND_RUNTIME": f"{SPAN}, eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER, "
    "nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER",
    "CUDA_GPU_MEMORY_USAGE_EVENTS": "start INTEGER NOT NULL, globalPid INTEGER NOT NULL, deviceId INTEGER NOT NULL, "
    "contextId INTEGER NOT NULL, address INTEGER NOT NULL, pc INTEGER NOT NULL, bytes INTEGER NOT NULL, "
    "memKind INTEGER NOT NULL, memoryOperationType INTEGER NOT NULL, name TEXT, correlationId INTEGER, "
    "streamId INTEGER, localMemoryPoolSize INTEGER",
    "NVTX_EVENTS": "start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, "
    "category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, "
    "domainId INTEGER, uint64Value INTEGER, int64Value INTEGER, doubleValue REAL, uint32Value INTEGER, "
    "int32Value INTEGER, floatValue REAL, jsonTextId INTEGER, jsonText TEXT, binaryData TEXT",
    "OSRT_API": f"{SPAN}, eventClass INTEGER NOT NULL, globalTid INTEGER, nameId INTEGER NOT NULL, "
    "returnValue INTEGER NOT NULL, nestingLevel INTEGER, callchainId INTEGER NOT NULL",
    "PROFILER_OVERHEAD": f"{SPAN}, globalTid INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL",
    "SCHED_EVENTS": "start INTEGER NOT NULL, cpu INTEGER NOT NULL, isSchedIn INTEGER NOT NULL, globalTid INTEGER",
}

COPIES = (
    *("Unknown", "Host-to-Device", "Device-to-Host", "Host-to-Array", "Array-to-Host", "Array-to-Array"),
    *("Array-to-Device", "Device-to-Array", "Device-to-Device", "Host-to-Host", "Peer-to-Peer"),
    *("Unified Host-to-Device", "Unified Device-to-Host", "Unified Device-to-Device"),
)
MEMORIES = (
    *("Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static", "Unknown"),
)  # fmt: skip
LABELS = {
    "ENUM_CUDA_MEMCPY_OPER": dict(enumerate(COPIES)),
    "ENUM_CUDA_MEM_KIND": dict(enumerate(MEMORIES)),
    "ENUM_CUDA_DEV_MEM_EVENT_OPER": {0: "Allocation", 1: "Deallocation"},
    "ENUM_CUDA_KERNEL_LAUNCH_TYPE": {0: "Unknown", 1: "Regular", 2: "Coop Single Device"},
    "ENUM_CUPTI_SYNC_TYPE": {1: "Event sync", 2: "Stream wait sync", 3: "Stream sync", 4: "Context sync"},
    "ENUM_NSYS_EVENT_CLASS": {RUNTIME: "CUDA runtime", DRIVER: "CUDA driver"},
    "ENUM_NSYS_EVENT_TYPE": {MARK: "NvtxMark", PUSH_POP: "NvtxPushPopRange", 76: "NvtxDomainDestroy"},
}
# The kinds of memory at both ends of each kind of copy.
ENDS = {1: (0, 2), 2: (2, 1), 3: (1, 3), 4: (3, 1), 5: (3, 3), 6: (3, 2), 7: (2, 3), 8: (2, 2), 9: (0, 1), 10: (2, 2)}

GEMM = "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128_16x5_nn_align4>(T1::Params)"
RELU = "void at::native::vectorized_elementwise_kernel<(int)4, at::native::relu>(int, T2, T3)"


def gtid(process: int, thread: int = 0) -> int:
    return MACHINE | process << 24 | thread


class Export:
    """A database in the making, and the clock of what it tells."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.now = 1_000_000
        self.strings: dict[str, int] = {}
        self.correlation = {TRAINER: 0, HELPER: 0}
        self.free: dict[tuple[int, int, int], int] = {}
        for name, columns in TABLES.items():
            connection.execute(f"CREATE TABLE {name} ({columns})")

    def add(self, table: str, **values: object) -> None:
        marks = ", ".join("?" * len(values))
        sql = f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})"  # noqa: S608 - the names are in this file
        self.connection.execute(sql, tuple(values.values()))

    def string(self, text: str) -> int:
        if text not in self.strings:
            self.strings[text] = len(self.strings) + 1
            self.add("StringIds", id=self.strings[text], value=text)
        return self.strings[text]

    def call(self, name: str, ns: int = 5_007, process: int = TRAINER, thread: int = MAIN, kind: int = RUNTIME) -> int:
        """A call on the host; returns its correlation id."""
        self.correlation[process] += 1
        number = self.correlation[process]
        self.add(
            "CUPTI_ACTIVITY_KIND_RUNTIME", start=self.now, end=self.now + ns, eventClass=kind,
            globalTid=gtid(process, thread), correlationId=number, nameId=self.string(name), returnValue=0,
        )  # fmt: skip
        self.now += ns + 1_003
        return number

    def run(self, table: str, ns: int, correlation: int, process: int = TRAINER, **values: object) -> None:
        """Work on a stream, after what is on it already."""
        place = {
            "deviceId": 0,
            "streamId": 7,
            **{key: values[key] for key in ("deviceId", "streamId") if key in values},
        }
        key = (process, *place.values())
        start = max(self.now, self.free.get(key, 0)) + 2_001
        self.free[key] = start + ns
        context = {"contextId": 1 + place["deviceId"], "globalPid": gtid(process), "correlationId": correlation}
        self.add(table, start=start, end=start + ns, **{**context, **place, **values})

    def kernel(self, name: str, correlation: int, ns: int = 20_011, process: int = TRAINER, **values: object) -> None:
        short = name.removeprefix("void ").partition("<")[0].rpartition("::")[2]
        sizes = {"gridX": 128, "gridY": 2, "gridZ": 1, "blockX": 256, "blockY": 1, "blockZ": 1}
        clusters = {"clusterX": 2 * (name == GEMM), "clusterY": int(name == GEMM), "clusterZ": int(name == GEMM)}
        self.run(
            "CUPTI_ACTIVITY_KIND_KERNEL", ns, correlation, process,
            demangledName=self.string(name), shortName=self.string(short), mangledName=self.string(f"_Z{short}"),
            launchType=1, registersPerThread=96, staticSharedMemory=1024, dynamicSharedMemory=32768,
            localMemoryPerThread=0, localMemoryTotal=0, gridId=correlation, sharedMemoryExecuted=65536,
            **sizes, **clusters, **values,
        )  # fmt: skip

    def nvtx(self, start: int, end: int | None, text: str, thread: int = MAIN, **values: object) -> None:
        row = {"eventType": PUSH_POP, "globalTid": gtid(TRAINER, thread), "domainId": 0, **values}
        self.add("NVTX_EVENTS", start=start, end=end, text=text, **row)


def describe(export: Export) -> None:
    for table, labels in LABELS.items():
        for number, label in labels.items():
            export.add(table, id=number, name=label.upper().replace(" ", "_"), label=label)
    for process, name in ((TRAINER, "python3"), (HELPER, "helper")):
        export.add("PROCESSES", globalPid=gtid(process), pid=process, name=name)
    for process, thread, name in (
        (TRAINER, MAIN, "main"),
        (TRAINER, WORKER, "autograd"),
        (HELPER, HELPER_MAIN, "main"),
    ):
        export.add("ThreadNames", nameId=export.string(name), priority=20, globalTid=gtid(process, thread))
    for number in range(2):
        export.add(
            "TARGET_INFO_GPU", vmId=MACHINE, id=number, name=f"Synthetic GPU {number}", busLocation="0000:0a:00.0",
            totalMemory=80 << 30, smCount=132, computeMajor=9, computeMinor=0, threadsPerWarp=32, cuDevice=number,
        )  # fmt: skip
    for process, cuda, gpu in ((TRAINER, 0, 0), (TRAINER, 1, 1), (HELPER, 0, 1)):
        export.add("TARGET_INFO_CUDA_DEVICE", gpuId=gpu, cudaId=cuda, pid=process, numMultiprocessors=132)
    export.add("TARGET_INFO_SESSION_START_TIME", utcEpochNs=1_760_000_000_000_000_000, utcTime="2025-10-09T08:53:20")
    export.add("TARGET_INFO_SYSTEM_ENV", devStateName="Linux", name="CpuCores", nameEnum=14, value="16")
    export.add("ANALYSIS_DETAILS", globalVid=MACHINE, duration=2_000_000, startTime=0, stopTime=2_000_000)
    export.add("META_DATA_EXPORT", name="EXPORT_PRODUCT_VERSION", value="2025.3.1.0")
    export.add("META_DATA_EXPORT", name="EXPORT_SCHEMA_VERSION", value="3.20.2")
    export.add("META_DATA_CAPTURE", name="PROCESS_0:COMMAND", value="python3")
    export.add("META_DATA_CAPTURE", name="PROCESS_0:ENVIRONMENT", value="TOKEN=secret")
    export.nvtx(0, None, "training", eventType=DOMAIN, domainId=1)
    # A category may be named after it is used.
    export.nvtx(9_000_000, None, "phases", eventType=CATEGORY, domainId=1, category=3)


def step(export: Export, number: int) -> None:
    """One iteration: forward on the main thread, backward on another, the ranges of each inside one another."""
    start = export.now
    forward = export.now + 1_000
    for layer in range(2):
        inner = export.now + 2_000
        export.now += 3_000
        export.kernel(GEMM, export.call("cudaLaunchKernel_v7000"))
        export.kernel(RELU, export.call("cuLaunchKernelEx", kind=DRIVER), 3_001)
        export.nvtx(inner, export.now, f"layer {layer}", color=0xFF00FF00 - (1 << 32))
        export.now += 1_000
    export.nvtx(forward, export.now, "forward", domainId=1, category=3, int64Value=number)
    export.now += 1_000
    backward = export.now
    export.now += 1_000
    export.kernel(GEMM, export.call("cudaLaunchKernelExC_v11060", thread=WORKER), 40_003, streamId=20)
    registered = export.string("backward, registered")
    export.nvtx(backward, export.now, "", WORKER, textId=registered, domainId=1)
    export.nvtx(export.now, None, f"loss {number}", eventType=MARK, doubleValue=0.5 / (number + 1))
    export.run(
        "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", 30_007, export.call("cudaStreamSynchronize_v3020", 35_000),
        syncType=3, eventId=0,
    )  # fmt: skip
    export.nvtx(start, export.now, f"step {number}")
    export.now += 10_000


def copies(export: Export) -> None:
    for kind, (source, target) in ENDS.items():
        export.run(
            "CUPTI_ACTIVITY_KIND_MEMCPY", 10_000, export.call("cudaMemcpyAsync_v3020"), bytes=1_000_000 + kind,
            copyKind=kind, srcKind=source, dstKind=target, srcDeviceId=1 if kind == 10 else None,
            dstDeviceId=0 if kind == 10 else None, streamId=20,
        )  # fmt: skip
    for memory in (2, 4):
        correlation = export.call("cudaMemsetAsync_v3020")
        export.run("CUPTI_ACTIVITY_KIND_MEMSET", 2_000, correlation, value=0, bytes=4096, memKind=memory)


def waits(export: Export) -> None:
    calls = {1: "cudaEventSynchronize_v3020", 2: "cudaStreamWaitEvent_v3020", 4: "cudaDeviceSynchronize_v3020"}
    for kind, name in calls.items():
        correlation = export.call(name)
        stream = 0xFFFFFFFF if kind == 4 else 7
        export.run(
            "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", 3_000, correlation, syncType=kind, eventId=kind, streamId=stream
        )


def graphs(export: Export) -> None:
    """One traced as a whole, one by its nodes."""
    export.run(
        "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", 90_009, export.call("cudaGraphLaunch_v10000"), graphId=3, graphExecId=5
    )
    nodes = export.call("cudaGraphLaunch_v10000")
    for node in range(3):
        export.kernel(RELU, nodes, 4_000, graphNodeId=8 << 32 | node)


def helper(export: Export) -> None:
    """Another process, with the same correlation ids, whose device 0 is GPU 1; the trainer uses that GPU, too."""
    export.kernel(RELU, export.call("cudaLaunchKernel_v7000"), deviceId=1)
    for _ in range(3):
        correlation = export.call("cudaLaunchKernel_v7000", process=HELPER, thread=HELPER_MAIN)
        export.kernel("helper_kernel(float*)", correlation, process=HELPER)


def odd_ones(export: Export) -> None:
    """What a well-behaved run would not have."""
    start = export.now
    export.nvtx(start, start + 50_000, "loading", eventType=START_END, endGlobalTid=gtid(TRAINER, MAIN), rangeId=1)
    export.nvtx(start, start + 60_000, "across", eventType=START_END, endGlobalTid=gtid(TRAINER, WORKER), rangeId=2)
    export.nvtx(start + 1_000, None, "never popped", WORKER)
    export.nvtx(start + 2_000, None, "", eventType=76, domainId=1)
    export.nvtx(start + 3_000, start + 3_500, "payload", jsonText='{"shape": [2, 3]}')
    number = export.call("cudaMalloc_v3020")
    export.add(
        "CUPTI_ACTIVITY_KIND_RUNTIME", start=start, end=export.now, eventClass=BACKTRACE,
        globalTid=gtid(TRAINER, MAIN), correlationId=number, nameId=export.string("cudaMalloc"), returnValue=0,
        callchainId=5,
    )  # fmt: skip
    for operation, delay in ((0, 0), (1, 5_000)):
        export.add(
            "CUDA_GPU_MEMORY_USAGE_EVENTS", start=export.now + delay, globalPid=gtid(TRAINER), deviceId=0, contextId=1,
            address=0x7F00_0000_0000, pc=0, bytes=2 << 20, memKind=2, memoryOperationType=operation,
        )  # fmt: skip
    for call in range(4):
        export.add(
            "OSRT_API", start=start + call * 100, end=start + call * 100 + 50, eventClass=27,
            globalTid=gtid(TRAINER, MAIN), nameId=export.string("poll"), returnValue=0, callchainId=0,
        )  # fmt: skip
    overhead = export.string("CUPTI buffer flush")
    export.add(
        "PROFILER_OVERHEAD", start=start, end=start + 9_000, globalTid=gtid(TRAINER, WORKER), nameId=overhead,
        returnValue=0,
    )  # fmt: skip
    # Launched before the recording began.
    export.kernel(GEMM, 999_999)


def main() -> None:
    FILE.parent.mkdir(exist_ok=True)
    FILE.unlink(missing_ok=True)
    with closing(sqlite3.connect(FILE)) as connection:
        connection.execute("PRAGMA page_size = 1024")  # most tables have a few rows
        export = Export(connection)
        describe(export)
        for number in range(2):
            step(export, number)
        for part in (copies, waits, graphs, helper, odd_ones):
            part(export)
        connection.commit()
        connection.execute("VACUUM")


if __name__ == "__main__":
    main()
