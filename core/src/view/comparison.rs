//! Compares the sides of a screen.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::screen::Screen;
use super::session_trace::TraceView;
use crate::analyze::{AnalysisResult, diff, diff_jobs, diff_parts};
use crate::error::{Error, ErrorKind};

/// The parts of the screen before, and those after: the first part's name is that of all before.
pub(super) fn sides<'a>(screen: &Screen<'a>) -> [Vec<TraceView<'a>>; 2] {
    let before = screen.members().first().map(|part| part.name.clone());
    let (before, after) = screen.members().iter().copied().partition(|part| Some(&part.name) == before.as_ref());
    [before, after]
}

/// Compares the sides of the screen: two traces, or two jobs rank by rank. The selection is that of
/// both; by default, trimmed traces are restricted to their range.
pub(super) fn comparison(screen: &Screen<'_>, selection: &Map<String, Value>) -> Result<AnalysisResult, Error> {
    let [before, after] = sides(screen);
    if before.is_empty() || after.is_empty() {
        let (expected, found) = ("traces before and after".to_owned(), format!("{} of one name", screen.parts.len()));
        return Err(ErrorKind::Request { expected, found }.into());
    }
    let request = Value::Object(selection.clone()).to_string();
    if let ([before], [after]) = (&before[..], &after[..]) {
        if !selection.is_empty() {
            return diff(&before.linked, &after.linked, &request);
        }
        return diff_parts((&before.linked, &before.trimmed()), (&after.linked, &after.trimmed()));
    }
    let ranked = |parts: &[TraceView<'_>]| -> Vec<_> {
        parts.iter().map(|part| (part.rank, Arc::clone(&part.linked))).collect()
    };
    diff_jobs(&ranked(&before), &ranked(&after), &request, 1)
}
