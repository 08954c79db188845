"""`kinetoscope run` and `kinetoscope nsys`, and the marks that `nsys=True` makes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope._cli.main import main
from support.recorded import iterations

torch = pytest.importorskip("torch")

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore::UserWarning")]

SCRIPT = """
import sys
import helper
import torch
for step in range(int(sys.argv[1])):
    torch.ones(3).add(1)
    prof.step()
if "fail" in sys.argv:
    raise ValueError("the script's own")
if "exit" in sys.argv:
    sys.exit(7)
print(__name__, sys.argv[1:], helper.__name__)
"""


@pytest.fixture
def script(tmp_path: Path) -> str:
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "helper.py").touch()
    (folder / "train.py").write_text(SCRIPT)
    return str(folder / "train.py")


# --- run ----------------------------------------------------------------------------------------------------------


def test_a_script_is_recorded(script: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sys.argv, sys.path[:]
    options = ["--wait", "1", "--active", "2", "--no-et", "-d", str(tmp_path / "traces")]
    assert main(["run", *options, "-o", str(tmp_path / "report.html"), script, "5", "--stack"]) == 0
    assert (sys.argv, sys.path[:]) == before
    said = capsys.readouterr().out
    assert said.startswith("__main__ ['5', '--stack'] helper\n")
    files, following = said.splitlines()[1:-1], said.splitlines()[-1]
    assert [Path(line).name for line in files] == ["kineto_trace_0.json.gz", "report.html"]
    assert following == f"next: kinetoscope summary {tmp_path / 'traces'}"
    assert main(following.split()[2:]) == 0
    trace = ks.read(tmp_path / "traces/kineto_trace_0.json.gz")
    assert iterations(trace) == [1, 2]
    assert (tmp_path / "report.html").exists()


@pytest.mark.parametrize(("how", "code"), [("fail", 1), ("exit", 7)])
def test_a_script_that_ends_badly_leaves_its_trace(
    script: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], how: str, code: int
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["run", "-d", str(tmp_path / "traces"), script, "2", how])
    assert ended.value.code == code
    said = capsys.readouterr().err
    assert ("ValueError: the script's own" in said, "runpy" in said) == (how == "fail", False)
    assert len(list((tmp_path / "traces").iterdir())) == 2


def test_options_and_warnings_of_a_script_are_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        "import sys, warnings, torch\n"
        "for _ in range(3): warnings.warn('divided by zero', RuntimeWarning); torch.ones(3)\n"
        "print(sys.argv[1:])\n"
    )
    folder = str(tmp_path / "traces")
    assert main(["run", "-d", folder, str(script), "--n", "6", "--mem", "-o", "out.txt", "--wait=3"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("['--n', '6', '--mem', '-o', 'out.txt', '--wait=3']\n")
    assert said.err.count("RuntimeWarning: divided by zero") == 1
    assert f"{script}:2: " in said.err


def test_a_recording_at_an_iteration(script: str, tmp_path: Path) -> None:
    assert main(["run", "--at", "3", "--active", "1", "-d", str(tmp_path / "traces"), script, "6"]) == 0
    trace = ks.read(tmp_path / "traces/kineto_trace_0.json.gz")
    assert iterations(trace) == [3]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package `trainer_of_tests` in the current folder, with a module and a `__main__`."""
    folder = tmp_path / "trainer_of_tests"
    (folder / "empty").mkdir(parents=True)
    for name in ("__init__", "helper", "empty/__init__"):
        (folder / f"{name}.py").touch()
    for name in ("__main__", "loop"):
        (folder / f"{name}.py").write_text(SCRIPT.replace("import helper", "from . import helper"))
    (folder / "broken.py").write_text("import no_such_library")
    monkeypatch.chdir(tmp_path)
    yield folder
    for name in [name for name in sys.modules if name.startswith("trainer_of_tests")]:
        del sys.modules[name]


