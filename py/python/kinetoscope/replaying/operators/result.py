"""Results of a replay of operators."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from kinetoscope import _native
from kinetoscope._base import text
from kinetoscope.replaying.operators.coverage import OperatorSample, covered
from kinetoscope.table import Table


class OperatorReplay(Table):
    """Times of replayed operators, beside the recorded ones. Returned by `kinetoscope.replay`.

    One row per operator, over all ranks, the longest recorded time first:

    * `num_calls`, `num_run`: calls in the traces, and calls that ran
    * `recorded_ns`, `recorded_run_ns`: recorded time of both
    * `replayed_ns`: time of the calls that ran, the mean of the passes; null in a dry run
    * `replayed_to_recorded = replayed_ns / recorded_run_ns`
    * `reason`: why the other calls did not run

    Calls are those of operators that run as a whole; see docs/replay.md. Times are those of the
    device if the trace has any, else of the host. Recorded times leave observed iterations out if
    there are others: `notes` tells which.

    Device work outside of operators, such as that of CUDA graphs, has rows with the name of the
    launching call. These calls never run.
    """

    def __init__(self, samples: Sequence[OperatorSample], rank: int, num_ranks: int, notes: Sequence[str]) -> None:
        super().__init__(_native.replayed_operators([each[:-1] for each in samples]))
        self.rank = rank
        """Rank of this process."""
        self.num_ranks = num_ranks
        """Number of ranks of the replay."""
        self.coverage, self.time_coverage = covered(samples)
        """Share of the calls that run, and share of the recorded time that they have.

        Device work outside of operators lowers the share of the time.
        """
        self.notes = list(notes)
        """Memory, differences from the recording, and unknown values."""
        self.step_ns: list[int] = []
        """Time of each measured pass on this rank: operators, and the replay's own work.

        That work makes arguments, valid indices and missing results, and frees storages. Do not
        compare it with the time of a recorded iteration.
        """
        self.operators_ns: list[int] = []
        """Sum of the times of the operators in each measured pass on this rank."""
        self.peak_bytes: int | None = None
        """Peak of the memory on this rank: of the device, or of the storages without one."""
        self.planned_bytes: dict[str, int] = {}
        """Memory that the trace needs at its peak, by recorded device, on this rank."""
        self.checks: list[str] = []
        """Results of `replace`: one line per replaced operator."""
        self.profile: list[Path] = []
        """Trace files of the replay on this rank; empty without the option `profile`."""

    def export(self, path: str | os.PathLike[str]) -> Path:
        """Writes the table as Parquet, Arrow IPC, CSV, JSON lines or JSON, by extension."""
        from kinetoscope._export.tables import Part, export

        return export([Part(self, {})], path)

    @property
    def lines(self) -> list[str]:
        """Coverage, notes and checks, as sentences."""
        ranks = text.plural(self.num_ranks, "rank")
        if self.coverage is None:
            return [f"{ranks}: the selection has no operators", *self.notes, *self.checks]
        time = "unknown" if self.time_coverage is None else f"{self.time_coverage:.1%}"
        first = f"{ranks}: {self.coverage:.1%} of the operators run; of the recorded time, {time}"
        return [first, *self._pass_lines, *self.notes, *self.checks]

    @property
    def _pass_lines(self) -> list[str]:
        if not self.step_ns or not self.operators_ns:
            return []
        whole, operators = (text.duration(sum(times) / len(times)) for times in (self.step_ns, self.operators_ns))
        return [f"mean time of a pass: {whole}, {operators} of it in operators, the rest in the replay's own work"]

    def __repr__(self) -> str:
        return "\n".join([*self.lines, super().__repr__()])

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{text.escaped(line)}</p>" for line in self.lines)
        return f"{notes}{super()._repr_html_()}"
