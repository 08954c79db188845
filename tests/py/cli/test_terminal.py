"""Names of files, of archive members, and texts of traces do not control a terminal."""

from __future__ import annotations

import gzip
import json
import shutil
import warnings
import zipfile
from pathlib import Path

import kinetoscope as ks
import pytest
from kinetoscope._cli.main import main

pytestmark = pytest.mark.unit

EVIL = "a\x1b]0;owned\x07\x1b[2J\x9b31m\u202e\rz"

COMMANDS = ["summary", "doctor", "analyze", "diff", "sql", "report", "export", "chakra", "link", "edit", "trim"]


def hostile_trace() -> bytes:
    """Texts with control characters in every place that a command shows."""
    events = [
        {"ph": "X", "cat": "cpu_op", "name": EVIL, "pid": 1, "tid": 1, "ts": 0, "dur": 9, "args": {EVIL: EVIL}},
        {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 1, "dur": 1}
        | {"args": {"correlation": 1}},
        {"ph": "X", "cat": "kernel", "name": EVIL, "pid": 0, "tid": 7, "ts": 3, "dur": 5, "args": {"correlation": 1}},
        {"ph": "X", "cat": EVIL, "name": "b", "pid": EVIL, "tid": EVIL, "ts": 3, "dur": -5},
        {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": EVIL}},
        {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": EVIL}},
    ]
    return json.dumps(
        {"schemaVersion": 1, EVIL: EVIL, "deviceProperties": [{"id": 0, "name": EVIL}], "traceEvents": events}
    ).encode()


def expect_harmless(text: str) -> None:
    found = {letter for letter in text if not letter.isprintable()} - {"\n"}
    assert not found, (found, text)


def arguments(command: str, path: Path, folder: Path) -> list[str]:
    outputs = {"report": ".html", "export": ".csv", "chakra": ".et", "link": ".json", "edit": ".json", "trim": ".json"}
    paths = {"link": ["--kineto", str(path)], "diff": [str(path), str(path)], "analyze": ["operators", str(path)]}
    options = {"sql": ["select * from events"], "trim": ["--redact"]}.get(command, [])
    output = ["-o", str(folder / f"out{outputs[command]}")] if command in outputs else []
    return [command, *paths.get(command, [str(path)]), *options, *output]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("content", ["trace", "no trace", "cut"])
def test_file_names(tmp_path: Path, command: str, content: str, capsys: pytest.CaptureFixture[str]) -> None:
    whole = hostile_trace()
    path = tmp_path / f"{EVIL}.json"
    path.write_bytes({"trace": whole, "no trace": b"\x1b[31m hello", "cut": whole[:-40]}[content])
    folder = tmp_path / EVIL
    folder.mkdir()
    try:
        main(arguments(command, path, folder))
    except SystemExit:
        pytest.fail(f"the arguments of {command} are wrong")
    out, err = capsys.readouterr()
    assert out or err
    expect_harmless(out)
    expect_harmless(err)


@pytest.mark.parametrize("command", ["summary", "doctor", "report"])
def test_names_in_archives(tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    archive = tmp_path / "job.zip"
    with zipfile.ZipFile(archive, "w") as members:
        members.writestr(f"{EVIL}_0.json", hostile_trace())
        members.writestr(f"{EVIL}_1.json.gz", gzip.compress(hostile_trace())[:-20])
        members.writestr(f"{EVIL}.txt", b"\x1b")
    main(arguments(command, archive, tmp_path))
    out, err = capsys.readouterr()
    expect_harmless(out)
    expect_harmless(err)


def test_errors_and_warnings(tmp_path: Path, data: Path) -> None:
    path = tmp_path / f"{EVIL}_trace.json"
    path.write_bytes(b'{"traceEvents": [{"ph": "X", "name": "\x1b[31m"')
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        shutil.copy(data / "minimal_cpu/kineto_trace_0.json.gz", tmp_path / f"{EVIL}2_trace.json.gz")
        (tmp_path / f"{EVIL}2_et.json").write_bytes(b"no trace")
        ks.read(tmp_path / f"{EVIL}2_trace.json.gz")
    assert warned
    for warning in warned:
        expect_harmless(str(warning.message))
    for content in (b"", b"\x1b[2J", b"{}", b"\xfd7zXZ\x00" + b"\x1b" * 40):
        path.write_bytes(content)
        with pytest.raises((ks.TraceError, OSError)) as error:
            ks.read(path)
        expect_harmless(str(error.value))
