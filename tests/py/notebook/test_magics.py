"""`%kinetoscope` and `%%kinetoscope` in a shell of IPython."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.recorded import iterations

if TYPE_CHECKING:
    import kinetoscope as ks

torch = pytest.importorskip("torch")
testing = pytest.importorskip("IPython.testing.globalipapp")

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

STEPS = "for step in range(4):\n    torch.ones(3).add(1)\n    prof.step()\n"


@pytest.fixture
def shell() -> Iterator[Any]:
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell()
    shell.run_line_magic("load_ext", "kinetoscope")
    shell.user_ns["torch"] = torch
    yield shell
    assert not torch.autograd._profiler_enabled()


def names(trace: ks.Trace) -> set[str]:
    return {name for (name,) in trace.events.select("name").rows()}


def test_an_expression(shell: Any) -> None:
    trace = shell.run_line_magic("kinetoscope", 'torch.ones(3, dtype=getattr(torch,  "float64")).cosh()')
    assert {"aten::cosh", "aten::ones"} <= names(trace)
    assert len(trace.nodes)


def test_blanks_between_options_say_nothing(shell: Any) -> None:
    trace = shell.run_line_magic("kinetoscope", "--no-check  --no-et   torch.ones(3).cosh()")
    assert "aten::cosh" in names(trace)


def test_a_cell(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    trace = shell.run_cell_magic("kinetoscope", "", "x = torch.ones(3).sinh()\ny = 2\n'the ' + 'last'")
    assert "aten::sinh" in names(trace)
    assert (shell.user_ns["y"], tuple(shell.user_ns["x"].shape)) == (2, (3,))
    assert "the last" in capsys.readouterr().out
    assert "prof" not in shell.user_ns


def test_a_semicolon_keeps_the_value_to_itself(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    shell.run_cell_magic("kinetoscope", "", "torch.ones(3)\n'the last';  \n")
    shell.run_line_magic("kinetoscope", "'an expression';")
    said = capsys.readouterr().out
    assert "the last" not in said
    assert "an expression" not in said


def test_as_it_is_typed(shell: Any) -> None:
    done = shell.run_cell("%%kinetoscope -r trace\n%pwd\ntorch.ones(3).sinh();")
    assert done.success
    assert done.result is shell.user_ns["trace"]
    assert "aten::sinh" in names(shell.user_ns["trace"])
    assert shell.run_cell("%kinetoscope -r other torch.ones(3)").success
    assert "aten::ones" in names(shell.user_ns["other"])


def test_options(shell: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shell.user_ns["prof"] = "mine"
    line = f"--wait 1 --active 2 --stack --no-shapes -d '{tmp_path}/my traces' -o {tmp_path}/report.html -r found"
    trace = shell.run_cell_magic("kinetoscope", line, STEPS)
    assert shell.user_ns["found"] is trace
    assert shell.user_ns["prof"] == "mine"
    assert iterations(trace) == [1, 2]
    assert (trace.metadata["kineto"]["with_stack"], "record_shapes" in trace.metadata["kineto"]) == (1, False)
    assert sorted(path.name for path in (tmp_path / "my traces").iterdir()) == [
        *("kineto_trace_0.json.gz", "torch_et_0.json.gz")
    ]
    assert (tmp_path / "report.html").stat().st_size > 10_000
    assert "report.html" in capsys.readouterr().out


def test_an_error_of_the_cell_is_raised_and_the_recording_ends(shell: Any) -> None:
    with pytest.raises(ZeroDivisionError):
        shell.run_cell_magic("kinetoscope", "-r trace", "torch.ones(3)\n1 / 0")
    assert "trace" not in shell.user_ns
    assert "prof" not in shell.user_ns
    assert not shell.run_cell("%kinetoscope 1 / 0").success
    with pytest.raises(KeyboardInterrupt):
        shell.run_cell_magic("kinetoscope", "", "raise KeyboardInterrupt")


@pytest.mark.parametrize("line", ["--no-such", "--active x", "-r 1x"])
def test_a_wrong_option_is_told_before_anything_runs(shell: Any, line: str) -> None:
    from IPython.core.error import UsageError

    with pytest.raises(UsageError, match="kinetoscope"):
        shell.run_cell_magic("kinetoscope", line, "ran = True")
    assert "ran" not in shell.user_ns


def test_what_is_no_code_is_told_before_anything_runs(shell: Any, tmp_path: Path) -> None:
    with pytest.raises(SyntaxError):
        shell.run_cell_magic("kinetoscope", f"-d {tmp_path}/traces", "ran = = True")
    assert not (tmp_path / "traces").exists()


def test_help_lists_the_options_of_the_command(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert shell.run_line_magic("kinetoscope", "--help") is None
    said = capsys.readouterr().out
    command = [sys.executable, "-m", "kinetoscope", "run", "--help"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    options = {word.strip(",") for word in listed.split() if word.startswith("--")}
    assert {"--active", "--stack", "--memory", "--ranks", "--output"} <= options <= set(said.replace(",", " ").split())


def test_the_extension_needs_no_torch() -> None:
    code = (
        "import sys; import kinetoscope._notebook.magics; print([n for n in ('torch', 'IPython') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
