"""Options that choose: operators to leave out, benchmarks to write, and arguments that name nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope._cli.main import main

LINEAR, PART = "aten::linear", "aten::addmm"


def left_out(folder: Path, skip: Any) -> list[str]:
    found = ks.replay(folder, dry_run=True, skip=skip).select("name", "reason").rows()
    return sorted(name for name, reason in found if reason == "left out (skip)")


def test_a_composed_operator_and_its_part_are_left_out(data: Path) -> None:
    folder = data / "transformer_cpu"
    assert left_out(folder, [LINEAR]) == [LINEAR]
    assert left_out(folder, [PART]) == [PART]
    assert left_out(folder, [PART, LINEAR]) == [LINEAR]
    with pytest.raises(ValueError, match=r"found aten::nope$"):
        left_out(folder, [LINEAR, "aten::nope"])


def test_a_text_is_one_name(data: Path) -> None:
    assert left_out(data / "transformer_cpu", PART) == [PART]
    ks.replay(data / "transformer_cpu", dry_run=True, namespaces="mylib")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"dry_run": True, "device": "nodevice"}, "expected a device such as cpu or cuda:1, found nodevice"),
        ({"backend": "mpi"}, "expected backend of gloo, nccl, found mpi"),
        ({"replace": {"aten::relu": 5}}, "expected functions by the name of an operator in replace, found 5 for aten"),
        ({"replace": abs}, "expected functions by the name of an operator in replace, found <built-in function abs>"),
        ({"dry_run": True, "replace": {"aten::nope": abs}}, "expected names of operators that run as a whole"),
        ({"skip": [5]}, "expected names in skip, found 5"),
        ({"skip": 5}, "expected names in skip, found 5"),
    ],
)
def test_arguments_that_name_nothing_are_refused(data: Path, options: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        ks.replay(data / "transformer_cpu", **options)


def test_the_top_operators_have_scripts(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "scripts"
    assert main(["bench", str(data / "transformer_cpu"), "--top", "40", "-o", str(folder)]) == 0
    assert len(list(folder.iterdir())) == 40
    (line,) = capsys.readouterr().err.splitlines()
    assert "without a script: " in line
    assert line.endswith("(--operator NAME tells why)")
