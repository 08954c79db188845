"""Commands on memory snapshots: what they answer, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path

import kinetoscope as ks
import pytest
from kinetoscope._cli.main import main

pytestmark = pytest.mark.unit

needs_page = pytest.mark.skipif(
    not (Path(ks.__file__).parent / "_static/viewer.js").is_file(), reason="the front-end is not built"
)


@pytest.fixture(scope="module")
def failed(data: Path) -> str:
    return str(data / "memory_cuda/failed.pickle.gz")


@pytest.fixture(scope="module")
def timeline(data: Path) -> str:
    return str(data / "memory_cpu/memory_timeline.raw.json.gz")


@pytest.fixture
def places(failed: str, timeline: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Files by the words that stand for them; the working folder is empty."""
    monkeypatch.chdir(tmp_path)
    return {"{}": failed, "TRACE": str(data / "minimal_cpu/kineto_trace_0.json.gz"), "TIMELINE": timeline}


def test_the_answers_are_those_of_python(failed: str, capsys: pytest.CaptureFixture[str]) -> None:
    snapshot = ks.read(failed)
    assert isinstance(snapshot, ks.MemorySnapshot)
    assert main(["analyze", "memory", failed, "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["peak_allocated_bytes"] == snapshot.memory().select("peak_allocated_bytes").rows()[0][0]
    assert main(["analyze", "memory", failed, "--table", "out_of_memory", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["asked_bytes"], row["cause"]) == (12 << 20, "limit")
    assert main(["analyze", "memory_state", failed, "--at", "peak", "--json"]) == 0
    pools = json.loads(capsys.readouterr().out)
    expected = snapshot.memory_state("peak").select("allocated_bytes").rows()
    assert [(row["allocated_bytes"],) for row in pools] == expected


def test_a_timeline_has_its_memory_too(timeline: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze", "memory", timeline, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["category"] == "total"


def test_sql_and_diff(failed: str, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sql", "select count(*) as n from actions where action = 'oom'", failed, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"n": 1}]
    trained = str(data / "memory_cuda/trained.pickle.gz")
    assert main(["diff", trained, failed, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows[0]["site"] == "all memory"
    assert rows[0]["change_bytes"] == sum(row["change_bytes"] for row in rows[1:])


def test_analyses_are_exported(failed: str, timeline: str, tmp_path: Path) -> None:
    snapshot = ks.read(failed)
    assert isinstance(snapshot, ks.MemorySnapshot)
    path = tmp_path / "m.jsonl"
    assert main(["export", failed, "memory", "--table", "memory_holders", "-o", str(path)]) == 0
    assert path.read_text() == snapshot.memory().tables["memory_holders"].json_lines()
    assert main(["export", failed, "all", "--at", "peak", "--format", "jsonl", "-o", str(tmp_path / "all")]) == 0
    state = snapshot.memory_state("peak")
    assert (tmp_path / "all/memory_state.memory_layout.jsonl").read_text() == state.tables["memory_layout"].json_lines()
    assert len(list((tmp_path / "all").iterdir())) == len(state.tables) + len(snapshot.memory().tables)
    assert main(["export", timeline, "memory", "-o", str(tmp_path / "t.csv")]) == 0
    assert (tmp_path / "t.csv").read_text().startswith("category,")


def test_the_help_of_sql_lists_the_tables(failed: str, timeline: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["sql", "--help"])
    said = " ".join(capsys.readouterr().out.split())
    for kind, path in {"snapshot": failed, "timeline": timeline}.items():
        found = ks.read(path)
        assert isinstance(found, ks.MemorySnapshot | ks.MemoryTimeline)
        assert f"Tables of a memory {kind}: {', '.join(found.table_names)}." in said


@needs_page
def test_the_report_carries_the_file_unless_it_is_static(failed: str, tmp_path: Path) -> None:
    page, static = tmp_path / "page.html", tmp_path / "static.html"
    assert main(["report", failed, "-o", str(page), "--title", "My run"]) == 0
    text = page.read_text(encoding="utf-8")
    assert "<title>My run</title>" in text
    assert text.count('class="ks-memory"') == 1
    assert main(["report", failed, "-o", str(static), "--static"]) == 0
    assert "<script" not in static.read_text(encoding="utf-8")
    limit = static.stat().st_size + 1
    assert main(["report", failed, "-o", str(page), "--max-size", str(limit)]) == 0
    assert "<script" not in page.read_text(encoding="utf-8")


@needs_page
def test_a_snapshot_without_a_file_has_a_static_report(failed: str, tmp_path: Path) -> None:
    page = ks.read(Path(failed).read_bytes()).report(tmp_path / "page.html")
    assert "<script" not in page.read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="expected a larger max_size"):
        ks.read(failed).report(page, max_size=100)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["analyze", "kernels", "{}"], "found a memory snapshot, which has memory and memory_state"),
        (["analyze", "memory", "{}", "--iteration", "1"], "expected a trace with --iteration"),
        (["analyze", "memory", "{}", "--rank", "1"], "expected a trace with --rank"),
        (["analyze", "memory_state", "{}", "--at", "noon"], "expected end, peak, oom or the row of one of 1177"),
        (["report", "{}", "--redact", "-o", "x.html"], "expected a trace with --redact"),
        (["diff", "{}", "TRACE"], "found a memory snapshot and a trace"),
        (["analyze", "memory_state", "TRACE"], "expected a memory snapshot for memory_state"),
        (["analyze", "memory_state", "TIMELINE"], "found a memory timeline, which has memory"),
        (["report", "TIMELINE", "-o", "x.html"], "expected a trace or a memory snapshot, found a memory timeline"),
        (["trim", "{}", "-o", "x.json"], "expected a trace, found a memory snapshot"),
        (["export", "{}", "kernels", "-o", "x.csv"], "found a memory snapshot, which has memory and memory_state"),
        (["export", "{}", "memory", "-o", "x.xlsx"], "expected a trace for .xlsx, found a memory snapshot"),
        (["export", "{}", "memory", "--redact", "-o", "x.csv"], "expected a trace to redact, found a memory snapshot"),
        (["export", "{}", "memory", "--at", "peak", "-o", "x.csv"], "expected a trace with --at"),
        (["export", "{}", "memory", "--iteration", "1", "-o", "x.csv"], "expected a trace with --iteration"),
        (["export", "TIMELINE", "memory_state", "-o", "x.csv"], "found a memory timeline, which has memory"),
        (["export", "{}", "flamegraph", "-o", "x.folded"], "expected a trace, found a memory snapshot"),
        (["export", "TRACE", "kernels", "--at", "peak", "-o", "x.csv"], "expected an analysis with --at peak"),
    ],
)
def test_what_only_traces_have_is_refused(
    places: dict[str, str], capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert main([places.get(word, word) for word in arguments]) != 0
    captured = capsys.readouterr()
    assert said in captured.err
    assert "Traceback" not in captured.err
    assert list(Path.cwd().iterdir()) == []
