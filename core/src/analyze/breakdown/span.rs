//! Divides the selected time into spans: iterations, the selection, or all device work.

use crate::analyze::interval::clip;
use crate::analyze::selection::Selection;
use crate::link::Iteration;
use crate::time::TimeRange;
use crate::trace::step_name::StepFacts;

/// A span that time is divided in: that of an iteration, of all device work, or of all that is
/// looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BreakdownSpan {
    /// The number of the iteration, where it is one.
    pub iteration: Option<i64>,
    /// Phase, requests and tokens, as a serving engine tells them.
    pub facts: StepFacts,
    /// From when to when.
    pub range: TimeRange,
}

impl BreakdownSpan {
    /// A span that is no iteration.
    pub fn of(range: TimeRange) -> Self {
        Self { iteration: None, facts: StepFacts::default(), range }
    }
}

/// The spans of the iterations that meet the selection, cut to it, where `per` is `iteration` and
/// there are any; from the first start of device work to the last end where it is `work`; else that
/// of the selection.
pub(in crate::analyze) fn spans(selection: &Selection<'_>, per: &str) -> Vec<BreakdownSpan> {
    let whole = selection.extent().unwrap_or_else(|| selection.span());
    let range = if per == "work" { of_work(selection).unwrap_or(whole) } else { whole };
    let inside = selection.iterations().filter(|_| per == "iteration");
    let span = |iteration: &Iteration| BreakdownSpan {
        iteration: Some(iteration.number),
        facts: iteration.facts,
        range: clip(iteration.range(), whole),
    };
    let spans: Vec<_> = inside.map(span).collect();
    if spans.is_empty() { vec![BreakdownSpan::of(range)] } else { spans }
}

pub(super) fn of_work(selection: &Selection<'_>) -> Option<TimeRange> {
    let times = selection.device_work().map(|row| selection.time(row));
    times.reduce(|all, one| TimeRange { start: all.start.min(one.start), end: all.end.max(one.end) })
}
