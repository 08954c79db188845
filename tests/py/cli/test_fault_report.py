"""`kinetoscope doctor --report`: facts for a bug report, and no text of the trace."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope._cli.main import main

pytestmark = pytest.mark.unit


def report(folder: Path, *arguments: object) -> dict[str, Any]:
    target = folder / "facts.json"
    assert main(["doctor", *map(str, arguments), "--report", "-o", str(target)]) == 0
    return json.loads(target.read_text(encoding="utf-8"))


def test_it_counts_what_the_trace_holds(data: Path, tmp_path: Path) -> None:
    path = data / "transformer_cuda/kineto_trace_0.json.gz"
    facts = report(tmp_path, path)
    trace = ks.read(path)
    (found,) = facts["traces"]
    assert (found["num_events"], found["num_nodes"]) == (trace.num_events, len(trace.nodes))
    assert found["kinds"]["kernel"] == sum(kind == "kernel" for (kind,) in trace.events.select("kind").rows())
    assert sum(found["kinds"].values()) == len(trace.events)
    assert found["header"]["torch"] == "2.11.0+cu130"
    assert facts["num_bytes"] == path.stat().st_size
    assert facts["kinetoscope"] == ks.__version__


def test_it_holds_no_text_of_the_trace(data: Path, tmp_path: Path) -> None:
    secret = "zebra_" * 3
    events = [
        {"ph": "X", "cat": f"{secret}cat", "name": f"{secret}name", "pid": f"{secret}p", "tid": 1, "ts": 1, "dur": 2},
        {"ph": "X", "cat": "cpu_op", "name": secret, "pid": 1, "tid": 1, "ts": 1, "dur": 2, "args": {secret: secret}},
        {
            "ph": "X",
            "cat": "kernel",
            "name": secret,
            "pid": 1,
            "tid": 1,
            "ts": 1,
            "dur": 1e9,
            "args": {"stream": secret},
        },
    ]
    header = {"schemaVersion": secret, secret: 1, "hostname": secret, "kinetoscope": {"torch": f"{secret}!"}}
    path = tmp_path / f"{secret}.json"
    path.write_text(json.dumps({"traceEvents": events, **header}), encoding="utf-8")
    facts = report(tmp_path, path)
    assert facts["traces"][0]["num_events"] > 0
    assert "zebra" not in json.dumps(facts)
    assert str(tmp_path) not in json.dumps(facts)
    for folder in ("hostile", "mlp_gloo"):
        texts = {name for trace in ks.read_dir(data / folder) for (name,) in trace.events.select("name").rows()}
        written = json.dumps(report(tmp_path, data / folder))
        assert not [name for name in texts if len(name) > 8 and name in written]


def test_an_unreadable_file_gives_the_place_alone(tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(b"my secret diary")
    facts = report(tmp_path, path)
    assert facts["error"] == {"class": "UnsupportedTraceError", "byte": 0}
    assert "diary" not in json.dumps(facts)


def test_without_a_trace_it_has_versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["doctor", "--report"]) == 0
    facts = json.loads((tmp_path / "kinetoscope-report.json").read_text(encoding="utf-8"))
    assert set(facts) == {"kinetoscope", "python", "system", "packages"}


def test_other_formats_and_inputs(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    snapshot = tmp_path / "snapshot.pickle"
    snapshot.write_bytes(gzip.decompress((data / "memory_cuda/failed.pickle.gz").read_bytes()))
    assert report(tmp_path, snapshot)["tables"]["actions"] > 0
    trace = tmp_path / "kineto.json"
    trace.write_text('{"traceEvents": []}', encoding="utf-8")
    assert main(["doctor", str(trace), "--report", "-o", str(trace)]) == 2
    assert trace.read_text(encoding="utf-8") == '{"traceEvents": []}', "an input is never overwritten"
    assert main(["doctor"]) == 2
    assert "expected the path of a trace" in capsys.readouterr().err
