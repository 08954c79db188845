//! The summary of a range.

use serde::Serialize;
use serde_json::{Map, Value};

use super::labels::labels;
use super::response::Response;
use crate::analyze::{Selection, Summary, brief_summary, summary};

#[derive(Serialize)]
struct Labelled {
    #[serde(flatten)]
    summary: Summary,
    labels: Map<String, Value>,
}

#[inline(never)] // a part of the compiled core begins here (wasm/build/parts.mjs)
pub(super) fn answer(selection: &Selection<'_>, limit: usize, has_findings: bool) -> Response {
    let summary = if has_findings { summary } else { brief_summary }(selection, limit);
    let operators = summary.operators.iter().map(|row| &*row.name);
    let kernels = summary.kernels.iter().map(|row| &*row.name);
    let labels = labels(operators.chain(kernels));
    Response::of("summary", &Labelled { summary, labels })
}
