"""One method per analysis that compares the ranks of a job."""

from __future__ import annotations

from kinetoscope._analysis.methods import Analyses
from kinetoscope._base import lazy


class JobAnalyses(Analyses):
    """Analyses of a job that a single trace lacks, or offers in another form."""

    def summary(self, *, top: int = 5, **part: lazy.Unpack[lazy.Selection]) -> lazy.AnalysisResult:
        """Summarizes each trace in one row: span, iterations, and share of busy device time.

        `busy_share` is the time with device work over `span_ns`; with several devices, their mean.
        `sm_efficiency` is `min(blocks per multiprocessor, 1)` of all kernels, a mean over their
        time, and `occupancy` likewise. Low values mean kernels that are too small for the device.
        `iteration_mean_ns` and `iteration_std_ns` describe the iterations, `slowest_iteration` and
        `slowest_ns` the longest.

        Further tables: `iterations`, and the first `top` rows of `operators`, `kernels`,
        `modules` and `findings`.
        """
        return self.analyze("summary", top=top, **part)

    def heatmap(self, **part: lazy.Unpack[lazy.Selection]) -> lazy.AnalysisResult:
        """Measures each iteration of each rank; `plot` draws a map that names the slowest.

        ::

            job.heatmap().plot()
            slow = job.heatmap().to_polars().sort("caused_wait_ns", descending=True).head()

        * `dur_ns`: duration of the iteration; of the whole recording without iterations
        * `device_busy_ns`: time in it with device work
        * `exposed_communication_ns`: time in it with communication and no computation
        * `wait_ns`: time that the rank waited at collectives for others
        * `caused_wait_ns`: time that others waited for it; their sums are those of `stragglers`
          where no pipeline sends messages

        Device times are null without device work, or if some of it was lost. Waits are null if no
        collective of the iteration compares. Messages between two ranks are left out.
        """
        return self.analyze("heatmap", **part)

    def grouped_heatmap(
        self, *, group: str | None = None, ranks_per_machine: int = 0, **part: lazy.Unpack[lazy.Selection]
    ) -> lazy.AnalysisResult:
        """Measures each iteration of each machine, or process group; `plot` draws a map.

        By default, one row per machine and iteration (see `machines`). Where machines are unknown,
        one row per process group with a description, without descriptions that all ranks share.
        A `group` joins the ranks of each process group with this description (see `topology`);
        `group="machine"` never takes process groups. `division` has `machine` or the description.

        ::

            job.grouped_heatmap().plot()
            job.grouped_heatmap(group="mesh_tp").plot()

        `dur_ns` is the longest duration of the iteration, and `slowest_rank` had it. Device times
        are means over the traces, null if one is unknown. Waits are sums, as in `heatmap`.
        """
        return self.analyze("grouped_heatmap", group=group, ranks_per_machine=ranks_per_machine, **part)

    def job_critical_path(self, **part: lazy.Unpack[lazy.Selection]) -> lazy.AnalysisResult:
        """Follows the critical path of a job back through all ranks; rows in order of time.

        Uses the graphs of `critical_path`. Each step leads back to the dependency that ended last.
        From a communication in which a rank waited, the path continues on the rank that arrived
        last. So the path never contains time in which one rank waits for another.

        Each step ends where the next one starts. The kind `between` is time of a thread outside of
        operators and calls. Times use the clock of the first trace if the clock offsets are known.

        Further tables: `job_critical_path_ranks`, the time of the path on each rank by limiting
        resource; and `critical_path_bound`, the same for the job.
        """
        return self.analyze("job_critical_path", **part)

    def pipeline(self, **part: lazy.Unpack[lazy.Selection]) -> lazy.AnalysisResult:
        """Finds the stages of pipeline parallelism, with their bubbles; one row per rank.

        Ranks that send messages to each other are a pipeline, if the messages have the order of
        one. Passes come from the ranges that `torch.distributed.pipelining` records (`PP:2F0`,
        `Forward 3`). Without such ranges, work between messages is a pass; operators of autograd's
        engine make it a backward pass. Communication, optimizers, and work shorter than a tenth of
        the usual pass do not count.

        * `stage`: the place of the rank in the order of the forward pass
        * `num_chunks`: the parts of the model on each rank, more than 1 in interleaved schedules
        * `schedule`: the order of passes on the last stage: `gpipe`, `1f1b`, `interleaved`,
          `zero_bubble` (backward passes in two parts) or `forward_only`
        * `mean_forward_ns`, `mean_backward_ns`: the work of one pass; unequal stages show here
        * `span_ns`: time from the first work to the last of all stages
        * `bubble_ns`: the part of it in which the stage neither works nor waits for a slow stage
        * `ideal_bubble_share = (p - 1) / (m * v + p - 1)` for `p` stages, `m` micro-batches and `v`
          parts of the model per rank: the bubble of equally long stages. Null for `zero_bubble`

        Null means that neither ranges nor operators tell. Stages without a trace have no row, but
        count in `num_stages`.

        Further table: `micro_batches`, one row per pass of a micro-batch. `plot` draws it: a line
        per rank, a colour per pass.
        """
        return self.analyze("pipeline", **part)

    def collectives(self, *, align_clocks: bool = False, **part: lazy.Unpack[lazy.Selection]) -> lazy.AnalysisResult:
        """Matches collectives across ranks: one row per rank and communication, trace after trace.

        Rows of the same communication share a `collective_id`. `method` is `seq` if process group
        and sequence number match. Without recorded numbers it is `order`: the position among
        similar communications of the iteration. `num_traces` counts the traces that contain it.
        `skew_ns = own arrival − last arrival`, 0 or less. The other columns are those of
        `Trace.collectives`.

        Arrivals are compared by each rank's own clock; `align_clocks=True` subtracts the
        `clock_offsets` first. The times in the table are those of the files.

        A communication belongs to the range in which it was called and is never clipped.

        Further table: `collective_skew`, one row per communication:

        * `skew_ns = last arrival − first arrival`; null if only one trace contains it
        * `wait_ns`: sum over ranks of the time from arrival until the awaited rank arrives, at
          most until the rank's own end; `max_wait_ns`, `mean_wait_ns = wait_ns / num_traces`.
          Ranks await the last rank, the root of a broadcast or scatter, or the sender
        * `total_ns`: sum of the run times; `transfer_ns`: the shortest run time of any rank, an
          estimate of the transfer without waiting
        * `algorithm_gbps = max(in_bytes, out_bytes) / transfer_ns`; `bus_gbps` multiplies it by
          `2(n−1)/n` for an all-reduce, by `(n−1)/n` for gather, scatter and all-to-all, by 1 for
          the others
        * `first_rank`, `last_rank`: null for simultaneous arrivals

        Further table: `collective_summary`, similar communications together: `total_ns` and
        `wait_ns` over all ranks, `transfer_ns`, and minimum, median and maximum bandwidth.
        """
        return self.analyze("collectives", align_clocks=align_clocks, **part)

    def machines(self, *, ranks_per_machine: int = 0, **part: lazy.Unpack[lazy.Selection]) -> lazy.AnalysisResult:
        """Compares communication inside of machines with communication between them.

        One row per collective, group size and `reach`. `reach` is `inside` if all ranks of the
        process group are on one machine, and `between` if they are on several. It is null if
        machines are unknown, and `reason` says why. A message counts with its two ranks alone.

        `bytes` is the sum of the message sizes. `wait_ns`, `transfer_ns` and the bandwidths are
        those of `collectives`: `wait_ns = Σ waits` over ranks, `transfer_ns = Σ` shortest run time.

        The first rule that holds for the job tells the machines:

        1. `ranks_per_machine`, if it is not 0: `machine = rank // ranks_per_machine`
        2. `host_name`, `file_name`: each trace names its host, as a header, or in `traceName` as
           `<host>_<pid>.<time>.pt.trace.json` with a process of the trace. A container counts as a
           machine. Readers drop the header `host_name` unless `include_environment=True`
        3. `devices`: all traces list the same number of devices, more than one, and
           `rank % devices` is the device of each rank. Then `machine = rank // devices`
        4. Host names of some traces; the machines of the others are unknown

        Rules 1 and 3 also place ranks without a trace; rule 2 does if rule 3 agrees.

        Further table: `machine_ranks`, the machine of each rank, its `host`, and the rule as
        `source`.
        """
        return self.analyze("machines", ranks_per_machine=ranks_per_machine, **part)

    def topology(self, **part: lazy.Unpack[lazy.Selection]) -> lazy.AnalysisResult:
        """Lists process groups with their machines and waits; `plot` draws where the ranks are.

        One row per group that communicated, those with the longest waits first. Communications
        without a recorded group count for the ranks that share them.

        * `reach`: `inside` of one machine or `between` several; null if unknown (see `machines`)
        * `wait_ns = Σ waits` over ranks and communications, as in `collectives`
        * `awaited_rank`, `awaited_ns`: the rank that others waited for most, and these waits

        ::

            job.topology().plot()
            worst = job.topology().tables["waiting_pairs"].to_polars().head()

        Further tables: `waiting_pairs`, the 1,000 pairs of ranks with the longest waits of the one
        for the other. `rank_places` has the machine of each rank, and its process groups with a
        description (`pg_desc`), such as those of a `DeviceMesh`.

        Further table: `lacking_collectives`, one row per rank, group and collective that the rank
        lacks, though others of the group have it. Such a rank has earlier and later sequence
        numbers of the group without this one, or nothing of the group at all.
        """
        return self.analyze("topology", **part)

    def experts(self, **part: lazy.Unpack[lazy.Selection]) -> lazy.AnalysisResult:
        """Measures the balance of a mixture of experts, from the splits of uneven all-to-alls.

        One row per place and `direction`, in order of the first calls. The place is the `module`,
        or without one the `position` among the exchanges of the group in the iteration. An exchange
        is a `combine` if it swaps the splits of an earlier one of its iteration on all ranks. The
        earlier one is the `dispatch`. In the backward pass, the gradient of a combine moves like a
        dispatch. The direction is null if no other exchange tells.

        * `received_rows`: rows (tokens) that all ranks receive, with those from themselves, in all
          calls; `max_rows` and `mean_rows` are over ranks
        * `imbalance = max_rows / mean_rows`: 1 if all ranks receive as many
        * `busiest_rank`: the rank with `max_rows`; null if all ranks receive as many
        * `bytes`: received bytes of all ranks; `wait_ns`: sum of the waits, as in `collectives`

        Kineto cuts lists of more than 30 splits. Rows then follow from the elements of the message,
        if a rank has a whole list: `rows = elements / (elements of that rank / rows of that rank)`.
        Else rows are null, bytes take their place in `imbalance`, and `reason` says so. Execution
        Traces have whole lists. `reason` also tells if ranks of the group have no trace.

        All uneven exchanges are listed, those of sharded embeddings too. Even exchanges are not,
        nor are kernels without recorded splits (DeepEP).

        Further table: `expert_ranks`, rows and bytes that each rank sends and receives.
        `share = received_rows / Σ received_rows` of the ranks.
        """
        return self.analyze("experts", **part)
