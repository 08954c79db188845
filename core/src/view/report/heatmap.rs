//! Writes the section with the map of ranks and iterations.

use maud::html;

use super::grid::OPTIONS;
use super::section::SectionOutcome;
use super::source::{ReportResult, ReportSource};
use crate::analyze::known_analysis;
use crate::view::chart::figure;

const ANALYSIS: &str = known_analysis("heatmap").name;

/// Nothing for a single trace.
pub(super) fn section(source: &ReportSource<'_>) -> ReportResult<SectionOutcome> {
    if !source.is_job() {
        return Ok(SectionOutcome::Nothing);
    }
    let answer = source.ask(ANALYSIS, OPTIONS)?;
    Ok(SectionOutcome::wide(html! {
        figure class="ks-picture ks-narrow" { (figure(&*answer.tables[0], answer.plot, answer.reason.as_deref())) }
    }))
}
