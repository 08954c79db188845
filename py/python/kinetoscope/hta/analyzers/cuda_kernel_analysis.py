"""Kernels by the operators and the calls that launch them."""

from __future__ import annotations

import pandas

from kinetoscope._base.warnings import warn
from kinetoscope.hta import drawing
from kinetoscope.hta.aten import kernels_and_delays
from kinetoscope.hta.common.trace import Trace
from kinetoscope.hta.launches import launch_stats
from kinetoscope.hta.patterned import write_patterns
from kinetoscope.hta.sequences import frequent_sequences
from kinetoscope.hta.utils.checker import is_valid_directory


class CudaKernelAnalysis:
    """Lists sequences of kernels, and launches with their delays. All times are in µs."""

    @classmethod
    def get_frequent_cuda_kernel_sequences(
        cls,
        t: Trace,
        operator_name: str,
        output_dir: str,
        min_pattern_len: int = 3,
        rank: int = 0,
        top_k: int = 5,
        visualize: bool = True,
        compress_other_kernels: bool = True,
    ) -> pandas.DataFrame:
        """Lists kernels under operators with `operator_name` in their names, the most frequent sequence first.

        Columns: `pattern` (`operator|kernel|…`), `count`, `GPU kernel duration (us)`, `CPU op duration (us)`.

        Writes `overlaid_<file>` to `output_dir`: the trace of the rank with the first `top_k` sequences in the
        argument `Patterns` of their events. All other events have numbers in place of names, and no arguments, unless
        `compress_other_kernels` is false.

        Without a name, a writable `output_dir` or any such operator, the frame is empty and a RuntimeWarning says why.
        """
        place = is_valid_directory(output_dir, must_be_writable=True)
        if not operator_name or not place.success:
            warn(f"expected the name of an operator and a writable folder, found {operator_name!r}: {place.reason}")
            return pandas.DataFrame()
        sequences = frequent_sequences(t, rank, operator_name, min_pattern_len)
        found = sequences.table
        if found.empty:
            warn(f"expected operators with {operator_name!r} in their names and {min_pattern_len} kernels, found none")
            return pandas.DataFrame()
        counts = dict(found[["pattern", "count"]].head(top_k).to_numpy().tolist())
        write_patterns(t, rank, sequences.members, counts, output_dir, is_short=compress_other_kernels)
        if visualize:
            drawing.draw_kernel_sequences(rank, found, top_k)
        return found

    @classmethod
    def visualize_aten_op_kernels_and_overhead(cls, rank: int, df: pandas.DataFrame) -> None:
        """Draws the table of `get_aten_op_kernels_and_delay` of a rank."""
        drawing.draw_aten_delays(rank, df)

    @classmethod
    def visualize_cuda_launch_kernel_info(
        cls, rank: int, df: pandas.DataFrame, runtime_cutoff: int, launch_delay_cutoff: int
    ) -> None:
        """Draws histograms of short kernels, long launches and long delays; the cutoffs are in µs."""
        drawing.draw_launch_stats(rank, df, runtime_cutoff, launch_delay_cutoff)

    @classmethod
    def get_aten_op_kernels_and_delay(
        cls, trace: Trace, ranks: list[int] | None = None, sort_by: list[str] | None = None
    ) -> dict[int, pandas.DataFrame]:
        """Lists ATen operators of each rank by the kernels that they launch, with the mean delays of the first kernel.

        `avg_aten_op_launch_delay` runs from the operator's start to the launch's, `avg_runtime_delay` from there to the
        kernel's start. Sorted by `occurrence_count` or `sort_by`, largest first. Draws each table.
        """
        found = {
            rank: kernels_and_delays(trace, rank, sort_by or ["occurrence_count"]) for rank in _ranks(trace, ranks)
        }
        for rank, frame in found.items():
            cls.visualize_aten_op_kernels_and_overhead(rank, frame)
        return found

    @classmethod
    def cuda_kernel_launch_stats(
        cls,
        t: Trace,
        ranks: list[int] | None = None,
        runtime_cutoff: int = 50,
        launch_delay_cutoff: int = 100,
        include_memory_events: bool = True,
        visualize: bool = True,
    ) -> dict[int, pandas.DataFrame]:
        """Lists launches of each rank, their device work and the delay between; the cutoffs are for drawings."""
        found = {rank: launch_stats(t, rank, with_memory=include_memory_events) for rank in _ranks(t, ranks)}
        for rank, frame in found.items() if visualize else ():
            cls.visualize_cuda_launch_kernel_info(rank, frame, runtime_cutoff, launch_delay_cutoff)
        return found


def _ranks(traces: Trace, ranks: list[int] | None) -> list[int]:
    """The first rank, where none is given."""
    return list(ranks) if ranks else traces.get_ranks()[:1]