@pytest.mark.parametrize("name", ["trainer_of_tests", "trainer_of_tests.loop"])
@pytest.mark.usefixtures("package")
def test_a_module_is_recorded(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sys.argv, sys.path[:]
    assert main(["run", "--active", "2", "-d", "my traces", "-m", name, "5", "--stack", "-m"]) == 0
    assert (sys.argv, sys.path[:]) == before
    said = capsys.readouterr().out
    assert said.startswith("__main__ ['5', '--stack', '-m'] trainer_of_tests.helper\n")
    assert said.endswith("next: kinetoscope summary 'my traces'\n")
    assert iterations(ks.read_dir(tmp_path / "my traces")[0]) == [1, 2]


def test_a_script_that_changes_the_working_folder_is_recorded_where_the_command_was_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "moves.py"
    script.write_text("import os, torch\nos.chdir('other')\ntorch.ones(3)\n")
    try:
        assert main(["run", "-o", "report.html", str(script)]) == 0
    finally:
        os.chdir(tmp_path)
    written = ["traces/kineto_trace_0.json.gz", "traces/torch_et_0.json.gz", "report.html"]
    assert capsys.readouterr().out.splitlines() == [*written, "next: kinetoscope summary traces"]
    assert all((tmp_path / name).is_file() for name in written)
    assert not any((tmp_path / "other").iterdir())


@pytest.mark.parametrize(
    "name", ["no_such_package", "no_such.module", "trainer_of_tests.none", "trainer_of_tests.empty", "loop.py"]
)
@pytest.mark.usefixtures("package")
def test_no_module(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "-d", str(tmp_path / "traces"), "-m", name]) == 2
    assert f"no such module: {name}" in capsys.readouterr().err
    assert not (tmp_path / "traces").exists()


@pytest.mark.usefixtures("package")
def test_an_error_of_a_module_is_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["run", "-m", "trainer_of_tests.broken"])
    said = capsys.readouterr().err
    assert "No module named 'no_such_library'" in said
    assert "Traceback" in said
    assert "runpy" not in said


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--warmup 1", "--warmup needs --active, the number of iterations to record"),
        ("--wait 0", "--wait needs --active"),
        ("--repeat 3", "--repeat needs --active"),
        ("--skip-first 3 --stack", "--skip-first needs --active"),
        ("--active 0", "expected --active of at least 1, found 0"),
        ("--at 3 --wait 1", "expected --wait or --at, found both"),
        ("--slow-step 1", "expected --slow-step above 1, found 1"),
        ("--max-bytes 0", "expected --max-bytes of at least 1, found 0"),
        ("--nsys -o report.html", "expected --output or --nsys"),
        ("-o report.json", "expected a file name that ends in .html, found report.json"),
    ],
)
def test_an_option_that_needs_another_says_so(
    words: str, expected: str, script: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", *words.split(), "-d", str(tmp_path / "traces"), script, "2"]) == 2
    said = capsys.readouterr()
    assert said.err.startswith(f"kinetoscope: {expected}")
    assert (said.err.count("\n"), said.out, (tmp_path / "traces").exists()) == (1, "", False)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"warmup": 1}, "warmup= needs active=, the number of iterations to record"),
        ({"repeat": 2}, "repeat= needs active="),
        ({"active": 0}, "expected active= of at least 1, found 0"),
        ({"active": 1, "wait": -1}, "expected wait= of at least 0, found -1"),
        ({"schedule": lambda _: None, "active": 3}, "expected schedule= or active=, found both"),
        ({"max_events": 0}, "expected max_events= of at least 1, found 0"),
    ],
)
def test_a_parameter_that_needs_another_says_so(tmp_path: Path, options: dict[str, Any], expected: str) -> None:
    with pytest.raises(ValueError, match=f"ks.profile: {expected}"):
        ks.profile(tmp_path, **options)


def test_a_program_that_ended_the_recording_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "train.py"
    script.write_text("import torch\nwith torch.profiler.profile(): torch.ones(3)\nprint('ran')\n")
    with pytest.raises(SystemExit) as ended:
        main(["run", "-d", str(tmp_path / "traces"), str(script)])
    said = capsys.readouterr()
    assert (ended.value.code, said.out) == (1, "ran\n")
    assert re.search("another profiler has ended|stopping failed, the recording ended", said.err), "by version of torch"


def test_a_loop_that_is_too_short_fails(script: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["run", "--wait", "9", "--active", "1", "-d", str(tmp_path / "traces"), script, "2"])
    assert ended.value.code == 1
    assert "nothing was recorded: the loop ended in iteration 2" in capsys.readouterr().err


def test_no_script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "-d", str(tmp_path / "traces"), str(tmp_path / "none.py")]) == 2
    assert "no such script" in capsys.readouterr().err
    assert not (tmp_path / "traces").exists()


