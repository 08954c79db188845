"""Execution Traces as files: written as they were read, digit by digit."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from support.shared_files import shared_texts

FIXTURES = ["minimal_cpu", "synthetic_cuda", "transformer_cpu", "mlp_gloo"]


def exactly(text: bytes) -> Any:
    """The document with its keys in order and its numbers as they are written."""
    return json.loads(text, object_pairs_hook=list, parse_int=str, parse_float=str)


@pytest.mark.unit
@pytest.mark.parametrize("name", FIXTURES)
@pytest.mark.parametrize("ending", ["json", "json.gz"])
def test_a_copy_is_equal(data: Path, tmp_path: Path, name: str, ending: str) -> None:
    source = data / name / "torch_et_0.json.gz"
    copy = ks.read(source).to_execution_trace(tmp_path / f"copy.{ending}")
    content = copy.read_bytes()
    assert content.startswith(b"\x1f\x8b") == (ending == "json.gz")
    assert exactly(gzip.decompress(content) if ending == "json.gz" else content) == exactly(
        gzip.decompress(source.read_bytes())
    )


@pytest.mark.unit
def test_a_pair_and_a_snapshot_of_it(cuda: ks.Trace, data: Path, tmp_path: Path) -> None:
    expected = exactly(gzip.decompress((data / "synthetic_cuda/torch_et_0.json.gz").read_bytes()))
    for trace in (cuda, ks.read(cuda.save(tmp_path / "run.kscope"))):
        assert exactly(trace.to_execution_trace(tmp_path / "copy.json").read_bytes()) == expected


@pytest.mark.unit
def test_what_has_no_nodes_is_not_written(data: Path, tmp_path: Path) -> None:
    target = tmp_path / "copy.json"
    target.write_text("before")
    trace = ks.read(data / "synthetic_cuda/kineto_trace_0.json.gz", et=False)
    with pytest.raises(ks.TraceError, match="expected an Execution Trace, found a trace without an Execution Trace"):
        trace.to_execution_trace(target)
    assert target.read_text() == "before"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.shared
def test_every_shared_file(shared: Path, tmp_path: Path) -> None:
    schemas = set[str]()
    for name, text in shared_texts(shared):
        if b'"nodes"' not in text[:1000]:
            continue
        trace = ks.read(text)
        copy = trace.to_execution_trace(tmp_path / "copy.json").read_bytes()
        assert exactly(copy) == exactly(text), name
        assert ks.read(copy).nodes.rows() == trace.nodes.rows(), name
        schemas.add(trace.metadata["execution"]["schema"])
    assert schemas == {"1.0.1", "1.0.2-chakra.0.0.4", "1.1.0-chakra.0.0.4", "1.1.1-chakra.0.0.4"}
