"""`%kinetoscope` and `%%kinetoscope` in a shell of IPython."""

from __future__ import annotations

import re
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
    assert iterations(trace) == [2, 3]
    assert (trace.metadata["kineto"]["with_stack"], "record_shapes" in trace.metadata["kineto"]) == (1, False)
    assert sorted(path.name for path in (tmp_path / "my traces").iterdir()) == [
        *("kineto_trace_0.json.gz", "torch_et_0.json.gz")
    ]
    assert (tmp_path / "report.html").stat().st_size > 10_000
    assert "report.html" in capsys.readouterr().out


def test_a_cell_that_raises_keeps_its_recording(shell: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ZeroDivisionError):
        shell.run_cell_magic("kinetoscope", f"-r trace -o {tmp_path}/report.html", "torch.ones(3).sinh()\n1 / 0")
    assert "aten::sinh" in names(shell.user_ns["trace"])
    assert "prof" not in shell.user_ns
    said = capsys.readouterr().out
    assert "recorded until the exception: trace" in said
    assert repr(shell.user_ns["trace"])[:40] in said
    assert (tmp_path / "report.html").exists()
    assert not shell.run_cell("%kinetoscope 1 / 0").success


def test_ctrl_c_keeps_the_recording_as_prof(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    cell = "for step in range(9):\n    torch.ones(3).cosh()\n    prof.step()\n    if step == 5: raise KeyboardInterrupt"
    with pytest.raises(KeyboardInterrupt):
        shell.run_cell_magic("kinetoscope", "--active 3", cell)
    prof = shell.user_ns["prof"]
    assert iterations(prof.trace) == [1, 2, 3]
    assert "aten::cosh" in names(prof.trace)
    assert "recorded until the exception: prof.trace" in capsys.readouterr().out
    assert shell.run_cell("%%kinetoscope\ntorch.ones(3)").success
    assert shell.user_ns["prof"] is prof


def test_an_error_before_the_window_raises_alone(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ZeroDivisionError):
        shell.run_cell_magic("kinetoscope", "-r trace --wait 2 --active 1", "1 / 0")
    assert shell.user_ns["trace"] is None, "an older recording would pass for this one"
    assert "recorded until" not in capsys.readouterr().out


def test_each_of_several_windows_can_be_read(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    cell = "for step in range(12):\n    torch.ones(3).cosh()\n    prof.step()\n"
    trace = shell.run_cell_magic("kinetoscope", "--warmup 1 --active 1 --repeat 3 --no-et -r found", cell)
    assert shell.user_ns["found"] is trace
    assert [iterations(each) for each in shell.user_ns["prof"].traces] == [[1], [3], [5]]
    assert "recorded 3 windows" in capsys.readouterr().out
    with pytest.raises(ZeroDivisionError):
        shell.run_cell_magic("kinetoscope", "--warmup 1 --active 1 --repeat 3 --no-et", cell + "1 / 0")
    assert [iterations(each) for each in shell.user_ns["prof"].traces] == [[1], [3], [5]]


def test_a_temporary_folder_lasts_as_long_as_its_recording(shell: Any) -> None:
    import gc

    folders = []
    shell.user_ns["note"] = folders.append
    shell.run_cell_magic("kinetoscope", "--no-et", "note(prof.dir)")
    gc.collect()
    assert not Path(folders[0]).exists()


def test_a_report_is_written_where_the_cell_began(shell: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other").mkdir()
    shell.run_cell_magic("kinetoscope", "--no-et -o report.html", "import os; os.chdir('other')")
    assert (tmp_path / "report.html").exists()


# --- await --------------------------------------------------------------------------------------------------------


def test_a_cell_awaits(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    cell = """%%kinetoscope -r trace --active 2
import asyncio
async def batches():
    for number in range(5):
        await asyncio.sleep(0)
        yield torch.ones(number)
async for batch in batches():
    batch.sinh()
    prof.step()
await asyncio.sleep(0, "the last")
"""
    done = shell.run_cell(cell)
    assert done.success
    assert done.result is shell.user_ns["trace"]
    assert "aten::sinh" in names(done.result)
    assert iterations(done.result) == [1, 2]
    assert "the last" in capsys.readouterr().out


def test_an_expression_awaits(shell: Any) -> None:
    shell.run_cell("async def f(): return torch.ones(3).cosh()")
    done = shell.run_cell("é = %kinetoscope --no-check await f()\né")
    assert done.success
    assert "aten::cosh" in names(done.result)


def test_a_cell_that_awaits_runs_in_the_loop_of_its_tasks(shell: Any) -> None:
    import asyncio

    async def run() -> Any:
        shell.user_ns["loop"] = asyncio.get_running_loop()
        code = "%%kinetoscope\nimport asyncio\nassert asyncio.get_running_loop() is loop\nawait asyncio.sleep(0)"
        return await shell.run_cell_async(code, transformed_cell=shell.transform_cell(code))

    assert asyncio.run(run()).success


def test_an_error_after_an_await_keeps_the_recording(shell: Any) -> None:
    cell = "%%kinetoscope -r trace\nimport asyncio\ntorch.ones(3).sinh()\nawait asyncio.sleep(0)\n1 / 0"
    assert isinstance(shell.run_cell(cell).error_in_exec, ZeroDivisionError)
    assert "aten::sinh" in names(shell.user_ns["trace"])


def test_an_await_inside_a_function_or_a_text_changes_nothing(shell: Any) -> None:
    done = shell.run_cell("%%kinetoscope --no-check\nasync def f():\n    await g()\ntorch.ones(3)\n'await';")
    assert done.success
    assert "aten::ones" in names(done.result)


def test_annotations_of_a_cell_are_evaluated_as_in_any_cell(shell: Any) -> None:
    assert shell.run_cell("%%kinetoscope --no-check\ntorch.ones(3)\nx: int = 1").success
    assert shell.run_cell("__annotations__['x'] is int").result


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("--no-such", "no such option: --no-such"),
        ("--shaps", "no such option: --shaps: did you mean --shapes?"),
        ("--active x", "expected a count, found x"),
        ("-r 1x", "found 1x"),
        ("--warmup 1", "--warmup needs --active"),
        ("-o report.json", "ends in .html"),
        ("-o none/report.html", "no such folder: none, for the report report.html"),
        ("-o 'report.html", "no closing quotation in -o 'report.html"),
    ],
)
def test_a_wrong_option_is_told_before_anything_runs(shell: Any, line: str, expected: str) -> None:
    from IPython.core.error import UsageError

    with pytest.raises(UsageError, match=f"%kinetoscope: .*{re.escape(expected)}"):
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
