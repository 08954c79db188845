//! Summarizes a trace: duration, utilization, largest costs, and defects.

use std::collections::BTreeMap;

use serde::Serialize;

use super::breakdown::{BreakdownRow, BreakdownSpan, MICRO_NS, breakdown};
use super::coverage::{LinkCoverage, coverage};
use super::finding::MIN_SHARE;
use super::finding::{CostTotals, Finding, findings_with_totals};
use super::health::{HealthRow, health};
use super::host_wait::host_waits;
use super::interval::{RangeCover, difference, total_ns, union};
use super::kernel::{KernelRow, SHORT_NS, kernels};
use super::launch_config::WeightedMean;
use super::module::{ModuleRow, modules};
use super::operator::{OperatorRow, operators};
use super::selection::Selection;
use super::statistics::Durations;
use super::verdict::{Problem, Verdict, VerdictState, verdict};
use crate::link::{LinkedTrace, StepMarker};
use crate::time::{TimeRange, add_ns};
use crate::trace::kind::EventKind;

/// Default number of operators and kernels of a summary.
pub const TOP: usize = 20;

/// The time figures of a summary.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TimeOutline {
    /// Start of the span, as the file counts time.
    pub start_ns: i64,
    /// Length of the span.
    pub duration_ns: i64,
    /// Events that overlap the span.
    pub num_events: u64,
    /// Nodes of the Execution Trace.
    pub num_nodes: u64,
    /// Devices with work, in the order of their numbers.
    pub devices: Vec<DeviceRow>,
    /// Time by kind of event, in the order of the kinds.
    pub time_by_kind: Vec<KindRow>,
    /// How each device spent the span.
    pub breakdown: Vec<BreakdownRow>,
    /// Iterations in the order of time.
    pub iterations: Vec<IterationRow>,
    /// How long they take; `None` where there are none.
    pub iteration_time: Option<IterationTime>,
}

/// The result of [`summary`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Of the time.
    #[serde(flatten)]
    pub outline: TimeOutline,
    /// Operators of the most time, and how many there are in all.
    pub operators: Vec<OperatorRow>,
    /// How many different operators there are.
    pub num_operators: u64,
    /// Kernels, copies and fills of the most time.
    pub kernels: Vec<KernelRow>,
    /// How many different ones there are.
    pub num_kernels: u64,
    /// `min(blocks per multiprocessor, 1)` of all kernels, as a mean over their time.
    pub sm_efficiency: Option<f64>,
    /// Estimated occupancy of all kernels in percent, as a mean over their time.
    pub occupancy: Option<f64>,
    /// Modules of the most time.
    pub modules: Vec<ModuleRow>,
    /// How many different ones there are.
    pub num_modules: u64,
    /// The bottlenecks of the run, sorted by cost.
    pub findings: Vec<Finding>,
    /// How much was found.
    pub num_findings: u64,
    /// Whether the trace can be trusted, over the whole of it.
    pub verdict: VerdictState,
    /// Its problems, the worst first.
    pub problems: Vec<Problem>,
    /// The time in which any finding costs, where overlapping costs count once.
    pub findings_cost_ns: i64,
    /// Ranges that mark the iterations, or could; empty if the profiler's alone do.
    pub iteration_markers: Vec<MarkerRow>,
    /// Defects survived.
    pub health: Vec<HealthRow>,
    /// How much was linked, over the whole trace.
    pub coverage: LinkCoverage,
}

/// A device's work.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DeviceRow {
    /// Its number.
    pub device: Option<i64>,
    /// Its name, where the file gives one.
    pub name: String,
    /// Time with at least one kernel, copy or fill running.
    pub busy_ns: i64,
    /// `busy_ns` over the span.
    pub busy_share: f64,
    /// Share of the span without recorded work in which lost work may have run.
    pub unknown_share: f64,
    /// Kernels, copies and fills that ran.
    pub num_events: u64,
}

/// Time of one kind of event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KindRow {
    /// The kind.
    pub kind: &'static str,
    /// Events of it.
    pub count: u64,
    /// `Σ dur`, which counts nested time more than once.
    pub total_ns: i64,
    /// `Σ (dur − Σ dur of children)`, which does not.
    pub self_ns: i64,
}

