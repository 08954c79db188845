"""What PyTorch says about memory: snapshots of its allocator, and bytes in use over time."""

from __future__ import annotations

from functools import cached_property

from kinetoscope._analysis.result import AnalysisResult
from kinetoscope.table import Table
from kinetoscope.tables import Tables


class MemorySnapshot(Tables):
    """The caching allocator at one moment, and what it did before: `torch.cuda.memory._dump_snapshot`.

    ::

        snapshot = ks.read("snapshot.pickle")       # plain data is read, and nothing in the file is run
        snapshot.actions.to_polars()                # allocations, frees, …; times in ns
        snapshot.blocks.to_polars().filter(state="active_allocated").group_by("stack_id").agg(size=pl.sum("size_bytes"))
        snapshot.frames.to_polars()                 # what `stack_id` refers to, innermost frame first
        snapshot.metadata["allocator_settings"]

    `device` is null for pinned memory of the host. `extra` has the keys that are no columns, as a JSON object.
    """

    def memory(self) -> AnalysisResult:
        """What each device holds, and what it held at most.

        `requested_bytes` are those in use as they were asked for, counted back from the end through the actions;
        `allocated_bytes` those in use as they were given, `reserved_bytes` what the allocator has from the system, and
        `free_bytes` what of this is free (`largest_free_bytes` in one piece), at the end. `peak_ns` is null where the
        peak is the beginning, or there are no actions.

        Beside it `memory_series`, what was requested and reserved after each action; and `memory_holders`, who held
        how much at the peak: `site` is the innermost frame that is no part of torch, `stack_id` refers to `frames`,
        both null where the allocation is older than the actions.
        """
        return AnalysisResult(*self._native.memory())

    @cached_property
    def actions(self) -> Table:
        """What the allocator did, device by device: `alloc`, `free_completed`, `segment_alloc`, `oom` and so on.

        `device_free_bytes` is what was left when memory ran out; `stack_id` refers to `frames`; `pool` is a JSON array;
        `time_ns` is null in files of early versions.
        """
        return self.table("actions")

    @cached_property
    def segments(self) -> Table:
        """The memory that the allocator took from the system; `segment_id` counts them."""
        return self.table("segments")

    @cached_property
    def blocks(self) -> Table:
        """The parts of segments, with the `state` of each: `active_allocated`, `active_pending_free` or `inactive`."""
        return self.table("blocks")

    @cached_property
    def past_blocks(self) -> Table:
        """What blocks held before, newest first, as PyTorch up to 2.0 says it; empty in later files."""
        return self.table("past_blocks")

    @cached_property
    def frames(self) -> Table:
        """The frames of every stack; `depth` 0 is the innermost."""
        return self.table("frames")

    @cached_property
    def annotations(self) -> Table:
        """Starts and ends of annotated ranges (`record_function`), by `stage`."""
        return self.table("annotations")


class MemoryTimeline(Tables):
    """The bytes of one device in use, by what they are used for: `export_memory_timeline` of torch.profiler.

    ::

        timeline = ks.read("memory.raw.json.gz")    # or the .json form, which has no actions
        timeline.sizes.to_pandas().plot.area(x="time_ns", y=["parameter_bytes", "activation_bytes"])
    """

    def memory(self) -> AnalysisResult:
        """How much memory was used for what: a row for all (`total`), then one for each category.

        `peak_bytes` are the most that there were, at `peak_ns`; `at_peak_bytes` those when the total was at its peak,
        `share` that of the total, and `last_bytes` those at the end.
        """
        return AnalysisResult(*self._native.memory())

    @cached_property
    def sizes(self) -> Table:
        """The bytes in use whenever they changed: `total_bytes`, and those of each category.

        Two rows may be of one time, the first with what was there before the recording. The raw form gives them by the
        nanosecond, the other by the microsecond.
        """
        return self.table("sizes")

    @cached_property
    def actions(self) -> Table:
        """What happened to tensors: `preexisting`, `create`, `increment_version` or `destroy`.

        `size_bytes` is how much the `category` grew by, so it may be negative. `time_ns` is null for what was there
        before the recording. Empty in the form that gives only sizes.
        """
        return self.table("actions")
