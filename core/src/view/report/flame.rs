//! Writes the section with the flame graph.

use maud::html;

use super::section::SectionOutcome;
use super::source::{ReportResult, ReportSource};
use super::words::plural;
use crate::analyze::AnalysisResult;
use crate::table::TableRows;
use crate::view::chart::{figure, find};

/// Layers of one kind are one frame, so that a deep model fits on the page.
const CLASSES: &str = r#"{"classes": true}"#;

/// Device time, or host time without a device, from modules to kernels. A job has a graph for each
/// rank, so its report shows none.
pub(super) fn section(source: &ReportSource<'_>) -> ReportResult<SectionOutcome> {
    if source.is_job() {
        return Ok(SectionOutcome::Nothing);
    }
    let answer = source.ask("flamegraph", CLASSES)?;
    let Some(frames) = answer.tables.first().filter(|table| table.num_rows() > 0) else {
        return Ok(SectionOutcome::missing(answer.reason.as_ref(), "no event was recorded"));
    };
    let shown = SectionOutcome::wide(html! {
        figure class="ks-picture" { (figure(&**frames, answer.plot, answer.reason.as_deref())) }
    });
    Ok(match num_unknown(&answer) {
        0 => shown,
        number => shown.with_note(format!("without {} of unknown time", plural(number, "call"))),
    })
}

/// Calls whose device work was lost.
fn num_unknown(answer: &AnalysisResult) -> usize {
    let number = |coverage: &dyn TableRows| coverage.values(find(coverage, "num_unknown")?, 0..1).int(0);
    answer.tables.get(1).and_then(|coverage| number(&**coverage)).map_or(0, |number| number as usize)
}
