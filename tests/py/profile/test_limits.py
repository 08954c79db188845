"""How much `ks.profile` records, on which ranks, and what it says when that is going to be much."""

from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope.profiling import limits
from kinetoscope.profiling.limits import Limits, Size
from support import recorded

torch = pytest.importorskip("torch")

pytestmark = [
    pytest.mark.torch,
    pytest.mark.usefixtures("nothing_left_running"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


def loop(prof: ks.profile, iterations: int) -> None:
    for _ in range(iterations):
        for _ in range(50):
            torch.ones(4, 4).matmul(torch.ones(4, 4))
        prof.step()


def iterations(prof: ks.profile) -> list[list[int]]:
    return [recorded.iterations(trace) for trace in prof.traces]


# --- limits -------------------------------------------------------------------------------------------------------


def test_max_iterations_ends_a_window(tmp_path: Path) -> None:
    with pytest.warns(RuntimeWarning, match="reached max_iterations=3 in recorded iteration 3"):
        with ks.profile(tmp_path, max_iterations=3) as prof:
            loop(prof, 10)
    assert iterations(prof) == [[1, 2, 3]]


def test_max_iterations_counts_all_windows(tmp_path: Path) -> None:
    with pytest.warns(RuntimeWarning, match="max_iterations=3"):
        with ks.profile(tmp_path, wait=1, active=2, repeat=0, max_iterations=3) as prof:
            loop(prof, 20)
    assert iterations(prof) == [[2, 3], [6]]


@pytest.mark.parametrize("options", [{}, {"with_stack": True}, {"profile_memory": True}])
def test_max_bytes_ends_a_window_at_about_that_size(tmp_path: Path, options: dict[str, Any]) -> None:
    limit = 1_000_000
    with pytest.warns(RuntimeWarning, match="reached max_bytes=1,000,000"):
        with ks.profile(tmp_path, max_bytes=limit, compress=False, **options) as prof:
            loop(prof, 100)
    assert limit / 3 < prof.files[0].stat().st_size < limit * 3
    assert 1 < len(prof.trace.iterations) < 50


def test_max_bytes_is_exact_once_a_window_has_told_the_ratio(tmp_path: Path) -> None:
    with pytest.warns(RuntimeWarning, match="max_bytes"):
        with ks.profile(tmp_path, active=2, repeat=0, max_bytes=2_000_000, compress=False) as prof:
            loop(prof, 100)
    sizes = [recording.kineto.stat().st_size for recording in prof.recordings]
    assert len(sizes) > 3
    assert 1_900_000 < sum(sizes) < 2_000_000 + max(sizes)


def test_max_events(tmp_path: Path) -> None:
    with pytest.warns(RuntimeWarning, match="max_events=2,000"):
        with ks.profile(tmp_path, max_events=2000) as prof:
            loop(prof, 100)
    assert 700 < prof.trace.num_events < 6000


@pytest.mark.parametrize("wrong", [{"max_bytes": 0}, {"max_events": -1}, {"max_iterations": 0}])
def test_limits_that_are_none(tmp_path: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"expected {next(iter(wrong))}= of at least 1"):
        ks.profile(tmp_path, **wrong)


# --- advice -------------------------------------------------------------------------------------------------------


def test_a_huge_trace_is_foreseen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_HUGE_BYTES", 1_000_000)
    prof = ks.profile(tmp_path, active=100, with_stack=True)
    with warnings.catch_warnings(record=True) as told, prof:
        warnings.simplefilter("always", RuntimeWarning)
        loop(prof, 5)
    (advice,) = (said for warning in told if "trace will need" in (said := str(warning.message)))
    assert re.search(r"about .*MiB: with_stack=True at least doubles.*active=.*max_bytes=", advice)


def test_no_advice_for_an_ordinary_trace(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with ks.profile(tmp_path, active=3, with_stack=True) as prof:
            loop(prof, 5)


def test_advice_names_what_is_on() -> None:
    size = Size(Limits(), {"profile_memory": True}, 10)
    size.iteration_recorded(1 << 30, is_counted=False)
    on = size.advice()
    assert on is not None
    assert "profile_memory" in on
    assert "with_stack" not in on


# --- ranks --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ranks", [[0, 8], range(8, 9), lambda rank: rank % 8 == 0])
@pytest.mark.parametrize("rank", [7, 8, 9])
def test_ranks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ranks: Any, rank: int) -> None:
    monkeypatch.setenv("RANK", str(rank))
    is_recorded = rank == 8
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with ks.profile(tmp_path / "traces", ranks=ranks, active=1) as prof:
            assert torch.autograd._profiler_enabled() == is_recorded
            loop(prof, 3)
    assert [path.name for path in prof.files] == [
        f"{name}_{rank}.json.gz" for name in ("kineto_trace", "torch_et") if is_recorded
    ]
    assert (tmp_path / "traces").exists() == is_recorded


def test_a_rank_that_is_not_recorded_lets_another_recording_start(tmp_path: Path) -> None:
    with ks.profile(tmp_path, ranks=[5]) as outer, ks.profile(tmp_path / "inner") as inner:
        loop(outer, 1)
        loop(inner, 1)
    assert (len(outer.files), len(inner.files)) == (0, 2)


def test_a_predicate_that_fails_is_told_before_the_loop(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        ks.profile(tmp_path, ranks=lambda rank: 1 // rank == 1).start()
    with ks.profile(tmp_path) as prof:
        loop(prof, 1)
    assert len(prof.files) == 2


# --- a loop that steps by itself ----------------------------------------------------------------------------------


def test_steps(tmp_path: Path) -> None:
    prof = ks.profile(tmp_path, wait=1, active=2)
    seen = [batch for batch in prof.steps("abcdef") if torch.ones(3).add(1) is not None]
    assert seen == list("abcdef")
    assert iterations(prof) == [[2, 3]]


def test_steps_of_a_recording_that_runs(tmp_path: Path) -> None:
    with ks.profile(tmp_path, wait=1, active=2) as prof:
        for _ in range(2):
            for _ in prof.steps("ab"):
                torch.ones(3).add(1)
        torch.ones(3)
    assert iterations(prof) == [[2, 3]]


def leave_by_break(prof: ks.profile) -> None:
    for _ in prof.steps(range(10)):
        torch.ones(3).add(1)
        if prof.step_num == 2:
            break


def leave_by_error(prof: ks.profile) -> None:
    for _ in prof.steps(range(10)):
        torch.ones(3).add(1)
        if prof.step_num == 2:
            raise LookupError


@pytest.mark.parametrize("leave", [leave_by_break, leave_by_error])
def test_steps_of_a_loop_that_ends_early(tmp_path: Path, leave: Callable[[ks.profile], None]) -> None:
    prof = ks.profile(tmp_path)
    with contextlib.suppress(LookupError):
        leave(prof)
    assert recorded.observed(prof.trace) + iterations(prof)[0] == [0, 1, 2]
