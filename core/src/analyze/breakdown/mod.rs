//! Breaks down device time by class of work: compute, communication, copies, idle.

mod concurrency;
mod gpu_timeline;
pub(super) mod phase;
mod priority;
mod ranges;
pub(super) mod row;
mod set_timeline;
mod span;

use super::analysis::{Analysis, Run};
use super::class::classes;
use super::options::{OptionDoc, OptionKind, Options};
use super::plot::Plot;
use super::result::AnalysisResult;
use super::selection::Selection;
pub(super) use priority::is_loader;
use ranges::busy;
pub use row::{BreakdownRow, MICRO_NS};
use row::{TABLE, rows};
pub use span::BreakdownSpan;
pub(super) use span::spans;

/// Where the time went.
pub(super) static BREAKDOWN: Analysis = Analysis {
    name: "breakdown",
    doc: "compute, exposed communication, exposed copies, idle and unknown time per device and iteration",
    options: &[
        OptionDoc { name: "per", doc: "unit of a row", kind: OptionKind::Choice(&["iteration", "selection", "work"]) },
        OptionDoc {
            name: "micro_ns",
            doc: "threshold in ns: shorter idle gaps count as micro_idle_ns",
            kind: OptionKind::Count(MICRO_NS),
        },
    ],
    run: Run::Trace(|selection, options: &Options| {
        let spans = spans(selection, options.choice("per"));
        let (classes, micro_ns) = (classes(selection.linked), options.count("micro_ns"));
        let by_class = busy(selection, |row| classes[row], micro_ns);
        if spans.len().saturating_mul(by_class.len()) > MAX_ROWS {
            return AnalysisResult::of(&TABLE, Vec::new(), TOO_MANY);
        }
        let of_timeline = busy(selection, gpu_timeline::class(selection.linked, &classes), micro_ns);
        let timeline = rows(&of_timeline, &spans).iter().flat_map(gpu_timeline::rows).collect();
        let rows = rows(&by_class, &spans);
        let phases = phase::phases(&spans, &rows);
        AnalysisResult::of(&TABLE, rows, selection.why_nothing_ran())
            .and(&gpu_timeline::TABLE, timeline)
            .and(&priority::TABLE, priority::step_time(selection, &spans))
            .and(&concurrency::TABLE, concurrency::concurrency(&by_class, &spans))
            .and(&phase::TABLE, phases)
            .drawn(Plot::Bars {
                label: "iteration",
                parts: &[
                    "compute_ns",
                    "exposed_communication_ns",
                    "exposed_copy_ns",
                    "exposed_other_ns",
                    "idle_ns",
                    "unknown_ns",
                ],
            })
    }),
};

/// The most rows; a file may have any number of iterations, and of devices.
const MAX_ROWS: usize = 1_000_000;

const TOO_MANY: &str = "iterations × devices are more than a million: select a range, or per=\"selection\"";

/// How each device spent each of the spans.
///
/// Let `C`, `N`, `M` and `O` be the times in which a device runs computation, communication, copies
/// or fills, and other work. Then `compute = |C|`, `exposed_communication = |N \ C|`, `exposed_copy
/// = |M \ C \ N|` and `exposed_other = |O \ C \ N \ M|`. The rest of the span is unknown where
/// lost work may have run ([`LinkedTrace::lost_work`](crate::LinkedTrace::lost_work)), else idle.
///
/// ```
/// use kinetoscope::analyze::{Selection, analysis};
/// use kinetoscope::table::ColumnValues;
/// use kinetoscope::{Input, Limits, LinkedTrace, read};
/// let json = br#"[{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 0, "dur": 10},
///                 {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "pid": 0, "tid": 8, "ts": 6, "dur": 10}]"#;
/// let linked = std::sync::Arc::new(LinkedTrace::new(read([Input::new(json)], Limits::default())?));
/// let breakdown = analysis("breakdown")?.answer(&linked, "{}")?;
/// let ns = |column| breakdown.tables[0].values(column, 0..1);
/// assert_eq!(ns(4), ColumnValues::Int([Some(10_000)].into_iter().collect())); // compute
/// assert_eq!(ns(5), ColumnValues::Int([Some(6_000)].into_iter().collect())); // exposed communication
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn breakdown(selection: &Selection<'_>, spans: &[BreakdownSpan], micro_ns: i64) -> Vec<BreakdownRow> {
    let classes = classes(selection.linked);
    rows(&busy(selection, |row| classes[row], micro_ns), spans)
}