# --- nsys ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def nsys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program of that name that says how it was called, and runs what it was given."""
    program = tmp_path / "bin/nsys"
    program.parent.mkdir()
    program.write_text(
        '#!/bin/bash\necho "$@" > "$NSYS_CALLED"\nwhile [[ $1 != -o ]]; do shift; done\nshift 2\nexec "$@"\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("NSYS_CALLED", str(tmp_path / "called"))
    return tmp_path / "called"


def test_a_program_runs_under_nsys(nsys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "3")
    code = "import os, sys; sys.exit(5 if os.environ['KINETOSCOPE_NSYS'] == '1' else 6)"
    with pytest.raises(SystemExit) as ended:
        main(["nsys", "--", sys.executable, "-c", code])
    assert ended.value.code == 5
    expected = "profile --capture-range=cudaProfilerApi --capture-range-end=stop --force-overwrite=true -o nsys_3"
    assert nsys.read_text().startswith(f"{expected} {sys.executable} -c ")
    assert main(["nsys", "-o", "mine", "true"]) == 0
    assert "-o mine true" in nsys.read_text()


def test_without_nsys_or_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["nsys", "--", "true"]) == 2
    assert "found no nsys on the PATH" in capsys.readouterr().err
    assert main(["nsys"]) == 2
    assert "expected a program" in capsys.readouterr().err


@pytest.fixture
def marks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What CUDA was told."""
    told: list[str] = []
    profiler = SimpleNamespace(start=lambda: told.append("start"), stop=lambda: told.append("stop"))
    nvtx = SimpleNamespace(range_push=lambda name: told.append(name[-1]), range_pop=lambda: told.append("pop"))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "profiler", profiler)
    monkeypatch.setattr(torch.cuda, "nvtx", nvtx)
    return told


def loop(prof: ks.profile, iterations: int) -> None:
    with prof:
        for _ in range(iterations):
            prof.step()


def test_marks_of_a_window(tmp_path: Path, marks: list[str]) -> None:
    ready: list[int] = []
    prof = ks.profile(tmp_path, nsys=True, wait=1, active=2, on_trace_ready=lambda prof: ready.append(prof.step_num))
    loop(prof, 4)
    assert " ".join(marks) == "0 pop start 1 pop 2 pop stop 3 pop 4 pop"
    assert (ready, prof.files, list(tmp_path.iterdir())) == ([3], [], [])


@pytest.mark.parametrize(
    ("options", "iterations", "expected"),
    [
        ({}, 1, "start 0 pop 1 pop stop"),
        ({"active": 1, "repeat": 2}, 3, "start 0 pop stop start 1 pop stop 2 pop 3 pop"),
        ({"active": 9}, 1, "start 0 pop 1 pop stop"),
        ({"wait": 3, "active": 1, "max_iterations": 1}, 4, "0 pop 1 pop 2 pop start 3 pop stop 4 pop"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_marks_are_where_torch_would_record(
    tmp_path: Path, marks: list[str], options: dict[str, Any], iterations: int, expected: str
) -> None:
    loop(ks.profile(tmp_path, nsys=True, **options), iterations)
    assert " ".join(marks) == expected


def test_marks_end_with_the_loop(tmp_path: Path, marks: list[str]) -> None:
    with pytest.raises(ZeroDivisionError), ks.profile(tmp_path, nsys=True, active=5):
        _ = 1 // 0
    assert marks == ["start", "0", "pop", "stop"]


def test_under_nsys_every_recording_marks(tmp_path: Path, marks: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KINETOSCOPE_NSYS", "1")
    loop(ks.profile(tmp_path), 1)
    assert marks == ["start", "0", "pop", "1", "pop", "stop"]


def test_marks_end_when_the_schedule_raises(tmp_path: Path, marks: list[str]) -> None:
    def schedule(step: int) -> Any:
        return torch.profiler.ProfilerAction.RECORD if step < 2 else 1 // 0

    with pytest.raises(ZeroDivisionError):
        loop(ks.profile(tmp_path, nsys=True, schedule=schedule), 2)
    assert marks == ["start", "0", "pop", "1", "pop", "stop"]


def test_no_marks_without_cuda(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(RuntimeError, match="expected CUDA"):
        ks.profile(tmp_path, nsys=True)


def test_commands_load_no_torch() -> None:
    # a site may load either by itself
    code = "import sys; own = {*sys.modules}; import kinetoscope._cli.main"
    code += "; print(*{'torch', 'IPython'} & {*sys.modules} - own)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
