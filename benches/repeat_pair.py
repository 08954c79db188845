"""Repeats an Execution Trace and its Kineto trace.

    python benches/repeat_pair.py torch_et_0.json kineto_trace_0.json 40 folder

Repeats the Kineto trace as `repeat.py` does. Repeats nodes with new ids, except for the process and
its threads. Record ids shift like those of the events, so every repetition is linked in itself
only. Uses of tensors stay unchanged.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from repeat import STEP, repeat

ROOT = re.compile(r"\[pytorch\|profiler\|execution_(?:graph|trace)\|(?:process|thread)\]")
_IDS = re.compile(
    r'"(?P<key>id|parent|ctrl_deps|fw_parent|rf_id)": (?P<own>\d+)'
    r'|\{"name": "(?P<name>fw_parent|rf_id)", "type": "uint64", "value": (?P<attr>\d+)\}'
)


def repeat_pair(execution: Path, kineto: Path, count: int, folder: Path) -> None:
    """Writes `count` repetitions of a pair to a folder, under file names as of PyTorch."""
    folder.mkdir(parents=True, exist_ok=True)
    repeat(kineto, count, folder / "kineto_trace_0.json")
    repeat_nodes(execution, count, folder / "torch_et_0.json")


def repeat_nodes(source: Path, count: int, target: Path) -> None:
    """Writes `count` repetitions of a pair to a folder, under file names as of PyTorch."""
    document: dict[str, Any] = json.loads(source.read_text(encoding="utf-8"))
    nodes = document.pop("nodes")
    roots = [node for node in nodes if ROOT.fullmatch(node["name"])]
    others = ",\n".join(json.dumps(node) for node in nodes if not ROOT.fullmatch(node["name"]))
    stay = {str(node["id"]) for node in roots} | {"0"}
    pieces, numbers = _pieces(others, stay)
    with target.open("w", encoding="utf-8") as out:
        out.write(f'{json.dumps(document)[:-1]}, "nodes": [\n')
        for at in range(count):
            moved = (str(number + at * step) for number, step in numbers)
            out.write("".join(text for pair in zip(pieces, moved, strict=False) for text in pair))
            out.write(f"{pieces[-1]},\n")
        out.write(",\n".join(json.dumps(root) for root in roots))
        out.write("\n]}\n")


def _pieces(text: str, stay: set[str]) -> tuple[list[str], list[tuple[int, int]]]:
    """Returns the text between ids, and the ids with their steps."""
    pieces: list[str] = []
    numbers: list[tuple[int, int]] = []
    at = 0
    for match in _IDS.finditer(text):
        group = "own" if match["own"] else "attr"
        is_record = "rf_id" in {match["key"], match["name"]}
        is_fixed = match[group] == "0" if is_record else match[group] in stay
        pieces.append(text[at : match.start(group)])
        numbers.append((int(match[group]), 0 if is_fixed else STEP))
        at = match.end(group)
    pieces.append(text[at:])
    return pieces, numbers


if __name__ == "__main__":
    repeat_pair(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
