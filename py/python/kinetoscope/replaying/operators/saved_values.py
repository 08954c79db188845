"""Values of whole numbers that torch saved beside an Execution Trace, such as indices.

torch writes them with ENABLE_PYTORCH_EXECUTION_TRACE_SAVE_INTEGRAL_TENSOR_DATA, the names of the
operators: `nid_<node>_tid_<tensor>.dat` in the folder of resources, as bytes of the elements.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kinetoscope.replaying.operators.unit import Unit

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

_FILE = re.compile(r"nid_(\d{1,19})_tid_(\d{1,4})\.dat")
_MAX_FILES = 100_000

SavedValues = Mapping[int, Mapping[int, bytes]]
"""Bytes of tensors by the id of the node, and by the place among its tensors."""


def saved_values(trace: Trace, units: Sequence[Unit]) -> dict[int, dict[int, bytes]]:
    """Reads the saved values of the arguments of units. Files of another size are left out."""
    folder = _resources(trace)
    if folder is None:
        return {}
    known = {unit.node_id: unit for unit in units}
    found: dict[int, dict[int, bytes]] = {}
    for path in sorted(folder.iterdir())[:_MAX_FILES]:
        named = _FILE.fullmatch(path.name)
        unit = known.get(int(named[1])) if named else None
        inputs = unit.inputs if unit else []
        at = int(named[2]) if named else 0
        if at >= len(inputs) or not inputs[at].is_integer or path.is_symlink() or not path.is_file():
            continue
        if path.stat().st_size == inputs[at].num_elems * inputs[at].elem_bytes:
            found.setdefault(int(named[1]) if named else 0, {})[at] = path.read_bytes()
    return found


def _resources(trace: Trace) -> Path | None:
    """Returns the folder of resources of a local Execution Trace."""
    source = trace.execution_source or trace.source
    if source is None or not Path(source).is_file():
        return None
    plain = source.removesuffix(".gz")
    folders = [Path(f"{plain}_resources"), Path(f"{plain.removesuffix('.json')}_resources")]
    return next((folder for folder in folders if folder.is_dir()), None)
