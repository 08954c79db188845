"""Nothing that a file has makes the core panic, hang, or take all memory."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.mutants import run

SECONDS = float(os.environ.get("KINETOSCOPE_MUTANT_SECONDS") or 80)
"""Of processor time, for all tests together. A run at night takes five minutes (`.ci/nightly`)."""
SEED = os.environ.get("KINETOSCOPE_MUTANT_SEED") or "0"
SHARES = 4
"""Tests among which the mutants are shared out, for as many processors."""


@pytest.mark.parametrize("share", range(SHARES))
def test_mutants_are_read_and_used_or_refused(share: int, tmp_path: Path) -> None:
    num_done, failures = run(SEED, share, SHARES, SECONDS / SHARES, tmp_path)
    assert not failures, "\n\n".join(failures)
    assert num_done > 0
