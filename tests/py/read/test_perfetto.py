"""Perfetto traces: read as PyTorch writes them, and written so that Perfetto shows every event."""

from __future__ import annotations

import gzip
import importlib.util
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope._cli.main import main
from synthetic_perfetto import write

pytestmark = pytest.mark.unit

DATA = Path(__file__).parents[2] / "data"
WRITTEN = DATA / "synthetic_perfetto"
COLUMNS = ["name", "category", "kind", "start_ns", "dur_ns", "process", "thread", "device", "stream", "correlation_id"]

RECORDED = pytest.mark.parametrize(
    "name",
    [
        "transformer_cuda/kineto_trace_0.json.gz",
        "graph_cuda/kineto_trace_0.json.gz",
        "compiled_cuda/kineto_trace_0.json.gz",
        "mlp_gloo/kineto_trace_1.json.gz",
        "synthetic_cuda/kineto_trace_0.json.gz",
    ],
)


def trace_of(path: Path) -> ks.Trace:
    found = ks.read(path, et=False)
    assert isinstance(found, ks.Trace)
    return found


def rows(trace: ks.Trace) -> Counter[tuple[Any, ...]]:
    """Events with their launches and operators, which are told by start and name."""
    events = trace.events.select("id", "launch_id", "operator_id", "args", *COLUMNS).rows()
    known = {row[0]: row[4:] for row in events}
    args = [json.dumps(json.loads(row[3] or "{}"), sort_keys=True) for row in events]
    return Counter((*row[4:], known.get(row[1]), known.get(row[2]), one) for row, one in zip(events, args, strict=True))


def test_pytorch_writes_the_file_that_is_read(tmp_path: Path) -> None:
    if importlib.util.find_spec("torch.profiler._cuspy") is None:
        pytest.skip("expected PyTorch 2.15, whose recorder writes Perfetto traces")
    write(tmp_path)
    of = {name: trace_of(tmp_path / name) for name in ("trace.pftrace", "trace.json.gz")}
    kept = [row for row in rows(of["trace.json.gz"]) if row[0] not in {"PyTorch Profiler (0)", "Instrumentation"}]
    found = {row[:10] for row in rows(of["trace.pftrace"])}
    assert len(kept) > 60
    assert {row[:10] for row in kept} <= found
    committed = trace_of(WRITTEN / "trace.pftrace")
    assert rows(committed) == rows(of["trace.pftrace"])
    assert committed.verdict.state == "complete"
    launched = committed.events.select("kind", "launch_id", "operator_id").rows()
    assert all(None not in row for row in launched if row[0] == "kernel")


@RECORDED
def test_it_reads_back(name: str, tmp_path: Path) -> None:
    whole = trace_of(DATA / name)
    for path in (tmp_path / "trace.pftrace", tmp_path / "trace.pftrace.gz"):
        assert whole.to_perfetto(path) == path
        again = trace_of(path)
        assert rows(again) == rows(whole)
        assert again.metadata == whole.metadata
        assert again.verdict.state == whole.verdict.state
    assert gzip.decompress(path.read_bytes()) == (tmp_path / "trace.pftrace").read_bytes()
    assert again.kernels().select("name", "total_ns").rows() == whole.kernels().select("name", "total_ns").rows()


def packets_of(path: Path) -> Any:
    """The packets, read by Perfetto's own messages."""
    messages = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2", reason="pip install perfetto")
    trace = messages.Trace()
    trace.ParseFromString(path.read_bytes())
    return trace.packet


def slices_of(packets: Any) -> Iterator[tuple[str, int, int]]:
    """Name, start and length of slices, paired as Perfetto does it: by track, in the order of time."""
    names: dict[int, str] = {}
    marks = defaultdict(list)
    for packet in packets:
        names |= {entry.iid: entry.name for entry in packet.interned_data.event_names}
        event = packet.track_event
        if packet.HasField("track_event") and event.type in {1, 2}:
            marks[event.track_uuid].append((packet.timestamp, event.type, names.get(event.name_iid, "")))
    for track in marks.values():
        open_slices: list[tuple[int, str]] = []
        for time, mark, name in sorted(track, key=lambda mark: mark[0]):
            if mark == 1:
                open_slices.append((time, name))
            else:
                start, begun = open_slices.pop()
                yield begun, start, time - start
        assert not open_slices


