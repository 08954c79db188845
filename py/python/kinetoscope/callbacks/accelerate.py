"""What an Accelerator of Hugging Face's accelerate makes its profiles of."""

from __future__ import annotations

import os
from typing import Any

from accelerate.utils import ProfileKwargs

from kinetoscope.profiling.profiler import profile


class Profile(ProfileKwargs):
    """Has `accelerator.profile()` record as `kinetoscope.profile` does, whose `dir` and `options` these are.

    ::

        with accelerator.profile(Profile("traces", wait=1, warmup=1, active=3)) as prof:
            for batch in loader:
                train_step(batch)
                prof.step()

    Not for `kwargs_handlers`: an Accelerator takes there just what it knows.
    """

    def __init__(self, dir: str | os.PathLike[str] = "traces", **options: Any) -> None:  # noqa: A002 - as in profile
        super().__init__()
        self._dir = dir
        self._options = options

    def build(self) -> Any:
        """The recording, anew for each `accelerator.profile()`."""
        return profile(self._dir, **self._options)
