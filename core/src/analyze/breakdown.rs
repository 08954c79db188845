//! Where the time of each device went: computing, communicating, copying, nothing.

use std::collections::BTreeMap;

use serde::Serialize;

use super::analysis::{Analysis, Answer, Plot, Run};
use super::class::{Class, classes};
use super::concurrency;
use super::gpu_timeline;
use super::interval::{clip, difference, intersection, total_ns, union, within};
use super::options::{OptionDoc, OptionKind, Options};
use super::priority;
use super::selection::Selection;
use crate::link::Iteration;
use crate::table::{Column, Table, int};
use crate::time::TimeRange;

/// Where the time went.
pub(super) static BREAKDOWN: Analysis = Analysis {
    name: "breakdown",
    doc: "compute, exposed communication, exposed copies and idle time of each device, by iteration",
    options: &[
        OptionDoc {
            name: "per",
            doc: "a row for each of these",
            kind: OptionKind::Choice(&["iteration", "selection", "work"]),
        },
        OptionDoc {
            name: "micro_ns",
            doc: "idle times of less than this count as micro_idle_ns",
            kind: OptionKind::Count(MICRO_NS),
        },
    ],
    run: Run::Trace(|selection, options: &Options| {
        let spans = spans(selection, options.choice("per"));
        let (classes, micro_ns) = (classes(selection.linked), options.count("micro_ns"));
        let by_class = busy(selection, |row| classes[row]);
        let of_timeline = busy(selection, gpu_timeline::class(selection.linked, &classes));
        let timeline = rows(&of_timeline, &spans, micro_ns).iter().flat_map(gpu_timeline::rows).collect();
        let rows = rows(&by_class, &spans, micro_ns);
        Answer::of(&TABLE, rows, selection.why_nothing_ran())
            .and(&gpu_timeline::TABLE, timeline)
            .and(&priority::TABLE, priority::step_time(selection, &spans))
            .and(&concurrency::TABLE, concurrency::concurrency(&by_class, &spans))
            .drawn(Plot::Bars {
                label: "iteration",
                parts: &["compute_ns", "exposed_communication_ns", "exposed_copy_ns", "exposed_other_ns", "idle_ns"],
            })
    }),
};

/// Idle times of less than this are between kernels that follow each other, when nobody says.
pub const MICRO_NS: i64 = 5_000;

/// A span that time is divided in: that of an iteration, of all device work, or of all that is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The number of the iteration, where it is one.
    pub iteration: Option<i64>,
    /// From when to when.
    pub range: TimeRange,
}

/// How a device spent a span. The five parts add up to it: `span_ns = compute_ns + exposed_communication_ns +
/// exposed_copy_ns + exposed_other_ns + idle_ns`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct BreakdownRow {
    /// The number of the iteration, where there are any.
    pub iteration: Option<i64>,
    /// The number of the device, where the file gives one.
    pub device: Option<i64>,
    /// Start of the span, as the file counts time.
    pub start_ns: i64,
    /// Length of the span.
    pub span_ns: i64,
    /// Time with computation running.
    pub compute_ns: i64,
    /// Time with communication running, and no computation.
    pub exposed_communication_ns: i64,
    /// Time with copies or fills running, and neither of these.
    pub exposed_copy_ns: i64,
    /// Time with other work running, and none of these.
    pub exposed_other_ns: i64,
    /// Time with nothing running.
    pub idle_ns: i64,
    /// The part of it in stretches shorter than asked for.
    pub micro_idle_ns: i64,
    /// Time with anything running: `span_ns - idle_ns`.
    pub busy_ns: i64,
    /// Time with communication running.
    pub communication_ns: i64,
    /// The part of it with computation running, too: `communication_ns - exposed_communication_ns`.
    pub overlap_ns: i64,
    /// Time with copies or fills running.
    pub copy_ns: i64,
}

static TABLE: Table<Vec<BreakdownRow>> =
    Table { name: "breakdown", doc: "how a device spent a span", num_rows: Vec::len, columns: COLUMNS };

const COLUMNS: &[Column<Vec<BreakdownRow>>] = &[
    int("iteration", |rows, at| rows[at].iteration),
    int("device", |rows, at| rows[at].device),
    int("start_ns", |rows, at| Some(rows[at].start_ns)),
    int("span_ns", |rows, at| Some(rows[at].span_ns)),
    int("compute_ns", |rows, at| Some(rows[at].compute_ns)),
    int("exposed_communication_ns", |rows, at| Some(rows[at].exposed_communication_ns)),
    int("exposed_copy_ns", |rows, at| Some(rows[at].exposed_copy_ns)),
    int("exposed_other_ns", |rows, at| Some(rows[at].exposed_other_ns)),
    int("idle_ns", |rows, at| Some(rows[at].idle_ns)),
    int("micro_idle_ns", |rows, at| Some(rows[at].micro_idle_ns)),
    int("busy_ns", |rows, at| Some(rows[at].busy_ns)),
    int("communication_ns", |rows, at| Some(rows[at].communication_ns)),
    int("overlap_ns", |rows, at| Some(rows[at].overlap_ns)),
    int("copy_ns", |rows, at| Some(rows[at].copy_ns)),
];

