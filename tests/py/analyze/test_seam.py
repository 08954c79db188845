"""The host seam, held against the files that pin it for every language."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope._analysis.protocol import decoded

pytestmark = pytest.mark.unit

GOLDEN = Path(__file__).resolve().parents[2] / "golden/seam"
NAMES = sorted(path.name.removesuffix(".request.json") for path in GOLDEN.glob("*.request.json"))


def expected(name: str) -> dict[str, Any]:
    return json.loads((GOLDEN / f"{name}.expected.json").read_text(encoding="utf-8"))


def test_there_are_some() -> None:
    assert {"overview", "tiles", "summary", "unknown"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_pinned_bytes_are_understood(name: str) -> None:
    wanted, response = expected(name), (GOLDEN / f"{name}.response.bin").read_bytes()
    if not wanted["ok"]:
        with pytest.raises(ks.TraceError) as error:
            decoded(response)
        assert str(error.value) == wanted["error"]
        return
    answer = decoded(response)
    assert answer.data == wanted["data"]
    assert {key: column.tolist() for key, column in answer.columns.items()} == {
        column["name"]: column["values"] for column in wanted["columns"]
    }


@pytest.mark.parametrize("name", NAMES)
def test_python_is_answered_with_the_pinned_bytes(name: str, cuda: ks.Trace) -> None:
    request = (GOLDEN / f"{name}.request.json").read_bytes()
    assert cuda._native.query(request) == (GOLDEN / f"{name}.response.bin").read_bytes()


def test_columns_reach_numpy_without_a_copy(cuda: ks.Trace) -> None:
    numpy = pytest.importorskip("numpy")
    column = cuda.query({"type": "search", "text": "gemm", "limit": 5}).columns["start"]
    assert numpy.asarray(column).dtype == numpy.float64
    assert numpy.shares_memory(numpy.asarray(column), column)
