"""Profiles of XLA in protobuf (`*.xplane.pb`), beside the Chrome trace of the same recording."""

from __future__ import annotations

import gzip
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope._cli.main import main

pytestmark = pytest.mark.unit

FOLDER = Path(__file__).parents[2] / "data/jax_cuda"
PROFILE, CHROME = FOLDER / "recorder.xplane.pb.gz", FOLDER / "recorder.trace.json.gz"

# The Chrome trace leaves these out, and has callbacks under a shorter name.
UNTOLD = {"MemoryAllocation", "MemoryDeallocation"}


def spans(trace: Any, base_ns: int = 0) -> Counter[tuple[str, int, int]]:
    rows = trace.events.select("name", "start_ns", "dur_ns", "args").rows()
    return Counter((name, start - base_ns, dur) for name, start, dur, _ in rows if name not in UNTOLD)


def test_every_event_of_the_chrome_trace_is_in_the_profile() -> None:
    profile, chrome = ks.read(PROFILE), ks.read(CHROME)
    base_ns = profile.metadata["kineto"]["baseTimeNanoseconds"]
    assert spans(profile, base_ns) == spans(chrome)
    rows = profile.events.select("name").rows()
    assert sum(name in UNTOLD for (name,) in rows) == 30
    kinds = [Counter(trace.events.select("kind").rows()) for trace in (profile, chrome)]
    assert kinds[0] - kinds[1] == Counter({("other",): 30})


def test_kernels_have_launches_and_a_known_device() -> None:
    trace = ks.read(PROFILE)
    assert trace.verdict.state == "complete"
    assert trace.verdict.problems.select("problem").rows() == [("foreign_program",)]
    kernels = [row for row in trace.events.select("kind", "launch_id", "stream").rows() if row[0] == "kernel"]
    assert len(kernels) == 39
    assert all(launch is not None and stream == 14 for _, launch, stream in kernels)
    assert trace.metadata["kineto"]["deviceProperties"][0]["name"] == "NVIDIA H200"


def test_a_folder_has_each_recording_once(tmp_path: Path) -> None:
    for path in (PROFILE, CHROME):
        shutil.copy(path, tmp_path)
    job = ks.read_dir(tmp_path)
    assert len(job) == 1
    assert [Path(name).name for name in job.skipped] == [CHROME.name]
    assert next(iter(job)).num_events == ks.read(PROFILE).num_events


def test_the_command_line_and_a_plain_copy_read_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain = tmp_path / "host.xplane.pb"
    plain.write_bytes(gzip.decompress(PROFILE.read_bytes()))
    assert main(["summary", str(plain)]) == 0
    assert "gemm_fusion_dot" in capsys.readouterr().out
    assert main(["doctor", str(plain)]) == 0
    assert "XLA" in capsys.readouterr().out


def test_a_chrome_trace_of_it_reads_back(tmp_path: Path) -> None:
    trace = ks.read(PROFILE)
    columns = ("name", "kind", "start_ns", "dur_ns", "device", "stream", "launch_id")
    again = ks.read(trace.to_chrome(tmp_path / "trace.json"))
    assert again.events.select(*columns).rows() == trace.events.select(*columns).rows()
