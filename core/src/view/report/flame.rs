//! Writes the section with the flame graph.

use maud::html;

use super::section::SectionOutcome;
use super::source::{ReportResult, ReportSource};
use crate::view::chart::figure;

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
        return Ok(SectionOutcome::missing(answer.reason, "no event was recorded"));
    };
    Ok(SectionOutcome::wide(html! {
        figure class="ks-picture" { (figure(&**frames, answer.plot, answer.reason)) }
    }))
}
