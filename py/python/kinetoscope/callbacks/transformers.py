"""A callback for the Trainer of Hugging Face's transformers."""

from __future__ import annotations

import os
from typing import Any

from transformers import TrainerCallback

from kinetoscope.profiling.profiler import profile

_LEFT: list[profile] = []
"""The recording that runs, or that a training which raised has left running."""


class Profile(TrainerCallback):
    """Records the training of a Trainer: an iteration is a step of its optimizer. `profile` is the recording.

    The Trainer tells nobody when training raises: then what was recorded is written when the next one begins, when the
    program ends, or by `callback.profile.stop()`. `dir` and `options` are those of `kinetoscope.profile`.
    """

    def __init__(self, dir: str | os.PathLike[str] = "traces", **options: Any) -> None:  # noqa: A002 - as in profile
        self.profile = profile(dir, **options)

    def on_train_begin(self, *_: Any, **__: Any) -> None:
        """Begins."""
        while _LEFT:
            _LEFT.pop().stop()
        self.profile.start()
        _LEFT.append(self.profile)

    def on_step_end(self, *_: Any, **__: Any) -> None:
        """Ends an iteration."""
        self.profile.step()

    def on_train_end(self, *_: Any, **__: Any) -> None:
        """Ends the recording."""
        _LEFT.clear()
        self.profile.stop()
