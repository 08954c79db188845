//! Answers the summary of a range.

use serde::Serialize;
use serde_json::{Map, Value};

use super::labels::labels;
use super::response::Response;
use crate::analyze::{Selection, Summary, brief_summary, summary};

#[derive(Serialize)]
struct LabelledSummary {
    #[serde(flatten)]
    summary: Summary,
    labels: Map<String, Value>,
}

pub(super) fn answer(selection: &Selection<'_>, limit: usize, has_findings: bool) -> Response {
    let summary = if has_findings { summary } else { brief_summary }(selection, limit);
    let operators = summary.operators.iter().map(|row| &*row.name);
    let kernels = summary.kernels.iter().map(|row| &*row.name);
    let labels = labels(operators.chain(kernels));
    Response::of("summary", &LabelledSummary { summary, labels })
}
