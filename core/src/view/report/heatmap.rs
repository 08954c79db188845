//! Writes the section with the map of ranks and iterations.

#[cfg(feature = "machines")]
use std::sync::Arc;

use maud::{Markup, html};

#[cfg(feature = "machines")]
use super::report_frame::ReportFrame;
use super::requests::OPTIONS;
use super::section::SectionOutcome;
#[cfg(feature = "machines")]
use super::source::table;
use super::source::{ReportResult, ReportSource};
use crate::analyze::known_analysis;
#[cfg(feature = "machines")]
use crate::analyze::tables::GROUPED_HEATMAP;
#[cfg(feature = "machines")]
use crate::table::{PickedRows, TableColumn};
use crate::view::chart::figure;

const ANALYSIS: &str = known_analysis("heatmap").name;
const WAITS: &str = known_analysis("stragglers").name;
/// Maps by process groups; those of further descriptions are left out.
#[cfg(feature = "machines")]
const MAX_DIVISIONS: usize = 4;

/// Nothing for a single trace.
pub(super) fn section(source: &ReportSource<'_>) -> ReportResult<SectionOutcome> {
    if !source.is_job() {
        return Ok(SectionOutcome::Nothing);
    }
    let answer = source.ask(ANALYSIS, OPTIONS)?;
    let grouped = grouped(source)?;
    let waits = source.ask(WAITS, OPTIONS)?;
    Ok(SectionOutcome::wide(html! {
        div class="ks-pair" {
            figure class="ks-picture ks-narrow" { (figure(&*answer.tables[0], answer.plot, answer.reason.as_deref())) }
            @for map in grouped { figure class="ks-picture ks-narrow" { (map) } }
        }
        @if let Some(reason) = &waits.reason { p class="ks-note" { "Waits are unknown: " (reason) "." } }
    }))
}

/// The same by machine or, where machines are unknown, by process groups of each description; those
/// with several ranks.
#[cfg(feature = "machines")]
fn grouped(source: &ReportSource<'_>) -> ReportResult<Vec<Markup>> {
    const NUM_TRACES: TableColumn = GROUPED_HEATMAP.column("num_traces");
    const DIVISION: TableColumn = GROUPED_HEATMAP.column("division");
    let answer = source.ask(known_analysis("grouped_heatmap").name, OPTIONS)?;
    let table = table(&answer, GROUPED_HEATMAP.name)?;
    let all = ReportFrame::of(&**table, usize::MAX);
    let rows: Vec<u32> = (0..all.num_rows as u32).collect();
    let division = |row: u32| all.text(DIVISION, row as usize);
    let maps = rows.chunk_by(|a, b| division(*a) == division(*b));
    let maps = maps.filter(|rows| rows.iter().any(|row| all.int(NUM_TRACES, *row as usize) > Some(1)));
    let map = |rows: &[u32]| {
        let title = division(rows[0]).unwrap_or_default();
        html! {
            figcaption { "By " (title) }
            (figure(&*PickedRows::of(Arc::clone(table), rows.to_vec()), answer.plot, None))
        }
    };
    Ok(maps.take(MAX_DIVISIONS).map(map).collect())
}

/// No page of a browser tells machines.
#[cfg(not(feature = "machines"))]
fn grouped(_: &ReportSource<'_>) -> ReportResult<Vec<Markup>> {
    Ok(Vec::new())
}
