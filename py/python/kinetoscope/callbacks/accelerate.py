"""Recording with the Accelerator of Hugging Face accelerate."""

from __future__ import annotations

import os
from typing import Any

from kinetoscope._base.optional import needed
from kinetoscope.profiling.profiler import profile

with needed("kinetoscope.callbacks.accelerate", "kinetoscope[accelerate]"):
    from accelerate.utils import ProfileKwargs


class Profile(ProfileKwargs):
    """Makes `accelerator.profile()` record with `kinetoscope.profile`.

    `dir` and `options` are those of `kinetoscope.profile`.

    ::

        accelerator = Accelerator(kwargs_handlers=[Profile("traces", wait=1, warmup=1, active=3)])
        with accelerator.profile() as prof:
            for batch in loader:
                train_step(batch)
                prof.step()

    `accelerator.profile(Profile(…))` overrides the handler of the Accelerator.
    """

    def __init__(self, dir: str | os.PathLike[str] = "traces", **options: Any) -> None:  # noqa: A002 - as in profile
        super().__init__()
        self._dir = dir
        self._options = options

    @property
    def __class__(self) -> type[ProfileKwargs]:  # pyright: ignore[reportIncompatibleMethodOverride] - as a mock has it
        # an Accelerator looks its handlers up by their class, without subclasses
        return ProfileKwargs

    def build(self) -> Any:
        """Creates the recording, once per `accelerator.profile()`."""
        return profile(self._dir, **self._options)

    def __repr__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self._options.items())
        return f"<kinetoscope callback for accelerate: dir={os.fspath(self._dir)!r}{options}>"