/// Ranges that mark iterations, or could.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MarkerRow {
    /// Owner of the ranges: see [`StepMarker`].
    pub marker: &'static str,
    /// Name of the first range.
    pub name: String,
    /// Number of the iterations that they give.
    pub count: u64,
    /// Whether they were taken.
    pub is_taken: bool,
}

/// An iteration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct IterationRow {
    /// Its number.
    pub iteration: i64,
    /// Its start, as the file counts time.
    pub start_ns: i64,
    /// Its duration on the host.
    pub dur_ns: i64,
    /// Time inside it with device work running, on any device. `None` where all of its device work
    /// was lost.
    pub device_busy_ns: Option<i64>,
    /// Time inside it without recorded work on any device, in which lost work may have run.
    pub device_unknown_ns: i64,
}

/// How long iterations take.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct IterationTime {
    /// How many there are.
    pub count: u64,
    /// Their mean, rounded down.
    pub mean_ns: i64,
    /// Sample standard deviation; `None` of a single one.
    pub std_ns: Option<f64>,
    /// Number of the slowest.
    pub slowest: i64,
    /// Its duration.
    pub slowest_ns: i64,
}

impl IterationTime {
    fn of(iterations: &[IterationRow]) -> Option<Self> {
        let durs: Vec<i64> = iterations.iter().map(|iteration| iteration.dur_ns).collect();
        let Durations { count, mean_ns, std_ns, .. } = Durations::of(&durs);
        let slowest = iterations.iter().rev().max_by_key(|iteration| iteration.dur_ns)?;
        Some(Self { count, mean_ns, std_ns, slowest: slowest.iteration, slowest_ns: slowest.dur_ns })
    }
}

/// Sums up a selection, with at most `limit` operators, kernels, modules and findings.
///
/// ```
/// use std::sync::Arc;
/// use kinetoscope::analyze::{Selection, summary};
/// use kinetoscope::{Input, Limits, LinkedTrace, read};
/// let json = br#"[{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 2, "ts": 5, "dur": 2}]"#;
/// let linked = Arc::new(LinkedTrace::new(read([Input::new(json)], Limits::default())?));
/// let summary = summary(&Selection::all(&linked), 20);
/// assert_eq!((summary.outline.duration_ns, summary.operators[0].self_ns), (2_000, 2_000));
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn summary(selection: &Selection<'_>, limit: usize) -> Summary {
    with_findings(selection, limit, findings_with_totals(selection, MIN_SHARE))
}

/// The same without findings, which take longer than all the rest.
pub fn brief_summary(selection: &Selection<'_>, limit: usize) -> Summary {
    with_findings(selection, limit, (Vec::new(), CostTotals::default()))
}

fn with_findings(
    selection: &Selection<'_>,
    limit: usize,
    (mut findings, totals): (Vec<Finding>, CostTotals),
) -> Summary {
    let linked = selection.linked;
    let Verdict { state, problems } = verdict(linked);
    let (mut operators, mut kernels) = (operators(selection), kernels(selection, SHORT_NS));
    let mut modules = modules(selection);
    let (num_operators, num_kernels) = (operators.len() as u64, kernels.len() as u64);
    let (num_modules, num_findings) = (modules.len() as u64, findings.len() as u64);
    let mean = |value: fn(&KernelRow) -> WeightedMean| {
        kernels.iter().map(value).fold(WeightedMean::default(), WeightedMean::and).mean()
    };
    let sm_efficiency = mean(|row| row.ran.sm_efficiency);
    let occupancy = mean(|row| row.ran.occupancy);
    operators.truncate(limit);
    kernels.truncate(limit);
    modules.truncate(limit);
    findings.truncate(limit);
    Summary {
        outline: outline(selection),
        operators,
        num_operators,
        kernels,
        num_kernels,
        sm_efficiency,
        occupancy,
        modules,
        num_modules,
        findings,
        num_findings,
        verdict: state,
        problems,
        findings_cost_ns: totals.union_ns,
        iteration_markers: iteration_markers(linked),
        health: health(linked),
        coverage: coverage(linked),
    }
}

/// Length, utilization and kinds of a selection, without sums by name.
pub(crate) fn outline(selection: &Selection<'_>) -> TimeOutline {
    let span = selection.span();
    let iterations = iterations(selection);
    TimeOutline {
        start_ns: span.start.0,
        duration_ns: selection.len_ns(),
        num_events: selection.rows().count() as u64,
        num_nodes: selection.linked.trace.nodes.len() as u64,
        devices: devices(selection),
        time_by_kind: time_by_kind(selection),
        breakdown: breakdown(selection, &[BreakdownSpan::of(selection.extent().unwrap_or(span))], MICRO_NS),
        iteration_time: IterationTime::of(&iterations),
        iterations,
    }
}

