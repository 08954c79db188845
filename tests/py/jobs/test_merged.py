"""Files that merge the ranks of a job: read as the job, by every host."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope._cli.main import main
from support.documents import Document, document

pytestmark = pytest.mark.unit

Event = dict[str, Any]


def kernels_of(rank: int, host: object, device: object, number: int) -> list[Event]:
    """20 operators of a rank, each with a launch and a kernel of 500 or 600 µs."""
    events: list[Event] = []
    for call in range(1, 21):
        start = 1_000 * call + 5 * rank
        ids = {"External id": call, "correlation": call}
        where = {"device": number, "stream": 7}
        events += [
            {"ph": "X", "cat": "cpu_op", "name": f"aten::op_r{rank}", "pid": host, "tid": 1, "ts": start, "dur": 100},
            {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": host, "tid": 1, "ts": start + 20}
            | {"dur": 10, "args": ids},
            {"ph": "X", "cat": "kernel", "name": f"kernel_r{rank}", "pid": device, "tid": 7, "ts": start + 150}
            | {"dur": 500 + 100 * rank, "args": ids | where},
        ]
    return events


def objects(table: ks.Table) -> list[dict[str, Any]]:
    """The rows of a table, by column."""
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows()]


MERGED = {
    "brackets": [kernels_of(rank, f"[TP0{rank}] 4242", f"[TP0{rank}] 0", 0) for rank in (0, 1)],
    "two pids": [kernels_of(rank, 1000 + rank, rank, rank) for rank in (0, 1)],
    "one device number": [kernels_of(rank, 1000 + rank, 0, 0) for rank in (0, 1)],
}


@pytest.fixture(params=sorted(MERGED))
def merged(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    path = tmp_path / "merged.json"
    path.write_text(json.dumps({"traceEvents": list(chain(*MERGED[request.param]))}))
    return str(path)


def test_a_merged_file_is_a_job(merged: str) -> None:
    job = ks.read(merged)
    assert isinstance(job, ks.TraceSet)
    assert job.ranks == [0, 1]
    for rank, trace in enumerate(job):
        assert trace.coverage["device_events"]["num_linked"] == 20
        operators = trace.operators().tables["operators"]
        expected = [(f"aten::op_r{rank}", 20 * (500 + 100 * rank) * 1_000)]
        assert [(row["name"], row["device_total_ns"]) for row in objects(operators)] == expected
        assert trace.metadata["kineto"]["distributedInfo"] == {"rank": rank}
    assert job.notes[0].startswith(f"{merged} is a merged file: rank 0 is ")


def test_one_trace_on_request_keeps_devices_apart(merged: str) -> None:
    trace = ks.read(merged, ranks="merge")
    assert isinstance(trace, ks.Trace)
    busy = [(row["device"], row["busy_ns"]) for row in objects(trace.breakdown().tables["breakdown"])]
    assert busy == [(0, 10_000_000), (1, 12_000_000)]


def test_some_ranks(merged: str, data: Path) -> None:
    one = ks.read(merged, ranks=[1])
    assert isinstance(one, ks.TraceSet)
    assert one.ranks == [1]
    with pytest.raises(ValueError, match=r"one or more of the ranks \[0, 1\], found \[7\]"):
        ks.read(merged, ranks=[7])
    with pytest.raises(ValueError, match='ranks="split"'):
        ks.read(merged, ranks="all")  # type: ignore[arg-type] - the error is tested
    own = data / "mlp_gloo/kineto_trace_1.json.gz"
    assert ks.read(own, ranks=[1]).rank == 1
    with pytest.raises(ValueError, match="found rank 1"):
        ks.read(own, ranks=[0])


@pytest.mark.parametrize("eager", [True, False])
def test_a_merged_file_in_a_folder(merged: str, *, eager: bool) -> None:
    job = ks.read_dir(Path(merged).parent, eager=eager)
    assert [trace.rank for trace in job] == job.ranks == [0, 1]
    assert {member.rank_from for member in job.members} <= {"label", "device", "order"}
    again = ks.read_dir(Path(merged).parent, eager=False)
    assert again.load().ranks == [0, 1]
    whole = ks.read_dir(Path(merged).parent, ranks="merge")
    assert [trace.num_events for trace in whole] == [120]


def test_workers_split_merged_files(merged: str) -> None:
    near = ks.read_dir(Path(merged).parent)
    with ThreadPoolExecutor(2) as executor:
        far = ks.read_dir(Path(merged).parent, executor=executor)
        assert far.ranks == [0, 1]
        for name in ("breakdown", "operators"):
            assert far.analyze(name).tables[name].rows() == near.analyze(name).tables[name].rows()


def test_a_copy_of_the_ranks_beside_them_is_skipped(tmp_path: Path) -> None:
    for rank, events in enumerate(MERGED["brackets"]):
        (tmp_path / f"rank{rank}.json").write_text(json.dumps({"traceEvents": events}))
    (tmp_path / "merged.json").write_text(json.dumps({"traceEvents": list(chain(*MERGED["brackets"]))}))
    job = ks.read_dir(tmp_path)
    assert len(job) == 2
    assert job.skipped == {"merged.json": "a copy: its ranks have files of their own"}


def test_commands_split_merged_files(merged: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def out(*words: str) -> str:
        assert main([*words]) == 0
        return capsys.readouterr().out

    for command in ("summary", "doctor"):
        text = out(command, merged)
        assert "is a merged file: rank 0 is" in text
        assert [line for line in text.splitlines() if line.startswith("--- ")] == ["--- rank 0 ---", "--- rank 1 ---"]
        assert "--- rank" not in out(command, merged, "--merge-ranks")
    rows = json.loads(out("analyze", "breakdown", merged, "--json"))
    assert [row["rank"] for row in rows] == [0, 1]
    assert "--- rank" not in out("summary", merged, "--merge-ranks")
    page = tmp_path / "page.html"
    out("report", merged, "-o", str(page))
    assert "rank 1" in page.read_text()
    one = out("analyze", "operators", merged, "--rank", "1", "--json")
    assert [row["name"] for row in json.loads(one)] == ["aten::op_r1"]


def test_the_cache_holds_the_file(merged: str, tmp_path: Path) -> None:
    for _ in range(2):
        job = ks.read(merged, cache=str(tmp_path / "cache"))
        assert isinstance(job, ks.TraceSet)
        assert job.ranks == [0, 1]
    assert isinstance(ks.read(merged, cache=str(tmp_path / "cache"), ranks="merge"), ks.Trace)


# --- recorded ranks, merged as tools merge them ----------------------------------------------------------------


def with_brackets(rank: int, event: Event) -> Event:
    """As SGLang does."""
    return event | {"pid": f"[TP{rank:02d}] {event['pid']}"}


def with_one_pid(rank: int, event: Event) -> Event:
    """As scripts for Megatron do."""
    return event | {"pid": rank + 1}


def with_arguments(rank: int, event: Event) -> Event:
    """As TraceLens does."""
    moved = {key: event[key] + rank * 10**7 for key in ("pid", "id") if isinstance(event.get(key), int)}
    return event | moved | {"args": event.get("args", {}) | {"rank": rank}}


@pytest.mark.parametrize("rewrite", [with_brackets, with_one_pid, with_arguments])
def test_recorded_ranks(data: Path, tmp_path: Path, rewrite: Callable[[int, Event], Event]) -> None:
    files: list[Document] = [document(data / f"mlp_gloo/kineto_trace_{rank}.json.gz") for rank in (0, 1)]
    events = [rewrite(rank, event) for rank, file in enumerate(files) for event in file["traceEvents"]]
    if rewrite is with_one_pid:
        events += [
            {"ph": "M", "name": "process_name", "pid": rank + 1, "args": {"name": f"Rank {rank}"}} for rank in (0, 1)
        ]
    header = {key: files[0][key] for key in ("schemaVersion", "baseTimeNanoseconds") if key in files[0]}
    path = tmp_path / "merged.json.gz"
    path.write_bytes(gzip.compress(json.dumps(header | {"traceEvents": events}).encode()))
    own = tmp_path / "own"
    own.mkdir()
    for rank in (0, 1):
        shutil.copy(data / f"mlp_gloo/kineto_trace_{rank}.json.gz", own)
    job, ranks = ks.read(path), ks.read_dir(own)
    assert isinstance(job, ks.TraceSet)
    assert job.ranks == [0, 1]
    columns = ("name", "start_ns", "dur_ns", "kind", "iteration")
    for merged, alone in zip(job, ranks, strict=True):
        assert sorted(merged.events.select(*columns).rows()) == sorted(alone.events.select(*columns).rows())
        assert merged.coverage["device_events"] == alone.coverage["device_events"]
        assert len(merged.counters) == len(alone.counters)
        assert len(merged.instants) == len(alone.instants)
        assert len(merged.flows) == len(alone.flows)
    for name, table in (("operators", "operators"), ("breakdown", "breakdown")):
        left, right = (jobs.analyze(name).tables[table] for jobs in (job, ranks))
        assert without_ids(left) == without_ids(right)


def without_ids(table: ks.Table) -> list[dict[str, Any]]:
    return [{key: value for key, value in row.items() if not key.endswith("id")} for row in objects(table)]
