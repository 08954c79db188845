//! Writes the section with the map of ranks and iterations.

use std::rc::Rc;

use maud::html;

use super::requests::OPTIONS;
use super::section::SectionOutcome;
#[cfg(feature = "machines")]
use super::source::frame;
use super::source::{ReportResult, ReportSource};
#[cfg(feature = "machines")]
use crate::analyze::tables::GROUPED_HEATMAP;
use crate::analyze::{AnalysisResult, known_analysis};
#[cfg(feature = "machines")]
use crate::table::TableColumn;
use crate::view::chart::figure;

const ANALYSIS: &str = known_analysis("heatmap").name;

/// Nothing for a single trace.
pub(super) fn section(source: &ReportSource<'_>) -> ReportResult<SectionOutcome> {
    if !source.is_job() {
        return Ok(SectionOutcome::Nothing);
    }
    let answer = source.ask(ANALYSIS, OPTIONS)?;
    let machines = by_machine(source)?;
    Ok(SectionOutcome::wide(html! {
        div class="ks-pair" {
            figure class="ks-picture ks-narrow" { (figure(&*answer.tables[0], answer.plot, answer.reason.as_deref())) }
            @if let Some(machines) = machines {
                figure class="ks-picture ks-narrow" { (figure(&*machines.tables[0], machines.plot, None)) }
            }
        }
    }))
}

/// The same by machine, if a machine has several ranks.
#[cfg(feature = "machines")]
fn by_machine(source: &ReportSource<'_>) -> ReportResult<Option<Rc<AnalysisResult>>> {
    const NUM_TRACES: TableColumn = GROUPED_HEATMAP.column("num_traces");
    let answer = source.ask(known_analysis("grouped_heatmap").name, OPTIONS)?;
    let rows = frame(&answer, GROUPED_HEATMAP.name, usize::MAX)?;
    let has_several = (0..rows.num_rows).any(|row| rows.int(NUM_TRACES, row) > Some(1));
    Ok(Some(answer).filter(|_| has_several))
}

/// No page of a browser tells machines.
#[cfg(not(feature = "machines"))]
fn by_machine(_: &ReportSource<'_>) -> ReportResult<Option<Rc<AnalysisResult>>> {
    Ok(None)
}
