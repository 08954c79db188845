"""Writer of communications for PARAM."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from kinetoscope._base import text
from kinetoscope._base.warnings import warn
from kinetoscope._io.atomic import write_atomic

if TYPE_CHECKING:
    from kinetoscope import _native
    from kinetoscope._export.job_groups import JobPlace

_REASONS = (
    "their name or host call is not recorded",
    "their size, type or splits are not recorded",
    "they raised an error",
)
_GROUPLESS = "in a job of several groups, and their files name none: PARAM replays them among all ranks"


def write_param_comms(native: _native.Trace, path: str | os.PathLike[str], place: JobPlace | None = None) -> Path:
    """Writes the file under a temporary name, then renames it; see `Trace.to_param_comms`.

    The place of the trace in a job tells groups that no file names.
    """
    target, (_, *left_out, groupless) = write_atomic(path, lambda target, _: native.write_param_comms(target, place))
    for number, reason in zip(left_out, _REASONS, strict=True):
        if number:
            warn(f"left {text.plural(number, 'communication')} out of {target.name}: {reason}")
    if groupless:
        warn(f"wrote {text.plural(groupless, 'communication')} without a group to {target.name}: {_GROUPLESS}")
    return target
