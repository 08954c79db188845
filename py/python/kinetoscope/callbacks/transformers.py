"""Callback for the Trainer of Hugging Face transformers."""

from __future__ import annotations

import os
from typing import Any

from kinetoscope._base.optional import needed
from kinetoscope.profiling.profiler import profile

with needed("kinetoscope.callbacks.transformers", "kinetoscope[transformers]"):
    from transformers import TrainerCallback

_RUNNING: list[profile] = []
"""The running recording, possibly left by a training that raised."""


class Profile(TrainerCallback):
    """Records the training of a Trainer. `profile` is the recording.

    An iteration is an optimizer step. `dir` and `options` are those of `kinetoscope.profile`.

    The Trainer does not call back when training raises. In this case, the next training or the end
    of the program writes the data so far, or `callback.profile.stop()` does.
    """

    def __init__(self, dir: str | os.PathLike[str] = "traces", **options: Any) -> None:  # noqa: A002 - as in profile
        self.profile = profile(dir, **options)

    def __repr__(self) -> str:
        return f"<kinetoscope callback for transformers: {self.profile!r}>"

    def on_train_begin(self, *_: Any, **__: Any) -> None:
        """Starts the recording."""
        while _RUNNING:
            _RUNNING.pop().stop()
        self.profile.start()
        _RUNNING.append(self.profile)

    def on_step_end(self, *_: Any, **__: Any) -> None:
        """Ends an iteration."""
        self.profile.step()

    def on_train_end(self, *_: Any, **__: Any) -> None:
        """Stops the profiler and writes the trace."""
        _RUNNING.clear()
        self.profile.stop()
