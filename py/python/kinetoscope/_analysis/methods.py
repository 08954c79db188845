"""The analyses of a trace, and of all traces of a job: one method each, and what they have in common."""

from __future__ import annotations

from kinetoscope._base import lazy


class Analyses:
    """What can be asked of a trace, or of each trace of a job (then with the columns `rank` and `window`).

    Every method takes the part of the trace to look at: `start_ns` and `end_ns`, as the tables count time, or
    `iteration`, the number of a `ProfilerStep#n`; `stream`, to look at the device events of one stream alone; and
    `launched_inside`, to leave out device events whose launch is not inside the range. What the range cuts counts with
    what is inside; `whole=True` cuts nothing: events belong to the range that they begin in, and device work to that of
    its launch, wherever it runs. Of a job, the part is that of each trace, and `rank`, one or several, says
    which traces are looked at. TraceError for a part that there is not, or an option that an analysis does not have.
    """

    def analyze(self, name: str, **request: lazy.Any) -> lazy.AnalysisResult:
        """An analysis by its name; the methods are the same. `request` holds its options and the part to look at."""
        raise NotImplementedError

    def breakdown(
        self, *, per: str = "iteration", micro_ns: int = 5_000, **part: lazy.Unpack[lazy.Selection]
    ) -> lazy.AnalysisResult:
        """Where the time of each device went, by iteration; `per="selection"` takes all that is looked at as one.

        `span_ns = compute_ns + exposed_communication_ns + exposed_copy_ns + exposed_other_ns + idle_ns`, to the
        nanosecond: computation; communication without computation; copies and fills without either; other work without
        any of these; and nothing. `overlap_ns` is communication with computation. Idle stretches of less than
        `micro_ns` are summed in `micro_idle_ns`.

        Beside it, the same as others show it: `gpu_timeline` (TraceLens, where fills compute), a row for each part; and
        `step_time` (the TensorBoard plugin), where each nanosecond counts for the first of kernel, memcpy, memset,
        communication, runtime, data loader, CPU execution, other. And `concurrency`: how long just these classes of
        work ran together.

        `per="work"` looks at the time from the first start of device work to its last end.
        """
        return self.analyze("breakdown", per=per, micro_ns=micro_ns, **part)

    def overlap(self, **part: lazy.Unpack[lazy.Selection]) -> lazy.AnalysisResult:
        """Communication of each device that computation hides: `hidden_ns`, and what is left, `exposed_ns`.

        By collective, after `all` of them together; kinds that run at the same time both count it.
        """
        return self.analyze("overlap", **part)

    def operators(
        self, *, by: str = "name", stack_depth: int = 5, **part: lazy.Unpack[lazy.Selection]
    ) -> lazy.AnalysisResult:
        """Operators: calls, self and total time on the host, and device time of the work that they launched.

        By name; by name and input shapes (`by="shape"`); by name and the innermost `stack_depth` Python frames
        (`by="stack"`). `self_ns` is time in the calls that is in nothing inside them; `device_self_ns` that of work
        launched by the operator itself, `device_total_ns` by it and all inside it, of whole calls.

        Beside it `device_attribution`: each nanosecond of device work as that of exactly one operator or annotation,
        the innermost around its launch, or `unlinked`; it adds up to all device work.
        """
        return self.analyze("operators", by=by, stack_depth=stack_depth, **part)

    def modules(self, **part: lazy.Unpack[lazy.Selection]) -> lazy.AnalysisResult:
        """Modules (`nn.Module`), by name: calls, host time, and device time of forward and backward work.

        Device work is for the innermost module around its launch or, when a backward operator launched it, around the
        forward operator of that. Recorded with `with_stack` or `with_modules`.
        """
        return self.analyze("modules", **part)

    def annotations(self, **part: lazy.Unpack[lazy.Selection]) -> lazy.AnalysisResult:
        """Ranges that the user named, by name, on the host and as the device has them (`side`).

        `device_total_ns` is the device time of all work launched inside those on the host, and of what the backward
        pass launched on its own thread while they lasted on the one that waited for it: of whole ranges, where
        `total_ns` is cut to the part that is looked at.
        """
        return self.analyze("annotations", **part)

    def stacks(self, *, depth: int = 256, **part: lazy.Unpack[lazy.Selection]) -> lazy.AnalysisResult:
        """Host and device time by stack of Python frames, `outermost;…;innermost`, as flame graphs take them.

        `self_ns` is host time in the innermost frame and in no frame inside it, `device_self_ns` the time of the device
        work launched there.
        """
        return self.analyze("stacks", depth=depth, **part)

    def kernels(self, *, short_ns: int = 10_000, **part: lazy.Unpack[lazy.Selection]) -> lazy.AnalysisResult:
        """Kernels, copies and fills by name, the longest total first.

        `total_ns` is the sum over all runs, `share` that over the sum of all device work, `std_ns` the sample standard
        deviation of the runs; `class` what the name says they are for: `computation`, `communication`, `memory`,
        `other`. `num_short` counts the runs of less than `short_ns`. `longest_id` is the event of the longest run.

        `tensor_cores` says whether the name is of a kernel that computes with units for matrices. `blocks`, `threads`
        (of a block), `registers` (of a thread) and `shared_memory_bytes` (of a block) are those of the longest run, and
        `waves` is how often it filled the device, at least 1. `occupancy` (estimated, in percent) and `sm_efficiency`,
        `min(blocks per multiprocessor, 1)`, are means of all runs over time. Null where the file does not say, `waves`
        also where it says an occupancy of 0.

        Beside it `kernels_by_class`: count, time and share by class and by `tensor_cores`.
        """
        return self.analyze("kernels", short_ns=short_ns, **part)

    def launches(self, *, prefix: str | None = None, **part: lazy.Unpack[lazy.Selection]) -> lazy.AnalysisResult:
        """Device events with their launches: `dur_ns` of the call, `device_dur_ns` of the work, `delay_ns` between.

        `delay_ns` is from the end of the call to the start of the work, 0 where that was earlier. A launch of several
        (a graph) has a row for each. Beside it `launches_by_call`, those of one call of the runtime or driver together.

        And `launches_by_operator`: by the innermost operator around the launch whose name begins with `prefix`, and the
        `kernels` that a call of it launched (a JSON list of names), how many calls launched just these. Of their
        first kernels, `mean_until_launch_ns` is the mean from the start of the operator to that of the launch, and
        `mean_until_kernel_ns` from there to the start of the kernel. `first_id` is the first of the calls.
        """
        return self.analyze("launches", prefix=prefix, **part)

    def queue_length(self, *, full: int = 1024, **part: lazy.Unpack[lazy.Selection]) -> lazy.AnalysisResult:
        """How much launched work was waiting on each stream: mean over time, longest, time empty, time full.

        Work is in the queue from the start of its launch to its own start. `full_ns` is the time with `full` in it or
        more: launches wait then. Beside it `queue_length_series`, every change.
        """
        return self.analyze("queue_length", full=full, **part)

    def copy_bandwidth(self, **part: lazy.Unpack[lazy.Selection]) -> lazy.AnalysisResult:
        """Bytes, time and bandwidth (GB/s) of copies and fills, by what they copy from and to.

        `mean_gbps` is the sum of the bytes over the sum of the times. Beside it `copy_bandwidth_series`, the bandwidth
        of all that run at a time, by direction.
        """
        return self.analyze("copy_bandwidth", **part)

    def idle(
        self,
        *,
        kernel_wait_ns: int = 30,
        micro_ns: int = 5_000,
        longest: int = 100,
        **part: lazy.Unpack[lazy.Selection],
    ) -> lazy.AnalysisResult:
        """When each stream had nothing to do between its first event and its last, and why.

        `host_wait`: the next work was launched only after the gap had begun; `kernel_wait`: it had been launched, and
        the gap is shorter than `kernel_wait_ns`; `other`: all else, such as waits for other streams. `micro_ns` sums
        the gaps shorter than asked for. Beside it `gaps`, the longest, each with the host event that took the most of
        it on the thread that launched what came next.
        """
        return self.analyze("idle", kernel_wait_ns=kernel_wait_ns, micro_ns=micro_ns, longest=longest, **part)

    def stragglers(self, *, longest: int = 20, **part: lazy.Unpack[lazy.Selection]) -> lazy.AnalysisResult:
        """Ranks of a job that others wait for, the costliest first: how often they come last, and why.

        `num_last` and `num_first` count the communications with others (`num_collectives`) that a rank came to last or
        first, `last_share` and `first_share` are those over all; none counts where all came at once. `wait_ns` is what
        it waited itself (see `TraceSet.collectives`), `caused_wait_ns` what the others waited where it came last.
        Clocks' offsets are taken away where they are known.

        `cause` is what most of that is put to. The time of each rank since the communication before that the same
        ranks had (or since the iteration's start) is what its devices did: `compute`; `copy`, without it;
        `communication`, without either; nothing until the host launched the next work, `host`; or nothing although it
        had, `idle`. What took the last rank longer than the median of the others, by the most, is the cause; there is
        none where that time was not longer by half of `lateness_ns` at least.

        Beside it `late_arrivals`, the `longest` by `caused_wait_ns`: `lateness_ns` after the median of the others,
        `cause_ns`, how much longer the cause took, and `name`, the host event or the kernel that took the most longer
        (`name_ns`).
        """
        return self.analyze("stragglers", longest=longest, **part)

    def critical_path(
        self,
        *,
        what_if: str | None = None,
        factor: float = 1.0,
        like: str = "kinetoscope",
        without_last: bool = False,
        **part: lazy.Unpack[lazy.Selection],
    ) -> lazy.AnalysisResult:
        """The longest chain of what waited for what, step by step: what must be faster for the whole to be faster.

        `kind` says what a step is: `operator` (time inside a host event that is in none inside it), `launch` (from a
        call to the work it enqueued, where nothing else held that back), `kernel`, `kernel_kernel` (between work and
        the next on its stream), `sync` (between work and what waited for it), `dependency` (an order that takes no
        time). `dur_ns` is what it adds, `bound_by` what it is put to: `host`, `compute`, `communication`, `copy`,
        `launch`, `wait`, `data_loading`. The length is the sum of `dur_ns` and never more than the time looked at.

        Beside it `critical_path_bound` and `critical_path_operators` sum the steps, `critical_path_length` has the
        length, and what it would be (`new_length_ns`, `saved_ns`) if all events with `what_if` in their name took
        `factor` times their time: the longest path then, which may be another. `critical_path_nodes` and
        `critical_path_edges` are the whole graph.

        `like="hta"` makes the graph of HolisticTraceAnalysis instead, with its nodes, edges, weights and whole
        microseconds; with `without_last` of what it keeps when it leaves out the last iteration.
        """
        options = {"what_if": what_if, "factor": factor, "like": like, "without_last": without_last}
        return self.analyze("critical_path", **options, **part)

    def sequences(
        self, *, operator: str | None = None, min_length: int = 3, **part: lazy.Unpack[lazy.Selection]
    ) -> lazy.AnalysisResult:
        """Sequences of kernels, copies and fills that operators launch, by how many calls launch the same one.

        Under the outermost operators whose name holds `operator` (all, without one), with all that is inside them, in
        the order of their starts. `kernels` is a JSON list of names; `first_id` is the first of the calls.
        """
        return self.analyze("sequences", operator=operator, min_length=min_length, **part)

    def memory(self, **part: lazy.Unpack[lazy.Selection]) -> lazy.AnalysisResult:
        """Memory of each device: the most that was allocated at a time and when, allocations, releases.

        From `[memory]` events, which `profile_memory=True` records. Beside it `memory_series`, what was allocated and
        reserved after each change; and `memory_owners`, by operator and module: `peak_bytes`, what they held when the
        device had the most allocated, and `kept_bytes`, what was not released before the end.

        And `memory_categories`, the same by what it was for, as far as the time of its life tells: `optimizer_state`
        (allocated in an optimizer's step and kept), `gradient` (allocated in the backward pass and alive at its end),
        `autograd_detail` (released before that), `activation` (allocated before the pass and released in it),
        `temporary` (released by the operator that allocated it), `preexisting`, else `unknown`. The `peak_bytes` of a
        device's categories are its `peak_allocated_bytes`.
        """
        return self.analyze("memory", **part)

    def findings(self, *, min_share: float = 0.005, **part: lazy.Unpack[lazy.Selection]) -> lazy.AnalysisResult:
        """What slows the run down: whom it concerns (`subject`), what was seen, what it costs, and what helps.

        `cost_ns` is the time that it costs at most, as its rule counts it; several findings may have the same time.
        What costs less than `min_share` of the time looked at is left out, but for patterns of the program itself,
        which may cost more in another run. `confidence` is from 0 to 1; `evidence` a JSON list of events' ids, the
        costliest first.

        Of a job, also what shows only where ranks are compared: `straggler`, `imbalanced_ranks`. `rank` and `window`
        say whose a finding is.

        Beside it `finding_rules`: all that is looked for, what its cost is, and how much was found.
        """
        return self.analyze("findings", min_share=min_share, **part)

    def roofline(
        self, *, device: str | None = None, on: str = "device", **part: lazy.Unpack[lazy.Selection]
    ) -> lazy.AnalysisResult:
        """Operators against what the device can do at most: operations, bytes, and the time that they need at least.

        A row is for calls of one operator with equal shapes and types. `flops` and `bytes` are those of one call:
        operations of the mathematics (`2·M·N·K` of a product of matrices; causal attention only what is seen), and
        each argument and each result once. `intensity = flops / bytes`; `tflops` and `gbps` are what was achieved.
        `roofline_ns = max(flops / peak, bytes / bandwidth)` is the shortest time that the device allows, `roof_tflops`
        what it would achieve then, `bound` says which of the two it is, and `share_of_peak = roofline_ns / mean_ns`.
        Calls are taken whole. Of attention over sequences whose lengths no trace records (`family` is
        `variable_attention`) `flops`, and with it the shortest time, is an upper bound: that of as few sequences as may
        be, all of the greatest length.

        Peaks are those of the device that the file names, or that `device` names (`"H100 SXM"`, `"MI300X"`); dense
        ones, and of float32 those of tf32 only where the name of a kernel says it. `on="host"` takes the time of the
        outermost operators on the host, for recordings without a device.

        Beside it `roofline_unmodelled`, calls whose operations are unknown, with the reason; `roofline_iterations`,
        the operations of each iteration, and `share_of_peak`, its model FLOPs utilization (MFU); `roofline_device`,
        the peaks and their source, or why there are none.
        """
        return self.analyze("roofline", device=device, on=on, **part)


