"""Dumps of the flight recorder of torch.distributed."""

from __future__ import annotations

from functools import cached_property

from kinetoscope.table import Table
from kinetoscope.tables import Tables


class FlightRecorder(Tables):
    """The last communications of one rank: `TORCH_FR_BUFFER_SIZE`, `torch.distributed` timeouts.

    ::

        recorder = ks.read("nccl_trace_rank_0")     # a pickle or JSON; runs no code of the file
        entries = recorder.entries.to_polars()
        entries.filter(pl.col("state") != "completed")
        recorder.groups.to_polars()                 # last_enqueued_seq, last_completed_seq, …
    """

    @cached_property
    def entries(self) -> Table:
        """Communications in the order of the file; `stack_id` refers to `frames`.

        `state` is `scheduled`, `started` or `completed`. Times count from 1970; `started_ns` and
        `completed_ns` are when the watchdog noticed. `TORCH_NCCL_ENABLE_TIMING` adds `duration_ns`.
        `extra` is a JSON object with the keys that have no column.
        """
        return self.table("entries")

    @cached_property
    def groups(self) -> Table:
        """Process groups with their ranks, and their last collective by state."""
        return self.table("groups")

    @cached_property
    def frames(self) -> Table:
        """Frames of all stacks; `depth` 0 is the innermost."""
        return self.table("frames")
