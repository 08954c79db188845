"""A callback for the Trainer of Lightning, installed as `lightning` or `pytorch_lightning`."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from kinetoscope._base.optional import needed
from kinetoscope.profiling.profiler import profile

if TYPE_CHECKING or sys.modules.get("pytorch_lightning"):
    from pytorch_lightning.callbacks import Callback
else:
    try:
        from lightning.pytorch.callbacks import Callback
    except ImportError:
        with needed("kinetoscope.callbacks.lightning", "kinetoscope[lightning]"):
            from pytorch_lightning.callbacks import Callback


class Profile(Callback):
    """Records the training of a Trainer; an iteration is a batch. `profile` is the recording.

    `dir` and `options` are those of `kinetoscope.profile`.
    """

    def __init__(self, dir: str | os.PathLike[str] = "traces", **options: Any) -> None:  # noqa: A002 - as in profile
        super().__init__()
        self.profile = profile(dir, **options)

    def __repr__(self) -> str:
        return f"<kinetoscope callback for Lightning: {self.profile!r}>"

    def on_train_start(self, *_: Any, **__: Any) -> None:
        """Starts the recording."""
        self.profile.start()

    def on_train_batch_end(self, *_: Any, **__: Any) -> None:
        """Ends an iteration."""
        self.profile.step()

    def on_train_end(self, *_: Any, **__: Any) -> None:
        """Stops the profiler and writes the trace."""
        self.profile.stop()

    def on_exception(self, *_: Any, **__: Any) -> None:
        """Ends the recording and writes the data so far."""
        self.profile.stop()