@RECORDED
def test_perfetto_has_every_event(name: str, tmp_path: Path) -> None:
    whole = trace_of(DATA / name)
    packets = packets_of(whole.to_perfetto(tmp_path / "trace.pftrace"))
    events = whole.events.select("name", "start_ns", "dur_ns", "device", "id", "launch_id").rows()
    assert Counter(slices_of(packets)) == Counter(row[:3] for row in events if row[3] is None)
    names = {entry.iid: entry.name for packet in packets for entry in packet.interned_data.event_names}
    stages = [packet for packet in packets if packet.HasField("gpu_render_stage_event")]
    found = Counter(
        (names[stage.gpu_render_stage_event.name_iid], stage.timestamp, stage.gpu_render_stage_event.duration)
        for stage in stages
    )
    assert found == Counter(row[:3] for row in events if row[3] is not None)
    # A queue for each stream, in the order of their numbers.
    queues = [
        entry.name
        for packet in packets
        for entry in packet.interned_data.gpu_specifications
        if entry.name.startswith("[")
    ]
    streams = {row for row in whole.events.select("device", "thread").rows() if row[0] is not None}
    assert len(queues) == len(streams)
    ids = {packet.gpu_render_stage_event.event_id for packet in stages}
    assert len(ids) == len(stages)


def test_overlapping_slices_are_on_tracks_of_their_own(tmp_path: Path) -> None:
    spans = [("a", 0, 10), ("b", 5, 10), ("c", 5, 4), ("d", 12, 10), ("e", 10, 0)]
    elements = [{"ph": "X", "name": n, "pid": 1, "tid": 2, "ts": s, "dur": d} for n, s, d in spans]
    whole = ks.read(json.dumps(elements).encode())
    packets = packets_of(whole.to_perfetto(tmp_path / "trace.pftrace"))
    assert Counter(slices_of(packets)) == Counter((n, s * 1000, d * 1000) for n, s, d in spans)


def test_a_folder_of_them_is_a_job(tmp_path: Path) -> None:
    for rank in range(2):
        trace_of(DATA / f"mlp_gloo/kineto_trace_{rank}.json.gz").to_perfetto(tmp_path / f"rank{rank}.pftrace")
    job = ks.read_dir(tmp_path)
    assert job.ranks == [0, 1]
    assert not job.skipped


def test_the_command_line_reads_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["summary", str(WRITTEN / "trace.pftrace")]) == 0
    assert "ampere_sgemm_128x64_tn" in capsys.readouterr().out
    report = tmp_path / "report.html"
    assert main(["report", str(WRITTEN / "trace.pftrace"), "-o", str(report)]) == 0
    assert "ampere_sgemm_128x64_tn" in report.read_text()


def test_a_cut_file_says_so(tmp_path: Path) -> None:
    path = tmp_path / "cut.pftrace"
    whole = trace_of(DATA / "mlp_gloo/kineto_trace_0.json.gz")
    whole.to_perfetto(path)
    path.write_bytes(path.read_bytes()[:-1000])
    cut = trace_of(path)
    assert "truncated" in {row[0] for row in cut.health.select("kind").rows()}
    assert len(cut.events) > len(whole.events) / 2
    assert cut.verdict.state == "incomplete"


def test_tracks_that_share_a_row_keep_their_own_ends(tmp_path: Path) -> None:
    spans = [("a", 0, 100), ("b", 10, 100), ("c", 20, 30), ("d", 15, 200), ("e", 300, 5), ("f", 301, 9)]
    for place in ({"pid": "main", "tid": 2}, {"pid": 1, "tid": "worker"}, {"pid": 1, "tid": 2}):
        elements = [{"ph": "X", "cat": "cpu_op", "name": n, **place, "ts": s, "dur": d} for n, s, d in spans]
        whole = ks.read(json.dumps(elements).encode())
        again = trace_of(whole.to_perfetto(tmp_path / "trace.pftrace"))
        found = Counter(again.events.select("name", "start_ns", "dur_ns").rows())
        assert found == Counter((n, s * 1000, d * 1000) for n, s, d in spans)
