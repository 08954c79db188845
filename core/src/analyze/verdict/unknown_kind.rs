//! Remarks on events of no known kind that may be device work.

use super::problem::{Problem, VerdictState};
use crate::analyze::unknown_kind::of_unknown_kind;
use crate::sort;
use crate::trace::Trace;

/// So many categories are named.
const MAX_NAMED: usize = 3;

/// A remark: they may be the work of an accelerator. Where they say so, that work is missing from
/// all tables.
pub(super) fn problem(trace: &Trace) -> Option<Problem> {
    let rows = of_unknown_kind(trace);
    let categories = sort::distinct(rows.iter().map(|row| trace.strings.text(trace.events.category.at(*row as usize))));
    let named: Vec<_> = categories.iter().filter(|category| !category.is_empty()).take(MAX_NAMED).copied().collect();
    let which = match (named.len(), categories.len()) {
        (0, _) => String::from("have no category"),
        (_, all) if all > MAX_NAMED => format!("have unknown categories ({}, …)", named.join(", ")),
        _ => format!("have unknown categories ({})", named.join(", ")),
    };
    let message = format!("events {which}: device work among them is not recognised");
    let is_work = !trace.unknown_work().is_empty();
    let state = if is_work { VerdictState::Incomplete } else { VerdictState::Complete };
    let problem = Problem::new("unknown_kind", state, rows.len(), message);
    let advice = "read their times from `events`; tables of kernels and devices lack them";
    (!rows.is_empty()).then(|| problem.of_rows(trace, &rows).of(trace.events.len()).advised(advice).noticed())
}
