"""Objects in the output of a cell: what a notebook shows of them without a widget."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import kinetoscope as ks
import pytest

pytestmark = pytest.mark.unit


def test_coverage(cuda: ks.Trace, transformer: ks.Trace) -> None:
    html = cuda.coverage._repr_html_()
    assert "<td>device events</td>" in html
    assert f"<td>{cuda.coverage['device_events']['count']}</td>" in html
    assert "1,614 record id, 3,196 observed iteration, 32 observed place" in transformer.coverage._repr_html_()
    assert json.loads(json.dumps(cuda.coverage)) == cuda.coverage


def test_reasons_of_coverage(cuda: ks.Trace) -> None:
    unlinked = {reason for share in ("operators", "device_events") for reason in cuda.coverage[share]["unlinked"]}
    assert unlinked
    assert all(cuda.coverage["reasons"][reason] in cuda.coverage._repr_html_() for reason in unlinked)


def test_verdict(cuda: ks.Trace) -> None:
    verdict = cuda.verdict
    assert verdict._repr_html_().startswith(f"<p>{verdict.state}</p>")
    assert all(problem in verdict._repr_html_() for problem in verdict.problems["problem"])


def test_a_diagnosis(cuda: ks.Trace) -> None:
    from kinetoscope._analysis.doctor import diagnosis

    html = diagnosis(cuda)._repr_html_()
    assert "<td>ok</td>" in html
    assert "<td>no defects</td>" in html


def test_members_of_a_job(data: Path) -> None:
    assert repr(ks.read_dir(data / "mlp_gloo").members[1]) == (
        "<recording of rank 1: kineto_trace_1.json.gz + torch_et_1.json.gz>"
    )


def test_a_timeline(cuda: ks.Trace, data: Path) -> None:
    pytest.importorskip("anywidget")
    timeline = cuda.timeline()
    assert repr(timeline) == f"<kinetoscope.Timeline of 'kineto_trace_0.json.gz': {cuda.num_events:,} events>"
    event = cuda.events["id"][0]
    timeline.goto(event)
    assert repr(timeline).endswith(f"events, selection {event}>")
    assert "of 2 traces" in repr(ks.read_dir(data / "mlp_gloo").timeline())


def test_a_memory_snapshot_shows_its_picture(data: Path) -> None:
    snapshot = ks.read(data / "memory_cuda/failed.pickle.gz")
    html = snapshot._repr_html_()
    assert "failed.pickle.gz" in html
    assert 'alt="memory bands: ' in html
    assert 'src="data:image/svg+xml,' in html
    assert "memory: " in html
    assert "actions" not in html
    empty = ks.read(pickle.dumps({"segments": [], "device_traces": [[]], "allocator_settings": {}}))
    assert empty._repr_html_() == "<p>a memory snapshot</p>"
