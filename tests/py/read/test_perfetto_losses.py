"""What Perfetto's recorder lost, and content that is not read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope._analysis.doctor import diagnosis

pytestmark = pytest.mark.unit

perfetto_trace_pb2: Any = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")


def written(path: Path, *, num_slices: int = 1, fill: Any = None) -> ks.Trace:
    """Reads a trace of slices, with the packets that `fill` adds."""
    document = perfetto_trace_pb2.Trace()
    for at in range(num_slices):
        for kind, time in ((1, at * 100), (2, at * 100 + 50)):
            packet = document.packet.add(timestamp=1000 + time, trusted_packet_sequence_id=1)
            packet.track_event.type = kind
            packet.track_event.track_uuid = 5
            if kind == 1:
                packet.track_event.name = "work"
    if fill:
        fill(document)
    path.write_bytes(document.SerializeToString())
    return ks.read(path, et=False)


def stats(document: Any) -> None:
    for lost in (9, 55):  # statistics of a flush, and later ones that include them
        buffer = document.packet.add(trusted_packet_sequence_id=1).trace_stats.buffer_stats.add()
        buffer.trace_writer_packet_loss = lost
        buffer.chunks_written = 1000


def samples(document: Any) -> None:
    for time in range(500):
        document.packet.add(timestamp=time, trusted_packet_sequence_id=1).perf_sample.pid = 1


def problems(trace: ks.Trace) -> dict[str, tuple[str, int]]:
    rows = trace.problems().select("problem", "state", "count").rows()
    return {name: (state, count) for name, state, count in rows}


def test_lost_packets_make_a_recording_incomplete(tmp_path: Path) -> None:
    trace = written(tmp_path / "t.pftrace", fill=stats)
    assert problems(trace)["lost_packet"] == ("incomplete", 55)
    assert trace.num_events == 1


def test_statistics_without_losses_say_nothing(tmp_path: Path) -> None:
    def fill(document: Any) -> None:
        buffer = document.packet.add(trusted_packet_sequence_id=1).trace_stats.buffer_stats.add()
        buffer.chunks_written = 7

    trace = written(tmp_path / "t.pftrace", fill=fill)
    assert trace.verdict.state == "complete"
    assert not {"lost_packet", "unread_content"} & problems(trace).keys()


def test_unread_content_is_named(tmp_path: Path) -> None:
    trace = written(tmp_path / "t.pftrace", fill=samples)
    assert problems(trace)["unread_content"] == ("complete", 500)
    assert "records are not read: perf_sample (500)" in str(diagnosis(trace))
    alone = written(tmp_path / "alone.pftrace", num_slices=0, fill=samples)
    assert problems(alone)["unread_content"] == ("incomplete", 500)


def test_packets_in_zstd_are_lost(tmp_path: Path) -> None:
    def fill(document: Any) -> None:
        packet = document.packet.add(trusted_packet_sequence_id=1)
        packet.MergeFromString(b"\xaa\x08\x03abc")  # field 133

    assert problems(written(tmp_path / "t.pftrace", fill=fill))["lost_packet"] == ("incomplete", 1)
