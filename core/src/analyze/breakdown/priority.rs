//! Assigns each nanosecond of a span to one category by priority, as the step time of the
//! `TensorBoard` plugin does.

use super::set_timeline::{SetSums, SetTimeline};
use super::span::BreakdownSpan;
use crate::analyze::class::{WorkClass, classes};
use crate::analyze::interval::{total_ns, union, within};
use crate::analyze::selection::Selection;
use crate::table::{Column, Table, float, int, put_name, text};
use crate::time::TimeRange;
use crate::trace::kind::EventKind;

/// Categories in order of priority.
const PARTS: [&str; 8] = ["kernel", "memcpy", "memset", "communication", "runtime", "data_loader", "cpu_exec", "other"];

/// Time of a span put to one part.
#[derive(Debug, Clone, Copy)]
pub(super) struct StepTimeRow {
    iteration: Option<i64>,
    part: &'static str,
    total_ns: i64,
    share: f64,
}

pub(super) static TABLE: Table<Vec<StepTimeRow>> =
    Table { name: "step_time", doc: "one category of a span", num_rows: Vec::len, columns: COLUMNS };

const COLUMNS: &[Column<Vec<StepTimeRow>>] = &[
    int("iteration", |rows, at| rows[at].iteration),
    text("part", |rows, at, out| put_name(out, rows[at].part)),
    int("total_ns", |rows, at| Some(rows[at].total_ns)),
    float("share", |rows, at| Some(rows[at].share)),
];

/// The parts of each span; they add up to it.
///
/// `time of a category = |its events \ those of all categories before it|`; `other` is time without
/// an event.
pub(super) fn step_time(selection: &Selection<'_>, spans: &[BreakdownSpan]) -> Vec<StepTimeRow> {
    let happened = happened(selection);
    let lists = (0..).zip(&happened).map(|(part, ranges)| (1_u8 << part, ranges.as_slice()));
    // The first part has the last code: without an event, it is 0.
    let code = |bits: u8| if bits == 0 { 0 } else { (PARTS.len() as u32 - 1 - bits.trailing_zeros()) as u8 };
    let timeline = SetTimeline::<{ PARTS.len() }>::of(lists, code, 0);
    let rows = |span: &BreakdownSpan| {
        let mut sums = SetSums::default();
        let times = selection.parts().map_or_else(|| vec![span.range], |part| within(part.times(), span.range));
        times.iter().for_each(|time| sums.add_all(&timeline.inside(*time)));
        let (iteration, span_ns) = (span.iteration, total_ns(&times).max(1) as f64);
        PARTS.iter().zip(sums.by_code.into_iter().rev()).map(move |(part, total_ns)| StepTimeRow {
            iteration,
            part,
            total_ns,
            share: total_ns as f64 / span_ns,
        })
    };
    spans.iter().flat_map(rows).collect()
}

/// Whether a host event of that name loads data.
pub(in crate::analyze) fn is_loader(name: &str) -> bool {
    name.contains("DataLoader")
}

/// When something of each part but the last happened.
fn happened(selection: &Selection<'_>) -> [Vec<TimeRange>; PARTS.len() - 1] {
    let trace = &selection.linked.trace;
    let classes = classes(selection.linked);
    let mut ranges: [Vec<TimeRange>; PARTS.len() - 1] = Default::default();
    for row in selection.rows() {
        let kind = trace.events.kind[row];
        let part = match kind {
            EventKind::Kernel if classes[row] == WorkClass::Communication => 3,
            EventKind::Kernel if classes[row] == WorkClass::Memory => 1,
            EventKind::Kernel => 0,
            EventKind::Copy => 1,
            EventKind::Fill => 2,
            EventKind::Launch => 4,
            EventKind::Operator | EventKind::Annotation
                if !trace.is_on_device(row) && is_loader(trace.event_name(row)) =>
            {
                5
            }
            EventKind::Operator => 6,
            _ => continue,
        };
        ranges[part].push(selection.time(row));
    }
    ranges.map(union)
}
