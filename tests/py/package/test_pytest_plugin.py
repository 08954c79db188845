"""The plugin of pytest: records a block, checks budgets, and stays out of tests that do not ask for it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]

pytest_plugins = ["pytester"]

OTHERS = ("-p", "no:cacheprovider", "-p", "no:rerunfailures", "-p", "no:xdist")
"""Our plugin is loaded by its entry point, as users have it."""


@pytest.mark.unit
def test_the_entry_point_is_the_plugin() -> None:
    text = (ROOT / "py/pyproject.toml").read_text(encoding="utf-8")
    assert '[project.entry-points.pytest11]\nkinetoscope = "kinetoscope.pytest_plugin"' in text


@pytest.mark.unit
def test_it_loads_no_torch() -> None:
    code = "import sys, kinetoscope.pytest_plugin; print(sorted({'torch', 'numpy', 'rich'} & {*sys.modules}))"
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "[]\n"
    code = (
        "import sys, kinetoscope.pytest_plugin; print([m for m in sys.modules if m.startswith('kinetoscope._report')])"
    )
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "[]\n"


@pytest.mark.torch
def test_budgets_of_a_block(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import torch

        def loop(t, num=5):
            for _ in range(num):
                torch.ones(8, 8) @ torch.ones(8, 8)
                t.step()

        def test_kept(kinetoscope_trace):
            with kinetoscope_trace(warmup=1, active=3) as t:
                loop(t)
            gate = t.check(step="10 s", forbid=["recompilation"], min_iterations=3)
            assert gate.passed and t.trace.num_events

        def test_broken(kinetoscope_trace):
            with kinetoscope_trace() as t:
                loop(t)
            t.check(step="1 ns")

        def test_unknown(kinetoscope_trace):
            with kinetoscope_trace() as t:
                loop(t)
            t.check(peak_memory="1 GiB")

        def test_two_blocks(kinetoscope_trace):
            for _ in range(2):
                with kinetoscope_trace(profile_memory=True) as t:
                    torch.ones(1000)
            t.check(peak_memory="1 GiB")

        def test_too_early(kinetoscope_trace):
            with kinetoscope_trace() as t:
                t.trace
        """
    )
    result = pytester.runpytest_subprocess(*OTHERS)
    result.assert_outcomes(passed=2, failed=3)
    out = result.stdout.str()
    assert re.search(r"failed: 1 of 1 budget is broken", out)
    assert re.search(r"broken +step +[\d.,]+ .?s +1 ns", out)
    assert "unknown: 1 of 1 budget is unknown" in out
    assert "memory was not recorded (profile_memory=True records it)" in out
    assert "expected the end of the block" in out


@pytest.mark.torch
def test_it_is_off_unless_used(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("import sys\ndef test_plain():\n    assert 'torch' not in sys.modules\n")
    result = pytester.runpytest_subprocess(*OTHERS)
    result.assert_outcomes(passed=1)
    result = pytester.runpytest_subprocess(*OTHERS, "--fixtures")
    result.stdout.fnmatch_lines(["kinetoscope_trace*"])


@pytest.mark.torch
def test_a_loop_shorter_than_the_warm_up_fails_with_its_steps(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest
        import torch

        def check(record, num, **options):
            with record(active=10, **options) as t:
                for _ in range(num):
                    torch.ones(8, 8) @ torch.ones(8, 8)
                    t.step()
            t.check(step="1 s", min_iterations=1)

        WINDOWS = [{}, {"execution_trace": True}, {"execution_trace": "same"}]

        @pytest.mark.parametrize("num", [0, 1, 2, 3, 4])
        @pytest.mark.parametrize("options", WINDOWS)
        def test_warm_up(kinetoscope_trace, num, options):
            check(kinetoscope_trace, num, warmup=2, **options)

        @pytest.mark.parametrize("num", [3, 4])
        def test_wait(kinetoscope_trace, num):
            check(kinetoscope_trace, num, wait=1, warmup=1, skip_first=1)

        @pytest.mark.parametrize("num", [2, 3])
        def test_skip_first_wait(kinetoscope_trace, num):
            check(kinetoscope_trace, num, wait=1, warmup=1, skip_first=1, skip_first_wait=1)

        def test_another_rank(kinetoscope_trace):
            check(kinetoscope_trace, 2, warmup=2, rank=0, ranks=[1])
        """
    )
    result = pytester.runpytest_subprocess(*OTHERS, "-rN")
    result.assert_outcomes(passed=2 * 3 + 1 + 1, failed=3 * 3 + 1 + 1 + 1)
    out = result.stdout.str()
    for needed, found in [*((3, num) for num in (0, 1, 2)), (4, 3), (3, 2)]:
        assert f"needs {needed} calls of step(), found {found}\n" in out
    assert out.count("expected a recorded window to read, found none: the first recorded iteration needs") == 10
    assert out.count("expected an iteration without the observer of the Execution Trace, found none: ") == 1
    assert out.count("expected a recorded window to read, found none\n") == 1


@pytest.mark.torch
def test_a_window_that_begins_at_the_end_of_the_loop_is_not_recorded(tmp_path: Path) -> None:
    import kinetoscope as ks
    import torch

    counts: dict[str, Any] = {"wait": 1, "warmup": 1, "active": 1, "repeat": 2}
    with ks.profile(tmp_path, **counts, execution_trace=False) as prof:
        for _ in range(5):
            torch.ones(8, 8).sum()
            prof.step()
    assert len(prof.recordings) == 1
    assert [number for (number,) in prof.trace.iterations.select("iteration").rows()] == [2]
