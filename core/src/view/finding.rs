//! Findings with the events that show them.

use serde_json::{Value, json};

use super::event::reference;
use super::part::View;
use super::response::{Response, rounded};
use super::screen::Screen;
use crate::analyze::{Finding, Job, MIN_SHARE, Options, RankedTrace, Wanted, findings_of_job};
use crate::error::Error;

/// Those of all traces of a job.
pub(super) fn of_job(traces: &[RankedTrace]) -> Result<Vec<Finding>, Error> {
    let job = Job::of(traces, &|_| Wanted::default(), &Options::default(), 1)?;
    Ok(findings_of_job(&job, MIN_SHARE))
}

pub(super) fn answer(screen: &Screen<'_>, found: &[Finding]) -> Response {
    let found = found
        .iter()
        .filter_map(|finding| screen.of_rank(finding.rank, finding.window).map(|part| finding_json(part, finding)));
    let found: Vec<_> = found.collect();
    Response::of("findings", &json!({"findings": found}))
}

fn finding_json(part: View<'_>, finding: &Finding) -> Value {
    let events = &part.linked.trace.events;
    let rows: Vec<usize> = finding.evidence.iter().filter_map(|id| events.row_at(*id)).collect();
    let start = rows.iter().map(|row| events.start[*row]).min();
    let end = rows.iter().map(|row| events.end(*row)).max();
    json!({
        "part": part.at,
        "finding": finding.name,
        "subject": finding.subject,
        "detail": finding.detail,
        "advice": finding.advice,
        "cost_ns": finding.cost_ns,
        "share": rounded(finding.share),
        "count": finding.count,
        "confidence": rounded(finding.confidence),
        "start": start.map(|start| part.offset(start)),
        "end": end.map(|end| part.offset(end)),
        "evidence": rows.iter().map(|row| reference(part, *row)).collect::<Vec<_>>(),
    })
}
