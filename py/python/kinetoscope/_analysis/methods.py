"""One method per analysis of a trace, or of each trace of a job."""

from __future__ import annotations

from kinetoscope._analysis.budget_checks import BudgetChecks
from kinetoscope._analysis.digest_methods import Digests
from kinetoscope._analysis.stack_methods import StackAnalyses
from kinetoscope._base import lazy


class Analyses(Digests, StackAnalyses, BudgetChecks):
    """Analyses of a trace, or of each trace of a job.

    Every method returns an `AnalysisResult`: a table, with more tables in its attribute `tables`.
    Results for a job have the additional columns `rank` and `window`. Times are integer
    nanoseconds (`_ns`), sizes are bytes (`_bytes`), shares are fractions of 1, and `_id` columns
    refer to `Trace.events`.

    Every method also takes a selection as keyword arguments (see `Selection`):

    * `start_ns` and `end_ns`, or `iteration`: the time range; default: the whole trace
    * `phase`, `annotation` or `module`: a part by name
    * `by="phase"`: one result per phase of the iterations
    * `stream`: only the device events of this stream
    * `launched_inside=True`: only device events whose launch is inside the range
    * `clip=False`: count each event as a whole, in the range in which it starts
    * `rank`, for a job: only this rank, or these ranks

    ::

        trace.kernels(iteration=3).to_polars()
        job.breakdown(rank=[0, 1]).tables["gpu_timeline"].to_pandas()

    Raises TraceError if the trace lacks the range, iteration or stream, or if an option has a bad
    value. Raises TypeError for an unknown option.
    """

    @property
    def verdict(self) -> lazy.Verdict:
        """Whether the recording can be trusted: its state, and its problems.

        `state` is the worst of all `problems`: `complete`, `incomplete` (something is missing) or
        `inconsistent` (something cannot be as recorded).
        """
        from kinetoscope._analysis.verdict import judged

        return judged(self.problems())

    def problems(self, **part: lazy.Unpack[lazy.Selection]) -> lazy.AnalysisResult:
        """Lists problems of the recording: lost device work, impossible times, damaged files.

        The worst `state` comes first: `inconsistent`, `incomplete`, or `complete` for a remark.
        `count` of `num_all` items have the problem, on `device` and `stream`, between `start_ns`
        and `end_ns`. `event_ids` has the first 20 events. docs/verdict.md defines each `problem`.
        A selection keeps problems whose time overlaps it.
        """
        return self.analyze("problems", **part)

    def breakdown(
        self, *, per: str = "iteration", micro_ns: int = 5_000, **part: lazy.Unpack[lazy.Selection]
    ) -> lazy.AnalysisResult:
        """Breaks down device time by class of work: compute, communication, copies, idle, unknown.

        One row per device and iteration. `per="selection"` gives one row per device for the whole
        range. `per="work"` measures from the first start of device work to its last end.

        `span_ns = compute_ns + exposed_communication_ns + exposed_copy_ns + exposed_other_ns +
        idle_ns + unknown_ns`, exactly. Each nanosecond counts for the first class in this order:

        1. `compute_ns`: computation runs
        2. `exposed_communication_ns`: communication runs, without computation
        3. `exposed_copy_ns`: copies or fills run, without the classes above
        4. `exposed_other_ns`: other work runs, without the classes above
        5. `unknown_ns`: no recorded work runs, but lost work may have run (see `problems`)
        6. `idle_ns`: nothing runs; `micro_idle_ns` is the part in gaps shorter than `micro_ns`

        `overlap_ns` is the time with communication and computation at once. Further tables:

        * `phases`: the iterations of each phase of a serving engine, with requests and tokens
        * `gpu_timeline`: one row per category, as in TraceLens; fills count as compute
        * `step_time`: as in the TensorBoard plugin, where each nanosecond counts for the first of
          kernel, memcpy, memset, communication, runtime, data loader, CPU execution, other
        * `concurrency`: time by the exact set of classes that run together

        ::

            row = trace.breakdown(per="selection").to_polars().row(0, named=True)
            row["idle_ns"] / row["span_ns"]         # share of idle time on the first device
        """
        return self.analyze("breakdown", per=per, micro_ns=micro_ns, **part)

    def overlap(self, *, by: str = "collective", **part: lazy.Unpack[lazy.EventSelection]) -> lazy.AnalysisResult:
        """Measures how much communication is hidden behind computation, per device and collective.

        `by="module"`, `"annotation"` or `"phase"` divides the rows further: which layer waits for
        its all-gather? The table `overlap_calls` has each communication, the most exposed first.

        `hidden_ns` is the time in which computation runs on the same device; `exposed_ns =
        total_ns - hidden_ns`; `hidden_share = hidden_ns / total_ns`. The row `all` merges all
        collectives and comes first. Collectives that run at the same time each count that time,
        so the sum over collectives may exceed `all`.
        """
        return self.analyze("overlap", by=by, **part)

    def operators(
        self, *, by: str = "name", stack_depth: int = 5, **part: lazy.Unpack[lazy.EventSelection]
    ) -> lazy.AnalysisResult:
        """Sums host and device time by operator.

        `by` selects the grouping: `"name"`; `"shape"` (name and input shapes); or `"stack"` (name
        and the innermost `stack_depth` Python frames); `"phase"` (name, per phase).

        * `total_ns = Σ dur` and `self_ns = Σ (dur − Σ dur of children)`: time on the host
        * `device_self_ns`: device time of work that the operator itself launched
        * `device_total_ns`: also includes work launched by nested calls

        Host times are clipped to the selection; device times are those of whole calls.

        Further table: `device_attribution` assigns each nanosecond of device work to exactly one
        operator or annotation: the innermost around its launch. Work without one is `unlinked`.
        The rows add up to all device work.

        ::

            trace.operators(by="shape").to_polars().head(10)    # most device time first
        """
        return self.analyze("operators", by=by, stack_depth=stack_depth, **part)

    def modules(self, **part: lazy.Unpack[lazy.Selection]) -> lazy.AnalysisResult:
        """Sums host time of calls, and forward and backward device time, by `nn.Module`.

        Device work belongs to the innermost module around its launch. Work of a backward operator
        belongs to the innermost module around the matching forward operator. `device_total_ns =
        forward_ns + backward_ns`, and includes nested modules; `device_self_ns` excludes them.

        Needs a recording with `with_stack` or `with_modules`. `modules_by_class` sums by class.
        """
        return self.analyze("modules", **part)

    def annotations(self, **part: lazy.Unpack[lazy.Selection]) -> lazy.AnalysisResult:
        """Sums host and device time by user annotation (`record_function`).

        One row per name and `side`: `host` (`user_annotation`) or `device`
        (`gpu_user_annotation`). `share` is `total_ns` over the total of all annotations on that
        side. `total_ns` is clipped to the selection.

        `device_total_ns` is the device time of all work launched inside the host ranges. It
        includes work that the backward pass launched on its own thread while the annotated thread
        waited for it. It always covers whole ranges. `backward_ns` is that of the backward work of
        operators inside the ranges which was launched later.
        """
        return self.analyze("annotations", **part)

    def kernels(self, *, short_ns: int = 10_000, **part: lazy.Unpack[lazy.Selection]) -> lazy.AnalysisResult:
        """Sums kernels, copies and fills by name; largest total first.

        * `total_ns = Σ dur`; `share` is `total_ns` over the total of all device work
        * `std_ns`: sample standard deviation; null for a single run
        * `num_short`: number of runs shorter than `short_ns`
        * `class`: `computation`, `communication`, `memory` or `other`, from the name
        * `tensor_cores`: whether the name is that of a kernel for matrix units
        * `longest_id`: event of the longest run

        The launch configuration is that of the longest run: `blocks`, `threads` (per block),
        `cluster_size` (blocks per cluster), `registers` (per thread), `shared_memory_bytes` (per
        block). `waves` is how often its blocks filled the device, at least 1. `occupancy` (in
        percent) and `sm_efficiency`, `min(blocks per multiprocessor, 1)`, are means weighted by run
        time. All are null if the file lacks the values; `waves` also for an occupancy of 0.

        `theoretical_occupancy` is the share of warps that a multiprocessor holds at a time, in
        percent. `occupancy_limit` names what allows no more blocks: `threads`, `registers`,
        `shared memory`, `blocks` or `barriers`, or several; `grid` if the grid has too few. Both
        come from the file, else from `deviceProperties` and the rules of NVIDIA's devices.

        Further tables:

        * `kernels_by_class`: the totals by `class` and `tensor_cores`
        * `graph_nodes`: each node of a CUDA or HIP graph over all its replays, with the operator
          that captured it

        ::

            trace.kernels().to_polars().filter(pl.col("num_short") > 0.5 * pl.col("count"))
        """
        return self.analyze("kernels", short_ns=short_ns, **part)

    def counter_means(
        self, *, by: str = "kernel", counter: str | None = None, **part: lazy.Unpack[lazy.EventSelection]
    ) -> lazy.AnalysisResult:
        """Averages sampled counters over the time of kernels, operators, modules or iterations.

        Counters are those of `Trace.counters` with a device: PM sampling of PyTorch, GPU metrics of
        Nsight Systems, `ks.profile(metrics=True)`, Perfetto, ROCm. `counter` chooses them by name;
        `*` stands for any text. One row per owner, counter and device; most time first.

        `by` is the owner of the time:

        * `"kernel"`, `"operator"` or `"module"`: device time of the work; the innermost operator or
          module around its launch counts
        * `"event"`: each event of a device; `id` refers to `Trace.events`
        * `"iteration"`: the whole iteration, idle time included, also with counters of the host
        * `"device"`: the whole selection
        * `"phase"`: kernels, per phase of the iterations

        A sample stands for the time until the next one. After a gap of more than two usual ones
        (their median), and after the last sample, it stands for one usual gap. The rest of the time
        was not sampled, as is that of a sample without a number.

        `mean = Σ value · overlap / Σ overlap`, over the samples that overlap the owner's time;
        `sampled_ns = Σ overlap`; `sampled_share = sampled_ns / total_ns`. Without samples, `mean`,
        `min` and `max` are null. Values keep the unit of the file; `unit` is the one in the name.

        Samples describe the whole device. A kernel that is shorter than `period_ns` shares its
        sample with the work around it.

        Values that a file states for single kernels have `source` `events`: those of `rocprofv3`
        (`args["counter …"]`), and of CUPTI's range profiler (`cuda_profiler_range`). Their mean is
        weighted by the time of the events.

        Further table: `sampled_counters`, each counter with the median gap of its samples
        (`period_ns`). Counters without a known device are not joined. The first table has at most
        4,194,304 rows; the counters with the fewest samples are left out.

        ::

            busy = trace.counter_means(counter="SM Active*").to_polars()
            busy.filter(pl.col("sampled_share") > 0.5).select("name", "total_ns", "mean")
            each = trace.counter_means(by="event")
            trace.sql("select e.stream, avg(c.mean) from each c join events e using (id) group by 1", each=each)
        """
        return self.analyze("counter_means", by=by, counter=counter, **part)

    def launches(
        self,
        *,
        prefix: str | None = None,
        clock_offset_ns: int = 0,
        clock_device: int | None = None,
        **part: lazy.Unpack[lazy.Selection],
    ) -> lazy.AnalysisResult:
        """Measures launches: duration of the call, and delay until the device work starts.

        One row per device event. `dur_ns` is the duration of the host call and `device_dur_ns`
        that of the work. `delay_ns = max(start of the work − end of the call, 0)`; null if the work
        starts before its launch, because then the clocks of host and device differ. A launch of
        several device events, such as a CUDA graph, has one row for each.

        `clock_offset_ns` is added to device times for delays; with `clock_device`, to those of this
        device alone. `problems` suggests both.

        Further tables:

        * `launches_by_call`: totals by runtime or driver call
        * `launches_by_operator`: totals by operator and by the list of `kernels` (JSON) that one
          call launches. Only operators whose name starts with `prefix` count, the innermost around
          each launch. `mean_until_launch_ns` is from the start of the operator to its first
          launch, and `mean_until_kernel_ns` from that launch to its kernel. `first_id` is the
          first of the calls
        """
        clock = {"clock_offset_ns": clock_offset_ns, "clock_device": clock_device}
        return self.analyze("launches", prefix=prefix, **clock, **part)

    def queue_length(self, *, full: int = 1024, **part: lazy.Unpack[lazy.Selection]) -> lazy.AnalysisResult:
        """Measures the queue length of each stream: work that is launched and has not started.

        Work enters the queue at the start of its launch and leaves it at its own start. `mean` is
        `Σ length · time / span`. `empty_ns` is the time with an empty queue, `full_ns` the time
        with at least `full` entries: launches block then.

        Further table: `queue_length_series`, the length after each change.
        """
        return self.analyze("queue_length", full=full, **part)

    def copy_bandwidth(self, **part: lazy.Unpack[lazy.Selection]) -> lazy.AnalysisResult:
        """Measures bytes, time and bandwidth (GB/s) of copies and fills.

        One row per `direction` and `memory` kinds, such as `Memcpy HtoD` and `Pageable -> Device`.
        `mean_gbps = Σ bytes / Σ ns`. Copies count as a whole, even if the selection cuts them.

        Further table: `copy_bandwidth_series`, the summed bandwidth of all copies that run at a
        time, by direction.
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
        """Sums the idle time of each stream, between its first and last event, by cause.

        `category` is the cause of a gap:

        * `host_wait`: the next work was launched after the gap had started
        * `kernel_wait`: the next work was launched before, and the gap is shorter than
          `kernel_wait_ns`
        * `other`: all other gaps, such as waits for another stream
        * `unknown`: lost work may have run (see `problems`); also before the first event and after
          the last

        `share` is `total_ns` over all idle time of the stream. The column `micro_ns` is the time
        in gaps shorter than the option `micro_ns`.

        Further table: `gaps`, the `longest` gaps. `host_event_id`, `host_event_name` and
        `host_ns` describe the host event that took most of the gap, on the thread that launched the
        next work.
        """
        return self.analyze("idle", kernel_wait_ns=kernel_wait_ns, micro_ns=micro_ns, longest=longest, **part)

    def stragglers(self, *, longest: int = 20, **part: lazy.Unpack[lazy.Selection]) -> lazy.AnalysisResult:
        """Finds stragglers: ranks that others wait for, with cost and cause; most costly first.

        * `num_last` and `num_first`: in how many communications the rank arrived last or first;
          the shares are over `num_collectives`. Simultaneous arrivals count for no rank
        * `wait_ns`: time that the rank itself waited (see `TraceSet.collectives`)
        * `caused_wait_ns`: time that other ranks waited when this rank arrived last
        * `cause`: the cause of most of `caused_wait_ns`
        * `bubble_ns`, `bubble_share`: pipeline time without work, or a wait for a slow stage
        * `missing_ranks`: the ranks without a trace, of which one may be later

        In a pipeline, a receive waits for a sender that works by the schedule. Only work beyond
        that of the other stages counts as caused.

        The cause compares ranks over the interval since the previous communication of the same
        ranks, or since the start of the iteration. Of each nanosecond, the first counts:

        1. `compute`: its devices compute
        2. `copy`: its devices copy, without computing
        3. `communication`: its devices communicate, without the activities above
        4. `host`: the devices are idle, and the host has not launched the next work
        5. `idle`: the devices are idle, although the next work is launched

        The cause is the activity in which the last rank exceeds the median of the other ranks the
        most. It is null if the excess is below half of `lateness_ns`. Known clock offsets are
        subtracted.

        Further table: `late_arrivals`, the `longest` arrivals by `caused_wait_ns`. `lateness_ns`
        is relative to the median of the other ranks, `cause_ns` is the excess of the cause.
        `name` is the host event or kernel with the largest excess, `name_ns`.
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
        """Finds the critical path: the longest chain of dependencies, one row per step.

        `dur_ns` is the time that a step adds; the path length is `Σ dur_ns`, at most the selected
        time. `bound_by` is `host`, `compute`, `communication`, `copy`, `launch`, `wait` (host
        calls that wait, too) or `data_loading`. `kind` is one of:

        * `operator`: time of a host event, without nested events
        * `launch`: from a host call to its device work, if nothing else delayed that work
        * `kernel`: a device event
        * `kernel_kernel`: between two device events on one stream
        * `sync`: between device work and the host call or stream that waited for it
        * `dependency`: an order that takes no time

        `what_if` estimates a change: every event with that text in its name takes `factor` times
        its time. `new_length_ns` and `saved_ns` refer to the longest path after the change, which
        may be a different path.

        Further tables:

        * `critical_path_bound`, `critical_path_operators`: the steps, summed
        * `critical_path_length`: the length, and the estimate for `what_if`
        * `critical_path_nodes`, `critical_path_edges`: the whole graph

        `like="hta"` builds the graph of HolisticTraceAnalysis, with its nodes, edges, weights and
        whole microseconds. `without_last` then drops the last iteration, as that program does.

        ::

            trace.critical_path(what_if="aten::copy_", factor=0.5).tables["critical_path_length"]
        """
        options = {"what_if": what_if, "factor": factor, "like": like, "without_last": without_last}
        return self.analyze("critical_path", **options, **part)

    def sequences(
        self, *, operator: str | None = None, min_length: int = 3, **part: lazy.Unpack[lazy.Selection]
    ) -> lazy.AnalysisResult:
        """Finds repeated sequences of kernels, copies and fills below operators.

        A call counts if its name contains `operator` (default: any) and no such call is around it.
        Its sequence holds all device events launched inside it, in the order of their starts, at
        least `min_length` events. `count` is the number of calls with the same sequence.
        `kernels` is a JSON list of names; `first_id` is the first of the calls.
        """
        return self.analyze("sequences", operator=operator, min_length=min_length, **part)

    def memory(self, **part: lazy.Unpack[lazy.Selection]) -> lazy.AnalysisResult:
        """Measures the memory of each device: peak, time of the peak, allocations and releases.

        Reads `[memory]` events: of a recording with `profile_memory=True`, or of a memory snapshot
        (`ks.read(…, memory=)`).

        Further tables:

        * `memory_series`: allocated and reserved bytes after each change
        * `memory_owners`: by operator, module and line of Python. `peak_bytes` were held at the
          device's peak, `kept_bytes` were never released
        * `memory_categories`: by purpose, derived from the lifetime; the `peak_bytes` of a device
          add up to its `peak_allocated_bytes`
        * `memory_allocations`: each allocation with its lifetime, purpose, operator, module and
          line. Those with `is_at_peak` made the peak. A snapshot lists what was in use before, too.
        * `memory_bands`: allocations over time, as of a snapshot; `plot("memory_bands")` draws them

        | category | lifetime |
        |---|---|
        | `optimizer_state` | allocated in an optimizer's step, never released |
        | `gradient` | allocated in the backward pass, alive at its end |
        | `autograd_detail` | allocated in the backward pass, released before its end |
        | `activation` | allocated before the backward pass, released in it |
        | `temporary` | released by the operator that allocated it |
        | `preexisting` | allocated before the first event |
        | `unknown` | none of these |

        With a memory snapshot, its category (`MemorySnapshot.memory`) replaces `unknown`.
        """
        return self.analyze("memory", **part)

    def findings(self, *, min_share: float = 0.005, **part: lazy.Unpack[lazy.Selection]) -> lazy.AnalysisResult:
        """Finds bottlenecks, each with its subject, evidence, cost and fix.

        * `cost_ns`: upper bound of the time that the fix saves, by the formula of its rule; costs
          may overlap
        * `share`: `cost_ns` over the selected time
        * `overlap_ns`: part of `cost_ns` that other findings of the trace count, too; null where
          the time of the cost is unknown
        * `confidence`: from 0 to 1
        * `evidence`: JSON list of event ids, most costly first

        Findings below `min_share` are omitted. Patterns of the program itself may cost more in
        another run, so they are listed from 0.1 %. For a job, the rules `straggler` and
        `imbalanced_ranks` compare ranks; `rank` and `window` identify the trace of each finding.

        Further tables: `finding_totals` sums the costs of each trace (`union_ns` counts
        overlapping costs once). `finding_rules` has every rule with its cost formula, fix and
        `num_found`, which is null without the data of the rule.

        ::

            for name, cost_ns, fix in trace.findings().select("finding", "cost_ns", "advice").rows():
                print(f"{name}: {cost_ns / 1e6:.1f} ms. {fix}")
        """
        return self.analyze("findings", min_share=min_share, **part)

    def roofline(
        self, *, device: str | None = None, on: str = "device", **part: lazy.Unpack[lazy.Selection]
    ) -> lazy.AnalysisResult:
        """Compares operators with the peaks of the device: operations, bytes, shortest time.

        One row per operator with equal shapes and types. Calls count as a whole.

        * `flops`: mathematical operations of one call, such as `2·M·N·K` for a matrix product;
          causal attention counts without masked pairs
        * `bytes`: every argument and every result of one call, once
        * `intensity = flops / bytes`; `tflops` and `gbps` are the achieved rates
        * `roofline_ns = max(flops / peak, bytes / bandwidth)`: the shortest possible time
        * `bound`: which of the two terms is larger; `roof_tflops`: the rate at `roofline_ns`
        * `share_of_peak = roofline_ns / mean_ns`

        Generated kernels of Inductor (`triton_…`) belong to the families `fused` and `matmul`:

        * `bytes`: every tensor once, and no more elements than the launch has: an estimate
        * with their sources (`trace.with_kernel_sources()`), loads and stores count apart, and no
          more elements than the indices reach; data-dependent indices reach one element per lane
        * `flops`: with the source, arithmetic that leads to stored values, by element. Selections,
          casts and index arithmetic count 0. Templates of products count `2·M·N·K`
        * without the source, `flops` and `bound` of a fused kernel are null; its time is not in
          `covered_share`

        The family `variable_attention` has sequences whose lengths no trace records. Its `flops`
        and `roofline_ns` are upper bounds: they assume as few sequences as possible, all of the
        maximum length.

        Peaks are dense. They are those of `device`, such as `"H100 SXM"` or `"MI300X"`; default:
        the device that the file names. Calls in float32 use the tf32 peak only if a kernel name
        says so. `on="host"` uses the host time of the outermost operators, for recordings without
        a device.

        Further tables:

        * `roofline_unmodelled`: calls without a known operation count, with the reason
        * `roofline_iterations`: operations per iteration; `share_of_peak` is the model FLOPs
          utilization (MFU), at least: it covers `covered_share` of the computation. One row for
          the selection if there are no iterations
        * `roofline_modules`: the same per class of modules, with the modules inside them
        * `roofline_device`: the peaks and their source, or the reason why none is known
        """
        return self.analyze("roofline", device=device, on=on, **part)
