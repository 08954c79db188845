"""A recording in the output of a cell."""

from __future__ import annotations

from pathlib import Path

import kinetoscope as ks
import pytest

torch = pytest.importorskip("torch")

pytestmark = [
    pytest.mark.torch,
    pytest.mark.usefixtures("nothing_left_running"),
    pytest.mark.filterwarnings("ignore:.*acc_events"),
]


def test_a_recording_shows_its_state_and_its_summary(tmp_path: Path) -> None:
    prof = ks.profile(tmp_path, active=1, repeat=2)
    assert "stopped, 0 recorded" in prof._repr_html_()
    with prof:
        torch.ones(3).add(1)
        assert "running, iteration 0" in repr(prof)
        assert "running, iteration 0, 0 recorded" in prof._repr_html_()
        for _ in range(4):
            torch.ones(3).add(1)
            prof.step()
    html = prof._repr_html_()
    assert "stopped, 2 recorded" in html
    assert "aten::add" in html
    assert "in torch&#x27;s profiler" in prof.overhead._repr_html_()
    for path in prof.files:
        path.unlink()
    again = ks.profile(tmp_path, active=1)
    with again:
        torch.ones(3).add(1)
        again.step()
        torch.ones(3).add(1)
    for path in again.files:
        path.unlink()
    assert "removed or replaced" in again._repr_html_()
