"""Steps of a job, and the ranks that may slow it down."""

from __future__ import annotations

from collections.abc import Callable

import pandas

from kinetoscope.hta.analyzers.straggler import (
    extract_iteration_info,
    find_stragglers_with_late_start_comm_kernels,
)
from kinetoscope.hta.common.trace import Trace
from kinetoscope.hta.stragglers import comes_last


class StragglerAnalysis:
    """Finds the steps and the stragglers of a job."""

    @classmethod
    def get_profiler_steps(cls, t: Trace) -> list[int]:
        """Lists the step numbers of all ranks, ascending."""
        return sorted(extract_iteration_info(t)["iter"].unique().tolist())

    @classmethod
    def get_potential_stragglers(
        cls,
        t: Trace,
        profiler_steps: list[int] | None = None,
        num_candidates: int = 2,
        visualize: bool = False,
        straggler_identification_impl: Callable[..., pandas.Series] = find_stragglers_with_late_start_comm_kernels,
    ) -> list[int]:
        """Lists up to `num_candidates` ranks; ranks that are late in the most steps come first.

        If there are no steps, or no long communication kernels to compare, the default lists the
        ranks that most often join a collective last.

        Raises:
            ValueError: none of `profiler_steps` exists.
        """
        count = max(num_candidates, 1)
        known = cls.get_profiler_steps(t)
        steps = known if profiler_steps is None else [step for step in profiler_steps if step in known]
        is_default = straggler_identification_impl is find_stragglers_with_late_start_comm_kernels
        if not known and profiler_steps is None and is_default:
            return comes_last(t, [])[:count]
        if not steps:
            raise ValueError(f"expected some of the steps {known}, found {profiler_steps}")
        rows = pandas.concat([frame.assign(rank=rank) for rank, frame in t.get_all_traces().items()])
        rows = rows[rows["iteration"].isin(steps)].reset_index(drop=True)
        try:
            late = straggler_identification_impl(rows, t.symbol_table, count, visualize)
        except ValueError:
            if not is_default:
                raise
            return comes_last(t, steps)[:count]
        latest: pandas.Series = late.sort_index().sort_values(ascending=False, kind="stable")
        return latest.index[:count].tolist()
