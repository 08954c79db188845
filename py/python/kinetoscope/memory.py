"""Memory recordings of PyTorch: allocator snapshots, and bytes in use over time."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path

from kinetoscope._analysis.result import AnalysisResult
from kinetoscope._base import lazy
from kinetoscope.table import Table
from kinetoscope.tables import Tables


class MemorySnapshot(Tables):
    """State and history of the caching allocator: `torch.cuda.memory._dump_snapshot`.

    ::

        snapshot = ks.read("snapshot.pickle")       # reads plain data; runs no code of the file
        snapshot.actions.to_polars()                # allocations, frees, …; times in ns
        blocks = snapshot.blocks.to_polars().filter(state="active_allocated")
        blocks.group_by("stack_id").agg(pl.sum("size_bytes"))
        snapshot.frames.to_polars()                 # frames by stack_id, innermost first
        snapshot.metadata["allocator_settings"]
        snapshot.memory()                           # devices, peaks, why an allocation failed
        snapshot.memory_state(at="peak")            # pools and fragmentation at a moment
        snapshot.report("memory.html")

    `device` is null for pinned host memory. `extra` is a JSON object with the keys that have no
    column.
    """

    def memory(self) -> AnalysisResult:
        """Measures the memory of each device: state at the end, and peak.

        In bytes, at the end of the recording:

        * `requested_bytes`: sum of the requested sizes in use, or waiting for other streams
        * `allocated_bytes`: sum of the sizes of the blocks in use; none that wait
        * `reserved_bytes`: memory taken from the system
        * `free_bytes`: its free part; `largest_free_bytes` is the largest free block
        * `cached_bytes`: free, in segments with nothing in use; `split_bytes`: free, in segments
          with something in use, which the allocator cannot return. `split_share = split_bytes /
          reserved_bytes` measures fragmentation.

        `peak_requested_bytes`, `peak_allocated_bytes` and `peak_reserved_bytes` are maxima, counted
        back through the actions from the end. `peak_ns` is the time of the first. It is null
        without actions, or if the peak is the start of the recording. For `peak_allocated_bytes`,
        blocks that the file lacks have the requested size, rounded up to 512 bytes. A rest that the
        allocator did not cut off is added.

        Further tables:

        * `memory_bands`: each allocation as a band over time, from the earliest upwards. 400 of a
          device have their own: up to half are the largest at the peak, the rest fill most of the
          picture. All others are one band with the maximum of each slice of time. At the peak,
          bands add up exactly. `plot` draws them by category, with the peak.
        * `memory_series`: requested, allocated and reserved bytes after each action
        * `memory_holders`: bytes in use at the peak, by origin. `site` is the innermost frame
          outside of torch, `stack_id` refers to `frames`. Both are null for allocations before the
          first action.
        * `memory_categories`: bytes at the peak by purpose, as far as stacks tell. Memory of
          `torch.nn.Module` that stays is `parameter`, that of `torch.optim` `optimizer_state`.
          Memory made in a backward pass is `gradient` if alive at its end, else `autograd_detail`.
          Memory made before the pass and freed in it is `activation`; memory freed in the phase
          that made it is `temporary`. The rest is `unknown`. Passes need stacks of C++.
        * `memory_leaks`: origins of which each iteration keeps memory, and all memory grows. An
          iteration is from one backward pass to the next; the first and the last two do not count,
          so it needs six passes. `num_backward_passes` counts them.
          `iteration_bytes` is the mean; `confidence` grows with the number of iterations.
        * `out_of_memory`: each allocation that failed. `cause` is the first kind of memory that,
          with all before it, would have been enough. In order: that of the device (`limit`: the
          process may not take it), free `pieces` of the same pool and stream, then of `streams`.
          Then memory `waiting` for other streams, and `private_pools`. Else it is `in_use`.
          `advice` says how to have it; `holder` is the origin that held most.
        """
        return AnalysisResult(*self._native.memory())

    def memory_state(self, at: str | int = "end") -> AnalysisResult:
        """Rebuilds the allocator's memory at a moment, by pool and stream.

        `at` is `"end"`, `"peak"` (of each device), `"oom"` (the last allocation that failed), or a
        row of `actions`, after which it is. Counts back from the segments at the end, so that lost
        actions do not matter. Blocks that the file lacks have the requested size, rounded up to
        512 bytes. A rest that the allocator would not cut off belongs to its block.

        Further tables:

        * `memory_layout`: each piece of each segment by address, with its `state`, origin and the
          action that made it. `plot` draws it.
        * `memory_holders`: bytes in use at that moment, by origin

        Raises ValueError for another moment, or if no allocation failed.
        """
        return AnalysisResult(*self._native.memory_state(str(at)))

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        title: str | None = None,
        max_size: int | str | None = None,
        static: bool = False,
    ) -> Path:
        """Writes one HTML file with tables and pictures; returns its path.

        Scripts in it zoom, show the memory at any moment, and search all actions. For that, the
        page carries the snapshot's file, with all names and paths in it.

        `static=True` leaves out file and scripts. So does a snapshot that was read from bytes or
        from a URL, or a page above `max_size`: bytes, or a string such as `"10MB"`. Raises
        ValueError if no page is that small, and OSError if a file cannot be read or written.
        """
        from kinetoscope._report.memory import write_memory_report

        file = Path(self.source) if self.source and not static else None
        file = file if file and file.is_file() else None
        return write_memory_report(self._native, file, path, title or self._title, max_size)

    def digest(
        self,
        max_chars: int = 8_000,
        *,
        form: lazy.DigestForm = "markdown",
        after: MemorySnapshot | None = None,
    ) -> str:
        """Summarizes the snapshot as short text, or its change to the snapshot `after`.

        Tells failed allocations, devices, leaks, and the holders of memory at the peak. Length,
        forms and errors are those of `Trace.digest`.
        """
        from kinetoscope._analysis.digest import num_chars

        other = None if after is None else after._native  # noqa: SLF001 - an argument of the core
        return self._native.memory_digest(form, num_chars(max_chars), other)

    @property
    def _title(self) -> str:
        return Path(self.source).name if self.source else "Memory snapshot"

    def _repr_html_(self) -> str:
        """The picture of the memory over time, and the devices."""
        from kinetoscope._report.html import picture_html
        from kinetoscope._report.table_text import section

        memory = self.memory()
        if memory.reason is not None:
            return super()._repr_html_()
        return picture_html(self._headline, memory.plot().svg, [section(memory, len(memory))])

    @cached_property
    def actions(self) -> Table:
        """Allocator actions by device, such as `alloc`, `free_completed`, `segment_alloc`, `oom`.

        `device_free_bytes` is the free memory at an `oom`. `stack_id` refers to `frames`; `pool` is
        a JSON array. `time_ns` is null in files of early versions.
        """
        return self.table("actions")

    @cached_property
    def segments(self) -> Table:
        """Memory that the allocator took from the system; `segment_id` is the row number."""
        return self.table("segments")

    @cached_property
    def blocks(self) -> Table:
        """Parts of segments. `state` is `active_allocated`, `active_pending_free` or `inactive`."""
        return self.table("blocks")

    @cached_property
    def past_blocks(self) -> Table:
        """Previous contents of blocks, newest first. Empty for files after PyTorch 2.0."""
        return self.table("past_blocks")

    @cached_property
    def frames(self) -> Table:
        """Frames of all stacks; `depth` 0 is the innermost."""
        return self.table("frames")

    @cached_property
    def annotations(self) -> Table:
        """Starts and ends (`stage`) of annotated ranges (`record_function`)."""
        return self.table("annotations")


class MemoryTimeline(Tables):
    """Bytes in use on one device, by purpose: `export_memory_timeline` of torch.profiler.

    ::

        timeline = ks.read("memory.raw.json.gz")    # the .json form has no actions
        frame = timeline.sizes.to_pandas()
        frame.plot.area(x="time_ns", y=["parameter_bytes", "activation_bytes"])
    """

    def memory(self) -> AnalysisResult:
        """Measures memory by category; the first row is the `total`.

        * `peak_bytes`: the maximum, at `peak_ns`
        * `at_peak_bytes`: bytes when the total was at its peak; `share` is relative to the total
        * `last_bytes`: bytes at the end
        """
        return AnalysisResult(*self._native.memory())

    @cached_property
    def sizes(self) -> Table:
        """Bytes in use after each change: `total_bytes`, and one column per category.

        Two rows may have the same time: the first then holds the memory from before the recording.
        Times have a resolution of 1 ns in the raw form, of 1 µs in the other.
        """
        return self.table("sizes")

    @cached_property
    def actions(self) -> Table:
        """Changes of tensors: `preexisting`, `create`, `increment_version` or `destroy`.

        `size_bytes` is the growth of the `category`, and may be negative. `time_ns` is null for
        memory from before the recording. Empty for the form without actions.
        """
        return self.table("actions")
