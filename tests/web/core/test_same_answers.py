"""WebAssembly answers every request with the same bytes as the Python extension."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope import _native
from kinetoscope._analysis import protocol

REPOSITORY = Path(__file__).resolve().parents[3]
GLUE = REPOSITORY / "wasm/dist/kinetoscope_wasm.js"
MODULE = REPOSITORY / "wasm/dist/kinetoscope.wasm"
FIXTURES = ("synthetic_cuda", "hostile", "transformer_cpu")
DLRM = "facebookresearch__param/et_replay/tests/inputs/dlrm_kineto.tar.gz"
MAX_BYTES = 40_000_000
ALIGNMENT = 8
# Analyses that no page shows: Cargo features of the wheel have them.
LEFT_OUT = {"counter_means", "grouped_heatmap", "machines", "topology", "experts"}

pytestmark = pytest.mark.skipif(
    shutil.which("node") is None or not MODULE.is_file(),
    reason="no Node, or the front-end is not built: make wasm",
)

Request = dict[str, Any]


def shared_traces() -> list[Path | None]:
    folder = Path(os.environ.get("KINETOSCOPE_SHARED") or REPOSITORY.parent / "shared") / "data"
    found = [*folder.rglob("*.json"), *folder.rglob("*.json.gz")] if folder.is_dir() else []
    return [*sorted(path for path in found if path.stat().st_size < MAX_BYTES)] or [None]


class BothCores:
    """The same traces in the Python extension and in WebAssembly."""

    def __init__(self, traces: Sequence[ks.Trace], folder: Path) -> None:
        self.traces = traces
        natives: list[tuple[str, int | None, _native.Trace]] = []
        natives += [("", rank, trace._native) for rank, trace in enumerate(traces)]
        self.native = _native.Session(natives)
        self.snapshots = [folder / f"{rank}.kscope" for rank in range(len(traces))]
        for path, trace in zip(self.snapshots, traces, strict=True):
            path.write_bytes(trace.snapshot())

    @property
    def analyses(self) -> list[dict[str, Any]]:
        """The analyses that both cores have."""
        analyses = self.data({"type": "analyses"})["analyses"]
        return [analysis for analysis in analyses if analysis["name"] not in LEFT_OUT]

    def data(self, request: Request) -> dict[str, Any]:
        return protocol.ask(self.native, request).data

    def compare(self, requests: Sequence[Request]) -> None:
        for request, digest in zip(requests, self.digests(requests), strict=True):
            native = self.native.query(json.dumps(request).encode())
            if request["type"] == "report" and len(self.traces) > 1:
                native = without_left_out(native)
            assert hashlib.sha256(native).hexdigest() == digest, request

    def digests(self, requests: Sequence[Request]) -> list[str]:
        """The SHA-256 of each answer from WebAssembly."""
        snapshots = ",".join(map(str, self.snapshots))
        command = ["node", Path(__file__).with_name("ask.mjs"), GLUE, MODULE, snapshots]
        lines = "".join(json.dumps(request) + "\n" for request in requests)
        done = subprocess.run(command, input=lines, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout.split()


def without_left_out(response: bytes) -> bytes:
    """Returns the report of a job without what the browser leaves out: topology, and the map of machines."""
    header = response[4 : 4 + int.from_bytes(response[:4], "little")]
    for pattern, kept in (
        (rb'<a href=\\"#topology\\">Topology</a>', b""),
        (rb'<section class=\\"[^"]*\\" id=\\"topology\\">.*?</section>', b""),
        (rb"<dt>Topology</dt><dd>.*?</dd>", b""),
        (rb'(id=\\"heatmap\\">(?:(?!</section>).)*?</figure>)<figure.*?</figure>', rb"\1"),
    ):
        header = re.sub(pattern, kept, header, count=1, flags=re.DOTALL)
    shortened = len(header).to_bytes(4, "little") + header
    return shortened + bytes(-len(shortened) % ALIGNMENT)


def timeline_requests(cores: BothCores) -> Iterator[Request]:
    """Requests of a timeline that is drawn, searched and clicked on."""
    overview = cores.data({"type": "overview"})
    tracks, end = [track["track"] for track in overview["tracks"]], overview["duration"]
    yield {"type": "overview"}
    for by in ({}, {"by": "operator"}, {"by": "module"}, {"frames": False}):
        yield {"type": "tiles", "tracks": tracks, "start": 0, "end": end, "pixels": 800, **by}
    yield {"type": "tiles", "tracks": tracks, "start": end / 3, "end": end / 3 + end / 500, "pixels": 800}
    for text in ("a", "dur>1us kind:kernel", "cat:cpu_op", '"External id"=1', "id:3"):
        yield {"type": "search", "text": text, "limit": 50}
        yield {"type": "marks", "text": text, "start": 0, "end": end, "pixels": 300}
    for track in tracks:
        yield {"type": "at", "track": track, "lane": 0, "time": end / 2, "tolerance": end}
    for event in some_ids(cores, overview["parts"]):
        yield {"type": "event", "id": event}
        yield {"type": "links", "id": event}
        for direction in ("next", "previous", "parent", "child"):
            yield {"type": "neighbour", "id": event, "direction": direction}


def analysis_requests(cores: BothCores) -> Iterator[Request]:
    """Requests of panels, tables and reports."""
    overview = cores.data({"type": "overview"})
    window = {"start": 0, "end": overview["duration"]}
    for analysis in cores.analyses:
        yield {"type": "analyze", "name": analysis["name"]}
        yield {"type": "analyze", "name": analysis["name"], "end": overview["duration"] / 2}
    yield {"type": "findings"}
    yield {"type": "summary"}
    yield {"type": "path", "pixels": 300, **window}
    yield {"type": "path", "pixels": 300, "through_job": True, **window}
    yield {"type": "changes"}
    yield {"type": "counters"}
    for counter in cores.data({"type": "counters"})["counters"]:
        yield {"type": "counter", "counter": counter["counter"], "pixels": 300, **window}
    for track in overview["tracks"]:
        yield {"type": "gap", "track": track["track"], "time": overview["duration"] / 2}
    yield {"type": "report", "title": "a title", "facts": [["file", "a.json"]]}
    yield {"type": "picture", "width": 700}


def some_ids(cores: BothCores, parts: Sequence[dict[str, Any]]) -> Iterator[int]:
    for part, trace in zip(parts, cores.traces, strict=True):
        ids = trace.events.to_arrow()["id"].to_pylist()
        yield from (part["first_id"] + event for event in ids[:: max(1, len(ids) // 60)])


def check(traces: Sequence[ks.Trace], folder: Path) -> None:
    cores = BothCores(traces, folder)
    cores.compare([*timeline_requests(cores), *analysis_requests(cores)])
    exports = [{"export": name} for name in ("analyses", "chrome", "snapshot", "copy")]
    analyses, chrome, *others = cores.digests(exports)
    listed = json.dumps(cores.analyses, ensure_ascii=False, separators=(",", ":"))
    assert analyses == hashlib.sha256(listed.encode()).hexdigest()
    traces[0].to_chrome(folder / "chrome.json")
    assert chrome == hashlib.sha256((folder / "chrome.json").read_bytes()).hexdigest()
    assert len(others) == len(exports) - 2


@pytest.mark.parametrize("name", FIXTURES)
def test_one_rank(name: str, data: Path, tmp_path: Path) -> None:
    check([ks.read(data / name / "kineto_trace_0.json.gz")], tmp_path)


def test_several_ranks(data: Path, tmp_path: Path) -> None:
    check(list(ks.read_dir(data / "mlp_gloo")), tmp_path)


@pytest.mark.shared
def test_a_real_job(shared: Path, tmp_path: Path) -> None:
    check(list(ks.read_dir(shared / DLRM)), tmp_path)


@pytest.mark.shared
@pytest.mark.parametrize("path", shared_traces(), ids=lambda path: path.name if path else "none")
def test_real_traces(path: Path | None, shared: Path, tmp_path: Path) -> None:
    assert path is not None
    try:
        trace = ks.read(path)
    except (ks.TraceError, OSError):
        pytest.skip("no trace")
    check([trace], tmp_path)
