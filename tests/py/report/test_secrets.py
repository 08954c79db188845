"""No secret leaves with a redacted trace, wherever it was and whatever stood around it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import kinetoscope as ks
import pytest
from kinetoscope._cli.main import main
from support.secrets import (
    FORMS,
    KERNEL_MARK,
    KERNELS,
    MARKS,
    chakra,
    execution,
    kineto,
    leaks,
    nsight,
    old_execution,
    snapshot_texts,
    unpacked,
)

pytestmark = pytest.mark.unit

LEVELS = ("--redact", "--redact=strict")
ALL = "--merge-ranks"
"""The secrets stand in process ids, too, so the file looks like one of several ranks."""
FIRST = FORMS[0]


def marks_of(level: str) -> tuple[str, ...]:
    return (*MARKS, KERNEL_MARK) if level.endswith("strict") else MARKS


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Kineto trace and its Execution Trace, with all forms in all places."""
    folder = tmp_path_factory.mktemp("secrets")
    (folder / "kineto_trace_0.json").write_bytes(kineto(FORMS, FIRST, KERNELS))
    (folder / "torch_et_0.json").write_bytes(execution(FORMS, FIRST))
    return folder / "kineto_trace_0.json"


@pytest.mark.parametrize("level", LEVELS)
def test_no_output_of_a_redacted_trace_has_a_secret(
    job: Path, tmp_path: Path, level: str, capsys: pytest.CaptureFixture[str]
) -> None:
    outputs = {name: tmp_path / name for name in ("page.html", "small.kscope", "all.json.gz", "all_et.json.gz")}
    assert main(["report", str(job), ALL, level, "--title", "x", "-o", str(outputs["page.html"])]) == 0
    for name in ("small.kscope", "all.json.gz"):
        assert main(["trim", str(job), ALL, level, "-o", str(outputs[name])]) == 0
    trace = ks.read(job, ranks="merge")
    for table in trace._native.table_names():
        for kind in ("csv", "parquet"):
            path = outputs[f"{table}.{kind}"] = tmp_path / f"{table}.{kind}"
            assert main(["export", str(job), ALL, "--table", table, level, "-o", str(path)]) == 0
    capsys.readouterr()
    assert trace.num_events > 10 * len(FORMS)
    assert len(trace.nodes) == 5 * len(FORMS)
    for name, path in outputs.items():
        assert leaks(text_of(path), marks_of(level)) == [], name


def text_of(path: Path) -> str:
    if path.suffix != ".parquet":
        return unpacked(path)
    parquet = pytest.importorskip("pyarrow.parquet")
    return repr(parquet.read_table(path).to_pydict())


def test_secrets_are_found_where_nothing_is_redacted(job: Path, tmp_path: Path) -> None:
    trace = ks.read(job, ranks="merge")
    pages = [trace.report(tmp_path / "page.html"), trace.save(tmp_path / "x.kscope")]
    written = [trace.to_chrome(tmp_path / "x.json.gz"), trace.to_execution_trace(tmp_path / "et.json")]
    for path in (*pages, *written):
        found = {found.partition(":")[0] for found in leaks(unpacked(path), (*MARKS, KERNEL_MARK))}
        assert found >= set(MARKS), path.name


def all_of(trace: ks.Trace, folder: Path) -> str:
    written = trace.to_chrome(folder / "written.json").read_text()
    nodes = trace.to_execution_trace(folder / "written_et.json").read_text() if len(trace.nodes) else ""
    return "\n".join([written, nodes, snapshot_texts(trace.snapshot()), json.dumps(trace.metadata), repr(trace)])


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    "content",
    [
        lambda form: kineto((), form),
        lambda form: execution((FIRST,), form),
        lambda form: old_execution((form,)),
    ],
    ids=["header", "execution", "old_execution"],
)
def test_no_form_is_left_of_a_header(tmp_path: Path, content: Callable[[str], bytes], *, strict: bool) -> None:
    for form in FORMS:
        redacted = ks.read(content(form)).redact(strict=strict)
        assert leaks(all_of(redacted, tmp_path), MARKS) == [], form


def test_no_secret_is_left_of_an_export_of_nsight(data: Path, tmp_path: Path) -> None:
    for form in FORMS:
        source = nsight(data / "synthetic_nsight/nsys_0.sqlite", tmp_path / "nsys.sqlite", form)
        trace = ks.read(source)
        assert leaks(all_of(trace, tmp_path), MARKS)
        assert leaks(all_of(trace.redact(strict=True), tmp_path), MARKS) == [], form
        text = all_of(trace.redact(), tmp_path)
        kernels = {name for name, kind in trace.redact().events.select("name", "kind").rows() if kind == "kernel"}
        assert leaks(without_names(text, kernels), MARKS) == [], form


def without_names(text: str, names: set[str]) -> str:
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(json.dumps(name)[1:-1], "").replace(json.dumps(name, ensure_ascii=False)[1:-1], "")
        text = text.replace(name, "").replace(name.removeprefix("nn.Module: "), "")
    return text


PUBLIC = ("aten::", "c10d::", "_c10d_functional::", "torchvision::", "prims::", "nccl:", "ProfilerStep#")
GONE = {"aten::add\ufffd\ufffd\ufffd("}
"""Names in the public traces that PyTorch does not have: made up by tests."""


@pytest.mark.shared
def test_public_names_of_real_traces_stay(shared: Path) -> None:
    replaced: set[str] = set()
    for path in sorted(shared.rglob("*.json*")):
        try:
            trace = ks.read(path, et=False)
        except (ks.TraceError, OSError):
            continue
        names = [{row[0] for row in each.events.select("name").rows()} for each in (trace, trace.redact())]
        replaced |= {name for name in names[0] - names[1] if name.startswith(PUBLIC)}
    assert replaced <= GONE


def test_formats_that_are_not_redacted_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.et"
    path.write_bytes(chakra(FORMS))
    for level in LEVELS:
        assert main(["export", str(path), level, "-o", str(tmp_path / "x.csv")]) == 2
        assert "expected a trace to redact, found" in capsys.readouterr().err
        assert not (tmp_path / "x.csv").exists()


def test_public_names_of_a_trace_stay(data: Path) -> None:
    for name in ("synthetic_cuda", "transformer_cpu", "mlp_gloo"):
        trace = ks.read(data / name / "kineto_trace_0.json.gz")
        for redacted in (trace.redact(), trace.redact(strict=True)):
            kinds = ("operator", "launch", "kernel", "copy", "fill", "sync")
            pairs = zip(trace.events.select("name", "kind").rows(), redacted.events.select("name").rows(), strict=True)
            replaced = {old for (old, kind), (new,) in pairs if kind in kinds and old != new}
            assert replaced == set(), name


def test_a_level_of_the_redaction_is_known(data: Path, tmp_path: Path) -> None:
    trace = ks.read(data / "synthetic_cuda/kineto_trace_0.json.gz")
    with pytest.raises(ks.TraceError, match=r"expected a redaction \(names or strict\), found all"):
        trace.report(tmp_path / "x.html", redact="all")
