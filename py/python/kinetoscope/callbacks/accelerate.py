"""Recording with the Accelerator of Hugging Face accelerate."""

from __future__ import annotations

import os
from typing import Any

from accelerate.utils import ProfileKwargs

from kinetoscope.profiling.profiler import profile


class Profile(ProfileKwargs):
    """Makes `accelerator.profile()` record with `kinetoscope.profile`.

    `dir` and `options` are those of `kinetoscope.profile`.

    ::

        with accelerator.profile(Profile("traces", wait=1, warmup=1, active=3)) as prof:
            for batch in loader:
                train_step(batch)
                prof.step()

    Pass it to `accelerator.profile()`, not as one of `kwargs_handlers`: an Accelerator refuses
    unknown classes there.
    """

    def __init__(self, dir: str | os.PathLike[str] = "traces", **options: Any) -> None:  # noqa: A002 - as in profile
        super().__init__()
        self._dir = dir
        self._options = options

    def build(self) -> Any:
        """Creates the recording, once per `accelerator.profile()`."""
        return profile(self._dir, **self._options)