fn iteration_markers(linked: &LinkedTrace) -> Vec<MarkerRow> {
    let source = linked.links.iteration_source;
    let row = |marker: StepMarker| {
        let count = u64::from(source.counts[marker as usize]);
        let name = linked.trace.event_name(source.first[marker as usize]? as usize).to_owned();
        (count > 0).then(|| MarkerRow { marker: marker.name(), name, count, is_taken: source.taken == Some(marker) })
    };
    let rows: Vec<_> = StepMarker::ALL.into_iter().filter_map(row).collect();
    if rows.iter().all(|row| row.marker == StepMarker::Profiler.name()) { Vec::new() } else { rows }
}

fn devices(selection: &Selection<'_>) -> Vec<DeviceRow> {
    let trace = &selection.linked.trace;
    let events = &trace.events;
    let mut ranges: BTreeMap<Option<i64>, Vec<TimeRange>> =
        selection.devices().map(|device| (device, Vec::new())).collect();
    for row in selection.rows().filter(|row| events.kind[*row].is_device_work()) {
        ranges.entry(trace.device(row)).or_default().push(selection.time(row));
    }
    let names = trace.device_names();
    let row = |(device, ranges): (Option<i64>, Vec<TimeRange>)| {
        let num_events = ranges.len() as u64;
        let busy = selection.union(device, ranges);
        let busy_ns = total_ns(&busy);
        let name = device.and_then(|device| names.get(usize::try_from(device).ok()?)).cloned().unwrap_or_default();
        let span_ns = total_ns(&selection.windows(device)).max(1);
        let unknown_ns = total_ns(&difference(&selection.unknown(device), &busy));
        let [busy_share, unknown_share] = [busy_ns, unknown_ns].map(|ns| ns as f64 / span_ns as f64);
        DeviceRow { device, name, busy_ns, busy_share, unknown_share, num_events }
    };
    ranges.into_iter().map(row).collect()
}

fn time_by_kind(selection: &Selection<'_>) -> Vec<KindRow> {
    let self_ns = selection.self_ns();
    let row_of = |kind| KindRow { kind, count: 0, total_ns: 0, self_ns: 0 };
    let mut rows: Vec<_> = EventKind::ALL.iter().map(|kind| row_of(kind.name())).collect();
    let after_launches = EventKind::Launch as usize + 1;
    rows.insert(after_launches, row_of(WAIT));
    let is_wait = host_waits(selection.linked);
    for row in selection.rows() {
        let kind = selection.linked.trace.events.kind[row] as usize;
        let place = if is_wait[row] { after_launches } else { kind + usize::from(kind >= after_launches) };
        let kind = &mut rows[place];
        kind.count += 1;
        add_ns(&mut kind.total_ns, selection.dur_ns(row));
        add_ns(&mut kind.self_ns, self_ns[row]);
    }
    rows.into_iter().filter(|row| row.count > 0).collect()
}

/// Calls in which the host waits for a device, in place of `launch`.
const WAIT: &str = "wait";

fn iterations(selection: &Selection<'_>) -> Vec<IterationRow> {
    let kinds = &selection.linked.trace.events.kind;
    let work = selection.rows().filter(|row| kinds[*row].is_device_work());
    let busy = union(work.map(|row| selection.time(row)).collect());
    let lost = selection.linked.lost_work().times().collect();
    let unknown = RangeCover::of(difference(&union(lost), &busy));
    let busy = RangeCover::of(busy);
    let row = |iteration: &crate::link::Iteration| {
        let range = iteration.range();
        // Iterations may overlap: by bisection, each takes the same time however much it holds.
        let (busy_ns, device_unknown_ns) = (busy.inside_ns(range), unknown.inside_ns(range));
        let device_busy_ns = Some(busy_ns).filter(|busy_ns| *busy_ns > 0 || device_unknown_ns == 0);
        IterationRow {
            iteration: iteration.number,
            start_ns: iteration.start.0,
            dur_ns: iteration.dur.0,
            device_busy_ns,
            device_unknown_ns,
        }
    };
    selection.iterations().map(row).collect()
}
