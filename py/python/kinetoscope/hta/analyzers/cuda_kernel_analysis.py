"""Kernels grouped by the operators and calls that launch them."""

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
        """Lists kernel sequences under matching operators, the most frequent sequence first.

        An operator matches if its name contains `operator_name`.

        Columns: `pattern` (`operator|kernel|…`), `count`, `GPU kernel duration (us)`,
        `CPU op duration (us)`.

        Writes `overlaid_<file>` to `output_dir`: the trace of the rank, where the argument
        `Patterns` of events names the first `top_k` sequences. `compress_other_kernels` replaces
        the names of all other events by numbers and drops their arguments.

        Returns an empty frame with a RuntimeWarning if `operator_name` is empty, if no operator
        matches, or if `output_dir` is not writable.
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
        """Draws the table that `get_aten_op_kernels_and_delay` returns for a rank."""
        drawing.draw_aten_delays(rank, df)

    @classmethod
    def visualize_cuda_launch_kernel_info(
        cls, rank: int, df: pandas.DataFrame, runtime_cutoff: int, launch_delay_cutoff: int
    ) -> None:
        """Draws histograms of short kernels, long launches and long delays.

        The cutoffs are in µs.
        """
        drawing.draw_launch_stats(rank, df, runtime_cutoff, launch_delay_cutoff)

    @classmethod
    def get_aten_op_kernels_and_delay(
        cls, trace: Trace, ranks: list[int] | None = None, sort_by: list[str] | None = None
    ) -> dict[int, pandas.DataFrame]:
        """Lists ATen operators by the kernels that they launch, with mean delays.

        Returns one frame per rank, and draws each as a table.

        The delays belong to an operator's first kernel. `avg_aten_op_launch_delay` runs from the
        start of the operator to the start of the launch. `avg_runtime_delay` runs from the start of
        the launch to the start of the kernel. Rows are sorted by `sort_by`, by default
        `occurrence_count`, in descending order.
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
        """Lists kernel launches with their device work and launch delay, one frame per rank.

        The cutoffs (µs) affect only the pictures.
        """
        found = {rank: launch_stats(t, rank, with_memory=include_memory_events) for rank in _ranks(t, ranks)}
        for rank, frame in found.items() if visualize else ():
            cls.visualize_cuda_launch_kernel_info(rank, frame, runtime_cutoff, launch_delay_cutoff)
        return found


def _ranks(traces: Trace, ranks: list[int] | None) -> list[int]:
    """Returns `ranks`, by default the first rank."""
    return list(ranks) if ranks else traces.get_ranks()[:1]
