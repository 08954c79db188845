"""The scripts that audit files, look up advisories, and check a release."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import advisories
import audit
import pytest
import release_check
import wheel_contents
from advisories import Done
from release_check import Check, Result
from rules import tree

pytestmark = pytest.mark.unit

SHOWN = 'is consistent\nwith the following platform tag:\n"{}".\n'


@pytest.mark.parametrize(
    ("tag", "needed"),
    [
        ("manylinux_2_28_x86_64", "manylinux_2_28_x86_64"),
        ("manylinux_2_28_x86_64", "manylinux_2_5_x86_64"),
    ],
)
def test_a_wheel_that_suits_its_tag(tag: str, needed: str) -> None:
    assert audit.linux_faults(f"a-1-cp310-abi3-{tag}.whl", SHOWN.format(needed)) == []


@pytest.mark.parametrize(
    ("tag", "needed"),
    [
        ("manylinux_2_28_x86_64", "manylinux_2_34_x86_64"),
        ("manylinux_2_28_x86_64", "musllinux_1_2_x86_64"),
        ("manylinux_2_28_aarch64", "manylinux_2_28_x86_64"),
        ("manylinux_2_28_x86_64", "linux_x86_64"),
        ("linux_x86_64", "manylinux_2_28_x86_64"),
    ],
)
def test_a_wheel_beyond_its_tag_is_found(tag: str, needed: str) -> None:
    assert len(audit.linux_faults(f"a-1-cp310-abi3-{tag}.whl", SHOWN.format(needed))) == 1


def test_a_wheel_for_musl_needs_one_library() -> None:
    assert audit.musl_faults({"libc.so"}) == audit.musl_faults({"libc.musl-x86_64.so.1"}) == []
    assert audit.musl_faults({"libc.so", "libgcc_s.so.1"}) == [
        "expected no library besides libc.so, found libgcc_s.so.1"
    ]


def test_contents_of_a_wheel(tmp_path: Path) -> None:
    wheel = tmp_path / "a.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, source in wheel_contents.WHOLE.items():
            archive.write(tree.ROOT / source, f"a-1.dist-info/{name}")
        folder = f"a-1.data{wheel_contents.EXTENSION}"
        archive.writestr(f"{folder}package.json", '{"jupyterlab": {"_build": {"load": "static/entry.js"}}}')
        for name in ("install.json", "static/entry.js", "static/view.html"):
            archive.writestr(f"{folder}{name}", "")
    assert wheel_contents.content_faults(wheel) == []


def test_a_lost_or_broken_licence_is_found(tmp_path: Path) -> None:
    wheel = tmp_path / "a.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("a-1.dist-info/licenses/LICENSE", "../LICENSE")
    faults = wheel_contents.content_faults(wheel)
    assert [fault.partition(": ")[2] for fault in faults] == [
        "expected licenses/THIRD_PARTY_NOTICES.txt in .dist-info, found none",
        "expected sboms/kinetoscope.cdx.json in .dist-info, found none",
        (
            "expected package.json in /data/share/jupyter/labextensions/kinetoscope/, found none: build the front-end"
            " with make wasm"
        ),
        "expected licenses/LICENSE to equal LICENSE, found another content",
    ]


def test_a_lost_part_of_the_extension_is_found(tmp_path: Path) -> None:
    wheel = tmp_path / "a.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        folder = f"a-1.data{wheel_contents.EXTENSION}"
        archive.writestr(f"{folder}package.json", '{"jupyterlab": {"_build": {"load": "static/entry.js"}}}')
        archive.writestr(f"{folder}static/view.html", "")
        found = wheel_contents.extension_faults(archive)
    assert [fault.split()[1] for fault in found] == ["static/entry.js", "install.json"]


def answering(*answers: Done) -> Callable[[Sequence[str]], Done]:
    """A substitute for `advisories.run` that gives these answers in order."""
    pending = list(answers)
    return lambda _: pending.pop(0)


GOOD = Done(0, "", "")


def test_rust_advisories() -> None:
    assert advisories.rust("deny", answering(GOOD, GOOD, GOOD)).state == "passed"
    assert (
        advisories.rust("deny", answering(GOOD, GOOD, Done(1, "", "RUSTSEC"))).text
        == "advisories for core/fuzz/Cargo.toml"
    )
    outcome = advisories.rust("deny", answering(Done(1, "", "first\n\nno host\n")))
    assert outcome == ("skipped", "the list of RustSec could not be fetched: no host")


@pytest.mark.parametrize(
    ("packages", "state"),
    [
        ([{"name": "a", "version": "1", "vulns": []}, {"name": "kinetoscope", "skip_reason": "own"}], "passed"),
        ([{"name": "a", "version": "1", "vulns": [{"id": "CVE-1"}]}, {"name": "b", "skip_reason": "none"}], "failed"),
        ([{"name": "a", "skip_reason": "not found"}], "skipped"),
    ],
)
def test_python_advisories(packages: list[object], state: str) -> None:
    assert advisories.python("pip-audit", answering(Done(0, json.dumps({"dependencies": packages}), ""))).state == state


def test_advisories_without_an_answer() -> None:
    assert advisories.python("pip-audit", answering(Done(1, "", "no network"))).text == "pip-audit failed: no network"
    refused = json.dumps({"statusCode": 405, "error": {}})
    assert advisories.node(answering(Done(1, refused, "refused\nlog"))).text.endswith("could not be fetched: refused")


def test_node_advisories() -> None:
    def answer(total: int) -> Done:
        return Done(bool(total), json.dumps({"metadata": {"vulnerabilities": {"total": total}}}), "")

    assert advisories.node(answering(answer(0))).state == "passed"
    assert advisories.node(answering(answer(2))).state == "failed"


@pytest.mark.parametrize(("code", "state", "reason"), [(0, "passed", ""), (1, "failed", "why"), (3, "skipped", "why")])
def test_a_check_has_a_state_and_a_reason(code: int, state: str, reason: str) -> None:
    command = (sys.executable, "-c", f"print('first'); print('why'); print(); raise SystemExit({code})")
    result = release_check.finished(Check("a", "b", command))
    assert (result.state, result.reason) == (state, reason)


def test_the_table() -> None:
    results = [
        Result("a", "passed", 1.4, ""),
        Result("b", "failed", 2, "x" * 200),
        Result("c", "skipped", 0, "no network"),
    ]
    assert release_check.table(results).splitlines()[1:] == [
        "check       state        s  reason",
        "a           passed       1",
        f"b           failed       2  {'x' * 99}…",
        "c           skipped      0  no network",
        "1 passed, 1 failed, 1 skipped",
    ]


def test_the_checks_exist() -> None:
    scripts = [part for check in release_check.CHECKS for part in check.command if part.startswith("scripts/")]
    assert sorted({*scripts} - {*tree.files()}) == []


def test_a_check_can_be_left_out() -> None:
    names = [check.name for check in release_check.CHECKS]
    command = [sys.executable, "scripts/release_check.py", *(word for name in names for word in ("--skip", name))]
    done = subprocess.run(command, cwd=tree.ROOT, check=True, capture_output=True, text=True)
    assert done.stdout.endswith(f"0 passed, 0 failed, {len(names)} skipped\n")