/// The spans of the iterations that meet the selection, cut to it, where `per` is `iteration` and there are any; from the
/// first start of device work to the last end where it is `work`; else that of the selection.
pub(super) fn spans(selection: &Selection<'_>, per: &str) -> Vec<Span> {
    let whole = selection.span();
    let range = if per == "work" { of_work(selection).unwrap_or(whole) } else { whole };
    let iterations = selection.linked.links.iterations.iter().filter(|_| per == "iteration");
    let inside = iterations.filter(|iteration| whole.overlaps(iteration.start, iteration.dur));
    let span =
        |iteration: &Iteration| Span { iteration: Some(iteration.number), range: clip(iteration.range(), whole) };
    let spans: Vec<_> = inside.map(span).collect();
    if spans.is_empty() { vec![Span { iteration: None, range }] } else { spans }
}

fn of_work(selection: &Selection<'_>) -> Option<TimeRange> {
    let times = selection.device_work().map(|row| selection.time(row));
    times.reduce(|all, one| TimeRange { start: all.start.min(one.start), end: all.end.max(one.end) })
}

/// Time of one device's work by its class, as disjoint ranges.
pub(super) type ByClass = [Vec<TimeRange>; Class::ALL.len()];

/// When each device did work of each class.
pub(super) type Busy = BTreeMap<Option<i64>, ByClass>;

fn busy(selection: &Selection<'_>, class: impl Fn(usize) -> Class) -> Busy {
    let trace = &selection.linked.trace;
    let mut devices: Busy = selection.devices().map(|device| (device, ByClass::default())).collect();
    for row in selection.device_work() {
        devices.entry(trace.device(row)).or_default()[class(row) as usize].push(selection.time(row));
    }
    devices.values_mut().flatten().for_each(|ranges| *ranges = union(std::mem::take(ranges)));
    devices
}

/// How each device spent each of the spans.
///
/// With `C`, `N`, `M` and `O` the times in which any computation, communication, copy or fill, and other work runs on a
/// device, each the union of its events: `compute = |C|`, `exposed_communication = |N \ C|`,
/// `exposed_copy = |M \ C \ N|`, `exposed_other = |O \ C \ N \ M|`, and idle is what is left of the span.
///
/// ```
/// use kinetoscope::analyze::{Selection, analysis};
/// use kinetoscope::table::Values;
/// use kinetoscope::{Input, Limits, LinkedTrace, read};
/// let json = br#"[{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 0, "dur": 10},
///                 {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "pid": 0, "tid": 8, "ts": 6, "dur": 10}]"#;
/// let linked = std::sync::Arc::new(LinkedTrace::new(read([Input::new(json)], Limits::default())?));
/// let breakdown = analysis("breakdown")?.answer(&linked, "{}")?;
/// let ns = |column| breakdown.tables[0].values(column, 0..1);
/// assert_eq!(ns(4), Values::Int([Some(10_000)].into_iter().collect())); // compute
/// assert_eq!(ns(5), Values::Int([Some(6_000)].into_iter().collect())); // exposed communication
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn breakdown(selection: &Selection<'_>, spans: &[Span], micro_ns: i64) -> Vec<BreakdownRow> {
    let classes = classes(selection.linked);
    rows(&busy(selection, |row| classes[row]), spans, micro_ns)
}

fn rows(busy: &Busy, spans: &[Span], micro_ns: i64) -> Vec<BreakdownRow> {
    let of_span = |span: &Span| {
        let span = *span;
        busy.iter().map(move |(device, by_class)| row(span, *device, by_class, micro_ns))
    };
    spans.iter().flat_map(of_span).collect()
}

fn row(span: Span, device: Option<i64>, by_class: &ByClass, micro_ns: i64) -> BreakdownRow {
    let inside = |class: Class| within(&by_class[class as usize], span.range);
    let (compute, communication) = (inside(Class::Computation), inside(Class::Communication));
    let (memory, other) = (inside(Class::Memory), inside(Class::Other));
    let exposed_communication = difference(&communication, &compute);
    let computing = union([compute.as_slice(), &communication].concat());
    let exposed_copy = difference(&memory, &computing);
    let known = union([computing.as_slice(), &memory].concat());
    let exposed_other = difference(&other, &known);
    let all = union([known.as_slice(), &other].concat());
    let idle = difference(&[span.range], &all);
    let is_micro = |range: &&TimeRange| range.dur().0 < micro_ns;
    BreakdownRow {
        iteration: span.iteration,
        device,
        start_ns: span.range.start.0,
        span_ns: span.range.dur().0,
        compute_ns: total_ns(&compute),
        exposed_communication_ns: total_ns(&exposed_communication),
        exposed_copy_ns: total_ns(&exposed_copy),
        exposed_other_ns: total_ns(&exposed_other),
        idle_ns: total_ns(&idle),
        micro_idle_ns: idle.iter().filter(is_micro).map(|range| range.dur().0).sum(),
        busy_ns: total_ns(&all),
        communication_ns: total_ns(&communication),
        overlap_ns: total_ns(&intersection(&communication, &compute)),
        copy_ns: total_ns(&memory),
    }
}
