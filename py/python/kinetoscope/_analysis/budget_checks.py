"""Compares a trace or a job with budgets."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from kinetoscope._base import lazy


class BudgetChecks:
    """The method of a trace or a job that compares it with budgets."""

    def check(
        self,
        budget: str | os.PathLike[str] | Mapping[str, lazy.Any] | None = None,
        *,
        rank: int | Iterable[int] | None = None,
        allow_unknown: bool | Iterable[str] | None = None,
        **limits: lazy.Any,
    ) -> lazy.Gate:
        """Compares the trace with budgets; of a job, each row has the worst rank.

        `budget` is a TOML file with a table `[budget]`, or a dictionary with its keys. `limits` are
        further ones, which take precedence. Keyword arguments of a selection (see `Selection`)
        restrict the check.

        Limits have units: `ns`, `us`, `ms`, `s`; `B`, `kB`, `MB`, `GB`, `TB`, `KiB`, `MiB`, `GiB`,
        `TiB`; or `%`, of the mean step.

        * `step`, `slowest_step`: mean and longest host time of the iterations
        * `device`: mean duration of the device work that an iteration launched; time or share
        * `compute`, `exposed_communication`, `exposed_copy`, `exposed_other`, `idle`: mean parts of
          the step, as in `diff`; time or share
        * `peak_memory`, `peak_reserved_memory`: of the device that holds most; needs a recording
          with `profile_memory`
        * `device_events`: kernels, copies and fills per iteration; a number without unit
        * `min_iterations`: at least so many iterations
        * `operators`, `modules`: tables with the limit of each name, for its own mean time: without
          operators or modules inside it. Device time, or host time if no device work was recorded;
          time or share. Unknown without time of its own: name those inside
        * `kernels`: the same of kernels, for their mean duration. In all three tables, `*` stands
          for any text: all its names together
        * `phases`: table with the mean step of each phase
        * `forbid`: list of findings that must not be there, by their names (`finding_rules`)
        * `complete`: true forbids problems of the recording (`verdict`)
        * `allow_unknown`: true, or a list of budgets that may be unknown

        `value` is compared with `limit_value`; `status` is `kept`, `broken` or `unknown`. A budget
        is unknown if the trace lacks its data, such as memory, or its name. Then `is_failing` is
        null and the outcome `unknown`, unless `allow_unknown` names the budget. Without iterations,
        the whole trace counts as one; `note` says so.

        `step`, `slowest_step`, `phases` and `min_iterations` count all iterations. Budgets of the
        device leave out iterations that lost device work, and their `note` says how many. They
        are unknown if more than one iteration in ten lost some. These budgets are `device`,
        `device_events`, parts of the step, operators, kernels and modules.

        ::

            gate = trace.check(step="12 ms", idle="5 %", forbid=["host_device_sync"])
            gate = trace.check("kinetoscope.toml", peak_memory="20 GiB")
            gate.passed, gate.failures

        Raises TraceError for an unknown key or an invalid limit, or if the trace lacks the
        selection. Raises ValueError if the file is no TOML or lacks the table, and OSError if it
        cannot be opened. Raises ImportError in Python 3.10 without `kinetoscope[toml]`.
        """
        from kinetoscope import _native
        from kinetoscope._analysis.budget_file import read_budgets
        from kinetoscope._analysis.gate import Gate
        from kinetoscope._analysis.request import written
        from kinetoscope._analysis.selection import Selection
        from kinetoscope._base.system import num_processors

        part = {name: limits.pop(name) for name in [*limits] if name in Selection.__annotations__}
        budgets: dict[str, lazy.Any] = {}
        if budget is not None:
            budgets |= budget if isinstance(budget, Mapping) else read_budgets(budget)
        budgets |= limits
        if allow_unknown is not None:
            budgets["allow_unknown"] = allow_unknown if isinstance(allow_unknown, bool) else list(allow_unknown)
        this: lazy.Any = self  # a Trace or a TraceSet
        traces = this.chosen(rank) if hasattr(self, "chosen") else [(this.rank, this._native)]  # noqa: SLF001 - the core decides
        return Gate(*_native.check(traces, written({"budget": budgets, **part}), num_processors()))
