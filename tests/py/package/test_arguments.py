"""What is said to arguments that are none: plain words, in exceptions that fit."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope._cli.main import main
from kinetoscope._io.paths import is_url

pytestmark = pytest.mark.unit

HUGE = 1 << 70
Call = Callable[[Any], Any]

CASES: dict[str, tuple[Call, type[Exception], str]] = {
    "a huge iteration": (
        lambda trace: trace.relink(iteration=HUGE),
        ks.TraceError,
        f"number of an iteration, found {HUGE}",
    ),
    "a name for an iteration": (
        lambda trace: trace.relink(iteration="3"),
        TypeError,
        "expected the number of an iteration, found str",
    ),
    "a huge iteration to cut": (lambda trace: trace.edit(iteration=-HUGE), ks.TraceError, "of an iteration, found -"),
    "a negative node": (lambda trace: trace.edit(subtree=-1), ks.TraceError, "expected the id of a node, found -1"),
    "half a node": (
        lambda trace: trace.edit(subtree=1.5),
        TypeError,
        "expected the id of a node, found float",
    ),
    "a factor that is no number": (
        lambda trace: trace.critical_path(what_if="gemm", factor=math.nan),
        ks.TraceError,
        "expected a finite number as factor, found nan",
    ),
    "a factor without end": (
        lambda trace: trace.critical_path(what_if="gemm", factor=-math.inf),
        ks.TraceError,
        "expected a finite number as factor, found -inf",
    ),
    "a start that is no number": (
        lambda trace: ks.diff(trace, trace, start_ns=math.nan),
        ks.TraceError,
        "expected a finite number as start_ns, found nan",
    ),
    "half an iteration": (
        lambda trace: trace.kernels(iteration=1.5),
        ks.TraceError,
        "expected an integer as iteration, found 1.5",
    ),
    "a capture that is a path": (
        lambda trace: trace.captured("x"),
        TypeError,
        "expected the Trace of the capture, found str",
    ),
    "no capture": (
        lambda trace: trace.captured(None),
        TypeError,
        "expected the Trace of the capture, found NoneType",
    ),
    "no path": (lambda _: ks.read(""), ValueError, "expected the path of a trace, found an empty one"),
    "no folder": (lambda _: ks.read_dir(""), ValueError, "expected the path of a folder, found an empty one"),
    "a negative size": (lambda trace: ks.read(str(trace.source), max_bytes=-1), ValueError, "of at least 0, found -1"),
    "a file as a folder": (
        lambda trace: ks.read(f"{trace.source}/"),
        NotADirectoryError,
        "expected a folder, found a f",
    ),
    "a folder in a file": (
        lambda trace: ks.read_dir(f"{trace.source}/"),
        NotADirectoryError,
        "expected a folder, found",
    ),
    "a missing file": (lambda _: ks.read("none.json"), FileNotFoundError, "No such file or directory: 'none.json'"),
    "a missing pair": (
        lambda trace: ks.read(str(trace.source), "none.json"),
        FileNotFoundError,
        "No such file or directory: 'none.json'",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_plain_words(data: Path, case: str) -> None:
    call, kind, words = CASES[case]
    with pytest.raises(kind) as raised:
        call(ks.read(data / "minimal_cpu/kineto_trace_0.json.gz"))
    assert words in str(raised.value)


def test_an_execution_trace_that_is_none(data: Path) -> None:
    pytest.importorskip("pandas")
    from kinetoscope.hta.common import execution_trace
    from kinetoscope.hta.trace_analysis import TraceAnalysis

    job = TraceAnalysis(trace_dir=str(data / "mlp_gloo"))
    nothing: Any = None
    with pytest.raises(TypeError, match="expected the result of load_execution_trace, found NoneType"):
        execution_trace.correlate_execution_trace(job.t, 0, nothing)


@pytest.mark.parametrize("path", ["12::x.json", "1s://x.json", "-s3://x", "::x", "a:b", "x.json", "C:\\x", "C://x"])
def test_a_path_is_no_address(path: str) -> None:
    assert not is_url(path)


@pytest.mark.parametrize("path", ["s3://x", "simplecache::s3://x", "http://x", "abfs+2://x", "git-x://a"])
def test_an_address_is_one(path: str) -> None:
    assert is_url(path)


def test_a_rank_that_is_not_there(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = str(tmp_path / "x.json")
    single, several = str(data / "mlp_gloo/kineto_trace_0.json.gz"), str(data / "mlp_gloo")
    for command, words in {
        (single, "3"): "expected one trace of rank 3, found rank 0",
        (several, "3"): "expected one trace of rank 3, found ranks 0, 1",
        (several, None): "expected one trace, or --rank to select one, found ranks 0, 1",
    }.items():
        rank = ["--rank", command[1]] if command[1] else []
        assert main(["link", "--kineto", command[0], *rank, "-o", target]) == 2
        assert capsys.readouterr().err == f"kinetoscope: {words}\n"


@pytest.mark.parametrize("command", ["link", "edit", "chakra"])
def test_no_option_makes_no_sense(command: str, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without an Execution Trace these have nothing to do, so none of them offers to read none."""
    with pytest.raises(SystemExit):
        main([command, "--help"])
    assert "--no-et" not in capsys.readouterr().out
    folder = ["--kineto", str(data / "mlp_gloo")] if command == "link" else [str(data / "mlp_gloo")]
    assert main([command, *folder, "--et", "x.json", "-o", "x"]) == 2
    assert capsys.readouterr().err.startswith("kinetoscope: expected a file with --et, found a folder: ")


def test_a_place_that_is_not_known_is_not_told(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stranger = data / "transformer_cpu/torch_et_0.json.gz"
    trace = ks.read(data / "minimal_cpu/kineto_trace_0.json.gz", stranger)
    kinds = dict(trace.health.select("kind", "first").rows())
    assert kinds["other_process"] is None
    with pytest.raises(ks.UnsupportedTraceError, match=r"found only a Kineto trace$"):
        ks.read(data / "minimal_cpu/kineto_trace_0.json.gz", False).to_chakra(tmp_path / "x.et")
    assert main(["doctor", str(data / "minimal_cpu/kineto_trace_0.json.gz"), "--et", str(stranger)]) == 0
    assert "place" not in capsys.readouterr().out
