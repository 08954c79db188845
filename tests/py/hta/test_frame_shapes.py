"""Frames of `kinetoscope.hta` have HTA's columns, kinds of values and rows on every file of HTA's tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import hta_frames
import pytest

pytestmark = [
    pytest.mark.shared,
    pytest.mark.filterwarnings("ignore:.*:RuntimeWarning"),  # what HTA rounds, leaves out or logs
]

GOLDEN: dict[str, Any] = json.loads(hta_frames.GOLDEN.read_text(encoding="utf-8"))
RAISES = "raises "
# By folder and analysis, each with its row in docs/hta.md.
DIFFERENT = {
    ("amd_trace", "frame"),  # `iteration` of stream 0
    ("amd_trace", "annotated"),  # as above
    ("amd_trace", "launches"),  # the names that launch kernels
    ("triton_example", "launches"),  # as above
    ("cupti_profiler", "frame"),  # the order of counters, which is random
    ("cupti_profiler", "counters"),  # as above
}


def same_rows_and_columns(theirs: Any, ours: Any) -> bool:
    """Equal but for the order and kinds of columns, or the rows that they hold."""
    theirs, ours = (found[0] if isinstance(found, list) else found for found in (theirs, ours))
    return {name for name, _ in theirs["columns"]} == {name for name, _ in ours["columns"]}


@pytest.mark.parametrize("name", sorted(GOLDEN))
@pytest.mark.parametrize("part", ["cut", "whole"])
def test_frames_have_their_shape(name: str, part: str, shared: Path) -> None:
    ours = hta_frames.shapes("kinetoscope.hta", shared / hta_frames.FOLDER / name, is_whole=part == "whole")
    for analysis, theirs in GOLDEN[name][part].items():
        found = ours[analysis]
        if str(theirs).startswith(RAISES):  # docs/hta.md lists what HTA raises and is answered here
            assert not str(found).startswith(RAISES), (analysis, found)
        elif (name.split("/", 1)[0], analysis) in DIFFERENT:
            assert found != theirs, f"{analysis} does not differ any more"
            assert same_rows_and_columns(theirs, found), analysis
        else:
            assert found == theirs, analysis


def test_every_file_is_recorded(shared: Path) -> None:
    names = {str(path.relative_to(shared / hta_frames.FOLDER)) for path in hta_frames.files(shared)}
    assert names == set(GOLDEN)
