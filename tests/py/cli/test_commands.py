"""The command: what it prints and writes, and what it says to input that is not what it should be."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import kinetoscope as ks
import pytest
from kinetoscope._cli.main import main
from support.terminal import all_of

pytestmark = pytest.mark.unit


@pytest.fixture
def trace(data: Path) -> str:
    return str(data / "synthetic_cuda/kineto_trace_0.json.gz")


def test_summary(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["summary", trace, "--limit", "3"]) == 0
    out = capsys.readouterr().out
    assert "Top operators" in out
    assert "aten::addmm" in out
    assert "more" in out


def test_summary_as_json(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["summary", trace, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == ks.read(trace).summary(limit=10).data


@pytest.fixture(params=["folder", "archive"])
def job(data: Path, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    if request.param == "folder":
        return str(data / "mlp_gloo")
    return shutil.make_archive(str(tmp_path / "job"), "gztar", data / "mlp_gloo")


def test_summary_of_several(job: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["summary", job, "--limit", "2"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("TraceSet: 2 traces of 2 ranks\n")
    assert [line for line in out.splitlines() if line.startswith("--- ")] == ["--- rank 0 ---", "--- rank 1 ---"]
    assert out.count("Top operators") == 2
    assert main(["summary", job, "--json"]) == 0
    ranks = {"0": 0, "1": 1}
    expected = {name: ks.read_dir(job)[rank].summary(limit=10).data for name, rank in ranks.items()}
    assert json.loads(capsys.readouterr().out) == expected


def test_doctor_of_several(job: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", job]) == 0
    out = capsys.readouterr().out
    assert out.count("--- rank") == 2
    assert "input shapes" in out


def test_export_of_several(job: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "nodes.csv"
    assert main(["export", job, "--table", "nodes", "-o", str(path)]) == 0
    num_rows = sum(len(trace.nodes) for trace in ks.read_dir(job))
    assert capsys.readouterr().out == f"{path}: {num_rows:,} rows of nodes\n"
    assert path.read_text(encoding="utf-8").startswith("rank,window,node_id")


def test_windows_of_a_rank_are_told_apart(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("kineto_trace_0.json.gz", "kineto_trace_0.1.json.gz", "x.json.gz"):
        shutil.copy(data / "minimal_cpu/kineto_trace_0.json.gz", tmp_path / name)
    assert main(["summary", str(tmp_path), "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)) == ["0", "0.1", "unknown"]


def test_a_folder_is_read_without_its_execution_traces(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["summary", str(data / "mlp_gloo"), "--no-et", "--json"]) == 0
    assert {each["num_nodes"] for each in json.loads(capsys.readouterr().out).values()} == {0}
    assert main(["summary", str(data / "mlp_gloo"), "--et", "x.json"]) == 2
    assert "expected a file with --et, found a folder" in capsys.readouterr().err


def test_the_execution_trace(trace: str, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["summary", trace, "--json", "--no-et"])
    assert json.loads(capsys.readouterr().out)["num_nodes"] == 0
    main(["summary", trace, "--json", "--et", str(data / "minimal_cpu/torch_et_0.json.gz")])
    assert json.loads(capsys.readouterr().out)["num_nodes"] > 0


@pytest.mark.skipif(not (Path(ks.__file__).parent / "_static/viewer.js").is_file(), reason="the front-end is not built")
def test_report(trace: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "out.html"
    assert main(["report", trace, "-o", str(path), "--title", "My run"]) == 0
    assert capsys.readouterr().out == f"{path}: {path.stat().st_size:,} bytes\n"
    assert "<title>My run</title>" in path.read_text(encoding="utf-8")


@pytest.mark.skipif(not (Path(ks.__file__).parent / "_static/viewer.js").is_file(), reason="the front-end is not built")
def test_report_of_several(job: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "out.html"
    assert main(["report", job, "-o", str(path), "--title", "My run"]) == 0
    assert capsys.readouterr().out == f"{path}: {path.stat().st_size:,} bytes\n"
    page = path.read_text(encoding="utf-8")
    assert "<title>My run</title>" in page
    assert page.count('class="ks-snapshot"') == 2
    assert main(["report", job, "--rank", "1", "-o", str(path)]) == 0
    assert path.read_text(encoding="utf-8").count('class="ks-snapshot"') == 1


@pytest.mark.skipif(not (Path(ks.__file__).parent / "_static/viewer.js").is_file(), reason="the front-end is not built")
def test_view_opens_what_it_writes(
    trace: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda url: opened.append(url) or True)
    path = tmp_path / "out.html"
    assert main(["view", trace, "-o", str(path), "--title", "My run"]) == 0
    assert opened == [path.as_uri()]
    assert "<title>My run</title>" in path.read_text(encoding="utf-8")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert main(["view"]) == 0
    viewer = Path(capsys.readouterr().out.splitlines()[-1])
    assert opened[1:] == [viewer.as_uri()]
    assert "ks-snapshot" not in viewer.read_text(encoding="utf-8").split("</main>")[1].split("<script>")[0]


@pytest.mark.parametrize(
    "flags", [["--redact"], ["--title", "My run"], ["--rank", "0"], ["--max-size", "1MB"], ["--et", "x.json"]]
)
def test_what_is_said_of_a_trace_needs_one(
    flags: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webbrowser.open", lambda _: pytest.fail("a page was opened"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert main(["view", *flags]) == 2
    assert capsys.readouterr().err == f"kinetoscope: expected a trace with {flags[0]}, found none\n"
    assert not list(tmp_path.iterdir())


def test_doctor(trace: str, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", trace]) == 0
    assert "kernels, copies and fills" in capsys.readouterr().out


BAD_FILES = {
    "empty.json": b"",
    "text.json": b"hello",
    "other.json": b'{"a": 1}',
    "cut.json.gz": gzip.compress(b'{"traceEvents": [')[:8],
    "folder": None,
    "none.json": None,
}


@pytest.mark.parametrize("name", BAD_FILES)
@pytest.mark.parametrize("command", ["summary", "report", "export", "doctor"])
def test_one_clear_line(name: str, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "folder").mkdir()
    if content := BAD_FILES[name]:
        (tmp_path / name).write_bytes(content)
    elif content is not None:
        (tmp_path / name).touch()
    output = {"report": ["-o", str(tmp_path / "out.html")], "export": ["-o", str(tmp_path / "out.csv")]}
    assert main([command, str(tmp_path / name), *output.get(command, [])]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    if name == "none.json":
        assert captured.err.startswith("kinetoscope: no such file: ")
    else:
        assert captured.err.startswith("kinetoscope: expected ")
        assert "found" in captured.err
    assert name in captured.err
    assert not list(tmp_path.glob("out*"))


def test_an_output_that_cannot_be_written(trace: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", trace, "-o", str(tmp_path / "none/out.csv")]) == 2
    assert str(tmp_path / "none") in capsys.readouterr().err


def test_as_a_program(trace: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "kinetoscope", "doctor", str(tmp_path / "none.json")], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"kinetoscope: no such file: {tmp_path / 'none.json'}\n"
    version = subprocess.run([sys.executable, "-m", "kinetoscope", "--version"], capture_output=True, text=True)
    assert version.stdout == f"kinetoscope {ks.__version__}\n"


def test_a_reader_that_has_seen_enough(trace: str) -> None:
    program = f"{sys.executable} -m kinetoscope summary {trace} --limit 20 | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True)
    assert done.returncode in (0, 141)
    assert done.stderr == ""


def test_in_a_terminal(data: Path) -> None:
    """Through a pseudo-terminal, where rich draws the tables: names stay names."""
    pytest.importorskip("rich")
    outside, inside = os.openpty()
    command = [sys.executable, "-m", "kinetoscope", "summary", str(data / "hostile/kineto_trace_0.json.gz")]
    with subprocess.Popen(command, stdin=inside, stdout=inside, stderr=inside):
        os.close(inside)
        output = all_of(outside)
    assert b"Top operators" in output
    assert b"\x1b[31mred" not in output


@pytest.mark.parametrize("arguments", [["--max-bytes", "-1"], ["--max-bytes", "9" * 23], ["--limit", "-1"]])
def test_counts_that_are_none_are_refused(data: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["summary", str(data / "minimal_cpu/kineto_trace_0.json.gz"), *arguments])
    assert exit_.value.code == 2
    assert "expected a count, found" in capsys.readouterr().err


def test_a_limit_is_one_of_all_rows(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["summary", str(data / "transformer_cpu/kineto_trace_0.json.gz"), "--limit", "40", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["operators"]) == 40


def test_a_folder_that_is_missing_is_named(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "missing/report.html"
    assert main(["report", str(data / "minimal_cpu/kineto_trace_0.json.gz"), "-o", str(target)]) == 2
    assert capsys.readouterr().err == f"kinetoscope: expected a folder to write to, found none: {target.parent}\n"


def test_an_empty_path_is_no_folder(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["summary", ""]) == 2
    assert "expected the path of a trace" in capsys.readouterr().err


def test_a_name_that_is_not_unicode_reads(data: Path, tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff.json.gz"))
    path.write_bytes((data / "minimal_cpu/kineto_trace_0.json.gz").read_bytes())
    assert ks.read(path).num_events > 0
    assert len(ks.read_dir(tmp_path)) == 1
    assert main(["summary", os.fspath(path)]) == 0


def test_a_terminal_without_letters_gets_others(data: Path) -> None:
    environment = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = [sys.executable, "-m", "kinetoscope", "summary", str(data / "synthetic_cuda/kineto_trace_0.json.gz")]
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def test_what_is_wrong_with_the_files_is_said_beside_what_is_written(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kineto, other = data / "minimal_cpu/kineto_trace_0.json.gz", data / "transformer_cpu/torch_et_0.json.gz"
    assert main(["chakra", str(kineto), "--et", str(other), "-o", str(tmp_path / "rank.et")]) == 0
    assert "not linked" in capsys.readouterr().err
    assert main(["link", "--kineto", str(kineto), "--et", str(other), "-o", str(tmp_path / "linked.json")]) == 2
    assert "found no link of" in capsys.readouterr().err
    assert main(["export", str(kineto), "-o", str(tmp_path / "events.csv")]) == 0
    assert capsys.readouterr().err == ""