class JobAnalyses(Analyses):
    """What can be asked of all traces of a job, where a trace has something else of the name."""

    def summary(self, *, top: int = 5, **part: lazy.Unpack[lazy.Selection]) -> lazy.AnalysisResult:
        """A row for each trace: span, iterations (`iteration_mean_ns`, `iteration_std_ns`, the slowest), `busy_share`.

        `busy_share` is the time with device work over the span, of several devices the mean. Beside it `iterations`,
        and the first `top` of `operators`, `kernels`, `modules` and `findings`.
        """
        return self.analyze("summary", top=top, **part)

    def job_critical_path(self, **part: lazy.Unpack[lazy.Selection]) -> lazy.AnalysisResult:
        """What the end of the job waited for, step by step back through all ranks, in the order of time.

        The graphs are those of `critical_path`. Each step leads back to what came last of what was waited for, and from
        a communication in which a rank waited to the rank that came last: none of the path is time in which a rank
        waited for another one. `between` is time of a thread outside of operators and calls. Steps end where the next
        begins. Times are those of the first trace's clock where the clocks' offsets are known.

        Beside it `job_critical_path_ranks`, what of the path is on each rank and what bounds it there, and
        `critical_path_bound`.
        """
        return self.analyze("job_critical_path", **part)

    def collectives(self, *, align_clocks: bool = False, **part: lazy.Unpack[lazy.Selection]) -> lazy.AnalysisResult:
        """Communications of all ranks: one row for each rank's part, trace after trace.

        Parts of the same communication have the same `collective_id`, found by its process group and number in sequence
        (`how` is `seq`) or, where numbers are not recorded, by its place among its like in the iteration (`order`).
        `num_traces` says how many traces have it, `skew_ns` how much earlier than the last rank this one came to it: 0
        or less. Ranks are compared by their own clocks, or, with `align_clocks` as in `stragglers`, with
        `clock_offsets` taken away; the times in the table are those of the files. The other columns are those of
        `Trace.collectives`.

        Beside it `collective_skew`, one row a communication: `skew_ns` is the last arrival less the first, `wait_ns`
        the sum over the ranks of how long they waited (`max_wait_ns` the longest, `mean_wait_ns` over `num_traces`),
        `total_ns` that of how long it ran, `transfer_ns` the shortest that it ran on any rank: what it takes once all
        are there. A rank waits from its arrival until the last has come where all give and take alike, until the root
        has where that sends to all, until the sender has where two talk, and never past its own end.
        `algorithm_gbps` is the larger of `in_bytes` and `out_bytes` over `transfer_ns`, and `bus_gbps` that times
        2(n-1)/n for an all-reduce, (n-1)/n for what gathers, scatters or exchanges, 1 for the others. `first_rank` and
        `last_rank` are null where all came at once. What only one trace has is a row, too, without skew.
        `collective_summary` has like communications together: `total_ns` and `wait_ns` over all ranks, `transfer_ns`,
        and the least, median and greatest bandwidth.

        A communication belongs to the range that it was called in, and is never cut.
        """
        return self.analyze("collectives", align_clocks=align_clocks, **part)
