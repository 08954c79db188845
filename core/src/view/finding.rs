//! Answers findings with their evidence.

use serde_json::{Value, json};

use super::reference::reference;
use super::response::{Response, rounded};
use super::screen::Screen;
use super::session_trace::TraceView;
use crate::analyze::{Finding, Job, MIN_SHARE, Options, RankedTrace, SelectionRequest, findings_of_job};
use crate::error::Error;
use crate::label::Label;
use crate::sort;

/// Findings of all traces of a job. Two traces of one rank are compared, and never waited for each
/// other. `wanted` selects the part of each trace.
pub(super) fn of_job(
    traces: &[RankedTrace],
    wanted: &dyn Fn(usize) -> SelectionRequest,
) -> Result<Vec<Finding>, Error> {
    let is_comparison = matches!(traces, [(before, _), (after, _)] if before == after);
    let mut found = Vec::new();
    for (at, together) in traces.chunks(if is_comparison { 1 } else { traces.len().max(1) }).enumerate() {
        let job = Job::of(together, &|own| wanted(at + own), &Options::default(), 1)?;
        let findings = findings_of_job(&job, MIN_SHARE).into_iter();
        found.extend(findings.map(|finding| Finding { window: finding.window + at as i64, ..finding }));
    }
    sort::by(&mut found, |a: &Finding, b| b.cost_ns.cmp(&a.cost_ns));
    Ok(found)
}

pub(super) fn answer(screen: &Screen<'_>, found: &[Finding]) -> Response {
    let found = found
        .iter()
        .filter_map(|finding| screen.of_rank(finding.rank, finding.window).map(|part| finding_json(part, finding)));
    let found: Vec<_> = found.collect();
    Response::of("findings", &json!({"findings": found}))
}

fn finding_json(part: TraceView<'_>, finding: &Finding) -> Value {
    let events = &part.linked.trace.events;
    let rows: Vec<usize> = finding.evidence.iter().filter_map(|id| events.row_at(*id)).collect();
    let start = rows.iter().map(|row| events.start.at(*row)).min();
    let end = rows.iter().map(|row| events.end(*row)).max();
    json!({
        "part": part.at,
        "finding": finding.name,
        "subject": finding.subject,
        "label": Label::of(&finding.subject).to_string(),
        "detail": finding.detail,
        "advice": finding.advice,
        "cost_ns": finding.cost_ns,
        "share": rounded(finding.share),
        "overlap_ns": finding.overlap_ns,
        "count": finding.count,
        "confidence": rounded(finding.confidence),
        "start": start.map(|start| part.offset(start)),
        "end": end.map(|end| part.offset(end)),
        "evidence": rows.iter().map(|row| reference(part, *row)).collect::<Vec<_>>(),
    })
}
