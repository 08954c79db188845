//! Writes the section with the flame graph.

use maud::html;

use super::section::SectionOutcome;
use super::source::{ReportResult, ReportSource};
use super::words::plural;
use crate::analyze::{AnalysisResult, FLAMEGRAPH, Options, Selection, changes_of_flames};
use crate::table::TableRows;
use crate::view::chart::{figure, find};
use crate::view::session_trace::TraceView;

/// Layers of one kind are one frame, so that a deep model fits on the page.
const CLASSES: &str = r#"{"classes": true}"#;

/// Device time, or host time without a device, from modules to kernels. Of a job, the change from
/// the median rank to the slowest one.
pub(super) fn section(source: &ReportSource<'_>) -> ReportResult<SectionOutcome> {
    if source.is_job() {
        return change_of_slowest(source);
    }
    let answer = source.ask("flamegraph", CLASSES)?;
    Ok(match (picture(&answer), num_unknown(&answer)) {
        (shown, 0) => shown,
        (shown, number) => shown.with_note(format!("without {} of unknown time", plural(number, "call"))),
    })
}

fn change_of_slowest(source: &ReportSource<'_>) -> ReportResult<SectionOutcome> {
    let Some([slowest, typical]) = source.slowest_and_typical() else { return Ok(SectionOutcome::Nothing) };
    let classes = serde_json::Map::from_iter([("classes".to_owned(), true.into())]);
    let options = Options::new(FLAMEGRAPH.options, classes)?;
    let parts = [typical, slowest].map(|part| (part, part.trimmed()));
    let selection = |side: usize| Selection::of(&parts[side].0.part().linked, &parts[side].1);
    let answer = changes_of_flames([&selection(0)?, &selection(1)?], &options);
    let rank = |part: TraceView<'_>| part.rank.map_or_else(|| part.name.clone(), |rank| format!("rank {rank}"));
    let note = format!("from {} (median) to {} (slowest iterations)", rank(typical), rank(slowest));
    Ok(picture(&answer).with_note(note))
}

fn picture(answer: &AnalysisResult) -> SectionOutcome {
    match answer.tables.first().filter(|table| table.num_rows() > 0) {
        None => SectionOutcome::missing(answer.reason.as_ref(), "no event was recorded"),
        Some(frames) => SectionOutcome::wide(html! {
            figure class="ks-picture" { (figure(&**frames, answer.plot, answer.reason.as_deref())) }
        }),
    }
}

/// Calls whose device work was lost.
fn num_unknown(answer: &AnalysisResult) -> usize {
    let number = |coverage: &dyn TableRows| coverage.values(find(coverage, "num_unknown")?, 0..1).int(0);
    answer.tables.get(1).and_then(|coverage| number(&**coverage)).map_or(0, |number| number as usize)
}
